package check_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/check"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// ramp is x·y where y is positive, else x; its derivative by y is what the tests
// make wrong: by a factor, or at one element alone.
type ramp struct {
	Factor attr.Float
	Only   int // the element that is wrong, -1 for all
}

func (ramp) Name() string { return "Ramp" }
func (ramp) Infer(in []node) (graph.Type, error) {
	return in[0].Type(), nil
}
func (ramp) Scalar(x ...float64) float64 { return x[0] * math.Exp(x[1]) }
func (w ramp) Grad(y, dy node, i int) node {
	if i == 0 {
		return ops.Mul(dy, ops.Exp(y.In(1)))
	}
	factor := make([]float64, y.Shape().Len())
	for k := range factor {
		if factor[k] = 1; w.Only < 0 || w.Only == k {
			factor[k] = w.Factor.Value()
		}
	}
	return ops.Mul(ops.Mul(dy, y), y.Graph().Constant(y.DType(), factor, y.Shape().Axes()...))
}

// planted is a net of two layers with a ramp between them, that is wrong or not.
func planted(op ramp) (loss, faulty node) {
	g := graph.New("planted")
	x := g.Input("x", graph.F32, graph.Ax("i", 5), graph.Ax("d", 3))
	w := g.Param("w", graph.F32, graph.Ax("d", 3), graph.Ax("h", 4)).Init(initial.Normal(0, 0.5))
	v := g.Param("v", graph.F32, graph.Ax("d", 3), graph.Ax("h", 4)).Init(initial.Normal(0, 0.5))
	a := ops.Tanh(ops.MatMul(x, w)).As("a")
	b := ops.Tanh(ops.MatMul(x, v)).As("b")
	faulty = graph.Apply(op, a, b).As("c")
	return ops.Mean(ops.Square(ops.Sigmoid(faulty))).As("loss"), faulty
}

