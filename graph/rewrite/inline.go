package rewrite

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// function is the rule that writes bodies out that are run once. Where it is not late, derivatives
// are taken afterwards, and a body that takes derivatives itself waits until they are taken again.
func function(late bool) []Rule {
	return []Rule{{"function", "a function is what its body computes", func(n *graph.Node) *graph.Node {
		if op, ok := n.Op().(match.Inlined); ok {
			return op.Inline(n, late)
		}
		return nil
	}}}
}
