package rewrite

import (
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/randgraph"
	"github.com/tapestry-ml/tapestry/ops"
)

// derivatives are graphs whose derivatives are, once simplified, nodes that were there
// before the loss or before what it was differentiated by.
var derivatives = map[string]func(g *graph.Graph) []*graph.Node{
	"two losses, one input": func(g *graph.Graph) []*graph.Node {
		a, b, c := vector(g, "a"), vector(g, "b"), vector(g, "c")
		d0 := grad.Of(ops.Sum(ops.Mul(a, b)), b)
		d1 := grad.Of(ops.Sum(ops.Mul(a, c)), c)
		return append(d0, d1...)
	},
	"two losses, one param": func(g *graph.Graph) []*graph.Node {
		a, b := g.Param("w", graph.F64, graph.Ax("p", 3)), vector(g, "b")
		d0 := grad.Of(ops.Sum(ops.Mul(a, b)), b)
		c := vector(g, "c")
		d1 := grad.Of(ops.Sum(ops.Mul(a, c)), c)
		return append(d0, d1...)
	},
	"a constant older than its own leaf": func(g *graph.Graph) []*graph.Node {
		x, a := vector(g, "x"), g.Param("a", graph.F64)
		m := ops.Mean(ops.Mul(x, a))
		b := g.Param("b", graph.F64)
		return grad.Of(ops.Add(m, b), a, b)
	},
	"a constant array": func(g *graph.Graph) []*graph.Node {
		one := g.Constant(graph.F64, []float64{1, 1, 1}, graph.Ax("p", 3))
		b := vector(g, "b")
		d0 := grad.Of(ops.Sum(ops.Mul(one, b)), b)
		c := vector(g, "c")
		d1 := grad.Of(ops.Sum(ops.Mul(one, c)), c)
		return append(append(d0, d1...), ops.Mul(one, c))
	},
	"a loss by itself": func(g *graph.Graph) []*graph.Node {
		a := vector(g, "a")
		l0 := ops.Sum(a)
		l1 := ops.Sum(ops.Sin(vector(g, "b")))
		return append(append(grad.Of(l0, l0), grad.Of(l1, l1)...), ops.Mul(grad.Of(l1, l1)[0], l0))
	},
	"a loss that is the derivative": func(g *graph.Graph) []*graph.Node {
		a := g.Param("a", graph.F64)
		e := ops.Exp(a)
		return append(grad.Of(e, a), grad.Of(ops.Mul(e, g.Scalar("γ", 2, graph.F64)), e, a)...)
	},
	"a leaf as loss": func(g *graph.Graph) []*graph.Node {
		a, b := g.Param("a", graph.F64), g.Param("b", graph.F64)
		return append(append(grad.Of(a, a), grad.OrZero(a, b)...), grad.OrZero(b, a, b)...)
	},
	"by a node that is the same as another": func(g *graph.Graph) []*graph.Node {
		x := vector(g, "x")
		w := ops.Neg(ops.Neg(x)) // which is x
		l := ops.Sum(ops.Mul(ops.Sin(w), ops.Cos(x)))
		return append(grad.Of(l, w, x), grad.OrZero(ops.Sum(ops.Exp(x)), w)...)
	},
	"by a node that a rule goes round": func(g *graph.Graph) []*graph.Node {
		x, c := vector(g, "x"), vector(g, "c")
		w := ops.Exp(x)
		l := ops.Add(ops.Sum(ops.Log(w)), ops.Add(ops.Sum(ops.Mul(w, c)), ops.Sum(ops.Mul(x, c))))
		s := ops.Sum(w)
		l2 := ops.Mul(ops.Sum(ops.Div(w, s)), ops.Sum(ops.Log(s)))
		return append(grad.Of(l, w, x), append(grad.Of(l2, s, w), grad.Of(ops.Sum(grad.Of(l, w)[0]), x, w)...)...)
	},
	"of derivatives": func(g *graph.Graph) []*graph.Node {
		a, b, c := vector(g, "a"), vector(g, "b"), vector(g, "c")
		db := grad.Of(ops.Sum(ops.Mul(a, b)), b)[0]
		dc := grad.Of(ops.Sum(ops.Mul(a, ops.Mul(c, db))), c)[0]
		return []*graph.Node{db, dc, grad.Of(ops.Sum(ops.Mul(dc, b)), b)[0], grad.Of(ops.Sum(ops.Mul(dc, db)), a)[0]}
	},
	"products with vectors": func(g *graph.Graph) []*graph.Node {
		a, b, v := vector(g, "a"), vector(g, "b"), vector(g, "v")
		loss := ops.Sum(ops.Mul(a, b))
		u := grad.HVP(loss, []*graph.Node{a, b}, []*graph.Node{v, b})
		w := grad.HVP(ops.Sum(ops.Mul(b, v)), []*graph.Node{b, v}, []*graph.Node{a, a})
		return append(append(u, w...), grad.JVP([]*graph.Node{loss, ops.Mul(a, v)}, []*graph.Node{a}, []*graph.Node{b})...)
	},
	"in a loop": func(g *graph.Graph) []*graph.Node {
		x, c := vector(g, "x"), g.Param("c", graph.F64)
		r := ops.Scan(ops.Loop{Carry: []*graph.Node{c}, Over: []*graph.Node{x}, Axis: "p"}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
			d0 := grad.Of(ops.Mul(x[0], c[0]), c[0])[0]
			d1 := grad.Of(ops.Mul(x[0], d0), d0)[0]
			return []*graph.Node{ops.Add(c[0], d0)}, []*graph.Node{d1}
		})
		return append(grad.Of(ops.Sum(r.Out[0]), x), append(grad.Of(r.Final[0], x, c), r.Out[0])...)
	},
}

