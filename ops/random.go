package ops

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// random is a draw. Its key is fixed when the graph is built and kept through rewrites; seed, step
// and the runs of that step are added at run time. Its operands are the times of the steps of the
// loops around it, the innermost first; without any it stands in no loop. Element i of a draw is a
// pure function of (key, times, seed, step, runs, i), so equal keys share their noise.
type random struct {
	flat
	Key    string
	Law    string
	Lo, Hi attr.Float // of laws with bounds
	Type   graph.Type
}

// RandomUniform returns random floats from [0, 1) of type dt over the given axes, drawn anew in
// every run of a program, with or without updates; "Random numbers" in package tape has the
// details. Within a run the draw has one value, which all nodes that use it and its derivatives
// share. In the step of a loop it is drawn anew at each time. The key of the draw is the name with the
// scope and the element type: equal keys in two graphs have equal numbers. No derivative flows through
// it.
//
// Draws of f16 and bf16 are those of f32 with the same name, rounded; a number that would be
// rounded to 1 is the largest below 1.
func RandomUniform(g *graph.Graph, name string, dt graph.DType, axes ...graph.Axis) *graph.Node {
	return draw(g, "RandomUniform", name, random{}, dt, axes)
}

// RandomNormal returns normal random floats of mean 0 and variance 1; it is otherwise like
// [RandomUniform].
func RandomNormal(g *graph.Graph, name string, dt graph.DType, axes ...graph.Axis) *graph.Node {
	return draw(g, "RandomNormal", name, random{Law: string(kernel.LawNormal)}, dt, axes)
}

// RandomTruncatedNormal returns normal random floats of mean 0 and variance 1, given that they are
// from lo to hi, which may be infinite; it is otherwise like [RandomUniform]. Bounds between which no
// normal number is to be expected, such as 40 and 41, are a mistake.
func RandomTruncatedNormal(g *graph.Graph, name string, dt graph.DType, lo, hi float64, axes ...graph.Axis) *graph.Node {
	return draw(g, "RandomTruncatedNormal", name, random{Law: string(kernel.LawTruncated), Lo: attr.FloatOf(lo), Hi: attr.FloatOf(hi)}, dt, axes)
}

// RandomGumbel returns random floats of the standard Gumbel distribution, −log(−log u) of a uniform
// number u: the mean is 0.5772, the variance π²/6. It is otherwise like [RandomUniform]. The index of the
// largest of logits + Gumbel numbers is drawn as softmax(logits) says (Gumbel, 1954), and
// softmax((logits + Gumbel numbers)/τ) is a draw that has a derivative (Jang, Gu & Poole, 2017; Maddison,
// Mnih & Teh, 2017).
func RandomGumbel(g *graph.Graph, name string, dt graph.DType, axes ...graph.Axis) *graph.Node {
	return draw(g, "RandomGumbel", name, random{Law: string(kernel.LawGumbel)}, dt, axes)
}

// RandomInt returns random whole numbers from lo to hi − 1, all equally likely, of type dt, which is
// i32 or i64; it is otherwise like [RandomUniform]. Bounds beyond ±2⁵³, and those that the type does not
// hold, are a mistake.
func RandomInt(g *graph.Graph, name string, dt graph.DType, lo, hi int64, axes ...graph.Axis) *graph.Node {
	const most = 1 << 53 // beyond it float64, in which attributes are kept, has gaps
	if g != nil && (lo < -most || hi > most) {
		defer g.Calling("RandomInt")()
		return g.Fail("Random", fmt.Errorf("whole numbers from %d up to %d, not included: want bounds from −2⁵³ to 2⁵³", lo, hi))
	}
	return draw(g, "RandomInt", name, random{Law: string(kernel.LawWhole), Lo: attr.FloatOf(float64(lo)), Hi: attr.FloatOf(float64(hi))}, dt, axes)
}

// RandomBernoulli returns booleans of the shape of p, each true with the probability that p, of a float
// type, has at its place: false for p ≤ 0 or NaN, true for p ≥ 1. It is otherwise like [RandomUniform].
func RandomBernoulli(name string, p *graph.Node) *graph.Node {
	defer calling("RandomBernoulli", p)()
	if !p.IsValid() {
		return graph.Of(p).Fail("RandomBernoulli", errors.New("p is nil"), p)
	}
	return Less(draw(p.Graph(), "RandomBernoulli", name, random{}, p.DType(), p.Shape().Axes()), p)
}

// RandomCategorical returns indices (i64) along an axis of logits, which it removes, drawn with the
// probabilities softmax(logits): of x[… c …] along c it makes [… …]. Logits are of a float type, and −∞ is
// never drawn beside others. To draw several times from one row, broadcast the logits. It is
// otherwise like [RandomUniform], and the largest of logits + [RandomGumbel].
func RandomCategorical(name string, logits *graph.Node, axis any) *graph.Node {
	defer calling("RandomCategorical", logits)()
	return withAxes("RandomCategorical", logits, []any{axis}, func(list []int) *graph.Node {
		g := draw(logits.Graph(), "RandomCategorical", name, random{Law: string(kernel.LawGumbel)}, logits.DType(), logits.Shape().Axes())
		return ArgMax(Add(logits, g), list[0])
	})
}

