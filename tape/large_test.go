package tape_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// large are families of graphs of any size, each with a shape that a careless compiler is quadratic
// in. Their results are computed of about so many nodes.
var large = []struct {
	name    string
	results func(g *graph.Graph, nodes int) []*graph.Node
}{
	{"mlp", func(g *graph.Graph, nodes int) []*graph.Node { // as many parameters as layers
		h := g.Input("x", graph.F32, graph.Ax("n", 4), graph.Ax("h", 8))
		var params []*graph.Node
		for i := range nodes / 12 {
			w := g.Param(fmt.Sprint("w", i), graph.F32, graph.Ax("h", 8), graph.Ax("k", 8))
			b := g.Param(fmt.Sprint("b", i), graph.F32, graph.Ax("k", 8))
			h = ops.Rename(ops.Tanh(ops.Add(ops.MatMul(h, w), b)), "k", "h")
			params = append(params, w, b)
		}
		return grad.Of(ops.Mean(ops.Square(h)), params...)
	}},
	{"elementwise", func(g *graph.Graph, nodes int) []*graph.Node { // one long chain
		x := g.Input("x", graph.F32, graph.Ax("n", 64))
		y := x
		for i := range nodes / 6 {
			y = ops.Mul(ops.Sin(ops.Add(x, y)), ops.Shift(x, float64(i)))
		}
		return grad.Of(ops.Sum(y), x)
	}},
	{"fan-out", func(g *graph.Graph, nodes int) []*graph.Node { // one node that all others read
		x := g.Input("x", graph.F32, graph.Ax("n", 64))
		s := ops.Exp(x)
		y := s
		for i := range nodes / 4 {
			y = ops.Add(y, ops.Sin(ops.Shift(s, float64(i))))
		}
		return grad.Of(ops.Sum(y), x)
	}},
	{"outputs", func(g *graph.Graph, nodes int) []*graph.Node { // of one input
		x := g.Input("x", graph.F32, graph.Ax("n", 64))
		var all []*graph.Node
		for i := range nodes / 3 {
			all = append(all, ops.Sum(ops.Sin(ops.Shift(x, float64(i)))))
		}
		return all
	}},
	{"inputs", func(g *graph.Graph, nodes int) []*graph.Node { // of one output
		var y *graph.Node
		for i := range nodes / 3 {
			x := ops.Sin(g.Input(fmt.Sprint("x", i), graph.F32, graph.Ax("n", 64)))
			if y != nil {
				x = ops.Add(x, y)
			}
			y = x
		}
		return []*graph.Node{y}
	}},
	{"products", func(g *graph.Graph, nodes int) []*graph.Node { // of one input, which nothing joins
		x := g.Input("x", graph.F32, graph.Ax("n", 4), graph.Ax("h", 8))
		var all []*graph.Node
		for i := range nodes / 3 {
			all = append(all, ops.MatMul(ops.Shift(x, float64(i)), g.Param(fmt.Sprint("w", i), graph.F32, graph.Ax("h", 8), graph.Ax("k", 8))))
		}
		return all
	}},
	{"recurrence", func(g *graph.Graph, nodes int) []*graph.Node { // an LSTM, unrolled
		return lstmSteps(g, nodes/64)
	}},
	{"attention", func(g *graph.Graph, nodes int) []*graph.Node { // layers of a transformer
		x := g.Input("x", graph.F32, graph.Ax("n", 6), graph.Ax("d", 8))
		var params []*graph.Node
		param := func(kind string, i int) *graph.Node {
			w := g.Param(fmt.Sprint(kind, i), graph.F32, graph.Ax("d", 8), graph.Ax("e", 8))
			params = append(params, w)
			return w
		}
		h := x
		for i := range nodes / 60 {
			q, k, v := ops.MatMul(h, param("q", i)), ops.MatMul(h, param("k", i)), ops.MatMul(h, param("v", i))
			a := ops.Softmax(ops.MatMul(q, ops.Rename(ops.Transpose(k), "n", "m")), "m")
			h = ops.Add(h, ops.Rename(ops.MatMul(a, ops.Rename(v, "n", "m")), "e", "d"))
			h = ops.Add(h, ops.Rename(ops.ReLU(ops.MatMul(h, param("f", i))), "e", "d"))
		}
		return grad.Of(ops.Mean(ops.Square(h)), params...)
	}},
}

