package grad_test

import (
	"fmt"
	"log"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
)

// show prints the shape and the values of nodes where x is as given.
func show(x *graph.Node, at []float64, nodes ...*graph.Node) {
	values, err := ref.Eval(trait.Env{}, graph.Values{x: {Type: x.Type(), Data: at}}, nodes...)
	if err != nil {
		log.Fatal(err)
	}
	for i, n := range nodes {
		fmt.Println(n.Shape(), values[i].Data)
	}
}

// The derivative of Σ x² is 2x; that of its sum is 2 everywhere.
func ExampleOf() {
	g := graph.New("g")
	x := g.Input("x", graph.F64, graph.Ax("i", 3))
	loss := ops.Sum(ops.Square(x)).As("loss")
	d := grad.Of(loss, x)[0]
	second := grad.Of(ops.Sum(d), x)[0]
	fmt.Println(d.Name())
	show(x, []float64{1, 2, 3}, d, second)
	// Output:
	// ∂loss/∂x
	// [i=3] [2 4 6]
	// [i=3] [2 2 2]
}

// A loss that does not depend on a node is a mistake, unless zeros are meant.
func ExampleOrZero() {
	g := graph.New("g")
	x, y := g.Input("x", graph.F64), g.Input("y", graph.F64, graph.Ax("i", 2))
	show(x, []float64{3}, grad.OrZero(ops.Square(x), x, y)...)
	fmt.Println(grad.Of(ops.Square(x), y)[0].IsValid())
	// Output:
	// [] [6]
	// [i=2] [0 0]
	// false
}

// How x² moves when x moves by v: 2x·v.
func ExampleJVP() {
	g := graph.New("g")
	x := g.Input("x", graph.F64, graph.Ax("i", 3))
	v := g.Constant(graph.F64, []float64{1, 0, -1}, graph.Ax("i", 3))
	d := grad.JVP([]*graph.Node{ops.Square(x)}, []*graph.Node{x}, []*graph.Node{v})
	show(x, []float64{1, 2, 3}, d...)
	// Output: [i=3] [2 0 -6]
}

// The second derivatives of Σ x³ times a direction: 6x·v.
func ExampleHVP() {
	g := graph.New("g")
	x := g.Input("x", graph.F64, graph.Ax("i", 2))
	v := g.Constant(graph.F64, []float64{1, 10}, graph.Ax("i", 2))
	loss := ops.Sum(ops.Mul(x, ops.Square(x)))
	show(x, []float64{1, 2}, grad.HVP(loss, []*graph.Node{x}, []*graph.Node{v})...)
	// Output: [i=2] [6 120]
}

// Every element of x² by every element of x; x's axis gets a prime.
func ExampleJacobian() {
	g := graph.New("g")
	x := g.Input("x", graph.F64, graph.Ax("i", 2))
	show(x, []float64{3, 4}, grad.Jacobian(ops.Square(x), x))
	// Output: [i=2 i′=2] [6 0 0 8]
}

// The second derivatives of x₀·x₁.
func ExampleHessian() {
	g := graph.New("g")
	x := g.Input("x", graph.F64, graph.Ax("i", 2))
	show(x, []float64{3, 4}, grad.Hessian(ops.Prod(x), x))
	// Output: [i=2 i′=2] [0 1 1 0]
}
