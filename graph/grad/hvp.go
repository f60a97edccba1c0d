package grad

import "github.com/tapestry-ml/tapestry/graph"

// HVP returns the products of the second derivatives of a scalar loss with a direction: for each
// node of x, and of its type, Σ_b ∂²loss/∂x_a∂x_b·v_b, where the sum runs over all elements of all
// nodes of x. Each node of v has the type of the node of x beside it. It is forward mode over
// reverse mode (Pearlmutter, Fast exact multiplication by the Hessian, 1994), and costs about two
// gradients; no Hessian is made. If the derivative does not depend on x the product is zero.
// Mistakes are those of [Of] and [JVP].
//
// The loss is differentiated as written: if that overflows, write a formula that does not, or
// differentiate twice with [Of]; see "Formulas that overflow".
func HVP(loss *graph.Node, x, v []*graph.Node) []*graph.Node {
	return JVP(Of(loss, x...), x, v)
}
