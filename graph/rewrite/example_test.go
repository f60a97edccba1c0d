package rewrite_test

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/ops"
)

// A step of a recurrence has two products, a step of its derivative three. One is left in each, that
// with the carry; the others are single products over all steps, before the first loop and after the
// second.
func Example() {
	g := graph.New("recurrence")
	x := g.Input("x", graph.F64, graph.Ax("t", 100), graph.Ax("d", 3))
	h := g.Input("h", graph.F64, graph.Ax("j", 4))
	w := g.Param("W", graph.F64, graph.Ax("d", 3), graph.Ax("j", 4))
	u := g.Param("U", graph.F64, graph.Ax("i", 4), graph.Ax("j", 4))
	r := ops.Scan(ops.Loop{Carry: []*graph.Node{h}, Over: []*graph.Node{x}}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
		z := ops.Add(ops.MatMul(x[0], w), ops.MatMul(ops.Rename(c[0], "j", "i"), u))
		return []*graph.Node{ops.Tanh(z)}, nil
	})
	loss := ops.Sum(ops.Square(r.Final[0]))
	wanted := append([]*graph.Node{loss}, grad.Of(loss, w, u)...)

	show := func(g *graph.Graph) {
		for _, n := range g.Nodes() {
			body := trait.LoopBody(n)
			if body == nil {
				if n.Op().Name() == "MatMul" {
					fmt.Println("", n.Op().Name(), n.In(0).Type(), n.In(1).Type())
				}
				continue
			}
			fmt.Print(" loop ", body.Graph().Name(), ":")
			for _, n := range body.Graph().Nodes() {
				switch name := n.Op().Name(); name {
				case "input", "constant", "Reshape", "Transpose", "Broadcast":
				default:
					fmt.Print(" ", name)
				}
			}
			fmt.Println()
		}
	}
	fmt.Println("as written:")
	show(g)
	res, err := rewrite.Run(g, wanted, rewrite.Passes()...)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("rewritten:")
	show(res.Graph)
	// Output:
	// as written:
	//  loop step: MatMul MatMul Add Tanh
	//  loop ∂step: Square Sub Mul MatMul Add MatMul MatMul
	// rewritten:
	//  MatMul f64[100 d=3] f64[d=3 j=4]
	//  loop step: MatMul Add Tanh
	//  loop ∂step: Mul MatMul
	//  MatMul f64[4 100] f64[100 4]
	//  MatMul f64[d=3 100] f64[100 j=4]
}
