package inspect_test

import (
	"fmt"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestWitnessWindow checks that an overflow is reported with the number of elements it is
// computed from, counted here by hand, and with the largest of them.
func TestWitnessWindow(t *testing.T) {
	const huge = 3e38
	for _, c := range []struct {
		name string
		make func(x, w *graph.Node) *graph.Node
		at   string // what is found
		of   []int  // elements of each operand
		most string // the largest of the first operand
	}{
		{"sum of a row", func(x, _ *graph.Node) *graph.Node { return ops.Sum(x, "d").As("y") }, "y[i=2] = ∞", []int{4}, "x[i=2 d=1]"},
		{"sum of all", func(x, _ *graph.Node) *graph.Node { return ops.Sum(x).As("y") }, "y = ∞", []int{20}, "x[i=2 d=1]"},
		{"product", func(x, w *graph.Node) *graph.Node { return ops.MatMul(x, w).As("y") }, "y[i=2 h=0] = ∞", []int{4, 4}, "x[i=2 d=1]"},
		{"product with a transpose", func(x, w *graph.Node) *graph.Node {
			return ops.MatMul(ops.Transpose(w), ops.Transpose(x)).As("y")
		}, "y[h=0 i=2] = ∞", []int{4, 4}, "w[d=0 h=0]"},
		{"window", func(x, _ *graph.Node) *graph.Node {
			x = ops.Reshape(x, 1, 20, 1)
			return ops.Conv1D(x, ops.BroadcastTo(ops.Lit(x, 1), mustShape(graph.Dims(3, 1, 1)...))).As("y")
		}, "y[0 8 0] = ∞", []int{3, 3}, "x[i=2 d=1]"},
	} {
		g := graph.New(c.name)
		x := g.Input("x", graph.F32, graph.Ax("i", 5), graph.Ax("d", 4))
		w := g.Input("w", graph.F32, graph.Ax("d", 4), graph.Ax("h", 2))
		data, ones := make([]float64, 20), []float64{1, 1, 1, 1, 1, 1, 1, 1}
		data[9], data[10] = huge, huge/2 // [2 1] and [2 2]
		f := autopsy(t, fed(map[*graph.Node][]float64{x: data, w: ones}), nil, c.make(x, w))
		if f == nil {
			t.Errorf("%s: nothing is found: %v", c.name, g.Err())
			continue
		}
		var of []int
		for _, o := range f.Witness {
			of = append(of, o.Of)
		}
		most := f.Witness[0].Entries[0]
		if f.At.String() != c.at || fmt.Sprint(of) != fmt.Sprint(c.of) || most.String()[:len(c.most)] != c.most {
			t.Errorf("%s: %v of %v elements, the largest %v; want %s of %v, %s", c.name, f.At, of, most, c.at, c.of, c.most)
		}
	}
}

func mustShape(axes ...graph.Axis) graph.Shape {
	s, err := graph.NewShape(axes...)
	if err != nil {
		panic(err)
	}
	return s
}
