package rewrite_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// unrolledLSTM is a training step of an LSTM, unrolled, with the gradient and
// Adam's updates: about 60 nodes for each step of time.
func unrolledLSTM(steps int) (g *graph.Graph, loss *graph.Node, step graph.Step) {
	const batch, in, hidden = 4, 3, 5
	g = graph.New("lstm")
	x := g.Input("x", graph.F32, graph.Ax("t", steps), graph.Ax("n", batch), graph.Ax("f", in))
	y := g.Input("y", graph.F32, graph.Ax("n", batch), graph.Ax("h", hidden))
	w := g.Param("w", graph.F32, graph.Ax("f", in), graph.Ax("g", 4*hidden))
	u := g.Param("u", graph.F32, graph.Ax("h", hidden), graph.Ax("g", 4*hidden))
	b := g.Param("b", graph.F32, graph.Ax("g", 4*hidden))
	h := ops.Scale(y, 0)
	c := h
	for t := range steps {
		end := g.Scope("t" + strconv.Itoa(t))
		xt := ops.Squeeze(ops.Slice(x, "t", t, t+1), "t")
		z := ops.Add(ops.Add(ops.MatMul(xt, w), ops.MatMul(h, u)), b)
		gate := func(k int) *graph.Node {
			return ops.Rename(ops.Slice(z, "g", k*hidden, (k+1)*hidden), "g", "h")
		}
		c = ops.Add(ops.Mul(ops.Sigmoid(gate(1)), c), ops.Mul(ops.Sigmoid(gate(0)), ops.Tanh(gate(2))))
		h = ops.Mul(ops.Sigmoid(gate(3)), ops.Tanh(c))
		end()
	}
	loss = ops.Mean(ops.Square(ops.Sub(h, y))).As("loss")
	return g, loss, train.Adam(0.01).Minimize(loss)
}

func roots(loss *graph.Node, step graph.Step) []*graph.Node {
	wanted := []*graph.Node{loss}
	for _, u := range step {
		wanted = append(wanted, u.Target, u.Value)
	}
	return wanted
}

// BenchmarkUnrolled times what a large graph goes through before it runs. The time
// for a node must not depend on how many there are.
func BenchmarkUnrolled(b *testing.B) {
	for _, steps := range []int{410, 820, 1640} {
		g, loss, step := unrolledLSTM(steps)
		if err := g.Err(); err != nil {
			b.Fatal(err)
		}
		run := func(name string, f func() error) {
			b.Run(fmt.Sprintf("%s/%dk", name, g.Len()/1000), func(b *testing.B) {
				for b.Loop() {
					if err := f(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(g.Len()), "ns/node")
			})
		}
		run("build", func() error { g, _, _ := unrolledLSTM(steps); return g.Err() })
		run("rewrite", func() error { _, err := rewrite.Run(g, roots(loss, step), rewrite.Passes()...); return err })
		run("verify", func() error { return graph.Verify(g) })
		run("compile", func() error { _, err := tape.Compile(g, tape.Fetch(loss), tape.Do(step)); return err })
	}
}

// TestUnrolledDoesNotAccumulateArrays: the derivatives of what is cut into steps or
// gates are joined, and of a matrix that every step uses there is one product, so
// that no two nodes as large as all steps together are added.
func TestUnrolledDoesNotAccumulateArrays(t *testing.T) {
	const steps = 6
	g := graph.New("rnn")
	x := g.Input("x", graph.F64, graph.Ax("t", steps), graph.Ax("n", 2), graph.Ax("f", 9))
	w := g.Input("w", graph.F64, graph.Ax("f", 9), graph.Ax("h", 8))
	h := ops.Lit(x, 0)
	for k := range steps {
		h = ops.Tanh(ops.Add(h, ops.MatMul(ops.Squeeze(ops.Slice(x, "t", k, k+1), "t"), w)))
	}
	loss := ops.Sum(h).As("loss")
	wanted := append([]*graph.Node{loss}, grad.Of(loss, x, w)...)
	p := compareWithWritten(t, g, wanted)
	for _, n := range graph.Reachable(wanted...) {
		if match.Is(n, match.Place) || match.Is(n, match.Add) && n.Type() == x.Type() || match.Is(n, match.Add) && n.Type() == w.Type() {
			t.Errorf("%s of type %v in\n%v", n.Op().Name(), n.Type(), p)
		}
	}
}

// TestLargeGraphs: chains, sums and fans far longer than a stack of calls or a
// quadratic search could bear.
func TestLargeGraphs(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(x *graph.Node) *graph.Node
		nodes int // with the derivative by x, after rewriting, at most
	}{
		{"a chain", func(x *graph.Node) *graph.Node {
			y := x
			for range 20_000 {
				y = ops.Tanh(y)
			}
			return y
		}, 110_000},
		{"a sum of many terms", func(x *graph.Node) *graph.Node {
			y := x
			for k := range 10_000 {
				y = ops.Add(y, ops.Sin(ops.Shift(x, float64(k))))
			}
			return y
		}, 110_000},
		{"many users of one node", func(x *graph.Node) *graph.Node {
			s := ops.Sin(x)
			y := s
			for k := range 10_000 {
				y = ops.Mul(ops.Shift(s, float64(k)), y)
			}
			return y
		}, 140_000},
		{"factors in a row", func(x *graph.Node) *graph.Node {
			for range 10_000 {
				x = ops.Scale(x, 1.0001)
			}
			return x
		}, 20},
		{"layouts in a row", func(x *graph.Node) *graph.Node {
			for range 5_000 {
				x = ops.Transpose(ops.Reshape(x, x.Dim(1), x.Dim(0)))
			}
			return x
		}, 30_000},
		{"slices of one array", func(x *graph.Node) *graph.Node {
			x = ops.Reshape(ops.BroadcastTo(ops.Reshape(x, 1, 6), mustShape(graph.Dims(1000, 6)...)), 6000)
			y := ops.Slice(x, 0, 0, 1)
			for k := 1; k < 6000; k++ {
				y = ops.Mul(y, ops.Slice(x, 0, k, k+1))
			}
			return y
		}, 60_000},
	} {
		g := graph.New(c.name)
		x := g.Param("x", graph.F64, graph.Dims(2, 3)...)
		loss := ops.Sum(c.build(x))
		wanted := append([]*graph.Node{loss}, grad.Of(loss, x)...)
		res, err := rewrite.Run(g, wanted, rewrite.Passes()...)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if err := graph.Verify(res.Graph); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if n := res.Graph.Len(); n > c.nodes {
			t.Errorf("%s: %d nodes have become %d: want at most %d", c.name, g.Len(), n, c.nodes)
		}
	}
	g := graph.New("a longer chain")
	y := g.Param("x", graph.F64)
	for range 200_000 {
		y = ops.Tanh(y)
	}
	if !y.DependsOn(g.Lookup("x")) {
		t.Error("the end of the chain does not depend on its beginning")
	}
	if res, err := rewrite.Run(g, []*graph.Node{y}, rewrite.Passes()...); err != nil || res.Graph.Len() != 200_001 {
		t.Errorf("rewritten, the chain is %d nodes, %v", res.Graph.Len(), err)
	}
}

func mustShape(axes ...graph.Axis) graph.Shape {
	s, err := graph.NewShape(axes...)
	if err != nil {
		panic(err)
	}
	return s
}
