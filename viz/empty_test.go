package viz_test

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/viz"
)

// TestWithoutElements: graphs of arrays without elements are drawn and written like others, as they are
// and with constants for the arrays.
func TestWithoutElements(t *testing.T) {
	g := graph.New("no rows")
	x := g.Input("x", graph.F32, graph.Ax("i", 0), graph.Ax("d", 3))
	w, e := g.Param("w", graph.F32, graph.Ax("d", 3), graph.Ax("k", 2)), g.Param("e", graph.F32, graph.Ax("k", 0))
	h := ops.Tanh(ops.MatMul(x, w)).As("h")
	c := g.Constant(graph.F32, nil, graph.Ax("k", 0))
	r := ops.Scan(ops.Loop{Carry: []*graph.Node{ops.Mul(e, c), ops.Sum(w, 1)}, Steps: 3}, func(c, _, _ []*graph.Node) (next, out []*graph.Node) {
		return []*graph.Node{ops.Sin(c[0]), ops.Sin(c[1])}, []*graph.Node{ops.Neg(c[0])}
	})
	loss := ops.Add(ops.Sum(ops.Square(h)), ops.Add(ops.Sum(r.Final[0]), ops.Add(ops.Sum(r.Out[0]), ops.Sum(r.Final[1])))).As("L")
	roots := append(grad.Of(loss, w, e), loss)
	for level := viz.Level(0); level < 4; level++ {
		var b strings.Builder
		if err := viz.SVG(&b, roots, viz.At(level)); err != nil || !strings.Contains(b.String(), "w") {
			t.Errorf("level %v: %v", level, err)
		}
		if err := viz.DOT(&b, roots, viz.At(level)); err != nil {
			t.Errorf("level %v: %v", level, err)
		}
	}
	if _, err := viz.Sketch(roots); err != nil {
		t.Log(err) // it may say what it cannot draw
	}
	for _, n := range g.Nodes() {
		if viz.Formula(n) == "" || viz.LaTeX(n) == "" {
			t.Errorf("%v has no formula", n)
		}
		viz.Equations(n)
	}
	if _, err := viz.Derive(roots[0]); err != nil {
		t.Error(err)
	}
	if _, err := viz.Diff(roots, roots); err != nil {
		t.Error(err)
	}
}
