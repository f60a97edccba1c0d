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
	"github.com/tapestry-ml/tapestry/viz"
	G "gorgonia.org/gorgonia"
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

// A graph of gorgonia's, and our derivative of it.
func ExampleImport() {
	theirs := G.NewGraph()
	x := G.NewVector(theirs, G.Float64, G.WithName("x"), G.WithShape(3), G.WithValue(tensor.New(tensor.WithBacking([]float64{1, 2, 3}))))
	w := G.NewScalar(theirs, G.Float64, G.WithName("w"), G.WithValue(2.0))
	cost := G.Must(G.Mean(G.Must(G.Square(G.Must(G.Mul(x, w))))))
	G.WithName("cost")(cost)

	m, err := gorgonia.Import(theirs, gorgonia.Params(w))
	if err != nil {
		log.Fatal(err)
	}
	dw := grad.Of(m.Node(cost), m.Node(w))[0]
	feed, err := m.Feed()
	if err != nil {
		log.Fatal(err)
	}
	v, err := m.Store.Eval(context.Background(), feed, m.Node(cost), dw)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(viz.Formula(m.Node(cost)))
	fmt.Printf("cost %.4f, derivative %.4f\n", v[m.Node(cost)].Data, v[dw].Data)
	// Output:
	// cost = meanₗ (w·xₗ)²
	// cost [18.6667], derivative [18.6667]
}
