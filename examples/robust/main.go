// Robust finds a centre of the iris data that outliers cannot pull far: the
// squared distance counts only by its logarithm. It prints the objective and its
// derivative, trains, and with -out DIR draws the graph into DIR/robust.svg.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/viz"
	"gorgonia.org/tensor"
)

func main() {
	out := flag.String("out", "", "`directory` to draw the graph into (default: it is not drawn)")
	quick := flag.Bool("quick", false, "train for a moment only, to see that it works")
	flag.Parse()
	g := graph.New("robust centre")
	x := g.Input("x", graph.F32, graph.Ax("i", 150), graph.Ax("d", 4))
	c := g.Param("c", graph.F32, graph.Ax("d", 4))
	D := ops.Sum(ops.Square(ops.Sub(x, c)), "d").As("D")          // ‖x_i − c‖²
	loss := ops.Mean(ops.Log(ops.Shift(D, 1)), "i").As("loss")    // mean_i log(1 + D_i)
	step := train.SGD(0.5).Minimize(loss, c)                      // gradient and update: nodes of the same graph
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
		if *quick && t == 20 {
			break
		}
		err = vm.Run(context.Background(), tape.Feed{x: iris})
	}
	if err != nil {
		log.Fatal(err)
	}
	last, err := vm.Float(loss)
	if err != nil {
		log.Fatal(err)
	}
	centre, err := vm.Store().Get("c")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n%s\nloss %.4f at c = %.3f\n", viz.Formula(loss), viz.Formula(grad.Of(loss, c)[0]), last, centre.Float32s())
	if *quick {
		fmt.Println("a quick run is not judged")
	}
	if *out == "" {
		return
	}
	if err := os.MkdirAll(*out, 0o777); err != nil {
		log.Fatal(err)
	}
	f, err := os.Create(filepath.Join(*out, "robust.svg"))
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	if err := viz.SVG(f, []*graph.Node{loss, grad.Of(loss, c)[0]}); err != nil {
		log.Fatal(err)
	}
}
