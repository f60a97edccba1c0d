package train

import (
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// clipping changes the gradients of all parameters before the optimiser sees them.
type clipping struct {
	name string
	most float64
	// bound replaces the gradients; most is the scalar input.
	bound func(grads []*graph.Node, most *graph.Node)
}

// ClipNorm scales the gradient, taken as one vector over all parameters, down to a norm of at most
// c, which is positive:
//
//	g ← g·min(1, c/(‖g‖ + 10⁻⁶))
//
// as PyTorch's clip_grad_norm_ does; a gradient of zero stays zero. c is the scalar input
// "NAME/clip-norm", where NAME is the optimiser's.
func ClipNorm(c float64) Option { return clip(clipping{"clip-norm", c, clipNorm}) }

// ClipValue clips every element of the gradient to [−c, c], where c is positive. c is the scalar
// input "NAME/clip-value", where NAME is the optimiser's.
func ClipValue(c float64) Option { return clip(clipping{"clip-value", c, clipValue}) }

func clip(c clipping) Option {
	var err error
	if !(c.most > 0) || math.IsInf(c.most, 0) {
		err = fmt.Errorf("%s %v: want a positive number", c.name, c.most)
	}
	return Option{"", fmt.Sprintf("%s %v", c.name, c.most), err, func(s *settings) { s.clips = append(s.clips, c) }}
}

// clip returns the clipped gradients.
func (c clipping) clip(r *run, grads []*graph.Node) []*graph.Node {
	for _, g := range grads {
		if !g.IsValid() {
			return grads // the mistake is recorded
		}
	}
	out := append([]*graph.Node(nil), grads...)
	c.bound(out, r.g.Scalar(c.name, c.most, r.rate.DType()))
	return out
}

func clipNorm(grads []*graph.Node, most *graph.Node) {
	var total *graph.Node
	for _, g := range grads {
		s := ops.Cast(ops.Sum(ops.Square(g)), most.DType())
		if total == nil {
			total = s
		} else {
			total = ops.Add(total, s)
		}
	}
	norm := ops.Sqrt(total).As("‖g‖")
	// What keeps the quotient finite is PyTorch's choice.
	factor := ops.Minimum(ops.Div(most, ops.Shift(norm, 1e-6)), ops.Lit(norm, 1)).As("shrink")
	for i, g := range grads {
		grads[i] = ops.Mul(ops.Cast(factor, g.DType()), g)
	}
}

func clipValue(grads []*graph.Node, most *graph.Node) {
	for i, g := range grads {
		c := ops.Cast(most, g.DType())
		grads[i] = ops.Maximum(ops.Minimum(g, c), ops.Neg(c))
	}
}
