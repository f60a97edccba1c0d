package grad

import (
	"errors"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// Custom returns f as a function with the derivative vjp, instead of the one that follows from how
// f computes its outputs. As jax.custom_vjp and torch.autograd.Function do, vjp gets the inputs x,
// the outputs y and the derivatives dy of a loss by the outputs, and returns the derivatives by the
// inputs.
//
//	round := grad.Custom(
//		func(x []*graph.Node) []*graph.Node { return []*graph.Node{nearest(x[0])} },
//		func(x, y, dy []*graph.Node) []*graph.Node { return dy }) // straight through
//	z := round(x)[0]
//
// The vjp is an ordinary graph: derivatives of higher order differentiate it again, where y stands
// for the outputs as functions of x. Forward mode ([JVP]) transposes it, so it must be linear in
// dy: it is a mistake if it is not, as when gradients are clipped. Batches ([graph/vmap]) map it.
// It need not be the derivative of f; where it should be, check.Graph holds it to difference
// quotients.
//
// What f uses besides its inputs is a constant to differentiation. The outputs have any types;
// those that are no floats have no derivative. A nil among the results of vjp stands for zeros; inputs that are no floats have no
// derivative.
func Custom(f ops.Function, vjp ops.VJP) func(x ...*graph.Node) []*graph.Node {
	return func(x ...*graph.Node) []*graph.Node {
		if f == nil {
			return []*graph.Node{graph.Of(x...).Fail("Custom", errors.New("the function is nil"), x...)}
		}
		return ops.WithVJP(f(x), x, vjp)
	}
}
