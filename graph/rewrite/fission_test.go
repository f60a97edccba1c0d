package rewrite

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/randgraph"
	"github.com/tapestry-ml/tapestry/ops"
)

// scanned is a recurrence along the rows of x, with carry h[d=4].
func (v leaves) scanned(step func(h, x *graph.Node) (next, out *graph.Node)) ops.Scanned {
	h := v.g.Input("h", graph.F32, graph.Ax("d", 4))
	return ops.Scan(ops.Loop{Carry: []*graph.Node{h}, Over: []*graph.Node{v.x}}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
		h, o := step(c[0], x[0])
		if o == nil {
			return []*graph.Node{h}, nil
		}
		return []*graph.Node{h}, []*graph.Node{o}
	})
}

// weights are [4 4].
func (v leaves) weights(name string) *graph.Node {
	return v.g.Input(name, graph.F32, graph.Dims(4, 4)...)
}

// fissionCases are those of what leaves a loop, and of what stays.
var fissionCases = []ruleCase{
	{"the same at all times", true, func(v leaves) *graph.Node {
		v.x = repeated(v.p.Graph().Input("row", graph.F32, graph.Ax("d", 4)))
		return v.scanned(func(h, x *graph.Node) (_, _ *graph.Node) { return ops.Tanh(ops.Add(h, x)), nil }).Final[0]
	}},
	{"the same at all times", true, func(v leaves) *graph.Node {
		v.x = repeated(ops.Lit(v.s, 2))
		return v.scanned(func(h, x *graph.Node) (_, _ *graph.Node) { return ops.Tanh(ops.Mul(h, x)), nil }).Final[0]
	}},
	{"the same at all times", false, func(v leaves) *graph.Node {
		v.x = repeated(v.g.Input("column", graph.F32, graph.Ax("i", 3), graph.Ax("d", 1)))
		return v.scanned(func(h, x *graph.Node) (_, _ *graph.Node) { return ops.Tanh(ops.Add(h, x)), nil }).Final[0]
	}},

	{"after the loop", true, func(v leaves) *graph.Node {
		w := v.weights("v")
		return v.scanned(func(h, x *graph.Node) (_, _ *graph.Node) {
			h = ops.Tanh(ops.Add(h, x))
			return h, ops.MatMul(h, w)
		}).Out[0]
	}},
	// Nothing is carried.
	{"after the loop", true, func(v leaves) *graph.Node {
		return ops.Scan(ops.Loop{Over: []*graph.Node{v.x}}, func(_, x, _ []*graph.Node) (_, out []*graph.Node) {
			return nil, []*graph.Node{ops.Sum(ops.Exp(x[0]))}
		}).Out[0]
	}},
	{"after the loop", false, func(v leaves) *graph.Node {
		return v.scanned(func(h, x *graph.Node) (_, _ *graph.Node) {
			h = ops.Tanh(ops.Add(h, x))
			return h, ops.Mul(ops.Exp(h), x)
		}).Out[0]
	}},
	// The step needs the product.
	{"after the loop", false, func(v leaves) *graph.Node {
		w := v.weights("v")
		return v.scanned(func(h, x *graph.Node) (_, _ *graph.Node) { return ops.MatMul(ops.Add(h, x), w), nil }).Final[0]
	}},

	{"terms of all times", true, func(v leaves) *graph.Node {
		b := v.g.Input("b", graph.F32, graph.Ax("d", 4))
		return v.scanned(func(h, x *graph.Node) (_, _ *graph.Node) { return ops.Add(ops.Add(ops.Tanh(h), x), b), nil }).Final[0]
	}},
	{"terms of all times", true, func(v leaves) *graph.Node {
		return v.scanned(func(h, x *graph.Node) (_, _ *graph.Node) { return ops.Mul(ops.Exp(x), ops.Mul(h, x)), nil }).Final[0]
	}},
	{"terms of all times", false, func(v leaves) *graph.Node {
		return v.scanned(func(h, x *graph.Node) (_, _ *graph.Node) {
			y := ops.Add(h, x)
			return ops.Add(y, ops.Exp(x)), y // which is an out
		}).Final[0]
	}},
	{"terms of all times", false, func(v leaves) *graph.Node {
		return v.scanned(func(h, x *graph.Node) (_, _ *graph.Node) { return ops.Add(h, ops.Add(x, ops.Exp(x))), nil }).Final[0]
	}},

	{"before the loop", true, func(v leaves) *graph.Node {
		w := v.weights("w₁")
		u := v.weights("w₂")
		return v.scanned(func(h, x *graph.Node) (_, _ *graph.Node) {
			return ops.Tanh(ops.Add(ops.MatMul(x, w), ops.MatMul(h, u))), nil
		}).Trace[0]
	}},
	{"before the loop", true, func(v leaves) *graph.Node { // a constant
		l := ops.Loop{Carry: []*graph.Node{v.g.Input("h", graph.F32, graph.Ax("d", 4))}, With: []*graph.Node{v.weights("w₁")}, Steps: 3}
		return ops.Scan(l, func(c, _, w []*graph.Node) (next, _ []*graph.Node) {
			return []*graph.Node{ops.MatMul(c[0], ops.Exp(w[0]))}, nil
		}).Final[0]
	}},
	{"before the loop", false, func(v leaves) *graph.Node { // one cheap operation for one sequence
		return v.scanned(func(h, x *graph.Node) (_, _ *graph.Node) { return ops.Tanh(ops.Add(h, ops.Square(x))), nil }).Final[0]
	}},
	{"before the loop", false, func(v leaves) *graph.Node { // an index that may be wrong
		k := v.g.Input("k", graph.I64, graph.Ax("n", 3))
		return ops.Scan(ops.Loop{Carry: []*graph.Node{v.s}, Over: []*graph.Node{k}}, func(c, k, _ []*graph.Node) (next, _ []*graph.Node) {
			return []*graph.Node{ops.Tanh(ops.Add(c[0], ops.Sum(ops.Gather(ops.Reshape(v.p, -1), k[0], 0))))}, nil
		}).Final[0]
	}},
	{"before the loop", false, func(v leaves) *graph.Node { // checkpoints save the memory that it would take
		h := v.g.Input("h", graph.F32, graph.Ax("d", 4))
		x := v.g.Input("long", graph.F32, graph.Dims(8, 4)...)
		return ops.Scan(ops.Loop{Carry: []*graph.Node{h}, Over: []*graph.Node{x}, Checkpoint: 4}, func(c, x, _ []*graph.Node) (next, _ []*graph.Node) {
			return []*graph.Node{ops.Tanh(ops.Add(c[0], ops.Exp(ops.Sin(x[0]))))}, nil
		}).Final[0]
	}},
	{"before the loop", false, func(v leaves) *graph.Node { // data end the loop
		w := v.weights("w₁")
		h := v.g.Input("h", graph.F32, graph.Ax("d", 4))
		return ops.While(ops.Loop{Carry: []*graph.Node{h}, Over: []*graph.Node{v.x}}, func(c, _ []*graph.Node) *graph.Node {
			return ops.Less(ops.Sum(c[0]), ops.Lit(c[0], 9))
		}, func(c, x, _ []*graph.Node) (next, _ []*graph.Node) {
			return []*graph.Node{ops.Add(c[0], ops.MatMul(ops.Exp(x[0]), w))}, nil
		}).Final[0]
	}},
}

