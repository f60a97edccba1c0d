package page

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
)

// called returns what a node is called where it stands alone: its name or, where several nodes of
// the variant have that, as much of the path of its module before it as tells them apart, as in
// block1 / norm1 / normed. One without a name is called by what it is the derivative of, or by its
// operation.
func (v *variant) called(n *graph.Node) string {
	if v.calls == nil {
		v.calls = calls(v.cone)
	}
	if name, known := v.calls[n]; known {
		return name
	}
	if of, loss := n.AdjointOf(); of != nil && ownName(of) != "" {
		return "∂" + loss.Label() + "/∂" + v.called(of)
	}
	return label(n)
}

// calls finds what nodes that have names are called.
func calls(nodes []*graph.Node) map[*graph.Node]string {
	same := map[string][]*graph.Node{}
	for _, n := range nodes {
		if name := ownName(n); name != "" {
			same[name] = append(same[name], n)
		}
	}
	out := map[*graph.Node]string{}
	for name, group := range same {
		for _, n := range group {
			out[n] = name
			if len(group) > 1 {
				out[n] = toldApart(n, name, group)
			}
		}
	}
	return out
}

// toldApart returns the name of a node after the fewest of its innermost scopes that no other node
// of the group has. Those that are alike in all of them are counted.
func toldApart(n *graph.Node, name string, group []*graph.Node) string {
	for k, more := 1, true; more; k++ {
		var own string
		if own, more = within(n, k); !slices.ContainsFunc(group, func(x *graph.Node) bool {
			other, _ := within(x, k)
			return x != n && other == own
		}) {
			return spaced(own, name)
		}
	}
	own, _ := within(n, math.MaxInt)
	alike := slices.DeleteFunc(slices.Clone(group), func(x *graph.Node) bool {
		other, _ := within(x, math.MaxInt)
		return other != own
	})
	if len(alike) == 1 {
		return spaced(own, name)
	}
	return fmt.Sprintf("%s (%d of %d)", spaced(own, name), slices.Index(alike, n)+1, len(alike))
}

// spaced is a name after its scopes, as it is read.
func spaced(scope, name string) string {
	if scope == "" {
		return name
	}
	return strings.ReplaceAll(scope, "/", " / ") + " / " + name
}

// ownName is the name that a node was given, without its scopes; "" if it was given none.
func ownName(n *graph.Node) string {
	if p := n.Path(); p != "" {
		return path.Base(p)
	}
	return n.Name()
}

// within returns so many innermost scopes of the module in which a node is computed, and whether
// there are more.
func within(n *graph.Node, scopes int) (own string, more bool) {
	scope := n.First().Scope
	if p := n.Path(); p != "" {
		scope = strings.TrimSuffix(strings.TrimSuffix(p, path.Base(p)), "/")
	}
	parts := strings.Split(scope, "/")
	if scope == "" || scopes >= len(parts) {
		return scope, false
	}
	return strings.Join(parts[len(parts)-scopes:], "/"), true
}

// place returns what an element is called: the name of its node where it stands alone, and the
// index.
func (v *variant) place(e inspect.Entry) string {
	if e.Node.Role() == graph.RoleConstant {
		return e.Place()
	}
	return placed(v.called(e.Node), e.Place())
}
