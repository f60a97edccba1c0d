package train_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// The smallest number of f16 is 6e-8, so derivatives on their way through f16 may become 0. The loss
// is multiplied by a power of two before it is differentiated, and the derivatives, once they are of
// f32 again, are divided by it. In bf16, which has the range of f32, that is not needed.
func Example_lossScaling() {
	g := graph.New("scaling")
	w := g.Param("w", graph.F32)
	y := ops.Cast(ops.Square(ops.Cast(w, graph.F16)), graph.F32)
	loss := ops.Scale(y, 1e-9) // its derivative by y is no number of f16
	plain := grad.Of(loss, w)[0]
	const scale = 1 << 16
	scaled := ops.Scale(grad.Of(ops.Scale(loss, scale), w)[0], 1.0/scale)
	program, err := tape.Compile(g, tape.Fetch(plain, scaled), tape.Do(graph.Step{g.Assign(w, ops.Sub(w, ops.Scale(scaled, 0.1)))}))
	if err != nil {
		log.Fatal(err)
	}
	store := tape.NewStore(g)
	if err := store.Set("w", tape.Scalar(graph.F32, 3)); err != nil {
		log.Fatal(err)
	}
	vm, err := program.NewVM(store)
	if err != nil {
		log.Fatal(err)
	}
	defer vm.Close()
	if err := vm.Run(context.Background(), nil); err != nil {
		log.Fatal(err)
	}
	for _, d := range []*graph.Node{plain, scaled} {
		v, err := vm.Float(d)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.2g\n", v)
	}
	// Output:
	// 0
	// 6e-09
}