// recurrences are loops of which something leaves, with the operands of their derivatives.
var recurrences = map[string]func(v recurring) *graph.Node{
	"products before and after": func(v recurring) *graph.Node {
		return v.scan(ops.Loop{}, func(h, x *graph.Node) (_, _ *graph.Node) {
			h = ops.Tanh(ops.Add(ops.Add(ops.MatMul(x, v.w), ops.MatMul(h, v.u)), v.b))
			return h, ops.MatMul(h, v.w)
		})
	},
	"in reverse": func(v recurring) *graph.Node {
		return v.scan(ops.Loop{Reverse: true}, func(h, x *graph.Node) (_, _ *graph.Node) {
			h = ops.Sin(ops.Add(ops.MatMul(x, v.w), ops.MatMul(h, v.u)))
			return h, ops.Mul(h, ops.Exp(ops.MatMul(x, v.u)))
		})
	},
	"a product from the left": func(v recurring) *graph.Node {
		return v.scan(ops.Loop{}, func(h, x *graph.Node) (_, _ *graph.Node) {
			t := ops.Transpose(ops.Reshape(x, -1, 4))
			return ops.Tanh(ops.Add(ops.Mul(h, v.b), ops.Mean(ops.MatMul(v.w, t), 1))), ops.Sum(ops.MatMul(v.w, ops.Mul(t, t)))
		})
	},
	"a matrix from each step": func(v recurring) *graph.Node {
		return v.scan(ops.Loop{}, func(h, x *graph.Node) (_, _ *graph.Node) {
			row := ops.Mean(ops.Reshape(x, -1, 4), 0)
			m := ops.MatMul(ops.Reshape(ops.Exp(row), 4, 1), ops.Reshape(ops.Sin(row), 1, 4))
			return ops.Tanh(ops.MatMul(h, ops.Add(m, v.u))), ops.MatMul(ops.MatMul(h, m), v.w)
		})
	},
	"gates": func(v recurring) *graph.Node {
		return v.scan(ops.Loop{}, func(h, x *graph.Node) (_, _ *graph.Node) {
			z := ops.Add(ops.MatMul(x, v.w), ops.MatMul(h, v.u))
			a, c := ops.Sigmoid(ops.Slice(z, -1, 0, 2)), ops.Tanh(ops.Slice(z, -1, 2, 4))
			h = ops.Concat(-1, ops.Mul(a, c), ops.Mul(c, ops.Slice(h, -1, 0, 2)))
			return h, ops.Square(h)
		})
	},
	"draws": func(v recurring) *graph.Node {
		return v.scan(ops.Loop{}, func(h, x *graph.Node) (_, _ *graph.Node) {
			e := ops.RandomNormal(h.Graph(), "noise", graph.F64, graph.Dims(4)...)
			h = ops.Tanh(ops.Add(ops.Add(ops.MatMul(x, v.w), ops.MatMul(h, v.u)), e))
			return h, ops.MatMul(ops.Mul(h, e), v.w)
		})
	},
	"a branch": func(v recurring) *graph.Node {
		return v.scan(ops.Loop{}, func(h, x *graph.Node) (_, _ *graph.Node) {
			y := ops.Cond(ops.Less(ops.Sum(x), ops.Lit(x, 0)), func(x []*graph.Node) []*graph.Node {
				return []*graph.Node{ops.MatMul(x[0], v.w)}
			}, func(x []*graph.Node) []*graph.Node {
				return []*graph.Node{ops.Exp(x[0])}
			}, x)
			h = ops.Tanh(ops.Add(y[0], ops.MatMul(h, v.u)))
			return h, ops.MatMul(h, v.w)
		})
	},
	"checkpoints": func(v recurring) *graph.Node {
		return v.scan(ops.Loop{Checkpoint: 2}, func(h, x *graph.Node) (_, _ *graph.Node) {
			h = ops.Tanh(ops.Add(ops.MatMul(x, v.w), ops.MatMul(h, v.u)))
			return h, ops.MatMul(h, v.w)
		})
	},
	"integers beside": func(v recurring) *graph.Node {
		n := ops.Cast(ops.Lit(v.b, 0), graph.I64)
		r := ops.Scan(ops.Loop{Carry: []*graph.Node{v.h, n}, Over: []*graph.Node{v.x}}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
			z := ops.Add(ops.MatMul(x[0], v.w), ops.MatMul(c[0], v.u))
			h := ops.Tanh(ops.Add(z, ops.Cast(c[1], graph.F64)))
			return []*graph.Node{h, ops.Add(c[1], ops.Lit(c[1], 1))}, []*graph.Node{ops.MatMul(h, v.w), c[1]}
		})
		return ops.Mul(ops.Sum(ops.Square(r.Out[0])), ops.Sum(ops.Cast(r.Out[1], graph.F64)))
	},
	"nothing is carried": func(v recurring) *graph.Node {
		r := ops.Scan(ops.Loop{Over: []*graph.Node{v.x}}, func(_, x, _ []*graph.Node) (_, out []*graph.Node) {
			return nil, []*graph.Node{ops.Softmax(ops.MatMul(x[0], v.w), -1), v.b}
		})
		return ops.Add(ops.Sum(ops.Square(r.Out[0])), ops.Sum(r.Out[1]))
	},
}

