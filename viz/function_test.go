package viz

import (
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// TestFunction: a function is a closed box with its name, which opens in place; a loop with a
// condition says that its steps are a bound.
func TestFunction(t *testing.T) {
	g := graph.New("g")
	x, w := g.Input("x", graph.F32, graph.Ax("n", 7)), g.Param("w", graph.F32, graph.Ax("n", 7))
	y := ops.Call("block", func(x []*graph.Node) []*graph.Node {
		h := ops.Tanh(ops.Mul(x[0], x[1])).As("h")
		return []*graph.Node{ops.Add(h, x[0])}
	}, x, w)[0].As("y")
	r := ops.While(ops.Loop{Carry: []*graph.Node{y}, Steps: 9},
		func(c, _ []*graph.Node) *graph.Node { return ops.Less(ops.Sum(c[0]), ops.Lit(c[0], 7)) },
		func(c, _, _ []*graph.Node) (next, out []*graph.Node) {
			return []*graph.Node{ops.Scale(c[0], 2).As("v")}, nil
		})
	loss := ops.Sum(r.Final[0]).As("loss")
	if got, want := Formula(y), "yₙ = hₙ + xₙ"; got != want {
		t.Errorf("the formula of a function is %s, want %s", got, want)
	}
	for _, c := range []struct {
		options []Option
		has     []string
		lacks   string
	}{
		{nil, []string{"block", "loop over t, at most 9 steps"}, "tanh"},
		{[]Option{Expand("block")}, []string{"block", "tanh"}, "block</text><text>3 ops"},
	} {
		var b strings.Builder
		if err := DOT(&b, []*graph.Node{loss}, c.options...); err != nil {
			t.Fatal(err)
		}
		for _, s := range c.has {
			if !strings.Contains(b.String(), s) {
				t.Errorf("the drawing lacks %q:\n%s", s, b.String())
			}
		}
		if strings.Contains(b.String(), c.lacks) {
			t.Errorf("the drawing has %q:\n%s", c.lacks, b.String())
		}
	}
}

// TestControlFormulas: loops that stop, branches, solutions and functions with a derivative of one's
// own are written as their values are in a paper.
func TestControlFormulas(t *testing.T) {
	type nodes = []*graph.Node
	for want, f := range map[string]func(x, w, b *graph.Node) *graph.Node{
		"y_d = v_{Td}": func(_, w, b *graph.Node) *graph.Node {
			return ops.While(ops.Loop{Carry: nodes{b}, Steps: 20}, func(c, _ nodes) *graph.Node { return ops.Less(ops.Sum(c[0]), ops.Lit(b, 100)) },
				func(c, _, _ nodes) (next, out nodes) { return nodes{ops.Mul(c[0], w).As("v")}, nil }).Final[0]
		},
		"y_d = log(|b_d|) if 0 < Σ_f b_f, else b_d·w_d": func(_, w, b *graph.Node) *graph.Node {
			return ops.Cond(ops.Greater(ops.Sum(b), ops.Lit(b, 0)), func(nodes) nodes { return nodes{ops.Log(ops.Abs(b))} },
				func(nodes) nodes { return nodes{ops.Mul(b, w)} })[0]
		},
		"y_d = z_d | ∂loss/∂w_d = (u_d if ": func(_, w, b *graph.Node) *graph.Node {
			return ops.FixedPoint(ops.Equation{Start: nodes{b}}, func(z, _ nodes) nodes {
				return nodes{ops.Tanh(ops.Add(ops.Mul(z[0], w), b)).As("z")}
			}).X[0]
		},
		"y_{td} = z_{td} | ": func(x, _, b *graph.Node) *graph.Node {
			m := x.Graph().Param("m", graph.F32, graph.Axis{Size: 3}, b.Shape().Axis(0))
			return ops.FixedPoint(ops.Equation{Start: nodes{ops.ZerosLike(x)}}, func(z, _ nodes) nodes {
				return nodes{ops.Tanh(ops.Add(ops.MatMul(z[0], m), x)).As("z")}
			}).X[0]
		},
		"y_{td} = sign(x_{td}·w_d) | ∂loss/∂w_d = 2/15·Σₜ y_{td}·x_{td}": func(x, w, _ *graph.Node) *graph.Node {
			return grad.Custom(func(in nodes) nodes { return nodes{ops.Sign(in[0])} }, func(_, _, dy nodes) nodes { return dy })(ops.Mul(x, w))[0]
		},
		"y_{td} = tanh(x_{td}·w_d)": func(x, w, _ *graph.Node) *graph.Node {
			return grad.Checkpoint(func(in nodes) nodes { return nodes{ops.Tanh(ops.Mul(in[0], w))} })(x)[0]
		},
	} {
		g := graph.New("g")
		d := graph.Ax("d", 3)
		x, w, b := g.Input("x", graph.F32, graph.Ax("t", 5), d), g.Param("w", graph.F32, d), g.Param("b", graph.F32, d)
		y := f(x, w, b).As("y")
		loss := ops.Mean(ops.Square(y)).As("loss")
		got := Formula(y) + " | " + Formula(grad.OrZero(loss, w)[0])
		value, slope, _ := strings.Cut(want, " | ")
		if !strings.HasPrefix(got, value+" | ") || !strings.Contains(got, slope) {
			t.Errorf("%s: want %s", got, want)
		}
		if strings.Contains(got, "ℓ") || strings.Contains(got, "body") {
			t.Errorf("%s: names from inside", got)
		}
	}
}

// TestCapturesEnterOnce: what a function captures enters its closed box by one edge, and by one edge
// each box that uses it where it is open; a carry that is a number at first says so.
func TestCapturesEnterOnce(t *testing.T) {
	g := graph.New("g")
	x, w := g.Input("x", graph.F32, graph.Ax("n", 7)), g.Param("w", graph.F32, graph.Ax("n", 7))
	y := ops.Call("block", func(in []*graph.Node) []*graph.Node {
		h := ops.Tanh(ops.Mul(x, w)).As("h")
		return []*graph.Node{ops.Add(ops.Mul(h, w), w)}
	})[0].As("y")
	loss := ops.Sum(y).As("loss")
	for _, open := range []bool{false, true} {
		var opts []Option
		if open {
			opts = append(opts, Expand("block"))
		}
		f := draw(t, []*graph.Node{loss}, opts...)
		edges := map[[2]string]int{}
		from := map[string]int{}
		for _, e := range f.Edges {
			edges[[2]string{e.From, e.To}]++
			from[e.From]++
		}
		for e, n := range edges {
			if n > 1 {
				t.Errorf("open %v: %d edges from %s to %s", open, n, e[0], e[1])
			}
		}
		want := map[bool]int{false: 1, true: 2}[open]
		if w := box1(t, f, "w").ID; from[w] != want {
			t.Errorf("open %v: %d edges from w, want %d", open, from[w], want)
		}
	}
	r := ops.While(ops.Loop{Carry: []*graph.Node{x}, Steps: 9}, func(c, _ []*graph.Node) *graph.Node { return ops.Less(ops.Sum(c[0]), ops.Lit(x, 1)) },
		func(c, _, _ []*graph.Node) (next, out []*graph.Node) {
			return []*graph.Node{ops.Mul(c[0], w).As("v")}, nil
		})
	f := draw(t, r.Final)
	if !slices.ContainsFunc(f.Nodes, func(n figure.Node) bool { return n.Sub == "0 at first" }) {
		t.Errorf("no box says that the steps begin at 0: %v", f.Nodes)
	}
}
