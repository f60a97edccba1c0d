package gorgonia_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/interop/gorgonia"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

// A centre is fitted to three numbers on gorgonia's machine.
func Example() {
	g := graph.New("mean")
	x := g.Input("x", graph.F64, graph.Ax("i", 3))
	m := g.Param("m", graph.F64)
	loss := ops.Mean(ops.Square(ops.Sub(x, m)), "i").As("loss")
	step := graph.Step{g.Assign(m, ops.Sub(m, ops.Scale(grad.Of(loss, m)[0], 0.25)))}

	machine, err := gorgonia.Compile(g, gorgonia.Fetch(loss), gorgonia.Do(step))
	if err != nil {
		log.Fatal(err)
	}
	defer machine.Close()
	store := tape.NewStore(g)
	feed := tape.Feed{x: tensor.New(tensor.WithBacking([]float64{1, 2, 6}))}
	for range 3 {
		if err := machine.Run(context.Background(), feed, store); err != nil {
			log.Fatal(err)
		}
		v, err := machine.Value(loss)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.4f\n", v.Float64s()[0])
	}

	var u *gorgonia.Unsupported
	if _, err := gorgonia.Compile(g, gorgonia.Fetch(ops.ArgMin(x, "i"))); errors.As(err, &u) {
		fmt.Println(u.Op, "cannot run:", u.Reason)
	}
	// Output:
	// 13.6667
	// 6.9167
	// 5.2292
	// ArgMin cannot run: it has no index of a minimum
}
