package tape_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// short are computations on 300 short rows x[p q c], with further operands of every kind that
// they read: by the row, by the group, alike for all rows, and strided.
var short = []struct {
	name string
	of   func(x, w, s, n *graph.Node) []*graph.Node // w[p c], s[c], integers n[p]
}{
	{"elementwise", func(x, w, s, _ *graph.Node) []*graph.Node {
		return []*graph.Node{ops.Sin(ops.Mul(ops.Add(x, ops.Expand(w, 1, "q")), s))}
	}},
	{"columns of a wider row", func(x, w, _, _ *graph.Node) []*graph.Node {
		a, b := ops.Squeeze(ops.Slice(w, "c", 2, 3), "c"), ops.Squeeze(ops.Slice(w, "c", 0, 1), "c")
		return []*graph.Node{ops.Add(ops.Mul(a, b), ops.Sum(ops.Square(ops.Slice(w, "c", 1, 3)), "c"))}
	}},
	{"reductions", func(x, _, _, _ *graph.Node) []*graph.Node {
		y := ops.Square(x)
		return []*graph.Node{ops.Sum(y, "c"), ops.Mean(y, "q"), ops.Max(y, "q", "c"), ops.Prod(y, "c"), ops.Min(x, "c")}
	}},
	{"sums over the rows", func(x, w, s, _ *graph.Node) []*graph.Node {
		y := ops.Mul(ops.Sin(x), ops.Expand(w, 1, "q")) // times s, the sum would come first
		return []*graph.Node{ops.Sum(y, "p"), ops.Mean(ops.Mul(w, s)), ops.Sum(y, "p", "c")}
	}},
	{"parts", func(x, w, s, _ *graph.Node) []*graph.Node {
		y := ops.Concat("c", ops.Slice(x, "c", 1, 3), ops.Reverse(ops.Sin(x), "c"), ops.Slice(x, "c", 0, 1))
		return []*graph.Node{y, ops.Mul(ops.SliceStep(y, "c", 0, 6, 2), s), grad.Of(ops.Sum(ops.Sin(ops.Slice(w, "c", 1, 2))), w)[0]}
	}},
	{"joined", func(x, w, s, _ *graph.Node) []*graph.Node {
		y := ops.Sin(ops.Mul(x, s))
		z := ops.Concat("c", ops.Reverse(y, "c"), ops.Mul(y, ops.Expand(w, 1, "q")), ops.Slice(y, "c", 1, 2))
		return []*graph.Node{z, ops.Concat("q", y, x), ops.Concat("c", ops.Sin(w), ops.Mul(w, s)), ops.Square(ops.Concat("c", w, ops.Cos(w)))}
	}},
	{"choices", func(x, w, s, n *graph.Node) []*graph.Node {
		m := ops.Greater(x, s)
		return []*graph.Node{ops.Select(m, ops.Sin(x), ops.Expand(w, 1, "q")), ops.Any(ops.Less(w, s), "c"), ops.Cast(m, graph.I32)}
	}},
	{"gathered", func(x, w, s, n *graph.Node) []*graph.Node {
		rows := ops.Gather(ops.Mul(s, s), ops.Cast(ops.OneHot(n, 1, graph.Ax("k", 3), w.DType()), graph.I32), "c")
		rows = ops.Rename(rows, "k", "c")
		y := ops.Mul(ops.Mul(ops.Sin(rows), s), ops.Mul(w, s))
		return []*graph.Node{ops.Div(y, ops.Shift(ops.Expand(ops.Sum(ops.Square(y), "c"), 1, "c"), 1)), ops.Sin(rows)}
	}},
	{"other axes", func(x, w, s, _ *graph.Node) []*graph.Node {
		y := ops.Transpose(ops.Sin(x), "p", "c", "q")
		return []*graph.Node{ops.Sum(y, "q"), ops.Sub(y, ops.Expand(w, 2, "q")), ops.Mul(ops.Merge(ops.Sin(x), "pq", "p", "q"), s)}
	}},
	{"products and softmax", func(x, w, s, _ *graph.Node) []*graph.Node {
		m := ops.Mul(ops.Expand(s, 1, "d"), ops.Expand(ops.Rename(s, 0, "d"), 0, "c"))
		y := ops.Mul(ops.Tanh(ops.MatMul(ops.Mul(w, s), m)), ops.Rename(w, 1, "d"))
		for range 2 {
			y = ops.Div(y, ops.Shift(ops.Expand(ops.Sum(ops.Square(y), "d"), 1, "d"), 1))
		}
		return []*graph.Node{ops.Square(ops.Softmax(y, "d")), ops.MatMul(ops.Transpose(ops.Sin(y), 1, 0), w)}
	}},
	{"looked up", func(x, w, s, n *graph.Node) []*graph.Node {
		table := ops.Concat(0, ops.Split(s, 0, graph.Ax("t", 1), graph.Ax("c", 3)), ops.Sin(ops.Split(s, 0, graph.Ax("t", 1), graph.Ax("c", 3))), ops.Rename(ops.Slice(w, "p", 3, 8), "p", "t"))
		rows := ops.Rename(ops.Gather(table, n, 0), 0, "p")
		return []*graph.Node{ops.Sum(ops.Square(ops.Sin(rows)), "c"), ops.Div(ops.Mul(rows, s), ops.Shift(ops.Square(w), 1)), ops.Mul(ops.Slice(rows, "c", 1, 3), ops.Slice(w, "c", 0, 2))}
	}},
	{"in a circle", func(x, w, s, _ *graph.Node) []*graph.Node {
		a, b := ops.Sin(w), ops.Mul(ops.Cos(w), s)
		cross := ops.Sub(ops.Mul(circle(a, 1), circle(b, 2)), ops.Mul(circle(a, 2), circle(b, 1)))
		y := ops.Tanh(x)
		return []*graph.Node{cross, ops.Sub(circle(ops.Mul(y, s), 1), ops.Mul(y, ops.Expand(circle(cross, 2), 1, "q"))), ops.Sum(ops.Mul(circle(a, 1), cross), "c")}
	}},
	{"sums of products", func(x, w, s, _ *graph.Node) []*graph.Node {
		y, v := ops.Tanh(x), ops.Sin(w)
		two := ops.Sum(ops.Mul(ops.Slice(y, "c", 0, 2), ops.Expand(ops.Slice(v, "c", 1, 3), 1, "q")), "c")
		return []*graph.Node{two, ops.Sum(ops.Mul(y, ops.Expand(v, 1, "q")), "c"), ops.Sum(ops.Mul(y, ops.Sin(y)), "q"), ops.Sum(ops.Square(y), "q"), ops.Sum(ops.Square(ops.Sub(w, s)), "c"), ops.Sum(ops.Mul(v, ops.Cos(v)), "c"), ops.Mean(ops.Mul(v, w), "p")}
	}},
	{"a derivative by the row", func(x, w, _, _ *graph.Node) []*graph.Node {
		return vmap.Each(func(in []*graph.Node) []*graph.Node {
			y := ops.Div(ops.Sin(in[0]), ops.Sqrt(ops.Shift(ops.Sum(ops.Square(in[0])), 1)))
			return []*graph.Node{y, grad.Jacobian(y, in[0])}
		}, w)
	}},
}