// lstmSteps returns the loss of an LSTM of so many steps, unrolled, and its gradients.
func lstmSteps(g *graph.Graph, steps int) []*graph.Node {
	const batch, in, hidden = 4, 3, 5
	x := g.Input("x", graph.F32, graph.Ax("t", steps), graph.Ax("n", batch), graph.Ax("f", in))
	w := g.Param("w", graph.F32, graph.Ax("f", in), graph.Ax("g", 4*hidden))
	u := g.Param("u", graph.F32, graph.Ax("h", hidden), graph.Ax("g", 4*hidden))
	b := g.Param("b", graph.F32, graph.Ax("g", 4*hidden))
	h := g.Input("h", graph.F32, graph.Ax("n", batch), graph.Ax("h", hidden))
	c := h
	for t := range steps {
		z := ops.Add(ops.Add(ops.MatMul(ops.Squeeze(ops.Slice(x, "t", t, t+1), "t"), w), ops.MatMul(h, u)), b)
		gate := func(k int) *graph.Node {
			return ops.Rename(ops.Slice(z, "g", k*hidden, (k+1)*hidden), "g", "h")
		}
		c = ops.Add(ops.Mul(ops.Sigmoid(gate(1)), c), ops.Mul(ops.Sigmoid(gate(0)), ops.Tanh(gate(2))))
		h = ops.Mul(ops.Sigmoid(gate(3)), ops.Tanh(c))
	}
	loss := ops.Mean(ops.Square(h))
	return append([]*graph.Node{loss}, grad.Of(loss, w, u, b)...)
}

// BenchmarkCompileLarge times building, with gradients, and compiling. The time for a node must not
// depend on how many there are.
func BenchmarkCompileLarge(b *testing.B) {
	for _, l := range large {
		for _, nodes := range []int{25_000, 50_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%dk", l.name, nodes/1000), func(b *testing.B) {
				size := 0
				for b.Loop() {
					g := graph.New(l.name)
					results := l.results(g, nodes)
					if _, err := tape.Compile(g, tape.Fetch(results...)); err != nil {
						b.Fatal(err)
					}
					size = g.Len()
				}
				b.ReportMetric(float64(size), "nodes")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/node")
			})
		}
	}
}

// TestCompilingTakesEquallyMuchForANode: the memory that compiling takes in all, and how often it
// takes some, which are counted where time is only measured, grow no faster than the graph. Long
// chains are cut into groups, and more of them make values once more: they take up to a fifth more.
func TestCompilingTakesEquallyMuchForANode(t *testing.T) {
	for _, l := range large {
		if testing.Short() && l.name != "mlp" && l.name != "elementwise" {
			continue
		}
		perNode := func(nodes int) (bytes, times float64) {
			g := graph.New(l.name)
			results := l.results(g, nodes)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := tape.Compile(g, tape.Fetch(results...)); err != nil {
				t.Fatalf("%s: %v", l.name, err)
			}
			runtime.ReadMemStats(&after)
			n := float64(g.Len())
			return float64(after.TotalAlloc-before.TotalAlloc) / n, float64(after.Mallocs-before.Mallocs) / n
		}
		growth := 1.05
		if l.name == "elementwise" || l.name == "recurrence" {
			growth = 1.3
		}
		fewBytes, fewTimes := perNode(500)
		manyBytes, manyTimes := perNode(2000)
		if manyBytes > growth*fewBytes || manyTimes > growth*fewTimes {
			t.Errorf("%s: compiling takes %.0f bytes in %.1f pieces for each of about 500 nodes, and %.0f in %.1f for each of 2000",
				l.name, fewBytes, fewTimes, manyBytes, manyTimes)
		}
	}
}
