package importer

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// losses has the operators that compare logarithms of probabilities, along axis 1, with classes.
var losses = map[string]rule{
	"NegativeLogLikelihoodLoss": func(c *call) []value {
		return []value{c.is(0, c.likelihood(c.x(0)))}
	},
	"SoftmaxCrossEntropyLoss": func(c *call) []value {
		if c.x(0).Rank() < 2 {
			c.fail("scores with %d axes: want at least 2", c.x(0).Rank())
		}
		p := ops.LogSoftmax(c.x(0), 1)
		return []value{c.is(0, c.likelihood(p)), c.is(0, p)}
	},
}

// likelihood returns the negative logarithms that p has for the classes of operand 1, weighted by
// operand 2 and reduced as the attribute says. A class that is the attribute ignore_index has no
// influence.
func (c *call) likelihood(p *graph.Node) *graph.Node {
	class := c.x(1)
	if p.Rank() < 2 || !class.DType().IsInt() || class.Rank() != p.Rank()-1 {
		c.fail("classes of shape %v for probabilities of shape %v", class.Shape().Sizes(), p.Shape().Sizes())
	}
	var counted *graph.Node
	if c.attr("ignore_index") != nil {
		counted = ops.NotEqual(class, ops.Lit(class, float64(c.int("ignore_index", 0))))
		class = ops.Select(counted, class, ops.Lit(class, 0)) // the ignored one may be no class
	}
	loss := ops.Neg(ops.Pick(p, class, 1))
	var weight *graph.Node
	if c.has(2) {
		weight = ops.Gather(c.x(2), class, 0)
		loss = ops.Mul(loss, weight)
	}
	if counted != nil {
		zero := ops.Lit(p, 0)
		loss = ops.Select(counted, loss, zero)
		if weight == nil {
			weight = ops.Cast(counted, p.DType())
		} else {
			weight = ops.Select(counted, weight, zero)
		}
	}
	switch reduction := c.text("reduction", "mean"); {
	case reduction == "none":
		return loss
	case reduction == "sum":
		return ops.Sum(loss)
	case reduction == "mean" && weight == nil:
		return ops.Mean(loss)
	case reduction == "mean":
		return ops.Div(ops.Sum(loss), ops.Sum(weight))
	default:
		c.fail("reduction %q: want none, sum or mean", reduction)
		return nil
	}
}
