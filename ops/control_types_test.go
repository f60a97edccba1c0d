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

// ofTypes is a computation of x[n] that gives a float vector, a counter, a flag and a wide counter,
// in a way that reads its float operand by all of them.
func ofTypes(x *graph.Node, i, m, k *graph.Node) []*graph.Node {
	y := ops.Select(m, ops.Sin(x), ops.Mul(x, ops.Cast(i, x.DType())))
	return []*graph.Node{y, ops.Add(i, ops.Lit(i, 1)), ops.Greater(ops.Sum(y), ops.Lit(y, 1)), ops.Mul(k, ops.Lit(k, 3))}
}

// forms of control in which the results have all types, and the same written out; stop says after
// how many steps the loop ends.
var forms = map[string]struct {
	run   func(x *graph.Node) []*graph.Node
	plain func(x *graph.Node) []*graph.Node
}{
	"Call": {
		func(x *graph.Node) []*graph.Node {
			return ops.Call("f", func(in []*graph.Node) []*graph.Node { return ofTypes(in[0], in[1], in[2], in[3]) }, startOf(x)...)
		},
		func(x *graph.Node) []*graph.Node { s := startOf(x); return ofTypes(s[0], s[1], s[2], s[3]) },
	},
	"Call without operands": {
		func(x *graph.Node) []*graph.Node {
			s := startOf(x)
			return ops.Call("f", func([]*graph.Node) []*graph.Node { return ofTypes(s[0], s[1], s[2], s[3]) })
		},
		func(x *graph.Node) []*graph.Node { s := startOf(x); return ofTypes(s[0], s[1], s[2], s[3]) },
	},
	"Checkpoint": {
		func(x *graph.Node) []*graph.Node {
			return grad.Checkpoint(func(in []*graph.Node) []*graph.Node { return ofTypes(in[0], in[1], in[2], in[3]) })(startOf(x)...)
		},
		func(x *graph.Node) []*graph.Node { s := startOf(x); return ofTypes(s[0], s[1], s[2], s[3]) },
	},
	"Cond": {
		func(x *graph.Node) []*graph.Node {
			s := startOf(x)
			return ops.Cond(ops.Less(ops.Sum(x), ops.Lit(x, 0)), func([]*graph.Node) []*graph.Node { return s },
				func([]*graph.Node) []*graph.Node { return ofTypes(s[0], s[1], s[2], s[3]) })
		},
		func(x *graph.Node) []*graph.Node {
			s := startOf(x)
			y, less := ofTypes(s[0], s[1], s[2], s[3]), ops.Less(ops.Sum(x), ops.Lit(x, 0))
			for i := range y {
				y[i] = ops.Select(less, s[i], y[i])
			}
			return y
		},
	},
	"While": {
		func(x *graph.Node) []*graph.Node { return whileOf(x, 0) },
		unrolled,
	},
	"While with checkpoints": {
		func(x *graph.Node) []*graph.Node { return whileOf(x, 2) },
		unrolled,
	},
}

func startOf(x *graph.Node) []*graph.Node {
	g := x.Graph()
	return []*graph.Node{ops.Cast(x, x.DType()), g.Constant(graph.I32, []float64{1}), ops.Greater(ops.Sum(x), ops.Lit(x, 1)), g.Constant(graph.I64, []float64{1<<40 + 1})}
}

// whileOf runs the computation until the counter is 5 or the flag stands, no more than 7 times.
func whileOf(x *graph.Node, checkpoint int) []*graph.Node {
	return ops.While(ops.Loop{Carry: startOf(x), Steps: 7, Checkpoint: checkpoint}, func(c, _ []*graph.Node) *graph.Node {
		return ops.And(ops.Less(c[1], ops.Lit(c[1], 5)), ops.Not(c[2]))
	}, func(c, _, _ []*graph.Node) (next, out []*graph.Node) { return ofTypes(c[0], c[1], c[2], c[3]), nil }).Final
}

func unrolled(x *graph.Node) []*graph.Node {
	c := startOf(x)
	for range 7 {
		going := ops.And(ops.Less(c[1], ops.Lit(c[1], 5)), ops.Not(c[2]))
		next := ofTypes(c[0], c[1], c[2], c[3])
		for i := range c {
			c[i] = ops.Select(going, next[i], c[i])
		}
	}
	return c
}

