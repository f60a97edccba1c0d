package viz

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
)

// Level says how much of a graph is shown.
type Level uint8

// The levels, from coarse to fine.
const (
	// Notes shows what a lecture would: inputs, parameters, named quantities, the loss, and the
	// derivatives by these. Unnamed values are part of the formula of the next named quantity.
	Notes Level = iota
	// Ops shows every operation but those that only change layout (Reshape,
	// Broadcast, Transpose) and single numbers.
	Ops
	// Primitive shows every node.
	Primitive
	// Compiled is Primitive for a rewritten graph: a node that a rule added carries the name of the
	// rule.
	Compiled
	levels = iota
)

var levelNames = [levels]string{"notes", "ops", "primitive", "compiled"}

// String returns the level's name in lower case.
func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return "unknown"
}

// levelFor returns the level at which roots are drawn by default.
func levelFor(roots []*graph.Node) Level {
	sound := slices.DeleteFunc(slices.Clone(roots), func(n *graph.Node) bool { return !n.IsValid() })
	for _, n := range graph.Reachable(sound...) {
		if n.NumIn() > 0 && n.Name() != "" && !n.IsBackward() && !slices.Contains(roots, n) {
			return Notes
		}
	}
	return Ops
}

// shows reports whether a node of the cone is drawn by itself.
func (v *view) shows(n *graph.Node) bool {
	if v.options.level >= Primitive || v.roots[n] {
		return true
	}
	if c, ok := n.Constant(); ok && uniform(c) {
		drawn := func(a graph.Origin) bool { return v.in[a.Of] }
		return v.backward[n] && slices.ContainsFunc(adjoints(n), drawn) && v.known(n) // ∂loss/∂loss = 1
	}
	if v.counts(n) {
		return false
	}
	if v.options.level == Ops {
		return !isLayout(n) || v.known(n)
	}
	if len(v.updates[n]) > 0 || v.losses[n] {
		return true
	}
	return v.stops(n)
}
