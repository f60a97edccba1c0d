package ops

import "github.com/tapestry-ml/tapestry/graph"

// The tangent of a result (Op.JVP), for the kinds of operations that share a rule. Other operations
// have a rule in their own files.

// diagonal is embedded by elementwise operations on numbers of one type: element p
// of the result depends on elements p of the operands alone, so a tangent
// is multiplied by the same factor as a derivative.
type diagonal struct{}

// JVP is Σ_i ∂y/∂x_i·dx_i, by the rules that Grad has.
func (diagonal) JVP(y *graph.Node, dx []*graph.Node) *graph.Node {
	rule := y.Op().(Op)
	var dy *graph.Node
	for i, d := range dx {
		if d != nil {
			dy = plus(dy, rule.Grad(y, d, i))
		}
	}
	return dy
}

// flat is embedded by operations through which no derivative flows, either way.
type flat struct{}

func (flat) Grad(_, _ *graph.Node, _ int) *graph.Node       { return nil }
func (flat) JVP(_ *graph.Node, _ []*graph.Node) *graph.Node { return nil }

// linearly is the tangent of an operation that is linear in all its float operands together: the
// operation on the tangents, with zeros for operands that do not move. Operands of other types,
// indices and masks, stay as they are.
func linearly(y *graph.Node, dx []*graph.Node) *graph.Node {
	in, moves := y.Inputs(), false
	for i, x := range in {
		switch {
		case dx[i] != nil:
			in[i], moves = dx[i], true
		case x.DType().IsFloat():
			in[i] = BroadcastTo(Lit(x, 0), x.Shape())
		}
	}
	if !moves {
		return nil
	}
	return y.Graph().Apply(y.Op(), in...)
}

// multilinearly is the tangent of an operation that is linear in each of its
// operands while the others stand still: Σ_i of the operation with operand i's
// tangent in its place.
func multilinearly(y *graph.Node, dx []*graph.Node) *graph.Node {
	var dy *graph.Node
	for i, d := range dx {
		if d != nil {
			in := y.Inputs()
			in[i] = d
			dy = plus(dy, y.Graph().Apply(y.Op(), in...))
		}
	}
	return dy
}

// plus is a + b, where nil is nothing.
func plus(a, b *graph.Node) *graph.Node {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return Add(a, b)
}