// TestResultsOfAnyTypes: functions, branches and loops that stop give results of all types, with the
// values, derivatives and tangents that they have written out, alone and mapped over examples, which
// stop at different times; the text form holds them.
func TestResultsOfAnyTypes(t *testing.T) {
	examples := []float64{.3, .4, .1, .2, -.5, .1, .9, .8}
	for name, form := range forms {
		for _, dt := range []graph.DType{graph.F64, graph.F32, graph.F16} {
			var want [][]float64
			for _, f := range []func(x *graph.Node) []*graph.Node{form.plain, form.run} {
				g := graph.New("g")
				x := g.Input("x", dt, graph.Ax("n", 2))
				all := g.Input("all", dt, graph.Ax("b", 4), graph.Ax("n", 2))
				y := f(x)
				loss := ops.Sum(ops.Square(y[0]))
				d := grad.Of(loss, x)[0]
				d2 := grad.OrZero(ops.Sum(d), x)[0]
				nodes := append(y, d, d2, grad.JVP(y[:1], []*graph.Node{x}, []*graph.Node{d})[0])
				each := vmap.Each(func(x []*graph.Node) []*graph.Node {
					y := f(x[0])
					return append(y, grad.Of(ops.Sum(ops.Square(y[0])), x[0])[0])
				}, all)
				nodes = append(append(nodes, each...), grad.Of(ops.Sum(each[0]), all)[0])
				feed := graph.Values{x: fed(x, examples[:2]...), all: fed(all, examples...)}
				for _, v := range feed {
					for i := range v.Data {
						v.Data[i] = graph.F16.Round(v.Data[i])
					}
				}
				if err := g.Err(); err != nil {
					t.Fatalf("%s, %v: %v", name, dt, err)
				}
				got, err := ref.Eval(trait.Env{}, feed, nodes...)
				if err != nil {
					t.Fatal(err)
				}
				run, err := reftest.Tape(0, feed, nodes)
				if err != nil {
					t.Fatalf("%s, %v: %v", name, dt, err)
				}
				for i, n := range nodes {
					if want == nil || len(want) <= i {
						want = append(want, got[i].Data)
					}
					tol := map[graph.DType]float64{graph.F64: 1e-12, graph.F32: 2e-5, graph.F16: 4e-2}[dt] * max(1, reftest.Largest(want[i]))
					if !n.DType().IsFloat() {
						tol = 0
					}
					if err := reftest.Near(got[i].Data, want[i], tol); err != nil {
						t.Errorf("%s, %v, result %d of type %v, by the definition: %v", name, dt, i, n.Type(), err)
					}
					if err := reftest.Near(run[i].Data, want[i], tol); err != nil {
						t.Errorf("%s, %v, result %d of type %v, on the tape: %v", name, dt, i, n.Type(), err)
					}
				}
				roundTrip(t, g)
			}
		}
	}
}

// TestCaptureInBranches: what a branch computes from nodes around it alone is part of the branch: it
// is not run if the branch is not, and has no influence on derivatives.
func TestCaptureInBranches(t *testing.T) {
	g := graph.New("g")
	x, k := g.Input("x", graph.F64, graph.Ax("n", 3)), g.Input("k", graph.I32)
	inside := ops.Less(k, ops.Lit(k, 3))
	y := ops.Cond(inside, func([]*graph.Node) []*graph.Node {
		return []*graph.Node{ops.Gather(ops.Sqrt(x), k, 0)}
	}, func([]*graph.Node) []*graph.Node { return []*graph.Node{ops.Sum(x)} })[0]
	d := grad.Of(y, x)[0]
	for _, c := range []struct {
		x       []float64
		k, want float64
		d       []float64
	}{{[]float64{4, 9, 16}, 1, 3, []float64{0, 1. / 6, 0}}, {[]float64{-1, 0, 3}, 99, 2, []float64{1, 1, 1}}} {
		got := numbers(t, graph.Values{x: fed(x, c.x...), k: fed(k, c.k)}, y, d)
		if got[0][0] != c.want || reftest.Near(got[1], c.d, 1e-15) != nil {
			t.Errorf("at %v and %v: %v, want %v and %v", c.x, c.k, got, c.want, c.d)
		}
	}
	roundTrip(t, g)
}

