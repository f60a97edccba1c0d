package gorgonia

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

// clustering is one of the two objectives over points and centres, with its
// gradients and a step of gradient descent.
type clustering struct {
	g       *graph.Graph
	x, r, γ *graph.Node
	results []*graph.Node // the loss, then its derivatives
	step    graph.Step
}

var objectives = map[string]func(x, r, γ *graph.Node) builders.KMeans{
	"soft": builders.SoftKMeans, "goofy": builders.GoofyKMeans,
}

func newClustering(t testing.TB, objective string, dt graph.DType, n, k, d int) clustering {
	g := graph.New(objective)
	c := clustering{g: g, x: g.Input("x", dt, graph.Ax("i", n), graph.Ax("d", d)),
		r: g.Param("r", dt, graph.Ax("j", k), graph.Ax("d", d)), γ: g.Scalar("γ", 0.5, dt)}
	loss := objectives[objective](c.x, c.r, c.γ).Loss
	gradients := grad.Of(loss, c.r, c.x, c.γ)
	c.results = append([]*graph.Node{loss}, gradients...)
	c.step = graph.Step{g.Assign(c.r, ops.Sub(c.r, ops.Scale(gradients[0], 0.1)))}
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	return c
}

// points draws n rows around the origin, moved by offset.
func points(dt graph.DType, seed uint64, offset float64, n, d int) *tensor.Dense {
	r := rand.New(rand.NewPCG(seed, 0))
	s, _ := graph.NewShape(graph.Dims(n, d)...)
	v := graph.NewValue(graph.Type{DType: dt, Shape: s})
	for i := range v.Data {
		v.Data[i] = offset + r.NormFloat64()
	}
	return tape.Tensor(v)
}

// TestParity compares loss and gradients with the native tape's, as written and
// rewritten, also where an axis has size 1 and far from the origin.
func TestParity(t *testing.T) {
	for objective := range objectives {
		for _, size := range [][3]int{{8, 3, 2}, {1, 3, 2}, {8, 1, 2}, {8, 3, 1}, {1, 1, 2}, {1, 3, 1}, {5, 1, 1}, {1, 1, 1}, {20, 6, 5}} {
			for _, offset := range []float64{0, 1000} {
				for _, dt := range []graph.DType{graph.F32, graph.F64} {
					t.Run(fmt.Sprintf("%s/%v/%v/%v", objective, size, offset, dt), func(t *testing.T) {
						n, k, d := size[0], size[1], size[2]
						within := tolerance(dt)
						if offset != 0 && dt == graph.F32 {
							within = 2e-3 // neighbouring float32 numbers are 6e-5 apart there
						}
						c := newClustering(t, objective, dt, n, k, d)
						x := points(dt, 1, offset, n, d)
						store := tape.NewStore(c.g)
						if err := store.Set("r", points(dt, 2, offset, k, d)); err != nil {
							t.Fatal(err)
						}
						prog, err := tape.Compile(c.g, tape.Fetch(c.results...), tape.Passes())
						if err != nil {
							t.Fatal(err)
						}
						vm := tapetest.VM(t, prog, store)
						defer vm.Close()
						if err := vm.Run(t.Context(), tape.Feed{c.x: x}); err != nil {
							t.Fatal(err)
						}
						rewritten, err := rewrite.Run(c.g, c.results, rewrite.Passes()...)
						if err != nil {
							t.Fatal(err)
						}
						special := false
						for _, n := range rewritten.Graph.Nodes() {
							special = special || match.Is(n, match.SqDist) || match.Is(n, match.WeightedDiff)
						}
						if n > 1 && k > 1 && !special {
							t.Fatal("the rewritten graph has no pairwise operation")
						}
						for _, as := range []struct {
							form string
							g    *graph.Graph
							node func(*graph.Node) *graph.Node
						}{
							{"written", c.g, func(n *graph.Node) *graph.Node { return n }},
							{"rewritten", rewritten.Graph, rewritten.Node},
						} {
							var wanted []*graph.Node
							for _, n := range c.results {
								wanted = append(wanted, as.node(n))
							}
							m, err := Compile(as.g, Fetch(wanted...))
							if err != nil {
								t.Fatal(err)
							}
							defer m.Close()
							if err := m.Run(t.Context(), tape.Feed{c.x: x}, store); err != nil {
								t.Fatal(err)
							}
							for i, n := range c.results {
								want, err := vm.Value(n)
								if err != nil {
									t.Fatal(err)
								}
								got, err := m.Value(wanted[i])
								if err != nil {
									t.Fatal(err)
								}
								if d := differs(valueOf(t, n.Type(), got), valueOf(t, n.Type(), want), within); d != "" {
									t.Errorf("%s: %v: %s", as.form, n, d)
								}
							}
						}
					})
				}
			}
		}
	}
}

