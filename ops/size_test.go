package ops_test

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestNoArrayIsEmpty: an axis of size 0 is a mistake that is recorded, wherever one would come
// about, and what follows from it is silent. Nothing panics.
func TestNoArrayIsEmpty(t *testing.T) {
	for name, build := range map[string]func(g *graph.Graph, x, ix *graph.Node) *graph.Node{
		"input": func(g *graph.Graph, _, _ *graph.Node) *graph.Node { return g.Input("e", graph.F32, graph.Ax("i", 0)) },
		"input, no name": func(g *graph.Graph, _, _ *graph.Node) *graph.Node {
			return g.Input("e", graph.F32, graph.Dims(2, 0)...)
		},
		"param": func(g *graph.Graph, _, _ *graph.Node) *graph.Node { return g.Param("e", graph.F32, graph.Ax("i", 0)) },
		"state": func(g *graph.Graph, _, _ *graph.Node) *graph.Node { return g.State("e", graph.I32, graph.Ax("i", 0)) },
		"constant": func(g *graph.Graph, _, _ *graph.Node) *graph.Node {
			return g.Constant(graph.F32, nil, graph.Ax("i", 0))
		},
		"normal": func(g *graph.Graph, _, _ *graph.Node) *graph.Node {
			return ops.RandomNormal(g, "e", graph.F32, graph.Ax("i", 0))
		},
		"uniform": func(g *graph.Graph, _, _ *graph.Node) *graph.Node {
			return ops.RandomUniform(g, "e", graph.F32, graph.Ax("i", 0))
		},
		"slice":         func(_ *graph.Graph, x, _ *graph.Node) *graph.Node { return ops.Slice(x, 0, 2, 2) },
		"slice beyond":  func(_ *graph.Graph, x, _ *graph.Node) *graph.Node { return ops.Slice(x, 0, 3, 1) },
		"slice by step": func(_ *graph.Graph, x, _ *graph.Node) *graph.Node { return ops.SliceStep(x, 0, 1, 1, 2) },
		"reshape":       func(_ *graph.Graph, x, _ *graph.Node) *graph.Node { return ops.Reshape(x, 0, -1) },
		"reshape to 0":  func(_ *graph.Graph, x, _ *graph.Node) *graph.Node { return ops.Reshape(x, 3, 0) },
		"pad":           func(_ *graph.Graph, x, _ *graph.Node) *graph.Node { return ops.Pad(x, 0, -3, 0, 0) },
		"concat":        func(_ *graph.Graph, x, _ *graph.Node) *graph.Node { return ops.Concat(0, x, ops.Slice(x, 0, 1, 1)) },
		"one-hot": func(_ *graph.Graph, _, ix *graph.Node) *graph.Node {
			return ops.OneHot(ix, 0, graph.Axis{Size: 0}, graph.F32)
		},
		"gather": func(g *graph.Graph, x, _ *graph.Node) *graph.Node {
			return ops.Gather(x, g.Constant(graph.I32, nil, graph.Dims(0)...), 0)
		},
		"scatter": func(_ *graph.Graph, x, ix *graph.Node) *graph.Node {
			return ops.ScatterAdd(ix, x, 0, graph.Dims(0, 4)...)
		},
		"pool": func(_ *graph.Graph, x, _ *graph.Node) *graph.Node { return ops.MaxPool1D(x, 5) },
		"convolution": func(_ *graph.Graph, x, _ *graph.Node) *graph.Node {
			return ops.Conv1D(ops.Slice(x, 0, 0, 2), ops.Reshape(x, 3, 4, 1))
		},
		"loop": func(g *graph.Graph, x, _ *graph.Node) *graph.Node {
			none := g.Input("none", graph.F32, graph.Dims(0, 4)...)
			r := ops.Scan(ops.Loop{Carry: []*graph.Node{ops.Sum(x, 0)}, Over: []*graph.Node{none}, Axis: 0}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
				return []*graph.Node{ops.Add(c[0], x[0])}, x
			})
			return r.Final[0]
		},
	} {
		g := graph.New(name)
		x, ix := g.Input("x", graph.F32, graph.Dims(3, 4)...), g.Input("ix", graph.I32, graph.Dims(3)...)
		y := build(g, x, ix)
		err := g.Err()
		if err == nil {
			t.Errorf("%s: %v is no mistake", name, y.Type())
			continue
		}
		was := err.Error()
		ops.Mean(ops.Tanh(ops.Add(y, ops.Sum(y, 0))))
		if g.Err().Error() != was || strings.Count(was, "\n") > 0 {
			t.Errorf("%s: want one mistake, got\n%v", name, g.Err())
		}
	}
}