// RandomPermutation returns the numbers 0 to n − 1 (i64) in a random order along the last of the axes, of
// size n, for every place of the others in an order of its own: each order is as likely as any other, to
// n²·2⁻⁵⁴. It is the order of n uniform numbers of type f64 with that name, and is otherwise like
// [RandomUniform]. [Gather] along an axis by a permutation shuffles an array, several arrays by the same
// one alike, and [ArgSort] of a permutation undoes it. No axis is a mistake.
func RandomPermutation(g *graph.Graph, name string, axes ...graph.Axis) *graph.Node {
	if g != nil {
		defer g.Open().Calling("RandomPermutation")()
		if len(axes) == 0 {
			return g.Open().Fail("RandomPermutation", errors.New("no axis: want that of the numbers last"))
		}
	}
	u := draw(g, "RandomPermutation", name, random{}, graph.F64, axes)
	if !u.IsValid() {
		return u
	}
	return ArgSort(u, -1)
}

func draw(g *graph.Graph, what, name string, op random, dt graph.DType, axes []graph.Axis) *graph.Node {
	if g == nil {
		return graph.Of().Fail(what, errors.New("the graph is nil"))
	}
	g = g.Open()
	defer g.Calling(what)()
	s, err := graph.NewShape(axes...)
	if err != nil {
		return g.Fail("Random", err)
	}
	op.Key, op.Type = g.DrawKey(name), graph.Type{DType: dt, Shape: s}
	if !dt.IsHalf() {
		return g.Apply(op, g.Times()...)
	}
	op.Type.DType = graph.F32
	wide := g.Apply(op, g.Times()...)
	if kernel.Law(op.Law) == kernel.LawUniform {
		below := 1 - 0x1p-11
		if dt == graph.BF16 {
			below = 1 - 0x1p-8
		}
		wide = Minimum(wide, Lit(wide, below))
	}
	return Cast(wide, dt)
}

func (random) Name() string     { return "Random" }
func (random) Kind() match.Kind { return match.Random }
func (random) Doc() string {
	return "random numbers, uniform in [0, 1) or of another law, anew in every run"
}

func (op random) Infer(in []*graph.Node) (graph.Type, error) {
	for i, x := range in {
		if x.DType() != graph.I64 || x.Rank() > 0 {
			return graph.Type{}, fmt.Errorf("operand %d is %v: want a time, i64[]", i, x.Type())
		}
	}
	lo, hi, dt := op.Lo.Value(), op.Hi.Value(), op.Type.DType
	switch kernel.Law(op.Law) {
	case kernel.LawWhole:
		if !dt.IsInt() {
			return graph.Type{}, fmt.Errorf("element type %v: want i32 or i64", dt)
		}
		if !(lo < hi) || dt.Round(lo) != lo || dt.Round(hi-1) != hi-1 || math.Max(-lo, hi) > 1<<53 {
			return graph.Type{}, fmt.Errorf("whole numbers from %.0f up to %.0f, not included: want bounds in order, which %v holds", lo, hi, dt)
		}
		return op.Type, nil
	case kernel.LawTruncated:
		if !kernel.Truncates(lo, hi) {
			return graph.Type{}, fmt.Errorf("normal numbers from %v to %v: want bounds in order, with such numbers between them", lo, hi)
		}
	case kernel.LawUniform, kernel.LawNormal, kernel.LawGumbel:
	default:
		return graph.Type{}, fmt.Errorf("there is no law %q of random numbers", op.Law)
	}
	if !dt.IsFloat() || dt.IsHalf() {
		return graph.Type{}, fmt.Errorf("element type %v: want f32 or f64", dt)
	}
	return op.Type, nil
}

// Batch draws for every example anew, with the same key: the first has the noise
// that it would have alone. All are at the same times.
func (op random) Batch(y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	if slices.Contains(batched, true) {
		return y.Graph().Fail("vmap", errors.New("a random draw at times that differ between examples"), in...)
	}
	op.Type.Shape = inFront(b, op.Type.Shape)
	return y.Graph().Apply(op, in...)
}

func (op random) Eval(env trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out, seed, k := graph.NewValue(y.Type()), kernel.Stream(env.Seed, env.Runs), op.draw()
	for _, time := range in {
		k.Key = kernel.At(k.Key, graph.I64.Whole(time.Data[0]))
	}
	for i := range out.Data {
		out.Data[i] = k.Draw(kernel.DType(op.Type.DType), seed, env.Step, uint64(i))
	}
	return out
}

func (op random) Kernel(*graph.Node) kernel.Kernel { return op.draw() }

// draw returns the kernel. Its key separates the element types, whose draws differ.
func (op random) draw() kernel.Random {
	return kernel.Random{
		Key: kernel.KeyOf(op.Key + " " + op.Type.DType.String()), Law: kernel.Law(op.Law), Lo: op.Lo.Value(), Hi: op.Hi.Value(),
	}
}

func (op random) Notation(y *graph.Node, _ []expr.Expr) expr.Expr {
	return expr.Sym(op.Key, indices(y, 1<<y.Rank()-1)...)
}

func (random) Cases() []Case {
	return []Case{
		{nil, func([]*graph.Node) *graph.Node {
			return RandomNormal(graph.New("draw"), "ε", graph.F32, graph.Ax("i", 5))
		}},
		{nil, func([]*graph.Node) *graph.Node {
			return RandomUniform(graph.New("draw"), "u", graph.F64, graph.Dims(3, 2)...)
		}},
		{nil, func([]*graph.Node) *graph.Node {
			return RandomGumbel(graph.New("draw"), "g", graph.F64, graph.Ax("i", 3))
		}},
		{nil, func([]*graph.Node) *graph.Node {
			return RandomTruncatedNormal(graph.New("draw"), "ε", graph.F32, -2, 2, graph.Ax("i", 3))
		}},
		{nil, func([]*graph.Node) *graph.Node {
			return RandomInt(graph.New("draw"), "k", graph.I32, -1, 6, graph.Ax("i", 7))
		}},
	}
}