// recurring are the operands of a recurrence; with rows, steps carry three rows.
type recurring struct {
	g             *graph.Graph
	x, h, w, u, b *graph.Node
}

func newRecurring(rows bool) (v recurring, params []*graph.Node) {
	g := graph.New("recurrence")
	var own []graph.Axis
	if rows {
		own = graph.Dims(3)
	}
	v = recurring{g: g, x: g.Param("x", graph.F64, slices.Concat([]graph.Axis{graph.Ax("t", 5)}, own, graph.Dims(4))...),
		h: g.Param("h", graph.F64, slices.Concat(own, graph.Dims(4))...),
		w: g.Param("w", graph.F64, graph.Dims(4, 4)...), u: g.Param("u", graph.F64, graph.Dims(4, 4)...), b: g.Param("b", graph.F64, graph.Dims(4)...)}
	return v, []*graph.Node{v.x, v.h, v.w, v.u, v.b}
}

// scan is a scalar that depends on all that the loop gives.
func (v recurring) scan(l ops.Loop, step func(h, x *graph.Node) (next, out *graph.Node)) *graph.Node {
	l.Carry, l.Over = []*graph.Node{v.h}, []*graph.Node{v.x}
	r := ops.Scan(l, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
		h, o := step(c[0], x[0])
		return []*graph.Node{h}, []*graph.Node{o}
	})
	y := ops.Add(ops.Sum(ops.Square(r.Final[0])), ops.Sum(ops.Sin(r.Out[0])))
	if l.Checkpoint == 0 {
		y = ops.Add(y, ops.Sum(ops.Exp(r.Trace[0])))
	}
	return y
}

