package tapestry_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/viz"
	"gorgonia.org/tensor"
)

func Example_objective() {
	g := graph.New("robust centre")
	x := g.Input("x", graph.F32, graph.Ax("i", 150), graph.Ax("d", 4))
	c := g.Param("c", graph.F32, graph.Ax("d", 4))
	D := ops.Sum(ops.Square(ops.Sub(x, c)), "d").As("D")          // ‖x_i − c‖²
	loss := ops.Mean(ops.Log(ops.Shift(D, 1)), "i").As("loss")    // mean_i log(1 + D_i)
	step := train.SGD(0.5).Minimize(loss)                         // gradient and update: nodes of the same graph
	prog, err := tape.Compile(g, tape.Fetch(loss), tape.Do(step)) // all mistakes of the model, each at its line
	if err != nil {
		log.Fatal(err)
	}
	vm, err := prog.NewVM(tape.NewStore(g))
	if err != nil {
		log.Fatal(err)
	}
	defer vm.Close()
	iris, err := data.Iris().Dense(tensor.Float32)
	for t := 0; t < 200 && err == nil; t++ {
		err = vm.Run(context.Background(), tape.Feed{x: iris})
	}
	if err != nil {
		log.Fatal(err)
	}
	last, err := vm.Float(loss)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(viz.Formula(loss))
	fmt.Println(viz.Formula(grad.Of(loss, c)[0]))
	fmt.Printf("loss %.4f\n", last)
	// Output:
	// loss = meanᵢ log(Dᵢ + 1)
	// ∂loss/∂c_d = −2/150·Σᵢ (x_{id} − c_d)/(Dᵢ + 1)
	// loss 1.3847
}
