package viz

import "github.com/tapestry-ml/tapestry/graph"

// EquationOf returns the equation of a node, which [Formula] and [LaTeX] print. For a nil or
// invalid node it is the zero Equation.
func EquationOf(n *graph.Node, opts ...Option) Equation {
	if !n.IsValid() {
		return Equation{}
	}
	return equation(n, opts)
}
