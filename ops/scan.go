package ops

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// scan is the loop itself; [Scan] prepares its operands and takes its value apart. The fields are
// those of [trait.Loop], where they are explained.
type scan struct {
	Body                          graph.BodyID
	Steps                         int
	Carries, Sequences, Constants int
	Outs, Sums                    int
	Reverse                       bool
	Gate                          int
	// Closed keeps a body that is run once from being written out where it stands, so that what it
	// computes on the way is computed again for the derivative.
	Closed bool
	Made   string
}

func (scan) Name() string     { return "Scan" }
func (scan) Kind() match.Kind { return match.Scan }
func (scan) Doc() string      { return "a loop over time: a body that carries values from step to step" }

// Rule returns the name of the rule of its derivative.
func (scan) Rule(_ []bool) (name string, law expr.Expr) {
	return named("back through time: the recurrence in reverse")
}

// Loop describes the loop to whoever runs or changes it.
func (op scan) Loop() trait.Loop {
	return trait.Loop{Body: op.Body, Steps: op.Steps, Carries: op.Carries, Sequences: op.Sequences, Constants: op.Constants,
		Outs: op.Outs, Sums: op.Sums, Reverse: op.Reverse, Gate: op.Gate, Made: cmp.Or(op.Made, op.Name())}
}

// Recount is a loop described otherwise; what a closed one computes stays in its body.
func (op scan) Recount(l trait.Loop) (graph.Op, bool) {
	return scan{Body: l.Body, Steps: l.Steps, Carries: l.Carries, Sequences: l.Sequences, Constants: l.Constants,
		Outs: l.Outs, Sums: l.Sums, Reverse: l.Reverse, Gate: l.Gate, Made: op.Made}, !op.Closed
}

// BodyID is the handle of its body.
func (op scan) BodyID() graph.BodyID { return op.Body }

// WithBody is the same loop over another body.
func (op scan) WithBody(id graph.BodyID) graph.Op {
	op.Body = id
	return op
}

// makers are the functions besides Scan that make loops.
var makers = []string{"While", "FixedPoint", "Cond", "Call", "Closed"}

// maxSteps keeps the number of steps within an int whatever a text form says.
const maxSteps = min(1<<31, math.MaxInt)

func (op scan) Infer(in []*graph.Node) (graph.Type, error) {
	var body *graph.Body
	if len(in) > 0 {
		body = in[0].Graph().Body(op.Body)
	}
	if body == nil {
		return graph.Type{}, fmt.Errorf("%d operands and body %d: want a body of the graph, and at least one operand", len(in), int(op.Body))
	}
	inner, out := body.In(), body.Out()
	if min(op.Carries, op.Sequences, op.Constants, op.Outs, op.Sums) < 0 || op.Steps < 1 || op.Steps > maxSteps ||
		op.Carries+op.Sequences+op.Constants != len(in) || len(inner) != len(in) || op.Carries+op.Outs+op.Sums != len(out) {
		return graph.Type{}, fmt.Errorf("%d operands for a body of %d inputs and %d results: want what the attributes count", len(in), len(inner), len(out))
	}
	for i, x := range in {
		typ := x.Type()
		if i >= op.Carries && i < op.Carries+op.Sequences {
			var err error
			if typ, err = stepType(x, op.Steps); err != nil {
				return graph.Type{}, err
			}
		}
		if !sameKind(typ, inner[i].Type()) {
			return graph.Type{}, fmt.Errorf("operand %d is %v in a step, where the body takes %v", i, typ, inner[i].Type())
		}
	}
	if op.Made != "" && !slices.Contains(makers, op.Made) {
		return graph.Type{}, fmt.Errorf("a loop made by %q: want one of %s, or nothing for Scan", op.Made, strings.Join(makers, ", "))
	}
	if op.Gate < 0 || op.Gate > len(in) {
		return graph.Type{}, fmt.Errorf("operand %d is the gate, of %d operands", op.Gate-1, len(in))
	}
	if op.Gate > 0 && inner[op.Gate-1].Rank() > 0 {
		return graph.Type{}, fmt.Errorf("the gate is %v in a step: want a scalar", inner[op.Gate-1].Type())
	}
	for i, n := range out {
		if i < op.Carries && !sameKind(n.Type(), inner[i].Type()) {
			return graph.Type{}, differs(i, inner[i], n)
		}
		if !n.DType().IsFloat() || n.DType() != out[0].DType() {
			return graph.Type{}, &graph.Mistake{Problem: fmt.Sprintf("result %d of the body has type %v, result 0 %v: want floats of one type", i, n.Type(), out[0].Type()), Fix: "convert with ops.Cast"}
		}
	}
	length := 0.0
	for _, p := range op.Loop().Parts(body) {
		length += float64(p.Rows) * float64(p.Size)
	}
	// The rows of a trace are elements of the type whether or not a run holds them; NewVM refuses
	// what does not fit into memory.
	size := math.MaxInt
	if length < float64(size) {
		size = int(length)
	}
	s, err := graph.NewShape(graph.Axis{Size: size})
	if err != nil {
		return graph.Type{}, fmt.Errorf("%d steps of %d results have %w", op.Steps, len(out), err)
	}
	return graph.Type{DType: out[0].DType(), Shape: s}, err
}

