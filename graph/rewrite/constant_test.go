package rewrite

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestDerivativeByConstant: where a part of the loss is folded, what was folded
// still has its share in the derivative by a constant, or by what only constants make.
func TestDerivativeByConstant(t *testing.T) {
	for name, wrt := range map[string]func(x *graph.Node) *graph.Node{
		"a constant": func(x *graph.Node) *graph.Node { return x },
		"made of constants": func(x *graph.Node) *graph.Node {
			return ops.Exp(x)
		},
	} {
		g := graph.New("constant")
		x := wrt(g.Constant(graph.F64, []float64{1, 2, 3, 5, 8, 13}, graph.Dims(2, 3)...))
		w := g.Input("w", graph.F64, graph.Dims(2, 3)...)
		loss := ops.Sum(ops.Mul(w, ops.Div(x, ops.Sum(x, 1, ops.Keep))))
		d := grad.Of(loss, x)[0]
		feed := func(w *graph.Node) graph.Values {
			return graph.Values{w: {Type: w.Type(), Data: []float64{1, -2, 3, 5, 0, 2}}}
		}
		want, err := ref.Eval(trait.Env{}, feed(w), d)
		if err != nil {
			t.Fatal(err)
		}
		res, err := Run(g, []*graph.Node{d}, Passes()...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ref.Eval(trait.Env{}, feed(res.Graph.Lookup("w")), res.Node(d))
		if err != nil {
			t.Fatal(err)
		}
		if e := distance(got[0].Data, want[0].Data); !(e < 1e-12) {
			t.Errorf("%s: %v, want %v\n%s", name, got[0].Data, want[0].Data, res.LogText())
		}
	}
}
