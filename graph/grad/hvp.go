package grad

import "github.com/tapestry-ml/tapestry/graph"

// HVP gives the products of the second derivatives of a scalar loss with a
// direction: Σ_b ∂²loss/∂x_a∂x_b·v_b for each node of x, of its type. It is forward
// mode over reverse mode, and costs about two gradients; no Hessian is made. Where
// the derivative does not depend on x the product is zero. Mistakes are those of
// [Of] and [JVP].
//
// It is the product of the loss as it is written: where that overflows, write what does not, or
// differentiate twice with [Of]; see "Formulas that overflow".
func HVP(loss *graph.Node, x, v []*graph.Node) []*graph.Node {
	return JVP(Of(loss, x...), x, v)
}
