package viz

import (
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
)

// homes returns the scope in which each node of a cone is drawn. It is the scope of its first
// occurrence, unless nothing there is connected with the node and all its users are in another
// scope. (Equal computations are one node: what a layer computes may have been computed before by
// something that is not used.) A step of a derivative is drawn where its value is.
func homes(cone []*graph.Node) map[*graph.Node]string {
	home, alone := map[*graph.Node]string{}, map[*graph.Node]bool{}
	members := map[string]int{}
	user := map[*graph.Node]string{} // the scope of all users
	shared := map[*graph.Node]bool{} // users in several scopes
	for _, n := range cone {
		at := n.First()
		home[n] = at.Scope
		if at.Origin.Kind != graph.FromUser {
			continue
		}
		members[at.Scope]++
		alone[n] = true
		for i := range n.NumIn() {
			x := n.In(i)
			if s := x.First().Scope; within(s, at.Scope) || within(at.Scope, s) {
				alone[n] = false
			}
			if within(at.Scope, x.First().Scope) {
				alone[x] = false
			}
			if s, met := user[x]; met && s != at.Scope {
				shared[x] = true
			}
			user[x] = at.Scope
		}
	}
	for _, n := range cone {
		at := n.First()
		if s, used := user[n]; used && alone[n] && !shared[n] && n.NumIn() > 0 && members[at.Scope] > 1 {
			home[n] = s
		}
		if of := at.Origin.Of; at.Origin.Kind == graph.FromGrad && of.First().Scope == at.Scope {
			if s, ok := home[of]; ok {
				home[n] = s
			}
		}
	}
	return home
}

// within reports whether scope is outer or inside it.
func within(scope, outer string) bool {
	return outer == "" || scope == outer || strings.HasPrefix(scope, outer) && scope[len(outer)] == '/'
}

// clean turns a scope into a path of modules.
func clean(scope string) string {
	if scope == "" {
		return ""
	}
	parts := strings.Split(scope, "/")
	for i, p := range parts {
		if parts[i] = strings.TrimSpace(oneLine(p)); parts[i] == "" {
			parts[i] = "_"
		}
	}
	return strings.Join(parts, "/")
}