// differs returns the mistake that a step changes the type of carry k.
func differs(k int, before, after *graph.Node) error {
	return fmt.Errorf("carry %d starts as %v and goes on as %v: want the same", k, before.Type(), after.Type())
}

// stepType is the type of the element of a sequence that a step sees.
func stepType(x *graph.Node, steps int) (graph.Type, error) {
	if x.Rank() == 0 || x.Dim(0) != steps {
		return graph.Type{}, fmt.Errorf("a sequence %v for %d steps", x, steps)
	}
	s, err := graph.NewShape(x.Shape().Axes()[1:]...)
	return graph.Type{DType: x.DType(), Shape: s}, err
}

// sameKind reports whether two types agree but for the names of axes.
func sameKind(a, b graph.Type) bool { return a.DType == b.DType && a.Shape.SameSizes(b.Shape) }

// part is the node of some rows of one part of a loop's value: [rows, shape…], the
// first axis called name; of one row and without that axis if name is oneRow.
func part(y *graph.Node, p trait.Part, from, rows int, name string, row graph.Shape) *graph.Node {
	axes := row.Axes()
	if name != oneRow {
		axes = append([]graph.Axis{{Name: name, Size: rows}}, axes...)
	}
	s, err := graph.NewShape(axes...)
	if err != nil {
		return y.Graph().Fail("Scan", err, y)
	}
	lo := p.At + from*p.Size
	return ReshapeTo(stretch(y, 0, lo, rows*p.Size), s)
}

// oneRow is no name of an axis.
const oneRow = "-"

// Iterate is the definition: it runs the body step by step, by whatever way to
// evaluate a body it is given.
func (op scan) Iterate(y *graph.Node, in []graph.Value, step func(b *graph.Body, in []graph.Value) ([]graph.Value, error)) (graph.Value, error) {
	body := y.Body()
	inner, l := body.In(), op.Loop()
	parts := l.Parts(body)
	out := graph.NewValue(y.Type())
	row := func(p trait.Part, r int) []float64 { return out.Data[p.At+r*p.Size:][:p.Size] }
	_, first, _ := l.At(0)
	for k := range op.Carries {
		copy(row(parts[k], first), in[k].Data)
	}
	args := make([]graph.Value, len(in))
	for k := range op.Steps {
		now, before, after := l.At(k)
		for i := range args {
			args[i] = graph.Value{Type: inner[i].Type(), Data: in[i].Data}
			switch n := inner[i].Shape().Len(); {
			case i < op.Carries:
				args[i].Data = row(parts[i], before)
			case i < op.Carries+op.Sequences:
				args[i].Data = in[i].Data[now*n:][:n]
			}
		}
		if gate, ok := l.Gated(); ok && args[gate].Data[0] == 0 {
			for i := range op.Carries {
				copy(row(parts[i], after), row(parts[i], before))
			}
			continue
		}
		results, err := step(body, args)
		if outside := new(trait.IndexError); errors.As(err, &outside) {
			outside.Times = slices.Insert(outside.Times, 0, now)
		}
		if err != nil {
			return out, err
		}
		for i, v := range results {
			switch p := parts[i]; {
			case i < op.Carries:
				copy(row(p, after), v.Data)
			case i < op.Carries+op.Outs:
				copy(row(p, now), v.Data)
			default:
				total := row(p, 0)
				for e, term := range v.Data {
					total[e] += term
				}
			}
		}
	}
	return out, nil
}

// Notation is a call with the number of steps; the body shows the step. A body that is run once is
// a function.
func (op scan) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	if name := y.Body().Graph().Name(); name != "" && op.Steps == 1 && op.Carries+op.Sequences == 0 {
		return expr.Call(name, in...)
	} else if op.Gate > 0 {
		return expr.Call(fmt.Sprintf("%s≤%d", name, op.Steps), in...)
	}
	return expr.Call(fmt.Sprintf("%s×%d", strings.ReplaceAll(y.Body().Graph().Name(), "step", "loop"), op.Steps), in...)
}

// resultOf names the result of a loop that a slice of its value is: h, or last h
// for a row of its trace; ok is false for other nodes.
func resultOf(n *graph.Node) (name string, ok bool) {
	cut, isSlice := n.Op().(slice)
	if !isSlice || trait.LoopBody(n.In(0)) == nil {
		return "", false
	}
	l, body := n.In(0).Op().(trait.Looped).Loop(), n.In(0).Body()
	_, _, last := l.At(l.Steps - 1)
	_, first, _ := l.At(0)
	for k, p := range l.Parts(body) {
		if name = body.Out()[k].Label(); p.Size == 0 {
			continue // it has no elements to be taken
		}
		from, rows := cut.Start.At(0)-p.At, cut.Size.At(0)/p.Size
		switch {
		case from < 0 || from >= p.Rows*p.Size || from%p.Size != 0 || cut.Size.At(0)%p.Size != 0:
			continue
		case k >= l.Carries+l.Outs:
			return "Σ" + name, true
		case k >= l.Carries:
			return name, rows == l.Steps
		case rows == 1 && from/p.Size == last:
			return "last " + name, true
		case rows == l.Steps && min(from/p.Size, 1) == min(first, 1):
			return name + " before", true
		}
		return name, rows == l.Steps
	}
	return "", false
}