// TestTraining runs gradient descent on both engines and compares every loss and
// the centres at the end.
func TestTraining(t *testing.T) {
	for objective := range objectives {
		t.Run(objective, func(t *testing.T) {
			c := newClustering(t, objective, graph.F64, 30, 4, 3)
			loss := c.results[0]
			feed := tape.Feed{c.x: points(graph.F64, 3, 0, 30, 3), c.γ: tape.Scalar(graph.F64, 0.7)}
			ours, theirs := tape.NewStore(c.g, tape.Seed(5)), tape.NewStore(c.g, tape.Seed(5))
			prog, err := tape.Compile(c.g, tape.Fetch(loss), tape.Do(c.step))
			if err != nil {
				t.Fatal(err)
			}
			vm := tapetest.VM(t, prog, ours)
			defer vm.Close()
			m, err := Compile(c.g, Fetch(loss), Do(c.step))
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			first, last := 0.0, 0.0
			for i := range 25 {
				if err := vm.Run(t.Context(), feed); err != nil {
					t.Fatal(err)
				}
				if err := m.Run(t.Context(), feed, theirs); err != nil {
					t.Fatal(err)
				}
				d, err := m.Value(loss)
				if err != nil {
					t.Fatal(err)
				}
				last = valueOf(t, loss.Type(), d).Data[0]
				if i == 0 {
					first = last
				}
				if diff := last - tapetest.Float(t, vm, loss); diff > 1e-9 || diff < -1e-9 {
					t.Fatalf("step %d: loss %v, the tape's %v", i, last, tapetest.Float(t, vm, loss))
				}
			}
			if last >= first {
				t.Errorf("the loss went from %v to %v", first, last)
			}
			want, err := ours.Get("r")
			if err != nil {
				t.Fatal(err)
			}
			got, err := theirs.Get("r")
			if err != nil {
				t.Fatal(err)
			}
			if d := differs(valueOf(t, c.r.Type(), got), valueOf(t, c.r.Type(), want), 1e-9); d != "" {
				t.Error("centres: ", d)
			}
		})
	}
}

// BenchmarkStep times a step of gradient descent on soft k-means, both as written
// and by the native tape rewritten too.
func BenchmarkStep(b *testing.B) {
	const n, k, d = 1024, 16, 16
	c := newClustering(b, "soft", graph.F32, n, k, d)
	loss := c.results[0]
	feed := tape.Feed{c.x: points(graph.F32, 1, 0, n, d)}
	for name, options := range map[string][]tape.Option{"tape": nil, "tape as written": {tape.Passes()}} {
		b.Run(name, func(b *testing.B) {
			prog, err := tape.Compile(c.g, append(options, tape.Fetch(loss), tape.Do(c.step))...)
			if err != nil {
				b.Fatal(err)
			}
			vm := tapetest.VM(b, prog, tape.NewStore(c.g))
			defer vm.Close()
			b.ReportAllocs()
			for b.Loop() {
				if err := vm.Run(b.Context(), feed); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("gorgonia", func(b *testing.B) {
		m, err := Compile(c.g, Fetch(loss), Do(c.step))
		if err != nil {
			b.Fatal(err)
		}
		defer m.Close()
		store := tape.NewStore(c.g)
		b.ReportAllocs()
		for b.Loop() {
			if err := m.Run(b.Context(), feed, store); err != nil {
				b.Fatal(err)
			}
		}
	})
}
