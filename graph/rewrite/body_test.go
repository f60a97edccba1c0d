package rewrite_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestBodiesAreRewritten: a softmax written out in the body of a loop becomes
// stable, and so does its derivative, which is taken again of the new body.
func TestBodiesAreRewritten(t *testing.T) {
	g := graph.New("loop")
	x := g.Input("x", graph.F64, graph.Ax("t", 4), graph.Ax("d", 3))
	h := g.Input("h", graph.F64, graph.Ax("d", 3))
	naive := ops.Scan(ops.Loop{Carry: []*graph.Node{h}, Over: []*graph.Node{x}}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
		e := ops.Exp(ops.Add(c[0], x[0]))
		return []*graph.Node{ops.Div(e, ops.Sum(e, "d", ops.Keep))}, nil
	})
	stable := ops.Scan(ops.Loop{Carry: []*graph.Node{h}, Over: []*graph.Node{x}}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
		return []*graph.Node{ops.Softmax(ops.Add(c[0], x[0]), "d")}, nil
	})
	w := g.Constant(graph.F64, []float64{0.3, -1, 0.5}, graph.Ax("d", 3))
	lossOf := func(r ops.Scanned) *graph.Node { return ops.Sum(ops.Mul(ops.Square(r.Trace[0]), w)) }
	a, b := lossOf(naive), lossOf(stable)
	wanted := append([]*graph.Node{a, b}, append(grad.Of(a, x, h), grad.Of(b, x, h)...)...)
	res, err := rewrite.Run(g, wanted, rewrite.Passes()...)
	if err != nil {
		t.Fatal(err)
	}
	if err := graph.Verify(res.Graph); err != nil {
		t.Error(err)
	}
	if !strings.Contains(res.LogText(), "stabilise: naive softmax: Div") {
		t.Errorf("the log has no rule in the body:\n%s", res.LogText())
	}
	for _, n := range res.Graph.Nodes() {
		if b := n.Body(); b != nil && strings.Contains(b.Graph().String(), "Exp") {
			t.Errorf("a body still has Exp:\n%v", b)
		}
	}
	v := graph.NewValue(x.Type())
	for i := range v.Data {
		v.Data[i] = 400 * math.Sin(float64(7*i)) // exp overflows
	}
	feed := graph.Values{res.Graph.Lookup("x"): v, res.Graph.Lookup("h"): {Type: h.Type(), Data: []float64{800, 0, -5}}}
	now := make([]*graph.Node, len(wanted))
	for i, n := range wanted {
		now[i] = res.Node(n)
	}
	got, err := ref.Eval(trait.Env{}, feed, now...)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range [][2]int{{0, 1}, {2, 4}, {3, 5}} {
		if err := reftest.Near(got[p[0]].Data, got[p[1]].Data, 1e-12); err != nil {
			t.Errorf("%v: %v", wanted[p[0]], err)
		}
		if reftest.Largest(got[p[0]].Data) == 0 {
			t.Errorf("%v is 0", wanted[p[0]])
		}
	}

	again, err := rewrite.Run(res.Graph, now, rewrite.Passes()...)
	if err != nil {
		t.Fatal(err)
	}
	if was, now := forms(res.Graph), forms(again.Graph); !slices.Equal(was, now) {
		t.Errorf("a second run changes the bodies from\n%v\nto\n%v", was, now)
	}
}

// forms are the bodies of a graph, without names and positions.
func forms(g *graph.Graph) (list []string) {
	for _, n := range g.Nodes() {
		if b := n.Body(); b != nil {
			list = append(list, b.Form())
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
