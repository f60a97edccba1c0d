package viz

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// role returns the role of a node in a drawing.
func (v *view) role(n *graph.Node) figure.Role {
	_, derivative := v.of[n]
	_, enters := v.enters[n]
	switch {
	case enters && !derivative:
		return figure.State
	case len(v.updates[n]) > 0:
		return figure.Update
	case derivative:
		return figure.Gradient
	case n.Role() == graph.RoleInput:
		if _, number := n.Default(); number {
			return figure.Hyper
		}
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
	}
	return v.reach(n)
}

// reach returns the role of the operation of a box whose elements depend on the most others. A box
// has the operations of its node and of the hidden nodes in its formula. Where these only lay
// elements out, it moves them.
func (v *view) reach(n *graph.Node) figure.Role {
	most, laid := figure.Op, true
	seen := map[*graph.Node]bool{n: true}
	var walk func(n *graph.Node)
	walk = func(n *graph.Node) {
		most, laid = max(most, reachOf(n)), laid && isLayout(n)
		for _, x := range v.operands(n) {
			if !v.visible[x] && !seen[x] && x.NumIn() > 0 {
				seen[x] = true
				walk(x)
			}
		}
	}
	walk(n)
	if laid {
		return figure.Move
	}
	return most
}

// reachOf returns how far the elements of a result reach into the operands: to one of each, which
// may be another than that in their place (Move), to all along an axis that stays (Along), as a
// softmax does and a loop, or to those that a sum or a product combines (Reduce).
func reachOf(n *graph.Node) figure.Role {
	if n.NumIn() == 0 || isLayout(n) || trait.IsElementwise(n.Op()) {
		return figure.Op
	}
	switch match.KindOf(n) {
	case match.Cast, match.InRange, match.OneHot, match.StopGradient:
		return figure.Op
	case match.Slice, match.Place, match.Gather, match.Concat, match.MaxPick, match.DynamicSlice, match.DynamicUpdate:
		return figure.Move
	}
	if body := trait.LoopBody(n); body != nil {
		most := figure.Along
		for _, x := range graph.Reachable(body.Out()...) {
			most = max(most, reachOf(x))
		}
		return most
	}
	if _, along := match.Along(n); along && n.Shape().SameSizes(n.In(0).Shape()) {
		return figure.Along
	}
	return figure.Reduce
}
