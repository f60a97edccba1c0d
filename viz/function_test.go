package viz

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestFunction: a function is a closed box with its name, which opens in place; a loop with a
// condition says that its steps are a bound.
func TestFunction(t *testing.T) {
	g := graph.New("g")
	x, w := g.Input("x", graph.F32, graph.Ax("n", 7)), g.Param("w", graph.F32, graph.Ax("n", 7))
	y := ops.Call("block", func(x []*graph.Node) []*graph.Node {
		h := ops.Tanh(ops.Mul(x[0], x[1])).As("h")
		return []*graph.Node{ops.Add(h, x[0])}
	}, x, w)[0].As("y")
	r := ops.While(ops.Loop{Carry: []*graph.Node{y}, Steps: 9},
		func(c, _ []*graph.Node) *graph.Node { return ops.Less(ops.Sum(c[0]), ops.Lit(c[0], 7)) },
		func(c, _, _ []*graph.Node) (next, out []*graph.Node) {
			return []*graph.Node{ops.Scale(c[0], 2).As("v")}, nil
		})
	loss := ops.Sum(r.Final[0]).As("loss")
	if got, want := Formula(y), "yₙ = hₙ + xₙ"; got != want {
		t.Errorf("the formula of a function is %s, want %s", got, want)
	}
	for _, c := range []struct {
		options []Option
		has     []string
		lacks   string
	}{
		{nil, []string{"block", "loop over t, at most 9 steps"}, "tanh"},
		{[]Option{Expand("block")}, []string{"block", "tanh"}, "block</text><text>3 ops"},
	} {
		var b strings.Builder
		if err := DOT(&b, []*graph.Node{loss}, c.options...); err != nil {
			t.Fatal(err)
		}
		for _, s := range c.has {
			if !strings.Contains(b.String(), s) {
				t.Errorf("the drawing lacks %q:\n%s", s, b.String())
			}
		}
		if strings.Contains(b.String(), c.lacks) {
			t.Errorf("the drawing has %q:\n%s", c.lacks, b.String())
		}
	}
}
