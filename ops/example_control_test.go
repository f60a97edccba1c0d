package ops_test

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// A function is one node, whose results are taken like any others.
func ExampleCall() {
	g := graph.New("call")
	x := g.Constant(graph.F32, []float64{3, 4}, graph.Ax("d", 2)).As("x")
	y := ops.Call("normalise", func(x []*graph.Node) []*graph.Node {
		length := ops.Norm(x[0], 0).As("length")
		return []*graph.Node{ops.Div(x[0], length), length}
	}, x)
	show(y...)
	// Output:
	// [d=2] [0.6 0.8]
	// [] 5
}

// A branch that is expensive is run only where it is needed: here a hundred thousand steps.
func ExampleCond() {
	for _, start := range []float64{0.5, 5} {
		g := graph.New("branch")
		x := g.Constant(graph.F64, []float64{start})
		expensive := func(x []*graph.Node) []*graph.Node {
			r := ops.Scan(ops.Loop{Carry: x, Steps: 100000}, func(c, _, _ []*graph.Node) (next, out []*graph.Node) {
				return []*graph.Node{ops.Sin(c[0])}, nil
			})
			return r.Final
		}
		cheap := func(x []*graph.Node) []*graph.Node { return []*graph.Node{ops.Scale(x[0], 10)} }
		y := ops.Cond(ops.Greater(x, ops.Lit(x, 1)), cheap, expensive, x)[0]
		show(y, grad.Of(y, x)[0])
	}
	// Output:
	// [] 0.00548
	// [] 1.25e-06
	// [] 50
	// [] 10
}

// Newton's method to convergence: a run does the steps that it needs, here for a cube root.
func ExampleWhile() {
	g := graph.New("newton")
	a := g.Constant(graph.F64, []float64{27})
	r := ops.While(ops.Loop{Carry: []*graph.Node{ops.Lit(a, 1)}, With: []*graph.Node{a}, Steps: 1000},
		func(c, a []*graph.Node) *graph.Node {
			off := ops.Abs(ops.Sub(ops.Pow(c[0], ops.Lit(a[0], 3)), a[0]))
			return ops.Greater(off, ops.Lit(off, 1e-10))
		},
		func(c, _, a []*graph.Node) (next, out []*graph.Node) {
			y := ops.Sub(c[0], ops.Div(ops.Sub(ops.Pow(c[0], ops.Lit(a[0], 3)), a[0]), ops.Scale(ops.Square(c[0]), 3)))
			return []*graph.Node{y.As("y")}, nil
		})
	show(r.Final[0], r.Steps, r.Done, grad.Of(r.Final[0], a)[0])
	// Output:
	// [] 3
	// [] 8
	// [] true
	// [] 0.037
}

// Sinkhorn's algorithm until convergence (Cuturi, 2013): a plan of transport with given sums of
// rows and columns. A bound of 10000 steps costs nothing where 353 are enough.
func ExampleWhile_sinkhorn() {
	g := graph.New("sinkhorn")
	C := g.Constant(graph.F64, []float64{0, 1, 4, 1, 0, 1}, graph.Ax("i", 2), graph.Ax("j", 3)).As("C")
	p := g.Constant(graph.F64, []float64{0.5, 0.5}, graph.Ax("i", 2))
	q := g.Constant(graph.F64, []float64{0.25, 0.25, 0.5}, graph.Ax("j", 3))
	const ε = 0.25
	plan := func(f, h, C *graph.Node) *graph.Node {
		return ops.Exp(ops.Scale(ops.Sub(ops.Add(ops.Over(f, "i", "j"), ops.Over(h, "i", "j")), C), 1/ε))
	}
	r := ops.While(ops.Loop{Carry: []*graph.Node{ops.Scale(p, 0), ops.Scale(q, 0)}, With: []*graph.Node{C, p, q}, Steps: 10000},
		func(c, w []*graph.Node) *graph.Node {
			off := ops.Sum(ops.Abs(ops.Sub(ops.Sum(plan(c[0], c[1], w[0]), "j"), w[1])))
			return ops.Greater(off, ops.Lit(off, 1e-9))
		},
		func(c, _, w []*graph.Node) (next, out []*graph.Node) {
			soft := func(h, C *graph.Node, axis string) *graph.Node {
				return ops.LogSumExp(ops.Scale(ops.Sub(ops.Over(h, "i", "j"), C), 1/ε), axis)
			}
			f := ops.Scale(ops.Sub(ops.Log(w[1]), soft(c[1], w[0], "j")), ε).As("f")
			h := ops.Scale(ops.Sub(ops.Log(w[2]), soft(f, w[0], "i")), ε).As("h")
			return []*graph.Node{f, h}, nil
		})
	P := plan(r.Final[0], r.Final[1], C).As("P")
	show(P, ops.Sum(P, "i"), r.Steps)
	// Output:
	// [i=2 j=3] [0.25 0.244 0.00635 2.19e-06 0.00635 0.494]
	// [j=3] [0.25 0.25 0.5]
	// [] 353
}

// A deep equilibrium layer: its output solves an equation, and so does its derivative; no step is
// kept.
func ExampleFixedPoint() {
	g := graph.New("equilibrium")
	w := g.Constant(graph.F64, []float64{0.3, -0.2, 0.1, 0.4}, graph.Ax("d", 2), graph.Ax("e", 2))
	x := g.Constant(graph.F64, []float64{1, -1}, graph.Ax("d", 2)).As("x")
	eq := ops.Equation{Start: []*graph.Node{ops.Scale(x, 0)}, With: []*graph.Node{w, x}}
	r := ops.FixedPoint(eq, func(z, with []*graph.Node) []*graph.Node {
		mixed := ops.Sum(ops.Mul(ops.Over(z[0], "d", "e"), with[0]), "d")
		return []*graph.Node{ops.Tanh(ops.Add(ops.Rename(mixed, "e", "d"), with[1]))}
	})
	z := r.X[0].As("z")
	show(z, r.Converged, grad.Of(ops.Sum(ops.Square(z)), w)[0])
	// Output:
	// [d=2] [0.819 -0.91]
	// [] true
	// [d=2 e=2] [0.509 -0.266 -0.565 0.295]
}
