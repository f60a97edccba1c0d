package rewrite

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// Means and variances of channels are over the rows of an array, as in a batch norm: all rows have
// to be there before the first can be standardised. An operation that takes both and standardises
// reads the array several times on its own, while each of its steps divides by rows: the mean is
// taken where the array is made, differences are computed where they are read, and running averages
// of the same statistics share them. So [ops.Standardise] and [ops.Rstd] stay whole while gradients
// are derived, and become steps afterwards. They are found again where they are written as steps,
// or running the list once more would derive other gradients.

// moments lists the rules that make steps of what is standardised by channel.
var moments = []Rule{
	{"standardise by channel", "(x − mean x)·1/√(var x + ε), where means are over the rows: each step divides by rows, " +
		"and shares its means with others",
		func(n *graph.Node) *graph.Node {
			if _, ok := byChannel(n); !ok || !match.Is(n, match.Standardise) {
				return nil
			}
			d, scale := deviations(n)
			return ops.Mul(d, ops.BroadcastTo(scale, d.Shape()))
		}},
	{"deviation by channel", "1/√(var x + ε) of a variance that others share", func(n *graph.Node) *graph.Node {
		if _, ok := byChannel(n); !ok || !match.Is(n, match.Rstd) {
			return nil
		}
		_, scale := deviations(n)
		return ops.ReshapeTo(scale, n.Shape())
	}},
}

// channelFactors multiplies the factors of channels with each other first.
var channelFactors = Rule{"factors of channels first", "(x·a)·b = x·(a·b) where a and b are repeated along the same axes", ofFactors}

func ofFactors(n *graph.Node) *graph.Node {
	if !match.Is(n, match.Mul) || !n.DType().IsFloat() {
		return nil
	}
	for i := range 2 {
		p, b := n.In(i), n.In(1-i)
		if !match.Is(p, match.Mul) || !ofChannels(b) {
			continue
		}
		for j := range 2 {
			if a, x := p.In(j), p.In(1-j); ofChannels(a) && !ofChannels(x) {
				axis := []graph.Axis{n.Shape().Axis(n.Rank() - 1)}
				both := ops.Mul(reshape(channelsOf(a), axis), reshape(channelsOf(b), axis))
				return ops.ReshapeTo(ops.Mul(x, ops.BroadcastTo(both, x.Shape())), n.Shape())
			}
		}
	}
	return nil
}

// ofChannels reports whether a node repeats an array along all its axes but the last.
func ofChannels(n *graph.Node) bool { return channelsOf(n) != nil }

// channelsOf returns the array that a node repeats along all its axes but the last, nil if there is
// none.
func channelsOf(n *graph.Node) *graph.Node {
	if !match.Is(n, match.Broadcast) {
		return nil
	}
	root, axes := match.Laid(n)
	last := len(axes) - 1
	if last < 1 || axes[last] < 0 || root.Shape().Len() != n.Dim(last) || n.Shape().Len() < minRepeats*root.Shape().Len() {
		return nil
	}
	return root
}

// standardised lists the rules that find [ops.Rstd] and [ops.Standardise] of channels where they
// are written as steps: their derivatives are those of the whole.
var standardised = []Rule{
	{"written deviation by channel", "1/√(mean (x − mean x)² + ε) over the rows, whose derivative is then that of the whole",
		func(n *graph.Node) *graph.Node {
			if !match.Is(n, match.Div) || !match.Is(n.In(1), match.Sqrt) {
				return nil
			}
			if one, ok := match.Literal(n.In(0)); !ok || one != 1 {
				return nil
			}
			v, ε, ok := plusConstant(n.In(1).In(0))
			if !ok {
				return nil
			}
			root, _ := match.Laid(v)
			sq, axes, ok := match.Averaged(root)
			if !ok || !match.Is(sq, match.Square) || root.Shape().Len() != n.Shape().Len() {
				return nil
			}
			x, of, ok := centred(sq.In(0))
			if !ok || of != axes {
				return nil
			}
			return ops.ReshapeTo(ops.Rstd(x, ε, anys(axes.List())...), n.Shape())
		}},
	{"written standardise by channel", "(x − mean x)·a/√(var x + ε) over the rows, whose derivative is then that of the whole",
		func(n *graph.Node) *graph.Node {
			if !match.Is(n, match.Mul) {
				return nil
			}
			for i := range 2 {
				x, axes, ok := centred(n.In(i))
				if !ok {
					continue
				}
				root, laid := match.Laid(n.In(1 - i))
				ρ, rest := dividedBy(root, func(f *graph.Node) bool {
					own, ok := byChannel(f)
					return ok && match.Is(f, match.Rstd) && f.In(0) == x && own == axes
				}, depth)
				if ρ == nil || !alongside(laid, root, x.Shape(), axes) {
					continue
				}
				y := ops.Standardise(x, ρ.Op().(trait.Deviating).Epsilon(), anys(axes.List())...)
				if rest != nil {
					y = ops.Mul(y, laidAlike(n.In(1-i), root, rest))
				}
				return y
			}
			return nil
		}},
}

