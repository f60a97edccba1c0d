package rewrite

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// empty leads the lists of rules, so that the others meet arrays without elements only as operands of
// what makes some of them.
var empty = []Rule{
	{"no elements", "an array without elements is a constant", func(n *graph.Node) *graph.Node {
		if n.Role() != graph.RoleOp || n.Shape().Len() > 0 {
			return nil
		}
		return n.Graph().ConstantValue(graph.Value{Type: n.Type()})
	}},
	{"join nothing", "an array without elements adds none to a join", func(n *graph.Node) *graph.Node {
		nothing := func(x *graph.Node) bool { return x.Shape().Len() == 0 }
		if !match.Is(n, match.Concat) || nothing(n) {
			return nil
		}
		in := n.Inputs()
		if !slices.ContainsFunc(in, nothing) {
			return nil
		}
		return n.Graph().Apply(n.Op(), slices.DeleteFunc(in, nothing)...)
	}},
}
