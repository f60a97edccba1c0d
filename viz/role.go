package viz

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// role returns the role of a node in a drawing.
func (v *view) role(n *graph.Node) figure.Role {
	_, derivative := v.of[n]
	switch {
	case len(v.updates[n]) > 0:
		return figure.Update
	case derivative:
		return figure.Gradient
	case n.Role() == graph.RoleInput:
		return figure.Input
	case n.Role() == graph.RoleParam:
		return figure.Param
	case n.Role() == graph.RoleState:
		return figure.State
	case n.Role() == graph.RoleConstant:
		return figure.Const
	case v.losses[n]:
		return figure.Loss
	case v.backward[n] && v.known(n):
		return figure.Gradient
	case v.roots[n] && !v.backward[n]:
		return figure.Output
	case v.reduces(n):
		return figure.Reduce
	}
	return figure.Op
}

// reduces reports whether the heaviest operation of a box combines values along an axis: a
// product, a convolution, a sum. A box has the operations of its node and of the hidden nodes in
// its formula, each once.
func (v *view) reduces(n *graph.Node) bool {
	seen := map[*graph.Node]bool{}
	var walk func(n *graph.Node) bool
	walk = func(n *graph.Node) bool {
		if gathers(n) {
			return true
		}
		for i := range n.NumIn() {
			if x := n.In(i); !v.visible[x] && !seen[x] {
				seen[x] = true
				if walk(x) {
					return true
				}
			}
		}
		return false
	}
	return walk(n)
}

// gathers reports whether an operation combines values along an axis: its notation has an index
// of its own, its result has fewer elements than an operand, or it is a loop with a step that
// does. Operations that only select values, or lay them out, do not.
func gathers(n *graph.Node) bool {
	if n.NumIn() == 0 || isLayout(n) || match.Is(n, match.Slice) || match.Is(n, match.Gather) {
		return false
	}
	if body := n.Body(); body != nil {
		return slices.ContainsFunc(graph.Reachable(body.Out()...), gathers)
	}
	for i := range n.NumIn() {
		if n.Shape().Len() < n.In(i).Shape().Len() {
			return true
		}
	}
	marks := make([]expr.Expr, n.NumIn())
	for k := range marks {
		marks[k] = place(k, axisNames(n.In(k)))
	}
	op, ok := n.Op().(trait.Notated)
	return match.Is(n, match.MatMul) || ok && binds(op.Notation(n, marks))
}

// binds reports whether an expression has an index of its own: Σ_j, ‖·‖², f_j.
func binds(e expr.Expr) bool {
	switch {
	case e.Kind == expr.KindBig, e.Kind == expr.KindNorm, e.Kind == expr.KindCall && len(e.Subs) > 0 && e.Text != "concat":
		return true
	}
	for _, a := range e.Args {
		if binds(a) {
			return true
		}
	}
	return false
}
