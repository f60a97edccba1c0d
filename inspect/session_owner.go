package inspect

import "github.com/tapestry-ml/tapestry/graph"

// owner says what an instruction is for: one of the user's nodes, or its derivative.
type owner struct {
	node     *graph.Node // of the graph as written; nil if it cannot be told
	gradient bool
}

// Owner returns the node of the user's graph that instruction i belongs to, and whether the
// instruction computes part of the derivative by that node. Since rewriting comes between the two
// graphs, the owner is found in steps. A derivative belongs to the node that was differentiated.
// A node that a rule added belongs to the node that it replaced. That node belongs to the user's
// node of the same name, scope and line; failing that, to the one of the same operation and shape
// on that line; failing that, to the last value of that line. The owner is nil for instructions
// that the library adds, and if there is no instruction i.
func (s *Session) Owner(i int) (n *graph.Node, gradient bool) {
	if s.exists(i) != nil {
		return nil, false
	}
	return s.owners[i].node, s.owners[i].gradient
}

// place is the line and scope in which the user wrote something.
type place struct {
	scope string
	pos   graph.Pos
}

type namedPlace struct {
	place
	name string
}

type madePlace struct {
	place
	op    string
	shape graph.Shape
}

// origins finds the user's nodes that those of the program's graph stand for.
type origins struct {
	paths map[string]*graph.Node
	names map[namedPlace]*graph.Node
	made  map[madePlace]*graph.Node
	lines map[place]*graph.Node
}

// newOrigins expects the user's nodes in the order in which they were made.
func newOrigins(written []*graph.Node) *origins {
	f := &origins{map[string]*graph.Node{}, map[namedPlace]*graph.Node{}, map[madePlace]*graph.Node{}, map[place]*graph.Node{}}
	for _, n := range written {
		if n.Path() != "" {
			f.paths[n.Path()] = n
		}
		if _, constant := n.Constant(); constant || n.IsBackward() {
			continue
		}
		for _, o := range n.Occurrences() {
			if o.Origin.Kind != graph.FromUser {
				continue
			}
			at := place{o.Scope, o.Pos}
			if key := (namedPlace{at, o.Name}); o.Name != "" && f.names[key] == nil {
				f.names[key] = n
			}
			if key := (madePlace{at, n.Op().Name(), n.Shape()}); f.made[key] == nil {
				f.made[key] = n
			}
			f.lines[at] = n
		}
	}
	return f
}

// twin returns the user's node of the same path, or of the same name at the same place; nil if
// there is none. Its value is the same, because rules pass names on to equal values.
func (f *origins) twin(n *graph.Node) *graph.Node {
	if n.Path() != "" {
		return f.paths[n.Path()]
	}
	for _, o := range n.Occurrences() {
		if u := f.names[namedPlace{place{o.Scope, o.Pos}, o.Name}]; o.Name != "" && u != nil && u.Type() == n.Type() {
			return u
		}
	}
	return nil
}

// near returns the twin or, failing that, the user's node of the same operation and shape at the
// same place, or the last one there.
func (f *origins) near(n *graph.Node) *graph.Node {
	if u := f.twin(n); u != nil {
		return u
	}
	at := place{n.First().Scope, n.First().Pos}
	if u := f.made[madePlace{at, n.Op().Name(), n.Shape()}]; u != nil {
		return u
	}
	return f.lines[at]
}

// owner returns what a node of the program's graph is for.
func (f *origins) owner(n *graph.Node) owner {
	gradient := false
	for n.IsBackward() && n.First().Origin.Of != nil {
		n, gradient = n.First().Origin.Of, true
	}
	was := n
	for n.Name() == "" && was.First().Origin.Was != nil {
		was = was.First().Origin.Was
	}
	u := f.near(was)
	if u == nil {
		u = f.near(n)
	}
	return owner{u, gradient}
}
