package gorgonia

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestLayouts compares operations that move or reduce axes with the reference, over random shapes
// with many axes of size 1: four axes and more are where gorgonia's sums go wrong.
func TestLayouts(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	shape := func(rank int) []graph.Axis {
		axes := make([]graph.Axis, rank)
		for i := range axes {
			axes[i].Size = 1 + r.IntN(4)
		}
		return axes
	}
	someAxes := func(rank int) (refs []any) {
		for a := range rank {
			if r.IntN(2) == 0 {
				refs = append(refs, a)
			}
		}
		if r.IntN(2) == 0 {
			refs = append(refs, ops.Keep)
		}
		return refs
	}
	moved := func(x *graph.Node) *graph.Node {
		var refs []any
		for _, a := range r.Perm(x.Rank()) {
			refs = append(refs, a)
		}
		return ops.Transpose(x, refs...)
	}
	sliced := func(x *graph.Node) *graph.Node {
		a := r.IntN(x.Rank())
		from := r.IntN(x.Dim(a))
		if r.IntN(3) == 0 {
			return ops.Reverse(ops.Slice(x, a, from, x.Dim(a)), a)
		}
		return ops.SliceStep(x, a, from, from+1+r.IntN(x.Dim(a)-from), 1+r.IntN(2))
	}
	calls := map[string]func(x *graph.Node) *graph.Node{
		"Sum":        func(x *graph.Node) *graph.Node { return ops.Sum(x, someAxes(x.Rank())...) },
		"Mean":       func(x *graph.Node) *graph.Node { return ops.Mean(x, someAxes(x.Rank())...) },
		"Max":        func(x *graph.Node) *graph.Node { return ops.Max(x, someAxes(x.Rank())...) },
		"Min":        func(x *graph.Node) *graph.Node { return ops.Min(x, someAxes(x.Rank())...) },
		"LogSumExp":  func(x *graph.Node) *graph.Node { return ops.LogSumExp(x, someAxes(x.Rank())...) },
		"Softmax":    func(x *graph.Node) *graph.Node { return ops.Softmax(x, r.IntN(x.Rank())) },
		"LogSoftmax": func(x *graph.Node) *graph.Node { return ops.LogSoftmax(x, r.IntN(x.Rank())) },
		"Transpose":  moved,
		"Slice":      sliced,
		"Place":      func(x *graph.Node) *graph.Node { return grad.Of(ops.Sum(ops.Square(sliced(x))), x)[0] },
		"Concat": func(x *graph.Node) *graph.Node {
			a := r.IntN(x.Rank())
			return ops.Concat(a, x, ops.Neg(x), ops.Slice(x, a, 0, 1))
		},
		"Broadcast": func(x *graph.Node) *graph.Node {
			to := shape(x.Rank() + r.IntN(3))
			for i := range x.Rank() {
				if n := x.Dim(x.Rank() - 1 - i); n > 1 {
					to[len(to)-1-i].Size = n
				}
			}
			s, _ := graph.NewShape(to...)
			return ops.Neg(ops.BroadcastTo(x, s))
		},
		"MatMul": func(x *graph.Node) *graph.Node {
			x = ops.Expand(x, 0, "")
			order := []any{}
			for a := range x.Rank() - 2 {
				order = append(order, a)
			}
			return ops.MatMul(x, ops.Transpose(x, append(order, x.Rank()-1, x.Rank()-2)...))
		},
		"WeightedDiff": func(x *graph.Node) *graph.Node {
			x = ops.Expand(x, 0, "")
			c := ops.Slice(x, x.Rank()-2, 0, 1)
			d := ops.SqDist(x, c)
			return ops.Add(ops.WeightedDiff(d, x, c), ops.DiffDot(x, x, c))
		},
	}
	for name, f := range calls {
		for _, dt := range []graph.DType{graph.F32, graph.F64} {
			t.Run(fmt.Sprintf("%s/%v", name, dt), func(t *testing.T) {
				for range 25 {
					g := graph.New("layout")
					x := g.Input("x", dt, shape(1+r.IntN(5))...)
					y := f(x)
					if err := g.Err(); err != nil {
						t.Fatal(err)
					}
					feed := graph.Values{x: draw(r, x.Type(), ops.Domain{Lo: -9, Hi: -1})}
					got, err := evaluate(t, feed, y)
					if err != nil {
						t.Fatal(err)
					}
					want, err := ref.Eval(trait.Env{}, feed, y)
					if err != nil {
						t.Fatal(err)
					}
					if d := differs(got[0], want[0], tolerance(dt)); d != "" {
						t.Fatalf("%v of %v: %s", y, x, d)
					}
				}
			})
		}
	}
}

// TestSpecialRows reduces rows with infinities and NaN.
func TestSpecialRows(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	rows := []float64{
		1, 2, 3, -1000, -2000, -1e30, inf, 1, -inf, -inf, -inf, -inf, -inf, 0, 1, nan, 0, 1, 0, nan, inf, 1, 0, nan, inf, inf, 2, 3e38, 3e38, -3e38,
	}
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		for name, f := range map[string]func(x *graph.Node) *graph.Node{
			"Max":        func(x *graph.Node) *graph.Node { return ops.Max(x, 1) },
			"Min":        func(x *graph.Node) *graph.Node { return ops.Min(x, 1) },
			"Softmax":    func(x *graph.Node) *graph.Node { return ops.Softmax(x, 1) },
			"LogSoftmax": func(x *graph.Node) *graph.Node { return ops.LogSoftmax(x, 1) },
			"LogSumExp":  func(x *graph.Node) *graph.Node { return ops.LogSumExp(x, 1) },
		} {
			t.Run(fmt.Sprintf("%s/%v", name, dt), func(t *testing.T) {
				g := graph.New("rows")
				x := g.Input("x", dt, graph.Dims(len(rows)/3, 3)...)
				feed := graph.Values{x: value(x, rows...)}
				got, err := evaluate(t, feed, f(x))
				if err != nil {
					t.Fatal(err)
				}
				want, err := ref.Eval(trait.Env{}, feed, f(x))
				if err != nil {
					t.Fatal(err)
				}
				if d := eachDiffers(got[0], want[0]); d != "" {
					t.Error(d)
				}
			})
		}
	}
}
