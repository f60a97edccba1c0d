package builders_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestModelsOfHalves: every registered model with a loss has it in f16 and bf16 too, with its
// gradient, within a twentieth of what it is in f32.
func TestModelsOfHalves(t *testing.T) {
	for _, b := range builders.All() {
		t.Run(b.Name, func(t *testing.T) {
			losses := map[graph.DType]float64{}
			for _, dt := range []graph.DType{graph.F32, graph.F16, graph.BF16} {
				m, err := b.Build(nil, dt)
				if err != nil {
					t.Fatal(err)
				}
				if m.Loss == nil {
					t.Skip("it has no loss")
				}
				all := []*graph.Node{m.Loss}
				if params := m.Params(); len(params) > 0 {
					all = append(all, grad.OrZero(m.Loss, params...)...)
				}
				p, err := tape.Compile(m.Graph, tape.Fetch(all...))
				if err != nil {
					t.Fatal(err)
				}
				vm := tapetest.VM(t, p, tape.NewStore(m.Graph, tape.Seed(1)))
				defer vm.Close()
				feed := tape.Feed{}
				for n, v := range m.Examples(rand.New(rand.NewPCG(1, 2))) {
					v.Type = n.Type()
					feed[n] = tape.Tensor(v)
				}
				if err := vm.Run(t.Context(), feed); err != nil {
					t.Fatal(err)
				}
				if losses[dt], err = vm.Float(m.Loss); err != nil {
					t.Fatal(err)
				}
				if want := losses[graph.F32]; !(math.Abs(losses[dt]-want) <= 0.05*math.Abs(want)+0.01) {
					t.Errorf("in %v the loss is %v, in f32 %v", dt, losses[dt], want)
				}
			}
		})
	}
}
