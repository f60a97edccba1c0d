package rewrite

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// channelRules returns the rules for what follows a convolution, or a product with a matrix, channel by
// channel, such as a batch norm in evaluation: x·s + t with numbers s and t of the channels that
// depend on parameters, states and constants alone. shared reports whether others read a node: they
// would still need it as it was; nil stands for no.
func channelRules(shared func(n *graph.Node) bool) []Rule {
	return []Rule{{"fold channels", "(x∗w)·s + t = x∗(w·s) + t for numbers s and t of the channels of w: of a batch norm in evaluation, " +
		"(y − μ)·g/√(σ² + ε) + b, s = g/√(σ² + ε) and t = b − μ·s; a w larger than the result stays",
		func(n *graph.Node) *graph.Node {
			c := channelwise{shared: shared}
			if !n.DType().IsFloat() || !c.follow(n) {
				return nil
			}
			return c.folded(n)
		}}}
}

// hasWeights reports whether a node is a convolution or a product with a matrix, whose channels are
// the last axis of the result and of the right operand.
func hasWeights(n *graph.Node) bool {
	return match.Is(n, match.Conv) || match.Is(n, match.MatMul) && n.In(1).Rank() == 2
}

// withoutGradients reports whether a graph has weights and no gradients: these need convolutions as
// they are.
func withoutGradients(g *graph.Graph) bool {
	return len(g.Derivations()) == 0 && holds(hasWeights)(g)
}

// channelwise is what sums, differences, products and quotients with numbers of the channels make of
// a node that has weights.
type channelwise struct {
	shared func(n *graph.Node) bool
	of     *graph.Node
	steps  []channelStep // the innermost first
}

type channelStep struct {
	kind   match.Kind
	number *graph.Node // one for each channel
}

// mostSteps bounds the steps that are followed: a batch norm takes four or five.
const mostSteps = 10

// follow finds the steps that lead to n.
func (c *channelwise) follow(n *graph.Node) bool {
	for top := n; ; {
		if n != top && c.shared != nil && c.shared(n) {
			return false
		}
		if hasWeights(n) {
			slices.Reverse(c.steps)
			c.of = n
			return len(c.steps) > 0
		}
		kind := match.KindOf(n)
		switch kind {
		case match.Reshape:
			if x := n.In(0); x.Rank() == 0 || n.Rank() == 0 || x.Dim(x.Rank()-1) != n.Dim(n.Rank()-1) {
				return false // the channels are not the last axis of both
			}
			n = n.In(0)
			continue
		case match.Add, match.Mul, match.Sub, match.Div:
		default:
			return false
		}
		in, number := n.In(0), channels(n.In(1))
		if number == nil && (kind == match.Add || kind == match.Mul) {
			in, number = n.In(1), channels(n.In(0))
		}
		if number == nil || len(c.steps) == mostSteps {
			return false
		}
		c.steps = append(c.steps, channelStep{kind, number})
		n = in
	}
}

// channels returns the numbers that an array repeats along all axes but the last, if they depend on
// leaves alone that no run is fed; otherwise nil.
func channels(n *graph.Node) *graph.Node {
	root, axes := match.Laid(n)
	last := len(axes) - 1
	if last < 0 || axes[last] < 0 || root.Shape().Len() != n.Dim(last) {
		return nil
	}
	if slices.ContainsFunc(axes[:last], func(a int) bool { return a >= 0 }) || !stored(root) {
		return nil
	}
	return root
}

// mostStored bounds the nodes that numbers of channels, and weights, are computed by.
const mostStored = 64

// stored reports whether a node depends on parameters, states and constants alone, by few nodes.
func stored(n *graph.Node) bool {
	seen := map[*graph.Node]bool{}
	var only func(n *graph.Node) bool
	only = func(n *graph.Node) bool {
		if seen[n] {
			return true
		}
		seen[n] = true
		if len(seen) > mostStored || n.Role() == graph.RoleInput || match.Draws(n) || match.SumsOverLanes(n) || n.Body() != nil {
			return false
		}
		return !slices.ContainsFunc(n.Inputs(), func(x *graph.Node) bool { return !only(x) })
	}
	return only(n)
}

// folded returns n with fewer steps, or nil: the products go into the weights, where these are no
// larger than the result, and the sums are one.
func (c *channelwise) folded(n *graph.Node) *graph.Node {
	x, w := c.of.In(0), c.of.In(1)
	scales := slices.ContainsFunc(c.steps, func(s channelStep) bool { return s.kind == match.Mul || s.kind == match.Div })
	adds := slices.ContainsFunc(c.steps, func(s channelStep) bool { return s.kind == match.Add || s.kind == match.Sub })
	fold := scales && w.Shape().Len() <= c.of.Shape().Len() && stored(w)
	left := 0
	if scales && !fold {
		left++
	}
	if adds {
		left++
	}
	if left >= len(c.steps) {
		return nil
	}
	axis, err := graph.NewShape(c.of.Shape().Axis(c.of.Rank() - 1))
	if err != nil {
		return nil
	}
	var scale, shift *graph.Node
	apply := func(op func(a, b *graph.Node) *graph.Node, a, b, alone *graph.Node) *graph.Node {
		if a == nil {
			return alone
		}
		return op(a, b)
	}
	add := func(a, b *graph.Node) *graph.Node { return ops.Add(a, b) }
	mul := func(a, b *graph.Node) *graph.Node { return ops.Mul(a, b) }
	for _, s := range c.steps {
		v := ops.ReshapeTo(s.number, axis)
		switch s.kind {
		case match.Add:
			shift = apply(add, shift, v, v)
		case match.Sub:
			shift = apply(ops.Sub, shift, v, ops.Neg(v))
		case match.Mul:
			scale, shift = apply(mul, scale, v, v), apply(mul, shift, v, nil)
		case match.Div:
			scale, shift = apply(ops.Div, scale, v, ops.Div(ops.Lit(v, 1), v)), apply(ops.Div, shift, v, nil)
		}
	}
	y := c.of
	switch {
	case fold:
		if match.Is(w, match.Mul) { // the weights have been scaled before
			if v := channels(w.In(1)); v != nil {
				w, scale = w.In(0), ops.Mul(ops.ReshapeTo(v, axis), scale)
			}
		}
		y = n.Graph().Apply(c.of.Op(), x, ops.Mul(w, ops.BroadcastTo(scale, w.Shape())))
	case scales:
		y = ops.Mul(y, ops.BroadcastTo(scale, y.Shape()))
	}
	if shift != nil {
		y = ops.Add(y, ops.BroadcastTo(shift, y.Shape()))
	}
	return ops.ReshapeTo(y, n.Shape())
}
