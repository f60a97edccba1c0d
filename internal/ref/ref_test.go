package ref_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
)

// undefined is an operation without a definition.
type undefined struct{}

func (undefined) Name() string { return "Undefined" }
func (undefined) Infer(in []*graph.Node) (graph.Type, error) {
	return in[0].Type(), nil
}

func value(n *graph.Node, v ...float64) graph.Value { return graph.Value{Type: n.Type(), Data: v} }

// TestValues: what is fed, defaults, constants, and values that replace a
// computation.
func TestValues(t *testing.T) {
	g := graph.New("g")
	x := g.Input("x", graph.F32, graph.Ax("i", 2))
	γ := g.Scalar("γ", 3)
	w := g.Param("w", graph.F32)
	sum := ops.Add(ops.Mul(x, γ), w)
	twice := ops.Add(sum, sum)
	for _, c := range []struct {
		feed graph.Values
		want []float64
	}{
		{graph.Values{x: value(x, 1, 2), w: value(w, 0.5)}, []float64{7, 13}},
		{graph.Values{x: value(x, 1, 2), w: value(w, 0.5), γ: value(γ, -1)}, []float64{-1, -3}},
		{graph.Values{sum: value(sum, 4, 5)}, []float64{8, 10}},
		{graph.Values{x: {Data: []float64{1, 2}}, w: {Data: []float64{0}}}, []float64{6, 12}}, // the type is the node's
	} {
		v, err := ref.Eval(trait.Env{}, c.feed, twice, twice)
		if err != nil || len(v) != 2 || !slices.Equal(v[0].Data, c.want) || !slices.Equal(v[1].Data, c.want) || v[0].Type != twice.Type() {
			t.Errorf("got %v, %v; want %v", v, err, c.want)
		}
	}
	if v, err := ref.Eval(trait.Env{}, nil); err != nil || len(v) != 0 {
		t.Errorf("nothing evaluates to %v, %v", v, err)
	}
}

// TestNoValue: the exact text of what can go wrong.
func TestNoValue(t *testing.T) {
	g := graph.New("g")
	x := g.Input("x", graph.F32, graph.Ax("i", 2))
	w := g.Param("w", graph.F32)
	s := g.State("s", graph.F32)
	y := ops.Mul(x, w)
	bad := ops.Sum(x, "j")
	for _, c := range []struct {
		feed graph.Values
		node *graph.Node
		want string
	}{
		{nil, y, "x[i=2]: no value is given for this input"},
		{graph.Values{x: value(x, 1, 2)}, y, "w[]: no value is given for this param"},
		{nil, s, "s[]: no value is given for this state"},
		{graph.Values{x: value(x, 1)}, y, "x[i=2]: want 2 elements, got 1"},
		{graph.Values{y: value(y, 1, 2, 3)}, y, "%4[i=2]: want 2 elements, got 3"},
		{graph.Values{x: value(x, 1, 2)}, g.Apply(undefined{}, x), "%5[i=2]: no value is given for this op"},
		{nil, nil, "want a node, got nil"},
	} {
		_, err := ref.Eval(trait.Env{}, c.feed, c.node)
		if err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	if _, err := ref.Eval(trait.Env{}, nil, bad); err == nil || !strings.HasPrefix(err.Error(), "node invalid is invalid: ") || !strings.Contains(err.Error(), `no axis "j"`) {
		t.Errorf("an invalid node: %v", err)
	}
}

// TestDraws: a draw is a function of its key, its type, the seed and the step,
// the same here and on the tape.
func TestDraws(t *testing.T) {
	build := func(name string, dt graph.DType) *graph.Node {
		return ops.RandomNormal(graph.New("g"), name, dt, graph.Ax("i", 100))
	}
	draw := func(n *graph.Node, seed, step uint64) []float64 {
		v, err := ref.Eval(trait.Env{Seed: seed, Step: step}, nil, n)
		if err != nil {
			t.Fatal(err)
		}
		return v[0].Data
	}
	first := draw(build("ε", graph.F64), 1, 2)
	if again := draw(build("ε", graph.F64), 1, 2); !slices.Equal(again, first) {
		t.Error("equal keys draw different numbers")
	}
	for what, other := range map[string][]float64{
		"seed": draw(build("ε", graph.F64), 2, 2), "step": draw(build("ε", graph.F64), 1, 3),
		"name": draw(build("δ", graph.F64), 1, 2), "type": draw(build("ε", graph.F32), 1, 2),
	} {
		for i := range other {
			if other[i] == first[i] {
				t.Errorf("another %s draws the same number at %d", what, i)
			}
		}
	}
	mean, square := 0.0, 0.0
	for _, x := range first {
		mean, square = mean+x/100, square+x*x/100
	}
	if math.Abs(mean) > 0.4 || math.Abs(square-1) > 0.6 {
		t.Errorf("mean %v and mean square %v are not a normal's", mean, square)
	}
	n := build("ε", graph.F32)
	tape, err := reftest.Tape(7, nil, []*graph.Node{n})
	if err != nil || !slices.Equal(tape[0].Data, draw(n, 7, 0)) {
		t.Errorf("the tape draws other numbers: %v", err)
	}
}

// TestFloat32IsMeant: a float32 graph is evaluated as its float64 meaning, while
// conversions to integers do round.
func TestFloat32IsMeant(t *testing.T) {
	g := graph.New("g")
	x := g.Input("x", graph.F32)
	third := ops.Div(x, g.Constant(graph.F32, []float64{3}))
	v, err := ref.Eval(trait.Env{}, graph.Values{x: value(x, 1)}, third, ops.Cast(ops.Scale(third, -8), graph.I32), g.Constant(graph.F32, []float64{0.1}))
	if err != nil || v[0].Data[0] != 1.0/3 || v[1].Data[0] != -2 || v[2].Data[0] != float64(float32(0.1)) {
		t.Errorf("got %v, %v", v, err)
	}
}
