package ops_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// BenchmarkGradient times functions of 16384 elements on one core: the value alone, and the value
// with the gradient. Softplus and LogSigmoid are to be compared with Sigmoid, Softmax along a short
// axis with that along one of 64.
func BenchmarkGradient(b *testing.B) {
	softmax := func(x *graph.Node) *graph.Node { return ops.Softmax(x, "d") }
	short := []int{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		run := func(name string, n int, f func(*graph.Node) *graph.Node) {
			for _, what := range []string{"value", "gradient"} {
				b.Run(fmt.Sprintf("%v/%s/%s", dt, name, what), func(b *testing.B) { benchmarkGradient(b, dt, n, f, what == "gradient") })
			}
		}
		run("Sigmoid", 64, ops.Sigmoid)
		run("Softplus", 64, ops.Softplus)
		run("LogSigmoid", 64, ops.LogSigmoid)
		for _, n := range append([]int{64}, short...) {
			run(fmt.Sprintf("Softmax%d", n), n, softmax)
		}
	}
}

func benchmarkGradient(b *testing.B, dt graph.DType, n int, f func(*graph.Node) *graph.Node, gradient bool) {
	g, rows := graph.New("gradient"), 1<<14/n
	x := g.Input("x", dt, graph.Ax("i", rows), graph.Ax("d", n))
	w := g.Input("w", dt, graph.Ax("i", rows), graph.Ax("d", n))
	y := f(x)
	fetch := []*graph.Node{y}
	if gradient {
		fetch = append(fetch, grad.Of(ops.Sum(ops.Mul(w, y)), x)...)
	}
	p, err := tape.Compile(g, tape.Fetch(fetch...))
	if err != nil {
		b.Fatal(err)
	}
	vm := tapetest.VM(b, p, tape.NewStore(g), tape.Workers(1))
	defer vm.Close()
	r, feed := rand.New(rand.NewPCG(1, 2)), tape.Feed{}
	for _, in := range []*graph.Node{x, w} {
		v := graph.NewValue(in.Type())
		for i := range v.Data {
			v.Data[i] = 3 * r.NormFloat64()
		}
		if in == x || gradient {
			feed[in] = tape.Tensor(v)
		}
	}
	for b.Loop() {
		if err := vm.Run(context.Background(), feed); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows*n), "ns/element")
}
