package viz

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
)

// view says which nodes of a graph are shown, and how.
type view struct {
	*unfolder
	steps
	options  options
	order    []*graph.Node        // the roots as given
	in       map[*graph.Node]bool // in the cone
	roots    map[*graph.Node]bool
	losses   map[*graph.Node]bool
	backward map[*graph.Node]bool
	updates  map[*graph.Node][]*graph.Node // the leaves that take a node's value
	shown    []*graph.Node
	visible  map[*graph.Node]bool
	usual    graph.DType                  // the element type that boxes do not say
	of       map[*graph.Node]graph.Origin // what a shown node is the derivative of
	home     map[*graph.Node]string       // scopes
	short    map[string]string            // names without scopes
	aliases  map[*graph.Node]string       // names for unnamed values
	paths    map[*graph.Node]string       // of modules
	folding  *folding                     // repeated blocks that are drawn once; nil if there are none
	dense    bool                         // there are many boxes
	uses     map[*graph.Node][]*graph.Node
	absorbed map[*graph.Node][]*graph.Node // the hidden nodes in a shown node's formula, if there are marks
}

// newView checks the roots and decides what is shown.
func newView(roots []*graph.Node, o options) (*view, error) {
	if len(roots) == 0 {
		return nil, fmt.Errorf("viz: nothing to draw: no node is given")
	}
	if !o.leveled {
		o.level = levelFor(roots)
	}
	if o.level >= levels {
		return nil, fmt.Errorf("viz: unknown level %d", o.level)
	}
	for i, n := range roots {
		switch {
		case n == nil:
			return nil, fmt.Errorf("viz: node %d to draw is nil", i)
		case !n.IsValid() && n.Graph().Err() != nil:
			return nil, fmt.Errorf("viz: node %d to draw is invalid: %w", i, n.Graph().Err())
		case !n.IsValid():
			return nil, fmt.Errorf("viz: node %d to draw is invalid", i)
		case n.Graph() != roots[0].Graph():
			return nil, fmt.Errorf("viz: node %d to draw belongs to graph %q, not to %q: compare graphs with viz.Diff", i, n.Graph().Name(), roots[0].Graph().Name())
		}
	}
	if o.level == Notes {
		roots = withoutIdle(roots)
	}
	v := &view{unfolder: newUnfolder(roots, true), options: o, order: roots, in: map[*graph.Node]bool{}, roots: map[*graph.Node]bool{}, losses: map[*graph.Node]bool{},
		backward: columns(roots), updates: map[*graph.Node][]*graph.Node{}, visible: map[*graph.Node]bool{}, of: map[*graph.Node]graph.Origin{}}
	v.fed, v.courses, v.ctx, v.functions = o.fed, o.courses, o.ctx, compositesOf(o.functions)
	v.look()
	v.short, v.home = v.shortNames(), homes(v.cone)
	for _, n := range v.cone {
		v.in[n] = true
	}
	for _, n := range roots {
		v.roots[n] = true
		if n.Role() == graph.RoleOp && n.Rank() == 0 && n.DType().IsFloat() && !v.backward[n] {
			v.losses[n] = true
		}
	}
	for _, n := range v.cone {
		for _, a := range adjoints(n) {
			if v.in[a.Loss] {
				v.losses[a.Loss] = true
			}
		}
	}
	for _, u := range roots[0].Graph().Updates() {
		if v.in[u.Target] && v.in[u.Value] {
			v.updates[u.Value] = append(v.updates[u.Value], u.Target)
		}
	}
	for _, n := range v.cone {
		v.visible[n] = v.shows(n)
	}
	v.made, v.aliases = map[*graph.Node]made{}, map[*graph.Node]string{}
	v.hideBehindLayout()
	v.openLoops()
	v.settle()
	return v, nil
}

// usersOf returns the users of each node in the cone.
func (v *view) usersOf() map[*graph.Node][]*graph.Node {
	if v.uses == nil {
		v.uses = map[*graph.Node][]*graph.Node{}
		for _, n := range v.cone {
			for i := range n.NumIn() {
				if x := n.In(i); !slices.Contains(v.uses[x], n) {
					v.uses[x] = append(v.uses[x], n)
				}
			}
		}
	}
	return v.uses
}

// withoutIdle leaves out the values of updates that no other root depends on, such as the running
// statistics of a normalisation. If there is nothing else, they are drawn.
func withoutIdle(roots []*graph.Node) []*graph.Node {
	targets := map[*graph.Node][]*graph.Node{}
	for _, u := range roots[0].Graph().Updates() {
		targets[u.Value] = append(targets[u.Value], u.Target)
	}
	var kept []*graph.Node
	idle := slices.Clone(roots)
	for {
		used := map[*graph.Node]bool{}
		for _, n := range graph.Reachable(kept...) {
			used[n] = true
		}
		before := len(kept)
		idle = slices.DeleteFunc(idle, func(n *graph.Node) bool {
			keep := len(targets[n]) == 0 || used[n] || slices.ContainsFunc(targets[n], func(x *graph.Node) bool {
				return used[x] || x.Role() != graph.RoleState
			})
			if keep {
				kept = append(kept, n)
			}
			return keep
		})
		if len(kept) == before {
			break
		}
	}
	if len(kept) == 0 {
		return roots
	}
	return slices.DeleteFunc(slices.Clone(roots), func(n *graph.Node) bool { return slices.Contains(idle, n) })
}