func (scan) Cases() []Case {
	cell := func(carry, x, with []*graph.Node) (next, out []*graph.Node) {
		h := Sin(Add(Mul(carry[0], with[0]), x[0])).As("h")
		return []*graph.Node{h}, []*graph.Node{Square(h).As("h²")}
	}
	return []Case{
		{[]Operand{{"float[h=3]", Reals}, {"float[t=4 h=3]", Reals}, {"float[h=3]", Reals}}, func(in []*graph.Node) *graph.Node {
			r := Scan(Loop{Carry: in[:1], Over: in[1:2], With: in[2:]}, cell)
			return Add(Sum(r.Trace[0], 0), Mul(r.Final[0], Sum(r.Out[0], 0)))
		}},
		{[]Operand{{"float[2]", Reals}, {"float[2 5]", Reals}, {"float[]", Reals}}, func(in []*graph.Node) *graph.Node {
			r := Scan(Loop{Carry: in[:1], Over: in[1:2], Axis: 1, With: in[2:], Reverse: true}, cell)
			return Mul(r.Trace[0], r.Out[0])
		}},
		{[]Operand{{"float[2]", Reals}, {"float[]", Apart}, {"i64[3]", Index(2)}}, func(in []*graph.Node) *graph.Node {
			r := Scan(Loop{Carry: in[:2], Over: in[2:]}, func(c, k, _ []*graph.Node) (next, out []*graph.Node) {
				return []*graph.Node{Mul(c[0], c[1]), Add(c[1], Gather(c[0], k[0], 0))}, nil
			})
			return Add(r.Final[0], r.Final[1])
		}},
		{[]Operand{{"float[h=3]", Reals}, {"float[2 h=3]", Reals}}, func(in []*graph.Node) *graph.Node {
			y := Call("block", func(x []*graph.Node) []*graph.Node {
				h := Sin(Mul(x[0], x[1]))
				return []*graph.Node{h, Sum(Square(h))}
			}, in...)
			return Mul(y[0], y[1])
		}},
		{[]Operand{{"bool[]", Truth}, {"float[h=3]", Positive}, {"float[]", Positive}}, func(in []*graph.Node) *graph.Node {
			y := Cond(in[0], func(x []*graph.Node) []*graph.Node {
				return []*graph.Node{Log(Mul(x[0], x[1])), Sum(x[0])}
			}, func(x []*graph.Node) []*graph.Node {
				return []*graph.Node{Sqrt(x[0]), Square(x[1])}
			}, in[1:]...)
			return Mul(y[0], y[1])
		}},
		{[]Operand{{"float[h=3]", Positive}, {"float[]", Positive}}, func(in []*graph.Node) *graph.Node {
			r := While(Loop{Carry: in[:1], With: in[1:], Steps: 7, Checkpoint: 3}, func(c, _ []*graph.Node) *graph.Node {
				return Less(Sum(c[0]), Lit(c[0], 14))
			}, func(c, _, w []*graph.Node) (next, out []*graph.Node) {
				return []*graph.Node{Add(Scale(c[0], 1.5), Mul(w[0], Sin(c[0])))}, nil
			})
			return r.Final[0]
		}},
		{[]Operand{{"float[2]", Positive}, {"float[5 2]", Reals}}, func(in []*graph.Node) *graph.Node {
			r := While(Loop{Carry: in[:1], Over: in[1:]}, func(c, _ []*graph.Node) *graph.Node {
				return Less(Sum(c[0]), Lit(c[0], 12))
			}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
				return []*graph.Node{Add(Scale(c[0], 1.5), Mul(x[0], Sin(c[0])))}, []*graph.Node{Square(c[0])}
			})
			return Mul(r.Final[0], Sum(r.Out[0], 0))
		}},
		{[]Operand{{"float[h=3]", Reals}, {"float[t=4 h=3]", Reals}}, func(in []*graph.Node) *graph.Node {
			carry := []*graph.Node{in[0], Cast(Lit(in[0], 1), graph.I32), Greater(in[0], in[0])}
			r := Scan(Loop{Carry: carry, Over: in[1:]}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
				y := Sin(Add(Mul(c[0], x[0]), Cast(c[1], c[0].DType())))
				return []*graph.Node{Select(c[2], y, Mul(y, c[0])), Add(c[1], Lit(c[1], 1)), Not(c[2])}, []*graph.Node{c[2]}
			})
			return Add(Mul(r.Final[0], Cast(r.Final[1], in[0].DType())), Sum(Cast(r.Out[0], in[0].DType()), 0))
		}},
	}
}