func blame(t *testing.T, y node, options ...check.Option) []check.Blamed {
	t.Helper()
	got, err := check.Blame(context.Background(), y, options...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestBlamePlanted: of a net with one wrong rule, that one is found, with its
// operand and its element, and what its derivative passes on to is told from it.
func TestBlamePlanted(t *testing.T) {
	const element = 13 // [3 1]
	loss, faulty := planted(ramp{attr.FloatOf(1.001), element})
	got := blame(t, loss)
	states := map[string]check.BlameState{}
	for _, b := range got {
		states[b.Node.Label()] = b.State
		switch {
		case b.Node == faulty:
			if b.State != check.RuleWrong || b.Operand != 1 || !slices.Equal(b.Index, []int{3, 1}) {
				t.Errorf("found %v", b)
			}
			if r := b.Got / b.Want; math.Abs(r-1.001) > 1e-6 {
				t.Errorf("the rule gives %v of the truth, want 1.001", r)
			}
			for _, part := range []string{"WRONG", "c[i=5 h=4] = Ramp", "blame_test.go:", "operand 1, element [3 1]"} {
				if !strings.Contains(b.String(), part) {
					t.Errorf("%q lacks %q", b, part)
				}
			}
			t.Log(b)
		case b.State == check.RuleWrong:
			t.Errorf("blamed: %v", b)
		case b.State == check.Inherited && !slices.Equal(b.Because, []node{faulty}):
			t.Errorf("%v inherits from %v", b.Node, b.Because)
		}
	}
	for label, want := range map[string]check.BlameState{"b": check.Inherited, "v": check.Inherited, "x": check.Inherited, "a": check.RuleRight, "loss": check.RuleRight} {
		if s, ok := states[label]; !ok || s != want {
			t.Errorf("%s is %v, want %v", label, s, want)
		}
	}
	if s, listed := states["w"]; listed {
		t.Errorf("w, to which only right rules lead, is %v", s)
	}
	sound, _ := planted(ramp{attr.FloatOf(1), -1})
	for _, b := range blame(t, sound) {
		if b.State != check.RuleRight {
			t.Errorf("of a right net: %v", b)
		}
	}
}

// TestBlameAtOwnPoint: values come from the feed and the store, where the rule is
// wrong; elsewhere it is not.
func TestBlameAtOwnPoint(t *testing.T) {
	build := func() (y, x, w node) {
		g := graph.New("point")
		x, w = g.Input("x", graph.F64), g.Param("w", graph.F64)
		return graph.Apply(cubed{}, ops.Mul(x, w)), x, w
	}
	for _, c := range []struct {
		x, w float64
		want check.BlameState
	}{{2, 3, check.RuleWrong}, {-2, 3, check.RuleRight}, {0, 3, check.RuleRight}} {
		y, x, w := build()
		store := tape.NewStore(y.Graph())
		if err := store.Set("w", tape.Scalar(graph.F64, c.w)); err != nil {
			t.Fatal(err)
		}
		feed := check.Feed(tape.Feed{x: tape.Tensor(graph.Value{Type: x.Type(), Data: []float64{c.x}})})
		got := blame(t, y, check.From(store), feed)
		k := slices.IndexFunc(got, func(b check.Blamed) bool { return b.Node == y })
		b := got[k]
		if noisy := blame(t, y, check.From(store), feed, check.Noise(5))[k]; noisy.Want != b.Want {
			t.Errorf("noise is added to what the store holds: %v, without %v", noisy, b)
		}
		if b.State != c.want {
			t.Errorf("at x = %v, w = %v: %v, want %v", c.x, c.w, b, c.want)
		}
		if at := c.x * c.w; c.want == check.RuleWrong && math.Abs(b.Got/b.Want-2.0/3) > 1e-6 {
			t.Errorf("at %v the rule gives %v of %v", at, b.Got, b.Want)
		}
		_ = w
	}
}

// cubed is x³ with a rule that is right for negative numbers alone.
type cubed struct{}

func (cubed) Name() string                        { return "Cubed" }
func (cubed) Infer(in []node) (graph.Type, error) { return in[0].Type(), nil }
func (cubed) Scalar(x ...float64) float64         { return x[0] * x[0] * x[0] }
func (cubed) Grad(y, dy node, _ int) node {
	x := y.In(0)
	k := ops.Select(ops.Greater(x, ops.Lit(x, 0)), ops.Lit(x, 2), ops.Lit(x, 3))
	return ops.Mul(ops.Mul(dy, k), ops.Square(x))
}

// TestBlameModels: no rule of any registered model is blamed on its own examples.
func TestBlameModels(t *testing.T) {
	names := builders.Names()
	if testing.Short() {
		names = names[:25]
	}
	for _, name := range names {
		m, err := builders.Build(name, nil, graph.F32)
		if err != nil {
			t.Fatal(err)
		}
		var options []check.Option
		if m.Examples != nil {
			options = append(options, check.Feed(tape.Tensors(m.Examples(rand.New(rand.NewPCG(1, 1))))))
		}
		got := blame(t, m.Result(), options...)
		right := 0
		for _, b := range got {
			switch b.State {
			case check.RuleWrong, check.Inherited:
				t.Errorf("%s: %v", name, b)
			case check.Undecided:
				t.Logf("%s: %v", name, b)
			case check.RuleRight:
				right++
			}
		}
		if right == 0 {
			t.Errorf("%s: no rule is checked", name)
		}
	}
}

// badRule fails in the way it is called after.
type badRule struct{ How string }

func (badRule) Name() string                        { return "BadRule" }
func (badRule) Infer(in []node) (graph.Type, error) { return in[0].Type(), nil }
func (badRule) Scalar(x ...float64) float64         { return 2 * x[0] }
func (b badRule) Grad(_, dy node, _ int) node {
	if b.How == "panic" {
		panic("no such thing")
	}
	return ops.Sum(dy)
}

// TestBlameFailing: a rule that panics or gives another shape is wrong, and says how.
func TestBlameFailing(t *testing.T) {
	for how, want := range map[string]string{"panic": "panic: no such thing", "shape": "the derivative of BadRule by operand 0 has type f64[]"} {
		x := graph.New(how).Input("x", graph.F64, graph.Ax("i", 3))
		y := graph.Apply(badRule{how}, x)
		got := blame(t, ops.Sum(y))
		k := slices.IndexFunc(got, func(b check.Blamed) bool { return b.Node == y })
		if b := got[k]; b.State != check.RuleWrong || !strings.HasPrefix(b.Note, want) {
			t.Errorf("%s: %v", how, b)
		}
		if b := got[0]; b.Node != x || b.State != check.Inherited {
			t.Errorf("%s: %v, want it inherited", how, b)
		}
	}
}

// TestBlameAtEdges: zeros at kinks, infinities of masks and probabilities of 0 blame
// nobody, and what can be checked beside them is.
func TestBlameAtEdges(t *testing.T) {
	g := graph.New("edges")
	x := g.Input("x", graph.F64, graph.Ax("i", 4))
	kink := ops.ReLU(x).As("kink")
	masked := ops.Softmax(ops.Select(ops.Greater(x, ops.Lit(x, 0)), x, ops.Lit(x, math.Inf(-1))), "i").As("masked")
	far := ops.ReLU(ops.Select(ops.Less(x, ops.Lit(x, 0)), ops.Lit(x, math.Inf(-1)), x)).As("far")
	floor := ops.Maximum(x, ops.Lit(x, 1)).As("floor")
	tiny := ops.Log(ops.Shift(ops.Mul(kink, ops.Lit(x, 1e-12)), 1e-12)).As("tiny")
	got := blame(t, ops.Sum(ops.Add(ops.Add(tiny, masked), ops.Mul(far, floor))), check.Feed(tape.Feed{x: tape.Tensor(graph.Value{Type: x.Type(), Data: []float64{0, 1, -1, 0}})}))
	for _, b := range got {
		if b.State != check.RuleRight && b.State != check.NothingToRule {
			t.Errorf("%v", b)
		}
	}
}

// TestBlameInLoop: the wrong rule stands in the body of a loop; it is found there,
// and the loop inherits it.
func TestBlameInLoop(t *testing.T) {
	g := graph.New("loop")
	x := g.Input("x", graph.F64, graph.Ax("t", 4), graph.Ax("d", 3))
	h := g.Param("h", graph.F64, graph.Ax("d", 3))
	var scanned node
	r := ops.Scan(ops.Loop{Carry: []node{h}, Over: []node{x}}, func(c, x, _ []node) (next, out []node) {
		y := graph.Apply(ramp{attr.FloatOf(0.5), -1}, x[0], ops.Tanh(c[0])).As("y")
		return []node{ops.Sin(y)}, []node{y}
	})
	loss := ops.Sum(r.Out[0])
	for _, n := range g.Nodes() {
		if n.Body() != nil {
			scanned = n
		}
	}
	var wrong []check.Blamed
	for _, b := range blame(t, loss) {
		if b.State == check.RuleWrong {
			wrong = append(wrong, b)
		}
		if b.Node == scanned && (b.State != check.Inherited || b.Because[0].Label() != "y") {
			t.Errorf("the loop: %v", b)
		}
	}
	if len(wrong) != 1 || wrong[0].Node.Label() != "y" || wrong[0].Operand != 1 || math.Abs(wrong[0].Got/wrong[0].Want-0.5) > 1e-6 {
		t.Errorf("wrong: %v", wrong)
	}
	if !strings.Contains(wrong[0].String(), "blame_test.go:") {
		t.Errorf("no line: %v", wrong[0])
	}
}
