package ops_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestWindowAxes: windows along named axes, with the channels anywhere, are the windows of the array
// with its axes in the usual order, and the result has its axes where the array has them.
func TestWindowAxes(t *testing.T) {
	g := graph.New("axes")
	ax := graph.Ax
	x := g.Input("x", graph.F64, ax("c", 2), ax("w", 5), ax("n", 2), ax("h", 4), ax("d", 3))
	k1 := g.Input("k1", graph.F64, ax("k", 3), ax("c", 2), ax("o", 3))
	k2 := g.Input("k2", graph.F64, ax("kh", 2), ax("kw", 3), ax("c", 2), ax("o", 3))
	k3 := g.Input("k3", graph.F64, ax("kd", 2), ax("kh", 2), ax("kw", 3), ax("c", 2), ax("o", 3))
	v3 := g.Input("v3", graph.F64, ax("kd", 2), ax("kh", 2), ax("kw", 3), ax("c", 2), ax("o", 3))
	laid := func(axes ...any) node { return ops.Transpose(x, axes...) }
	where := func(axes ...any) ops.Window { return ops.Windows(ops.Along(axes...), ops.Channels("c")) }
	rows := []struct {
		name      string
		got, want node
	}{
		{"conv 1", ops.Conv1D(x, k1, where("w"), ops.Same()), ops.Conv1D(laid("n", "h", "d", "w", "c"), k1, ops.Padding(1))},
		{"conv 2", ops.Conv2D(x, k2, where("h", "w"), ops.Stride(1, 2)), ops.Conv2D(laid("n", "d", "h", "w", "c"), k2, ops.Stride(1, 2))},
		{"conv 3", ops.Conv3D(x, k3, where("d", "h", "w"), ops.Padding(0, 1, 0)), ops.Conv3D(laid("n", "d", "h", "w", "c"), k3, ops.Padding(0, 1, 0))},
		{"transposed", ops.ConvTranspose3D(x, v3, where("d", "h", "w"), ops.Stride(2)), ops.ConvTranspose3D(laid("n", "d", "h", "w", "c"), v3, ops.Stride(2))},
		{"largest", ops.MaxPool2D(x, ops.Size(2, 3), where("h", "w")), ops.MaxPool2D(laid("n", "d", "h", "w", "c"), ops.Size(2, 3))},
		{"largest of 3", ops.MaxPool3D(x, ops.Size(2), where("d", "h", "w"), ops.Stride(1)), ops.MaxPool3D(laid("n", "d", "h", "w", "c"), ops.Size(2), ops.Stride(1))},
		{"average", ops.AvgPool1D(x, ops.Size(2), where(-1)), ops.AvgPool1D(laid("n", "h", "w", "d", "c"), ops.Size(2))},
		{"spatial axes are the last others", ops.AvgPool2D(x, ops.Size(2), ops.Channels(0)), ops.AvgPool2D(laid("w", "n", "h", "d", "c"), ops.Size(2))},
	}
	feed, rng := graph.Values{}, rand.New(rand.NewPCG(1, 2))
	for _, n := range []node{x, k1, k2, k3, v3} {
		v := graph.NewValue(n.Type())
		for i := range v.Data {
			v.Data[i] = rng.NormFloat64()
		}
		feed[n] = v
	}
	for _, r := range rows {
		if !r.got.IsValid() || !r.want.IsValid() {
			t.Fatalf("%s: %v", r.name, g.Err())
		}
		names := func(n node) (out []any) {
			for _, a := range n.Shape().Axes() {
				out = append(out, a.Name)
			}
			return out
		}
		order := slices.Index([]string{"c", "o"}, r.got.Shape().Axis(0).Name)
		if at := names(r.got); order < 0 || !slices.Equal(at[1:], []any{"w", "n", "h", "d"}) {
			t.Errorf("%s: axes %v", r.name, at)
		}
		out, err := ref.Eval(trait.Env{}, feed, ops.Transpose(r.got, names(r.want)...), r.want)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(out[0].Data, out[1].Data) {
			t.Errorf("%s: other values", r.name)
		}
	}
}
