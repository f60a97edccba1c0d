package train_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// steps prints the parameter c of loss = (c − 1)², from c = 0 on, after each of n steps.
func steps(n int, optimiser train.Optimiser) {
	g := graph.New("parabola")
	c := g.Param("c", graph.F64)
	loss := ops.Square(ops.Sub(c, ops.Lit(c, 1)))
	program, err := tape.Compile(g, tape.Do(optimiser.Minimize(loss)))
	if err != nil {
		log.Fatal(err)
	}
	vm, err := program.NewVM(tape.NewStore(g))
	if err != nil {
		log.Fatal(err)
	}
	defer vm.Close()
	for range n {
		if err := vm.Run(context.Background(), nil); err != nil {
			log.Fatal(err)
		}
		v, err := vm.Store().Get("c")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.3f ", v.Data())
	}
	fmt.Println(optimiser)
}

// Gradient descent, plain and with momentum.
func ExampleSGD() {
	steps(4, train.SGD(0.25))
	steps(4, train.Momentum(0.25, 0.5))
	// Output:
	// 0.500 0.750 0.875 0.938 sgd(0.25)
	// 0.500 1.000 1.250 1.250 momentum(0.25, 0.5)
}

// The first steps of Adam are as long as its rate, whatever the gradient.
func ExampleAdam() {
	steps(4, train.Adam(0.25))
	// Output: 0.250 0.496 0.732 0.949 adam(0.25)
}

// The updates of an optimiser are nodes of the graph, of the parameters that the loss depends on.
func ExampleOptimiser_Minimize() {
	g := graph.New("two")
	a, b := g.Param("a", graph.F32), g.Param("b", graph.F32)
	loss := ops.Square(ops.Sub(a, b))
	step := train.SGD(0.1).Minimize(loss, a)
	for _, u := range step {
		fmt.Println(u.Target.Path())
	}
	fmt.Println(g.Err())
	// Output:
	// a
	// <nil>
}

// A rate that falls along a half cosine, after a warm-up.
func ExampleCosine() {
	s := train.Warmup(2, train.Cosine(1, 8))
	for t := range 10 {
		fmt.Printf("%.2f ", s.At(t, 10))
	}
	// Output: 0.50 1.00 1.00 0.96 0.85 0.69 0.50 0.31 0.15 0.04
}