func vector(g *graph.Graph, name string) *graph.Node {
	return g.Input(name, graph.F64, graph.Ax("p", 3))
}

// TestDerivativesThatWereThere: a derivative that simplifies to a leaf, a constant, the
// loss or another derivative is copied as what it is, wherever it stands; each part of the
// list of passes gives the values of the graph as written. The losses are not wanted.
func TestDerivativesThatWereThere(t *testing.T) {
	for name, build := range derivatives {
		t.Run(name, func(t *testing.T) {
			m := &randgraph.Model{Graph: graph.New(name), Values: graph.Values{}}
			all := build(m.Graph)
			for i, n := range m.Graph.Leaves(graph.RoleInput, graph.RoleParam) {
				v := graph.NewValue(n.Type())
				for k := range v.Data {
					v.Data[k] = float64(1+i) + 0.25*float64(k)
				}
				m.Values[n] = v
			}
			wants := [][]*graph.Node{all}
			for i := range all {
				wants = append(wants, all[i:i+1], all[:i+1])
			}
			for _, wanted := range wants {
				want := evaluate(t, m.Graph, m, wanted)
				for k := range len(Passes()) + 1 {
					res, err := Run(m.Graph, wanted, Passes()[:k]...)
					if err != nil {
						t.Fatal(err)
					}
					if err := graph.Verify(res.Graph); err != nil {
						t.Errorf("after %d passes: %v", k, err)
					}
					for i, got := range evaluate(t, res.Graph, m, mapped(res, wanted)) {
						if d := distance(want[i].Data, got.Data); !(d < 1e-13) {
							t.Errorf("after %d passes: %v is off by %v\n%v", k, wanted[i], d, res.Graph)
						}
					}
				}
			}
		})
	}
}

// TestSharedByTwoLosses: what two losses' derivatives have in common stays a derivative where only
// those of the second are wanted, of the second.
func TestSharedByTwoLosses(t *testing.T) {
	build := func() (first, second, dw *graph.Node) {
		g := graph.New("two losses")
		x, w := g.Input("x", graph.F32, graph.Ax("i", 3)), g.Param("w", graph.F32, graph.Ax("i", 3))
		first, second = ops.Sum(ops.Mul(x, w)), ops.Sum(ops.Sin(w))
		grad.Of(first, w) // its 1, repeated over i, is the second's too
		return first, second, grad.Of(second, w)[0]
	}
	for _, passes := range [][]Pass{Passes()[5:], Passes()} {
		first, second, dw := build()
		res, err := Run(dw.Graph(), []*graph.Node{second, dw}, passes...)
		if err != nil {
			t.Fatal(err)
		}
		forward := graph.Reachable(res.Node(second))
		for _, n := range graph.Reachable(res.Node(dw)) {
			if n.IsBackward() == slices.Contains(forward, n) {
				t.Errorf("after %d passes %v is backward: %v", len(passes), n, n.IsBackward())
			}
			for _, o := range n.Occurrences() {
				if o.Origin.Kind.IsBackward() && o.Origin.Loss != res.Node(second) {
					t.Errorf("after %d passes %v comes from %v", len(passes), n, o.Origin.Loss)
				}
			}
		}
		if res.Node(first) != nil {
			t.Error("the first loss is there, so nothing is tried")
		}
	}
}