// circle is x[… c=3] with element i + by in place i, counted in a circle.
func circle(x *graph.Node, by int) *graph.Node {
	return ops.Concat("c", ops.Slice(x, "c", by, 3), ops.Slice(x, "c", 0, by))
}

// TestShortRows: what is computed along turned rows agrees with the definitions, in blocks of every
// size, and bit by bit for any number of workers.
func TestShortRows(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, c := range short {
		for _, dt := range []graph.DType{graph.F32, graph.F64} {
			t.Run(fmt.Sprint(c.name, " ", dt), func(t *testing.T) {
				g := graph.New("short")
				p, q, k := graph.Ax("p", 300), graph.Ax("q", 2), graph.Ax("c", 3)
				in := []*graph.Node{g.Input("x", dt, p, q, k), g.Input("w", dt, p, k), g.Input("s", dt, k), g.Input("n", graph.I32, p)}
				outs := c.of(in[0], in[1], in[2], in[3])
				if err := g.Err(); err != nil {
					t.Fatal(err)
				}
				r, values := rand.New(rand.NewPCG(1, 2)), graph.Values{}
				feed := tape.Feed{}
				for _, x := range in {
					v := graph.NewValue(x.Type())
					for i := range v.Data {
						if v.Data[i] = float64(float32(r.NormFloat64())); x.DType() == graph.I32 {
							v.Data[i] = float64(r.IntN(3))
						}
					}
					values[x], feed[x] = v, tape.Tensor(v)
				}
				want, err := ref.Eval(trait.Env{}, values, outs...)
				if err != nil {
					t.Fatal(err)
				}
				turned := false
				for _, option := range []tape.Option{nil, tape.Small(), tape.Fine(), tape.Watch(inside(outs)...)} {
					prog := compile(t, g, option, tape.Debug(nil), tape.Fetch(outs...))
					turned = turned || option == nil && strings.Contains(prog.String(), "· turned")
					var bits [][]float64
					for _, workers := range []int{1, 3} {
						vm := tapetest.VM(t, prog, tape.NewStore(g), tape.Workers(workers))
						run(t, vm, feed)
						for i, y := range outs {
							got := value(t, vm, y)
							if err := reftest.Near(got, want[i].Data, 4*reftest.Tolerance(dt)); err != nil {
								t.Errorf("%v: %v\n%v", y, err, prog)
							}
							if workers == 1 {
								bits = append(bits, got)
							} else if fmt.Sprint(got) != fmt.Sprint(bits[i]) {
								t.Errorf("%v: %d workers change bits", y, workers)
							}
						}
						vm.Close()
					}
				}
				if !turned {
					t.Errorf("no rows are turned\n%v", compile(t, g, tape.Fetch(outs...)))
				}
			})
		}
	}
}

// inside returns the nodes of floats that others are computed from.
func inside(outs []*graph.Node) (all []*graph.Node) {
	for _, n := range graph.Reachable(outs...) {
		if n.Op() != nil && n.DType().IsFloat() {
			all = append(all, n)
		}
	}
	return all
}

// What joins turned rows turns them back, so nothing else does.
func TestJoinsTurnBack(t *testing.T) {
	g := graph.New("joined")
	x := g.Input("x", graph.F64, graph.Ax("p", 3000), graph.Ax("q", 2), graph.Ax("c", 3))
	y := ops.Sin(ops.Mul(x, ops.Cos(ops.Slice(x, "c", 1, 2))))
	text := compile(t, g, tape.Fetch(ops.Concat("c", y, ops.Square(y)))).String()
	if !strings.Contains(text, "turned(x)") || strings.Contains(text, "columns(") {
		t.Errorf("the joined rows are not turned back at once\n%v", text)
	}
}
