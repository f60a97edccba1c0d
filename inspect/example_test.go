package inspect_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// A line is fitted with too large steps. The session stops where the residual exceeds a bound,
// and looks at the values there.
func ExampleSession() {
	g := graph.New("line")
	x := g.Input("x", graph.F64, graph.Ax("i", 3))
	y := g.Input("y", graph.F64, graph.Ax("i", 3))
	w := g.Param("w", graph.F64)
	r := ops.Sub(ops.Mul(w, x), y).As("r")
	loss := ops.Mean(ops.Square(r)).As("loss")

	s, err := inspect.Open(context.Background(), inspect.Subject{
		Graph: g, Wanted: []*graph.Node{loss}, Step: train.SGD(1).Minimize(loss, w), Store: tape.NewStore(g),
		Feed: func(int) (tape.Feed, error) {
			of := func(v ...float64) graph.Value { return graph.Value{Type: x.Type(), Data: v} }
			return tape.Feed{x: tape.Tensor(of(0, 1, 2)), y: tape.Tensor(of(0, 2, 4))}, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	hit, ok, err := s.Continue(context.Background(), 10, inspect.When("r beyond 5", func(ins *inspect.Instruction) bool {
		return ins.Row.Node.Name() == "r" && inspect.StatisticsOf(ins.Result.Value, 0).AbsMax > 5
	}))
	if err != nil {
		log.Fatal(err)
	}
	ins, err := s.Instruction(context.Background(), s.At())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(hit, ok, "in training step", s.Step(), "at", ins.Row.Op, ins.Row.Result)
	fmt.Print(inspect.Values(ins.Row.Node.Name(), ins.Result.Value, inspect.Window{}))
	// Output:
	// r beyond 5 true in training step 1 at Sub r[i=3]
	// r[i=0..2]
	// i=0  0  4.667  9.333
}
