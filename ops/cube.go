package ops

import "github.com/tapestry-ml/tapestry/graph"

// Cube returns x³, element by element, for numbers x.
func Cube(x *graph.Node) *graph.Node {
	defer calling("Cube", x)()
	return Mul(x, Square(x))
}