// TestFissionKeepsValues: a recurrence, its derivatives, derivatives of these and tangents have the
// values of the definition, with one row and several, and the list leaves nothing for itself to do
// on the recurrence and its derivatives.
func TestFissionKeepsValues(t *testing.T) {
	for name, build := range recurrences {
		for _, rows := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " rows ", rows), func(t *testing.T) {
				v, params := newRecurring(rows)
				loss := build(v)
				wanted := append([]*graph.Node{loss}, grad.OrZero(loss, params...)...)
				slope := ops.Sum(ops.Square(wanted[3]))
				wanted = append(append(wanted, grad.OrZero(slope, v.x, v.u)...), grad.JVP([]*graph.Node{loss}, []*graph.Node{v.w}, []*graph.Node{v.u})...)
				if err := v.g.Err(); err != nil {
					t.Fatal(err)
				}
				m := &randgraph.Model{Graph: v.g, Values: graph.Values{}}
				for k, p := range params {
					m.Values[p] = graph.NewValue(p.Type())
					for i := range m.Values[p].Data {
						m.Values[p].Data[i] = 0.7 * math.Sin(float64(3*i+k))
					}
				}
				want := evaluate(t, v.g, m, wanted)
				res, err := Run(v.g, wanted, Passes()...)
				if err != nil {
					t.Fatal(err)
				}
				if err := graph.Verify(res.Graph); err != nil {
					t.Error(err)
				}
				if left := strings.Count(res.LogText(), "\nfission: "); (left == 0) != (name == "checkpoints") {
					t.Errorf("%d entries of the log are about fission:\n%s", left, res.LogText())
				}
				now := mapped(res, wanted)
				for i, got := range evaluate(t, res.Graph, m, now) {
					if d := distance(want[i].Data, got.Data); !(d < 1e-10) {
						t.Errorf("%d: %v is off by %v", i, wanted[i], d)
					}
				}
				first := wanted[:1+len(params)]
				if res, err = Run(v.g, first, Passes()...); err != nil {
					t.Fatal(err)
				}
				wantNothingLeft(t, res, mapped(res, first))
			})
		}
	}
}

