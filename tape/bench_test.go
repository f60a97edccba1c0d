package tape_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// BenchmarkInstruction reports the time of an instruction in a long chain of them over rows so
// short that there is hardly any arithmetic in it: what the interpreter and a call of a kernel
// cost.
func BenchmarkInstruction(b *testing.B) {
	const chain = 100
	for _, columns := range []int{1, 16, 1024} {
		b.Run(fmt.Sprint(columns), func(b *testing.B) {
			g := graph.New("chain")
			first, second := g.Input("x", graph.F32, graph.Ax("i", 1), graph.Ax("j", columns)), g.Input("y", graph.F32, graph.Ax("i", 1), graph.Ax("j", columns))
			y, z := first, second
			for i := range chain {
				if i%2 == 0 {
					y, z = z, ops.Add(z, y)
				} else {
					y, z = z, ops.Maximum(z, y)
				}
			}
			p, err := tape.Compile(g, tape.Fetch(z), tape.Passes())
			if err != nil {
				b.Fatal(err)
			}
			vm := tapetest.VM(b, p, tape.NewStore(g))
			defer vm.Close()
			feed := tape.Feed{first: tape.Tensor(graph.NewValue(first.Type())), second: tape.Tensor(graph.NewValue(first.Type()))}
			for b.Loop() {
				if err := vm.Run(context.Background(), feed); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/chain, "ns/instruction")
		})
	}
}
