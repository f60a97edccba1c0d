package graph

import (
	"errors"
	"fmt"
	"reflect"
)

// Verify checks every invariant of a graph: that nodes stand in order, are interned and have the
// types that their operations infer; that paths are unique; and that constants, bodies, updates,
// derivations and origins fit. It returns all violations, joined, or nil. Mistakes of the user are
// none: they are in [Graph.Err].
func Verify(g *Graph) error {
	if g == nil {
		return errNoGraph
	}
	var bad []error
	complain := func(n *Node, format string, args ...any) {
		bad = append(bad, fmt.Errorf("%s: %s", n.line(), fmt.Sprintf(format, args...)))
	}
	known := func(x *Node) bool { return x != nil && x.id >= 0 && x.id < len(g.nodes) && g.nodes[x.id] == x }
	paths := map[string]*Node{}
	ops := map[reflect.Type]error{} // results of checkOp, anew
	for id, n := range g.nodes {
		if n.id != id || n.g != g {
			complain(n, "stands at place %d of graph %q", id, g.name)
			continue
		}
		older := true
		for _, x := range n.in {
			if x == nil || x.g != g || x.id < 0 || x.id >= id {
				complain(n, "an input is not an older node of the graph")
				older = false
			}
		}
		t := reflect.TypeOf(n.op)
		if _, seen := ops[t]; !seen {
			ops[t] = checkOp(n.op)
		}
		if ops[t] != nil {
			complain(n, "%v", ops[t])
			continue
		}
		if g.known(n.op, n.in) != n {
			complain(n, "is not the node interned for its operation and inputs")
		}
		if v, ok := n.Constant(); ok {
			if v.Type != n.typ || len(v.Data) != n.typ.Shape.Len() {
				complain(n, "the constant has type %v and %d values", v.Type, len(v.Data))
			}
		} else if older {
			if typ, err := n.op.Infer(n.in); err != nil || typ != n.typ {
				complain(n, "infers %v, %v", typ, err)
			}
		}
		if p := n.Path(); p != "" {
			if paths[p] != nil {
				complain(n, "path %q is also %%%d's", p, paths[p].id)
			}
			paths[p] = n
		}
		if len(n.occurs) == 0 {
			complain(n, "occurs nowhere")
		}
		for _, o := range n.occurs {
			if o.Origin.Kind != FromUser && (!known(o.Origin.Of) || !known(o.Origin.Loss)) {
				complain(n, "its origin is not a node of the graph")
			}
		}
	}
	for i, b := range g.bodies {
		err := Verify(b.graph)
		if err == nil {
			err = b.check()
		}
		if err == nil && (b.content() != b.form || g.held(b) != BodyID(i+1)) {
			err = errors.New("is not as it was sealed")
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("body %d: %w", i+1, err))
		}
	}
	for _, u := range g.updates {
		if u.Err() != nil {
			complain(u.Target, "cannot be updated by %s", u.Value.line())
		}
	}
	for _, d := range g.derived {
		if d.Grad.Type() != d.Wrt.Type() || d.Loss.Rank() != 0 {
			complain(d.Grad, "is recorded as the derivative of %v with respect to %v", d.Loss, d.Wrt)
		}
	}
	return errors.Join(bad...)
}