// TestProductsLeaveLoops: of a recurrence and its derivatives, one product a step is left in each
// loop, that with the carry.
func TestProductsLeaveLoops(t *testing.T) {
	v, params := newRecurring(true)
	loss := recurrences["products before and after"](v)
	res, err := Run(v.g, append([]*graph.Node{loss}, grad.Of(loss, params...)...), Passes()...)
	if err != nil {
		t.Fatal(err)
	}
	loops := 0
	for _, n := range res.Graph.Nodes() {
		b := trait.LoopBody(n)
		if b == nil {
			continue
		}
		loops++
		products := 0
		for _, x := range b.Graph().Nodes() {
			if match.Is(x, match.MatMul) {
				products++
			}
		}
		if l := n.Op().(trait.Looped).Loop(); products != 1 || l.Sums != 0 {
			t.Errorf("a loop has %d products and %d sums: want 1 and none\n%v", products, l.Sums, b.Graph())
		}
	}
	if loops != 2 {
		t.Errorf("%d loops: want 2", loops)
	}
}

// TestLargeProductsStayInLoops: a product with the inputs leaves only if its values at all steps
// take no more than 8 MiB, or 16 where there are few rows, or 64 where there is one.
func TestLargeProductsStayInLoops(t *testing.T) {
	for _, c := range []struct{ rows, steps, stay int }{{64, 64, 1}, {64, 65, 2}, {8, 1024, 1}, {8, 1025, 2}, {9, 1024, 2}, {1, 32768, 1}, {1, 32769, 2}} {
		g := graph.New("rnn")
		x := g.Input("x", graph.F64, graph.Ax("t", c.steps), graph.Ax("n", c.rows), graph.Ax("f", 256))
		h := g.Input("h", graph.F64, graph.Ax("n", c.rows), graph.Ax("h", 256))
		w := g.Param("w", graph.F64, graph.Ax("f", 256), graph.Ax("h", 256))
		u := g.Param("u", graph.F64, graph.Ax("h", 256), graph.Ax("k", 256))
		r := ops.Scan(ops.Loop{Carry: []*graph.Node{h}, Over: []*graph.Node{x}, Axis: "t"}, func(carry, x, _ []*graph.Node) (next, out []*graph.Node) {
			y := ops.Tanh(ops.Add(ops.MatMul(x[0], w), ops.Rename(ops.MatMul(carry[0], u), "k", "h")))
			return []*graph.Node{y}, nil
		})
		res, err := Run(g, []*graph.Node{ops.Sum(r.Final[0])}, Passes()...)
		if err != nil {
			t.Fatal(err)
		}
		products := 0
		for _, n := range res.Graph.Nodes() {
			if b := trait.LoopBody(n); b != nil {
				for _, x := range b.Graph().Nodes() {
					if match.Is(x, match.MatMul) {
						products++
					}
				}
			}
		}
		if products != c.stay {
			t.Errorf("%d rows and %d steps: %d products in the loop: want %d", c.rows, c.steps, products, c.stay)
		}
	}
}

// TestLoopWithoutCarriesGoes: what carries nothing is no loop.
func TestLoopWithoutCarriesGoes(t *testing.T) {
	v, params := newRecurring(true)
	loss := recurrences["nothing is carried"](v)
	res, err := Run(v.g, append([]*graph.Node{loss}, grad.Of(loss, params[0])...), Passes()...)
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(res.Graph.Nodes(), isLoop) {
		t.Errorf("a loop is left:\n%v", res.Graph)
	}
}
