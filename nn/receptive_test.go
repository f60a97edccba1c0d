package nn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestReceptiveField: the receptive field of a stack has the size 1 + Σ D·(K − 1)·J, where J is the
// product of the strides of the layers before, and goes from the first to the last input by which
// the derivative of an output is not zero, padding apart.
func TestReceptiveField(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 60 {
		stack, layers := make([]ops.Sliding, 1+rng.IntN(3)), []ops.Window(nil)
		for i := range stack {
			size := 1 + rng.IntN(4)
			stride, padding, dilation := 1+rng.IntN(min(size, 3)), rng.IntN(size), 1
			if i == 0 { // later layers close the holes between its elements or not; the ends stay
				dilation = 1 + rng.IntN(2)
			}
			layers = append(layers, ops.Windows(ops.Size(size), ops.Stride(stride), ops.Padding(padding), ops.Dilation(dilation)))
			stack[i] = ops.Sliding{Size: size, Stride: stride, Dilation: dilation, Before: padding, After: padding}
		}
		const n = 40
		g := graph.New("stack")
		x := g.Input("x", graph.F64, graph.Ax("t", n), graph.Ax("c", 1))
		y, size := x, n
		for i, w := range stack {
			y = nn.NewConv1D(g, fmt.Sprint("conv", i), graph.F64, graph.Ax("c", 1), graph.Ax("c", 1), layers[i]).Of(y)
			size = w.Count(size)
		}
		if size < 1 {
			continue
		}
		feed := layertest.Filled(g, rng)
		for _, v := range feed {
			for i := range v.Data {
				v.Data[i] = 1 + math.Abs(v.Data[i])
			}
		}
		all := nn.ReceptiveField(layers...)
		field := all[len(all)-1]
		for _, i := range []int{0, size / 2, size - 1} {
			d := layertest.Values(t, feed, grad.Of(ops.Sum(ops.Slice(y, "t", i, i+1)), x)...)[0].Data
			first := i*field.Stride + field.Offset
			touched := touches(stack, i)
			for p := range n {
				if (d[p] != 0) != touched[p] {
					t.Fatalf("%+v: derivative of output %d by input %d is %v", stack, i, p, d[p])
				}
				if touched[p] && (p < first || p >= first+field.Size) {
					t.Fatalf("%+v: output %d sees input %d, outside %d to %d", stack, i, p, first, first+field.Size-1)
				}
			}
			// The ends of the field are seen where no padding comes between.
			if inner := i == size/2 && padless(stack); inner && (!touched[first] || !touched[first+field.Size-1]) {
				t.Fatalf("%+v: output %d does not see both ends of %d to %d", stack, i, first, first+field.Size-1)
			}
		}
	}
	table := nn.ReceptiveField(ops.Windows(ops.Size(3), ops.Padding(1)), ops.Windows(ops.Size(2), ops.Stride(2)), ops.Windows(ops.Size(3), ops.Dilation(2))).String()
	want := `layer  window stride padding dilation  field stride offset
    1       3      1       1        1      3      1     -1
    2       2      2       0        1      4      2     -1
    3       3      1       0        2     12      2     -1
`
	if table != want {
		t.Errorf("the table is\n%s, want\n%s", table, want)
	}
}

// touches are the inputs that an output of the stack depends on, window by window
// from the output down. What lies in the padding between layers is no element.
func touches(stack []ops.Sliding, out int) map[int]bool {
	sizes := []int{40}
	for _, w := range stack {
		sizes = append(sizes, w.Count(sizes[len(sizes)-1]))
	}
	at := map[int]bool{out: true}
	for i := len(stack) - 1; i >= 0; i-- {
		w, below := stack[i], map[int]bool{}
		for q := range at {
			for k := range w.Size {
				if p := q*w.Stride + k*w.Dilation - w.Before; p >= 0 && p < sizes[i] {
					below[p] = true
				}
			}
		}
		at = below
	}
	return at
}

func padless(stack []ops.Sliding) bool {
	return !slices.ContainsFunc(stack, func(w ops.Sliding) bool { return w.Before > 0 })
}