// dividedBy finds a factor of a product of arrays that are all alike, and returns it and the
// product of the others, nil if there are none.
func dividedBy(n *graph.Node, is func(f *graph.Node) bool, depth int) (factor, rest *graph.Node) {
	if is(n) {
		return n, nil
	}
	switch {
	case depth == 0:
	case match.Is(n, match.Reshape) && n.Shape().Len() == n.In(0).Shape().Len():
		if factor, rest = dividedBy(n.In(0), is, depth-1); rest != nil {
			rest = ops.ReshapeTo(rest, n.Shape())
		}
		return factor, rest
	case match.Is(n, match.Mul):
		for i := range 2 {
			if factor, rest = dividedBy(n.In(i), is, depth-1); factor == nil {
				continue
			}
			if rest == nil {
				return factor, n.In(1 - i)
			}
			return factor, ops.Mul(rest, n.In(1-i))
		}
	}
	return nil, nil
}

// laidAlike lays x out as a view lays out its root.
func laidAlike(view, root, x *graph.Node) *graph.Node {
	if view == root {
		return ops.ReshapeTo(x, root.Shape())
	}
	return view.Graph().Apply(view.Op(), laidAlike(view.In(0), root, x))
}

// byChannel returns the axes over which a node standardises, if they are those of the rows and it
// adds a number to the variance.
func byChannel(n *graph.Node) (axes attr.AxisSet, ok bool) {
	if op, ok := n.Op().(trait.Deviating); !ok || op.Epsilon() == 0 {
		return 0, false
	}
	axes, _ = match.Along(n)
	return axes, ofRows(n.In(0), axes)
}

// ofRows reports whether axes of x are all those of its rows, of which there are several: the first
// axes, without those of the channels, the last of which has several too. It is false of an x with
// a scalar factor, which would leave the means, and of types for storage, to which each step is
// rounded.
func ofRows(x *graph.Node, axes attr.AxisSet) bool {
	n, rows := 0, 1
	for ; n < x.Rank() && axes.Has(n); n++ {
		rows *= x.Dim(n)
	}
	return axes == 1<<n-1 && rows > 1 && n < x.Rank() && x.Dim(x.Rank()-1) > 1 &&
		x.DType().Wide() == x.DType() && factored(x).count == 0
}

// deviations returns, of an operation that standardises, the differences from the mean, and what
// they are to be multiplied by, which lacks the axes of the rows.
func deviations(n *graph.Node) (d, scale *graph.Node) {
	x := n.In(0)
	axes, _ := match.Along(n)
	over := anys(axes.List())
	d = ops.Sub(x, ops.BroadcastTo(ops.Mean(x, over...), x.Shape()))
	variance := ops.Mean(ops.Square(d), over...)
	return d, ops.Div(ops.Lit(variance, 1), ops.Sqrt(ops.Shift(variance, n.Op().(trait.Deviating).Epsilon())))
}

// centred returns x and axes where a node is x less its mean over them, which are those of the
// rows.
func centred(n *graph.Node) (x *graph.Node, axes attr.AxisSet, ok bool) {
	if !match.Is(n, match.Sub) {
		return nil, 0, false
	}
	μ, laid := match.Laid(n.In(1))
	x, axes, ok = match.Averaged(μ)
	if !ok || x != n.In(0) || !ofRows(x, axes) || !alongside(laid, μ, x.Shape(), axes) {
		return nil, 0, false
	}
	return x, axes, true
}

// standardises reports whether a node, or one of its body, standardises.
func standardises(n *graph.Node) bool {
	if b := n.Body(); b != nil {
		return holds(standardises)(b.Graph())
	}
	_, ok := n.Op().(trait.Deviating)
	return ok
}
