package ops_test

import (
	"math"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// numbers evaluates nodes by the definition, and on the tape, compiled as usual and as written; all
// agree.
func numbers(t *testing.T, feed graph.Values, nodes ...*graph.Node) [][]float64 {
	t.Helper()
	if err := nodes[0].Graph().Err(); err != nil {
		t.Fatal(err)
	}
	want, err := ref.Eval(trait.Env{}, feed, nodes...)
	if err != nil {
		t.Fatal(err)
	}
	out := make([][]float64, len(nodes))
	for _, passes := range []tape.Option{tape.Fine(), tape.Passes()} {
		got, err := reftest.Tape(0, feed, nodes, passes)
		if err != nil {
			t.Fatal(err)
		}
		for i := range nodes {
			if err := reftest.Near(got[i].Data, want[i].Data, 1e-12); err != nil {
				t.Errorf("%v: %v", nodes[i], err)
			}
			out[i] = want[i].Data
		}
	}
	return out
}

func fed(x *graph.Node, v ...float64) graph.Value { return graph.Value{Type: x.Type(), Data: v} }

// TestCallCostsNothing: a program with a function is the program without it.
func TestCallCostsNothing(t *testing.T) {
	f := func(x []*graph.Node) []*graph.Node {
		h := ops.Tanh(ops.MatMul(x[0], x[1])).As("h")
		return []*graph.Node{h, ops.Sum(ops.Square(h))}
	}
	var listings []string
	for _, call := range []func(x ...*graph.Node) []*graph.Node{
		func(x ...*graph.Node) []*graph.Node { return f(x) },
		func(x ...*graph.Node) []*graph.Node { return ops.Call("block", f, x...) },
	} {
		g := graph.New("g")
		x, w := g.Input("x", graph.F32, graph.Ax("n", 7), graph.Ax("d", 4)), g.Input("w", graph.F32, graph.Ax("d", 4), graph.Ax("e", 5))
		y := call(x, w)
		loss := ops.Add(ops.Sum(y[0]), y[1]).As("loss")
		d := grad.Of(loss, w)[0]
		p, err := tape.Compile(g, tape.Fetch(loss, d))
		if err != nil {
			t.Fatal(err)
		}
		listings = append(listings, p.String())
	}
	if listings[0] != listings[1] {
		t.Errorf("a function compiles to\n%s\nits body to\n%s", listings[1], listings[0])
	}
}

// TestCond: one branch alone is run, and the other has no influence on values or derivatives.
func TestCond(t *testing.T) {
	g := graph.New("g")
	x := g.Input("x", graph.F64, graph.Ax("n", 2))
	root := func(x []*graph.Node) []*graph.Node { return []*graph.Node{ops.Sqrt(x[0]), ops.Log(x[0])} }
	zero := func(x []*graph.Node) []*graph.Node { return []*graph.Node{ops.Scale(x[0], 3), x[0]} }
	y := ops.Cond(ops.Greater(ops.Sum(x), ops.Lit(x, 0)), root, zero, x)
	d := grad.Of(ops.Sum(ops.Add(y[0], y[1])), x)[0]
	d2 := grad.OrZero(ops.Sum(d), x)[0]
	tangent := grad.JVP(y[:1], []*graph.Node{x}, []*graph.Node{ops.BroadcastTo(ops.Lit(x, 1), x.Shape())})[0]
	for _, c := range [][]float64{
		{4, 1, 2, 1, .25 + .25, .5 + 1, -1./32 - 1./16, -.25 - 1, .25, .5},
		{-4, 1, -12, 3, 4, 4, 0, 0, 3, 3},
	} {
		got := numbers(t, graph.Values{x: fed(x, c[:2]...)}, y[0], d, d2, tangent)
		for i, v := range got {
			if err := reftest.Near(v, c[2+2*i:4+2*i], 1e-14); err != nil {
				t.Errorf("at %v, result %d: %v", c[:2], i, err)
			}
		}
	}
}

// TestCondRunsOneBranch: indices outside of their axis fail a run, so the branch that is not taken
// is not run.
func TestCondRunsOneBranch(t *testing.T) {
	g := graph.New("g")
	x, k, take := g.Input("x", graph.F32, graph.Ax("n", 3)), g.Input("k", graph.I32), g.Input("take", graph.Bool)
	y := ops.Cond(take, func(x []*graph.Node) []*graph.Node { return []*graph.Node{ops.Gather(x[0], x[1], 0)} },
		func(x []*graph.Node) []*graph.Node { return []*graph.Node{ops.Sum(x[0])} }, x, k)[0]
	for _, c := range []struct{ take, y float64 }{{0, 6}, {1, math.NaN()}} {
		feed := graph.Values{x: fed(x, 1, 2, 3), k: fed(k, 9), take: fed(take, c.take)}
		got, err := reftest.Tape(0, feed, []*graph.Node{y})
		if c.take == 1 {
			if err == nil || !strings.Contains(err.Error(), "want an index from 0 to 2") {
				t.Errorf("error %v, want that the index is wrong", err)
			}
			continue
		}
		if err != nil || got[0].Data[0] != c.y {
			t.Errorf("%v, error %v, want %v", got, err, c.y)
		}
	}
}

// newton is the square root of a, from x, by a loop that ends.
func newton(l ops.Loop) ops.Stopped {
	return ops.While(l, func(c, a []*graph.Node) *graph.Node {
		return ops.Greater(ops.Abs(ops.Sub(ops.Square(c[0]), a[0])), ops.Lit(c[0], 1e-9))
	}, func(c, _, a []*graph.Node) (next, out []*graph.Node) {
		return []*graph.Node{ops.Scale(ops.Add(c[0], ops.Div(a[0], c[0])), 0.5)}, nil
	})
}

// TestWhile: a loop stops when its condition is false, or at its bound, and says which.
func TestWhile(t *testing.T) {
	g := graph.New("g")
	a := g.Input("a", graph.F64)
	for _, checkpoint := range []int{0, 3} {
		r := newton(ops.Loop{Carry: []*graph.Node{ops.Mul(a, ops.Lit(a, 1))}, With: []*graph.Node{a}, Steps: 8, Checkpoint: checkpoint})
		d := grad.Of(r.Final[0], a)[0]
		for _, c := range [][]float64{{1, 0, 1}, {2, 4, 1}, {16, 6, 1}, {1e6, 8, 0}} {
			got := numbers(t, graph.Values{a: fed(a, c[0])}, r.Final[0], r.Steps, r.Done, d)
			if got[1][0] != c[1] || got[2][0] != c[2] {
				t.Errorf("checkpoint %d: the root of %v takes %v steps, done %v: want %v", checkpoint, c[0], got[1], got[2], c[1:])
			}
			want, slope := math.Sqrt(c[0]), 0.5/math.Sqrt(c[0])
			if c[1] == 0 {
				slope = 1 // x is a, and no step was run
			}
			if c[2] == 1 && (math.Abs(got[0][0]-want) > 1e-9 || math.Abs(got[3][0]-slope) > 1e-4) {
				t.Errorf("checkpoint %d: the root of %v is %v with slope %v: want %v and %v", checkpoint, c[0], got[0], got[3], want, slope)
			}
		}
	}
}

// TestWhileMapped: mapped over examples, each has the value and the number of steps that it has
// alone.
func TestWhileMapped(t *testing.T) {
	g := graph.New("g")
	all := g.Input("all", graph.F64, graph.Ax("b", 4))
	one := g.Input("one", graph.F64)
	root := func(a *graph.Node) []*graph.Node {
		r := newton(ops.Loop{Carry: []*graph.Node{ops.Scale(a, 1)}, With: []*graph.Node{a}, Steps: 8})
		return []*graph.Node{r.Final[0], ops.Cast(r.Steps, graph.F64), grad.Of(r.Final[0], a)[0]}
	}
	mapped := vmap.Each(func(x []*graph.Node) []*graph.Node { return root(x[0]) }, all)
	mapped = append(mapped, grad.Of(ops.Sum(mapped[0]), all)[0])
	alone := root(one)
	alone = append(alone, alone[2])
	examples := []float64{1, 2, 16, 1e6}
	got := numbers(t, graph.Values{all: fed(all, examples...)}, mapped...)
	for e, a := range examples {
		want := numbers(t, graph.Values{one: fed(one, a)}, alone...)
		for i := range want {
			if math.Abs(got[i][e]-want[i][0]) > 1e-12*max(1, math.Abs(want[i][0])) {
				t.Errorf("result %d at %v is %v, alone %v", i, a, got[i][e], want[i][0])
			}
		}
	}
}

// TestCondMapped: each example takes its own branch.
func TestCondMapped(t *testing.T) {
	g := graph.New("g")
	x := g.Input("x", graph.F64, graph.Ax("b", 3))
	f := func(x []*graph.Node) []*graph.Node {
		return ops.Cond(ops.Greater(x[0], ops.Lit(x[0], 0)),
			func(x []*graph.Node) []*graph.Node { return []*graph.Node{ops.Sqrt(x[0])} },
			func(x []*graph.Node) []*graph.Node { return []*graph.Node{ops.Scale(x[0], -1)} }, x...)
	}
	y := vmap.Each(f, x)[0]
	after := grad.Of(ops.Sum(y), x)[0]
	before := vmap.Each(func(x []*graph.Node) []*graph.Node { return grad.Of(f(x)[0], x[0]) }, x)[0]
	got := numbers(t, graph.Values{x: fed(x, 4, -4, 0)}, y, after, before)
	for i, want := range [][]float64{{2, 4, 0}, {.25, -1, -1}, {.25, -1, -1}} {
		if err := reftest.Near(got[i], want, 1e-15); err != nil {
			t.Errorf("result %d: %v", i, err)
		}
	}
}

// TestWhileKeepsTwoCarries: without a derivative, memory does not depend on the bound.
func TestWhileKeepsTwoCarries(t *testing.T) {
	arena := func(bound int) int {
		g := graph.New("g")
		x := g.Input("x", graph.F64, graph.Ax("n", 1000))
		r := ops.While(ops.Loop{Carry: []*graph.Node{x}, Steps: bound},
			func(c, _ []*graph.Node) *graph.Node { return ops.Less(ops.Sum(c[0]), ops.Lit(c[0], 7)) },
			func(c, _, _ []*graph.Node) (next, out []*graph.Node) { return []*graph.Node{ops.Sin(c[0])}, nil })
		p, err := tape.Compile(g, tape.Fetch(r.Final[0], r.Steps))
		if err != nil {
			t.Fatal(err)
		}
		return p.Arena()
	}
	if few, many := arena(10), arena(100000); few != many {
		t.Errorf("%d B for 10 steps, %d B for 100000", few, many)
	}
}

// TestWhileAllocatesNothing: runs of loops that stop and of branches allocate nothing.
func TestWhileAllocatesNothing(t *testing.T) {
	g := graph.New("g")
	a := g.State("a", graph.F64)
	r := newton(ops.Loop{Carry: []*graph.Node{ops.Shift(a, 3)}, With: []*graph.Node{a}, Steps: 30})
	y := ops.Cond(r.Done, func(x []*graph.Node) []*graph.Node { return x }, func(x []*graph.Node) []*graph.Node { return []*graph.Node{ops.Neg(x[0])} }, r.Final[0])[0]
	p, err := tape.Compile(g, tape.Fetch(y, grad.Of(y, a)[0]))
	if err != nil {
		t.Fatal(err)
	}
	vm, err := p.NewVM(tape.NewStore(g))
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	ctx := t.Context()
	if n := testing.AllocsPerRun(20, func() {
		if err := vm.Run(ctx, nil); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations a run", n)
	}
}

// TestControlMistakes: what does not fit is a mistake at the user's line.
func TestControlMistakes(t *testing.T) {
	same := func(x []*graph.Node) []*graph.Node { return x }
	stay := func(c, _, _ []*graph.Node) (next, out []*graph.Node) { return c, nil }
	never := func(c, _ []*graph.Node) *graph.Node { return ops.Less(c[0], c[0]) }
	for want, f := range map[string]func(x, v *graph.Node){
		"Cond: a predicate of type f32[]: want a bool scalar: x[] (choose element by element with ops.Select)": func(x, _ *graph.Node) { ops.Cond(x, same, same, x) },
		"Cond: the predicate is nil": func(x, _ *graph.Node) { ops.Cond(nil, same, same, x) },
		"Cond: the branches give different numbers of results": func(x, _ *graph.Node) {
			ops.Cond(ops.Less(x, x), same, func(x []*graph.Node) []*graph.Node { return append(x, x...) }, x)
		},
		"Call: the function is nil":                                func(x, _ *graph.Node) { ops.Call("f", nil, x) },
		"While: a condition of type bool[n=2]: want a bool scalar": func(_, v *graph.Node) { ops.While(ops.Loop{Carry: []*graph.Node{v}, Steps: 3}, never, stay) },
		"While: 0 steps: want sequences, or a number of steps":     func(x, _ *graph.Node) { ops.While(ops.Loop{Carry: []*graph.Node{x}}, never, stay) },
		"While: the step gives 2 carries: want 1": func(x, _ *graph.Node) {
			ops.While(ops.Loop{Carry: []*graph.Node{x}, Steps: 3}, never, func(c, _, _ []*graph.Node) (next, out []*graph.Node) { return append(c, c...), nil })
		},
		"While: the condition is nil": func(x, _ *graph.Node) {
			ops.While(ops.Loop{Carry: []*graph.Node{x}, Steps: 3}, func(_, _ []*graph.Node) *graph.Node { return nil }, stay)
		},
	} {
		g := graph.New("g")
		f(g.Input("x", graph.F32), g.Input("v", graph.F32, graph.Ax("n", 2)))
		err := g.Err()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestControlCaptures: bodies use nodes of the graph around them, and derivatives reach these.
func TestControlCaptures(t *testing.T) {
	type form func(w, x *graph.Node, given bool) *graph.Node
	with := func(given bool, nodes ...*graph.Node) []*graph.Node {
		if given {
			return nodes
		}
		return nil
	}
	or := func(in []*graph.Node, k int, n *graph.Node) *graph.Node {
		if k < len(in) {
			return in[k]
		}
		return n
	}
	for name, f := range map[string]form{
		"Call": func(w, x *graph.Node, given bool) *graph.Node {
			return ops.Call("f", func(in []*graph.Node) []*graph.Node {
				return []*graph.Node{ops.Mul(ops.Sin(in[0]), or(in, 1, w))}
			}, append([]*graph.Node{x}, with(given, w)...)...)[0]
		},
		"Closed": func(w, x *graph.Node, given bool) *graph.Node {
			return ops.Closed("f", func(in []*graph.Node) []*graph.Node {
				return []*graph.Node{ops.Mul(ops.Sin(in[0]), or(in, 1, w))}
			}, append([]*graph.Node{x}, with(given, w)...)...)[0]
		},
		"Cond": func(w, x *graph.Node, given bool) *graph.Node {
			return ops.Cond(ops.Less(w, ops.Lit(w, 1)), func(in []*graph.Node) []*graph.Node {
				return []*graph.Node{ops.Mul(ops.Sin(in[0]), or(in, 1, w))}
			}, func(in []*graph.Node) []*graph.Node { return in[:1] }, append([]*graph.Node{x}, with(given, w)...)...)[0]
		},
		"While": func(w, x *graph.Node, given bool) *graph.Node {
			return ops.While(ops.Loop{Carry: []*graph.Node{x}, With: with(given, w), Steps: 9},
				func(c, in []*graph.Node) *graph.Node { return ops.Less(c[0], ops.Scale(or(in, 0, w), 5)) },
				func(c, _, in []*graph.Node) (next, out []*graph.Node) {
					return []*graph.Node{ops.Add(c[0], or(in, 0, w))}, nil
				}).Final[0]
		},
		"FixedPoint": func(w, x *graph.Node, given bool) *graph.Node {
			e := ops.Equation{Start: []*graph.Node{x}, With: with(given, w)}
			return ops.FixedPoint(e, func(x, in []*graph.Node) []*graph.Node {
				return []*graph.Node{ops.Scale(ops.Cos(ops.Mul(x[0], or(in, 0, w))), 0.5)}
			}).X[0]
		},
		"within a loop": func(w, x *graph.Node, given bool) *graph.Node {
			return ops.Scan(ops.Loop{Carry: []*graph.Node{x}, With: with(given, w), Steps: 3}, func(c, _, in []*graph.Node) (next, out []*graph.Node) {
				w := or(in, 0, w)
				y := ops.Cond(ops.Less(c[0], w), func(x []*graph.Node) []*graph.Node { return []*graph.Node{ops.Mul(x[0], w)} },
					func(x []*graph.Node) []*graph.Node { return []*graph.Node{ops.Sub(x[0], w)} }, c[0])
				z := ops.FixedPoint(ops.Equation{Start: y}, func(x, _ []*graph.Node) []*graph.Node {
					return []*graph.Node{ops.Scale(ops.Cos(ops.Add(x[0], ops.Mul(w, y[0]))), 0.3)}
				}).X
				return ops.Call("sum", func(x []*graph.Node) []*graph.Node { return []*graph.Node{ops.Add(x[0], w)} }, z...), nil
			}).Final[0]
		},
	} {
		g := graph.New("g")
		w, x := g.Input("w", graph.F64), g.Input("x", graph.F64)
		a, b := f(w, x, true), f(w, x, false)
		nodes := []*graph.Node{a, b, grad.OrZero(a, w)[0], grad.OrZero(b, w)[0]}
		got := numbers(t, graph.Values{w: fed(w, 0.7), x: fed(x, 0.4)}, nodes...)
		for i := 0; i < len(got); i += 2 {
			if math.Abs(got[i][0]-got[i+1][0]) > 1e-12 || got[2][0] == 0 {
				t.Errorf("%s: result %d is %v with operands, %v with captured nodes", name, i/2, got[i], got[i+1])
			}
		}
		roundTrip(t, g)
	}
}

// TestVJPCaptures: a derivative of one's own reads nodes of the graph around it, as constants.
func TestVJPCaptures(t *testing.T) {
	g := graph.New("g")
	w, x := g.Input("w", graph.F64), g.Input("x", graph.F64, graph.Ax("n", 2))
	y := ops.WithVJP([]*graph.Node{ops.Sin(x)}, []*graph.Node{x}, func(_, _, dy []*graph.Node) []*graph.Node {
		return []*graph.Node{ops.Mul(dy[0], w)}
	})[0]
	d := grad.Of(ops.Sum(y), x)[0]
	d2 := grad.Of(ops.Sum(d), w)[0]
	each := vmap.Each(func(x []*graph.Node) []*graph.Node {
		return grad.Of(ops.WithVJP(x, x, func(_, _, dy []*graph.Node) []*graph.Node { return []*graph.Node{ops.Mul(dy[0], w)} })[0], x[0])
	}, x)[0]
	got := numbers(t, graph.Values{w: fed(w, 3), x: fed(x, 1, 2)}, d, d2, each)
	for i, want := range [][]float64{{3, 3}, {2}, {3, 3}} {
		if err := reftest.Near(got[i], want, 0); err != nil {
			t.Errorf("result %d: %v", i, err)
		}
	}
	roundTrip(t, g)
}

// TestWhileReallyStops: a step that is not run reads nothing, so an index there may be wrong.
func TestWhileReallyStops(t *testing.T) {
	g := graph.New("g")
	x, k := g.Input("x", graph.F64, graph.Ax("n", 3)), g.Input("k", graph.I32, graph.Ax("t", 4))
	r := ops.While(ops.Loop{Carry: []*graph.Node{ops.Sum(ops.Scale(x, 0))}, Over: []*graph.Node{k}, With: []*graph.Node{x}},
		func(c, _ []*graph.Node) *graph.Node { return ops.Less(c[0], ops.Lit(c[0], 4)) },
		func(c, k, x []*graph.Node) (next, out []*graph.Node) {
			return []*graph.Node{ops.Add(c[0], ops.Gather(x[0], k[0], 0))}, nil
		})
	d := grad.Of(r.Final[0], x)[0]
	got := numbers(t, graph.Values{x: fed(x, 1, 2, 3), k: fed(k, 1, 2, 99, -7)}, r.Final[0], r.Steps, d)
	for i, want := range [][]float64{{5}, {2}, {0, 1, 1}} {
		if err := reftest.Near(got[i], want, 0); err != nil {
			t.Errorf("result %d: %v", i, err)
		}
	}
}