// TestDerivativeWithinBody: derivatives and batches asked for in a function, of what is built there
// and of what is built around it, have their values.
func TestDerivativeWithinBody(t *testing.T) {
	g := graph.New("g")
	x := g.Input("x", graph.F64, graph.Ax("n", 3))
	around := ops.Sum(ops.Exp(x))
	y := ops.Call("f", func([]*graph.Node) []*graph.Node {
		own := ops.Sum(ops.Sin(ops.Mul(x, x)))
		squares := vmap.Each(func(e []*graph.Node) []*graph.Node { return []*graph.Node{ops.Square(e[0])} }, x)
		moved := grad.JVP([]*graph.Node{around}, []*graph.Node{x}, []*graph.Node{x})
		return append(append(append(grad.Of(own, x), grad.Of(around, x)...), squares...), moved...)
	})
	second := grad.Of(ops.Sum(y[0]), x)[0]
	at := []float64{.2, -.4, 1}
	got := numbers(t, graph.Values{x: fed(x, at...)}, append(y, second)...)
	for i, v := range at {
		s, c := math.Sincos(v * v)
		for k, want := range map[int]float64{0: 2 * v * c, 1: math.Exp(v), 2: v * v, 4: 2*c - 4*v*v*s} {
			if math.Abs(got[k][i]-want) > 1e-14 {
				t.Errorf("result %d at %v is %v, want %v", k, v, got[k][i], want)
			}
		}
	}
	if want := .2*math.Exp(.2) - .4*math.Exp(-.4) + math.E; math.Abs(got[3][0]-want) > 1e-14 {
		t.Errorf("a tangent of %v, want %v", got[3], want)
	}
}

