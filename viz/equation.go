package viz

import "github.com/tapestry-ml/tapestry/graph"

// EquationOf is the equation of a node, which [Formula] and [LaTeX] print. It is the
// zero Equation of a nil or invalid node.
func EquationOf(n *graph.Node, opts ...Option) Equation {
	if !n.IsValid() {
		return Equation{}
	}
	return equation(n, opts)
}
