package tape_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

// clusters is soft k-means on n points in d dimensions, or the alternative that
// pulls the α-weighted mean of the centres to each point, written with
// differences and squared norms, and its training step.
type clusters struct {
	g                *graph.Graph
	x, r, γ, α, loss *graph.Node
	step             graph.Step
}

func newClusters(n, k, d int, goofy bool) *clusters {
	g := graph.New("soft k-means")
	c := &clusters{g: g}
	c.x = g.Input("x", graph.F32, graph.Ax("i", n), graph.Ax("d", d))
	c.r = g.Param("r", graph.F32, graph.Ax("j", k), graph.Ax("d", d)).Init(initial.Normal(0, 1))
	c.γ = g.Scalar("γ", 1)
	diff := ops.Sub(ops.Over(c.x, "i", "j", "d"), ops.Over(c.r, "i", "j", "d"))
	dist := ops.Sum(ops.Square(diff), "d").As("D")
	c.α = ops.Softmax(ops.Neg(ops.Mul(c.γ, dist)), "j").As("α")
	if goofy {
		hat := ops.MatMul(c.α, c.r).As("rhat")
		c.loss = ops.Mean(ops.Sum(ops.Square(ops.Sub(hat, c.x)), "d"), "i").As("loss")
	} else {
		c.loss = ops.Mean(ops.Sum(ops.Mul(c.α, dist), "j"), "i").As("loss")
	}
	d1 := grad.Of(c.loss, c.r)[0]
	c.step = graph.Step{g.Assign(c.r, ops.Sub(c.r, ops.Scale(d1, 0.1)))}
	return c
}

// points are n rows of d numbers that a seed fixes.
func points(n, d int) *tensor.Dense {
	rnd := rand.New(rand.NewPCG(1, 2))
	data := make([]float32, n*d)
	for i := range data {
		data[i] = float32(rnd.NormFloat64())
	}
	return tensor.New(tensor.WithShape(n, d), tensor.WithBacking(data))
}

// line is a scalar graph's smallest training step: a ← a + x.
func line() (g *graph.Graph, x, a *graph.Node, step graph.Step) {
	g = graph.New("line")
	x = g.Input("x", graph.F32)
	a = g.Param("a", graph.F32).Init(initial.Fill(1))
	return g, x, a, graph.Step{g.Assign(a, ops.Add(a, x))}
}

func compile(t testing.TB, g *graph.Graph, options ...tape.Option) *tape.Program {
	t.Helper()
	p, err := tape.Compile(g, options...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func run(t testing.TB, vm *tape.VM, feed tape.Feed) {
	t.Helper()
	if err := vm.Run(context.Background(), feed); err != nil {
		t.Fatal(err)
	}
}

func value(t testing.TB, vm *tape.VM, n *graph.Node) []float64 {
	t.Helper()
	v, err := vm.Value(n)
	if err != nil {
		t.Fatal(err)
	}
	return numbers(v)
}

func stored(t testing.TB, s *tape.Store, path string) []float64 {
	t.Helper()
	v, err := s.Get(path)
	if err != nil {
		t.Fatal(err)
	}
	return numbers(v)
}

func f32(shape []int, v ...float32) *tensor.Dense {
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(v))
}

// wantError compares an error's text, of which there is one line a mistake.
func wantError(t testing.TB, err error, want string) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("no error: want %s", want)
	case err.Error() != want:
		t.Errorf("error\n%v\nwant\n%v", err, want)
	}
}