// checkOpen returns an error if a scope to expand does not exist.
func (v *view) checkOpen() error {
	known := map[string]bool{}
	add := func(path string) {
		for ; path != "" && !known[path]; path = parent(path) {
			known[path] = true
		}
	}
	for _, n := range v.shown {
		add(v.path(n))
		add(v.scope(n))
	}
	for _, p := range v.options.open {
		if !known[strings.Trim(p, "/")] {
			return fmt.Errorf("viz: no scope %q to expand: there are %q", p, slices.Sorted(maps.Keys(known)))
		}
	}
	return nil
}

// hideBehindLayout hides, at level Ops, an operation whose only use is to be laid out as a named
// derivative: to the reader the two are one step.
func (v *view) hideBehindLayout() {
	users := users(v.cone)
	for _, n := range v.cone {
		if v.options.level != Ops || !v.visible[n] || !isLayout(n) {
			continue
		}
		m := n.In(0)
		for isLayout(m) && !v.visible[m] && users[m] == 1 {
			m = m.In(0)
		}
		if users[m] == 1 && m.NumIn() > 0 && !v.known(m) && !v.roots[m] {
			v.visible[m] = false
		}
	}
}

// settle lists what is shown, once it is decided.
func (v *view) settle() {
	v.shown = slices.DeleteFunc(slices.Clone(v.withSteps(v.cone)), func(n *graph.Node) bool { return !v.visible[n] })
	for _, n := range v.shown {
		if a, ok := v.partner(n); ok {
			v.of[n] = a
		}
	}
	v.usual = usualType(v.shown)
	v.paths = make(map[*graph.Node]string, len(v.cone))
	for _, n := range v.cone {
		v.paths[n] = v.path(n)
	}
	if len(v.options.marks) > 0 {
		v.absorbed = v.absorb()
	}
}

// partner returns what a backward node is the derivative of, if that is shown. Named values are
// preferred.
func (v *view) partner(n *graph.Node) (graph.Origin, bool) {
	if !v.backward[n] {
		return graph.Origin{}, false
	}
	var found graph.Origin
	for _, a := range adjoints(n) {
		if !v.visible[a.Of] || v.backward[a.Of] {
			continue
		}
		if _, named := v.names[a.Of]; named {
			return a, true
		}
		if found.Of == nil {
			found = a
		}
	}
	return found, found.Of != nil
}

// link is a value that flows from one shown node to another, through nodes that are not shown.
type link struct {
	from, to *graph.Node
	value    *graph.Node // from, or the last node on the way that is not a layout
}

// links lists what flows between shown nodes, in order of the receivers.
func (v *view) links() []link {
	var out []link
	for _, n := range v.shown {
		v.look()
		seen := map[*graph.Node]bool{}
		var walk func(x *graph.Node)
		walk = func(x *graph.Node) {
			for _, y := range v.operands(x) {
				if seen[y] || !v.flows(y, x) {
					continue
				}
				seen[y] = true
				if v.visible[y] {
					out = append(out, link{from: y, to: n, value: y})
				} else {
					walk(y)
				}
			}
		}
		walk(n)
	}
	return out
}

// flow lists the links between nodes that are drawn. Of repeated blocks only the links into them,
// within one block, and out of them are drawn.
func (v *view) flow() []link {
	all := v.links()
	if v.folding == nil {
		return all
	}
	met := map[link]bool{}
	return slices.DeleteFunc(all, func(l link) bool {
		m := link{v.drawn(l.from), v.drawn(l.to), v.drawn(l.value)}
		drop := v.apart(l.from, l.to) || met[m]
		met[m] = true
		return drop
	})
}

// flows reports whether y, an operand of x, is drawn with an edge. Of single numbers only the
// start of a derivative is, ∂loss/∂loss = 1, and only to the node where it starts; equal numbers
// elsewhere are part of formulas.
func (v *view) flows(y, x *graph.Node) bool {
	c, ok := y.Constant()
	if !ok || !uniform(c) || v.options.level >= Primitive {
		return true
	}
	a, derivative := v.of[y]
	return v.roots[y] || derivative && x.First().Origin.Of == a.Of
}

// scope returns the module in which a node is drawn: for a derivative that of its value, for a
// repeated block the series.
func (v *view) scope(n *graph.Node) string {
	if l := v.stepOf(n); l != nil {
		return v.stepPath(l, n)
	}
	return v.paths[n]
}

// path returns the module of a node where nothing is folded.
func (v *view) path(n *graph.Node) string {
	if a, beside := v.of[n]; beside {
		n = a.Of // in the cone: it is shown
	}
	return clean(v.home[n])
}