// TestCallOfConstants: a function of constants alone, and one that gives a node of the graph around
// it as it is.
func TestCallOfConstants(t *testing.T) {
	g := graph.New("g", graph.F64)
	x := g.Input("x", graph.F64)
	two := g.Constant(graph.F64, []float64{2})
	y := ops.Call("constants", func([]*graph.Node) []*graph.Node { return []*graph.Node{ops.Sqrt(two), ops.Cast(two, graph.I32)} })
	same := ops.Call("same", func([]*graph.Node) []*graph.Node { return []*graph.Node{x} })[0]
	got := numbers(t, graph.Values{x: fed(x, 7)}, append(y, same)...)
	for i, want := range []float64{math.Sqrt2, 2, 7} {
		if got[i][0] != want {
			t.Errorf("result %d is %v, want %v", i, got[i], want)
		}
	}
	roundTrip(t, g)
	for want, f := range map[string]ops.Function{
		"Call: result 0 of the body is nil": func([]*graph.Node) []*graph.Node { return nil },
		"Call: result 1 of the body is nil": func([]*graph.Node) []*graph.Node { return []*graph.Node{x, nil} },
	} {
		y := ops.Call("bad", f)
		bad := graph.New("bad")
		ops.Neg(bad.Input("x", graph.F64))
		err := y[0].Graph().Err()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestWhileCountsFar: a bound that the floats of the carries do not count to is counted in integers.
func TestWhileCountsFar(t *testing.T) {
	g := graph.New("g")
	x := g.Input("x", graph.F32)
	r := ops.While(ops.Loop{Carry: []*graph.Node{x}, Steps: 1 << 30},
		func(c, _ []*graph.Node) *graph.Node { return ops.Less(c[0], ops.Lit(c[0], 3)) },
		func(c, _, _ []*graph.Node) (next, out []*graph.Node) {
			return []*graph.Node{ops.Shift(c[0], 1)}, nil
		})
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	got, err := reftest.Tape(0, graph.Values{x: fed(x, 0.5)}, []*graph.Node{r.Final[0], r.Steps}) // the definition keeps all steps
	if err != nil || got[0].Data[0] != 3.5 || got[1].Data[0] != 3 {
		t.Errorf("%v, error %v, want 3.5 after 3 steps", got, err)
	}
}

// TestMixedWhileAllocatesNothing: nor do runs of loops and branches with results of several types.
func TestMixedWhileAllocatesNothing(t *testing.T) {
	g := graph.New("g")
	a := g.State("a", graph.F32, graph.Ax("n", 8))
	y := whileOf(ops.Shift(a, .3), 0)
	y = ops.Cond(y[2], func([]*graph.Node) []*graph.Node { return y }, func([]*graph.Node) []*graph.Node { return ofTypes(y[0], y[1], y[2], y[3]) })
	p, err := tape.Compile(g, tape.Fetch(append(y, grad.Of(ops.Sum(y[0]), a)[0])...))
	if err != nil {
		t.Fatal(err)
	}
	vm, err := p.NewVM(tape.NewStore(g))
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	if n := testing.AllocsPerRun(20, func() {
		if err := vm.Run(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations a run", n)
	}
}

// TestCustomOfAnyTypes: the outputs of a function with a derivative of one's own have any types, and
// only those that are floats have derivatives.
func TestCustomOfAnyTypes(t *testing.T) {
	g := graph.New("g")
	x, w := g.Input("x", graph.F64, graph.Ax("n", 3)), g.Input("w", graph.F16)
	f := func(x []*graph.Node) []*graph.Node {
		return []*graph.Node{ops.Cast(ops.Square(x[0]), graph.F32), ops.ArgMax(x[0], 0), ops.Scale(x[1], 2), ops.Sum(x[0])}
	}
	y := grad.Custom(f, func(x, y, dy []*graph.Node) []*graph.Node {
		if dy[1] != nil || dy[0].DType() != graph.F32 || dy[2].DType() != graph.F16 || y[1].DType() != graph.I64 {
			t.Errorf("the vjp gets %v and %v", y, dy)
		}
		hot := ops.OneHot(y[1], -1, x[0].Shape().Axis(0), graph.F64) // what is not differentiated may be read
		return []*graph.Node{ops.Add(ops.Cast(dy[0], graph.F64), ops.Mul(hot, ops.Scale(dy[3], 100))), ops.Scale(dy[2], 7)}
	})(x, w)
	loss := ops.Add(ops.Cast(ops.Sum(ops.Scale(y[0], 3)), graph.F64), ops.Add(y[3], ops.Cast(y[2], graph.F64)))
	d := grad.Of(loss, x, w)
	moved := grad.JVP(y[:1], []*graph.Node{x}, []*graph.Node{ops.Scale(x, 5)})[0]
	each := vmap.Each(func(e []*graph.Node) []*graph.Node {
		return grad.Custom(f, func(x, y, dy []*graph.Node) []*graph.Node { return []*graph.Node{ops.Cast(dy[0], graph.F64), nil} })(e[0], w)
	}, ops.Reshape(ops.Concat(0, x, ops.Scale(x, 2)), 2, 3))
	dEach := grad.Of(ops.Sum(each[0]), x)[0]
	got := numbers(t, graph.Values{x: fed(x, 1, 4, 2), w: fed(w, .5)}, append(append(y, d...), moved, each[1], each[0], dEach)...)
	for i, want := range [][]float64{{1, 16, 4}, {1}, {1}, {7}, {3, 103, 3}, {7}, {5, 20, 10}, {1, 1}, {1, 16, 4, 4, 64, 16}, {3, 3, 3}} {
		if err := reftest.Near(got[i], want, 0); err != nil {
			t.Errorf("result %d: %v", i, err)
		}
	}
	roundTrip(t, g)
}

// TestFixedPointOfAnyFloats: the unknowns of one equation have types of their own.
func TestFixedPointOfAnyFloats(t *testing.T) {
	g := graph.New("g")
	w := g.Input("w", graph.F64)
	start := []*graph.Node{g.Constant(graph.F64, []float64{0}), g.Constant(graph.F32, []float64{0, 0}, graph.Ax("n", 2))}
	r := ops.FixedPoint(ops.Equation{Start: start}, func(x, _ []*graph.Node) []*graph.Node {
		next := ops.Add(ops.Scale(ops.Cast(ops.Sum(x[1]), graph.F64), .25), w)
		return []*graph.Node{next, ops.Scale(ops.BroadcastTo(ops.Cast(x[0], graph.F32), x[1].Shape()), .5)}
	})
	// x = w + y/2 for y = x/2, so x = 4w/3
	d := grad.Of(r.X[0], w)[0]
	moved := grad.JVP(r.X[:1], []*graph.Node{w}, []*graph.Node{w})[0]
	each := vmap.Each(func(s []*graph.Node) []*graph.Node {
		return ops.FixedPoint(ops.Equation{Start: []*graph.Node{s[0]}}, func(x, _ []*graph.Node) []*graph.Node {
			return []*graph.Node{ops.Scale(ops.Cos(x[0]), .5)}
		}).X
	}, g.Constant(graph.F16, []float64{0, 1}, graph.Ax("b", 2)))[0]
	v, err := reftest.Tape(0, graph.Values{w: fed(w, 3)}, []*graph.Node{r.X[0], r.X[1], d, moved, r.Converged, each})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]float64{{4}, {2, 2}, {4. / 3}, {4}, {1}, {.45, .45}} {
		tol := 1e-5
		if i == 5 {
			tol = 1e-3
		}
		if err := reftest.Near(v[i].Data, want, tol); err != nil {
			t.Errorf("result %d: %v", i, err)
		}
	}
	roundTrip(t, g)
}
