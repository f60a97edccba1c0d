package grad

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/ops"
)

// JVP returns the tangent of each node of y, which is how it moves when each node of x moves by the
// node of v beside it: Σ_x ∂y/∂x·v, of y's type. The nodes of x may be parameters, inputs or any
// nodes between; each node of v has the type of its node of x. A node of y that does not depend on
// x has zeros.
//
// It is forward-mode differentiation, in one sweep, and costs about as much as y itself, whatever
// the number of elements of x; [Of] is cheap for many elements of x and one of y. It is a mistake,
// recorded in the graph, if a node is not of a float type, if a direction has another type than its
// node, if a node has two, or if an operation has no rule. The results are then invalid nodes.
//
// y is differentiated as written: if that overflows, as in log(1 + exp x), the tangent is NaN,
// although y, which compiling makes stable, is not; see "Formulas that overflow".
func JVP(y, x, v []*graph.Node) []*graph.Node {
	all := slices.Concat(y, x, v)
	defer graph.Beside(all...)()
	g := graph.Of(all...)
	if err := checkDirections(g, all, x, v); err != nil {
		return slices.Repeat([]*graph.Node{g.Fail("JVP", err, all...)}, len(y))
	}
	f := &forward{tangent: make([]*graph.Node, g.Len())}
	for i, n := range x {
		f.tangent[n.ID()] = ops.ReshapeTo(v[i], n.Shape())
	}
	given := func(n *graph.Node) bool { return f.tangent[n.ID()] != nil }
	for _, n := range graph.ReachableUntil(given, y...) {
		if !given(n) && n.DType().IsFloat() && n.Shape().Len() > 0 {
			f.push(n)
		}
	}
	out := make([]*graph.Node, len(y))
	for i, n := range y {
		if out[i] = f.tangent[n.ID()]; out[i] == nil {
			out[i] = ops.BroadcastTo(ops.Lit(n, 0), n.Shape())
		}
	}
	return out
}

// checkDirections returns the reason that x cannot be moved along v; all lists y, x and v.
func checkDirections(g *graph.Graph, all, x, v []*graph.Node) error {
	if len(x) != len(v) {
		return fmt.Errorf("%d nodes and %d directions", len(x), len(v))
	}
	for _, n := range all {
		switch {
		case n == nil:
			return fmt.Errorf("want nodes, got nil")
		case !n.IsValid():
			return errInvalid // not recorded: its cause is
		case n.Graph() != g:
			return &graph.Mistake{Problem: "the nodes belong to different graphs", Fix: "build all in one graph"}
		case !n.DType().IsFloat():
			return fmt.Errorf("a node of type %v has no derivative", n.Type())
		}
	}
	for i, n := range x {
		if err := wantWhole(n); err != nil {
			return err
		}
		if slices.Contains(x[:i], n) {
			return fmt.Errorf("%s is given two directions", n.Label())
		}
		_, names := graph.Align(n.Shape(), v[i].Shape())
		if names != nil || n.DType() != v[i].DType() || !n.Shape().SameSizes(v[i].Shape()) {
			return fmt.Errorf("a direction of type %v for %s of type %v", v[i].Type(), n.Label(), n.Type())
		}
	}
	return nil
}

// forward is one sweep from the nodes that move to those asked for.
type forward struct {
	tangent []*graph.Node // by the node's number; nil if the node stands still
}

// push makes the tangent of n from those of its operands.
func (f *forward) push(n *graph.Node) {
	g := n.Graph()
	dx, moves := make([]*graph.Node, n.NumIn()), false
	for i := range dx {
		d := f.tangent[n.In(i).ID()]
		if n.In(i).Shape().Len() == 0 {
			continue // it cannot move
		}
		if d != nil && !d.IsValid() {
			f.tangent[n.ID()] = d // follows from a mistake of another rule
			return
		}
		dx[i], moves = d, moves || d != nil
	}
	if !moves {
		return
	}
	var d *graph.Node
	origin := graph.Origin{Kind: graph.FromTangent, Of: n, Loss: n}
	g.During(n.First(), origin, func() {
		switch d = rule(n, dx); {
		case !d.IsValid() || d.Graph() == g && d.Type() == n.Type():
		case d.Graph() != g:
			d = g.Fail("JVP", fmt.Errorf("the tangent of %s belongs to graph %q", n.Op().Name(), d.Graph().Name()), n)
		case d.DType() == n.DType() && d.Shape().SameSizes(n.Shape()):
			d = ops.ReshapeTo(d, n.Shape())
		default:
			d = g.Fail("JVP", fmt.Errorf("the tangent of %s has type %v, its result %v", n.Op().Name(), d.Type(), n.Type()), n)
		}
	})
	if f.tangent[n.ID()] = d; d == nil {
		return
	}
	if name := n.Name(); name != "" {
		o := n.First()
		o.Name, o.Origin = "δ"+name, origin
		g.Occur(d, o)
	}
}

// rule returns the tangent of n by the operation's rule, or by its derivative if it has none.
func rule(n *graph.Node, dx []*graph.Node) *graph.Node {
	switch op := n.Op().(type) {
	case trait.Forward:
		return op.JVP(n, dx)
	case trait.Differentiable:
		return twice(op, n, dx)
	}
	err := &graph.Mistake{Problem: n.Op().Name() + " has no rule for tangents", Fix: "give it a method JVP or Grad"}
	return n.Graph().Fail("JVP", err, n)
}

// twice returns the tangent of n as the transpose of the transpose: Σ_i ⟨Grad(y, u, i), dx_i⟩ is
// linear in u, and its derivative with respect to u is the tangent of y.
func twice(op trait.Differentiable, n *graph.Node, dx []*graph.Node) *graph.Node {
	u := probe(n)
	var s *graph.Node
	for i, v := range dx {
		if v == nil {
			continue
		}
		if d := byOperand(n, i, op.Grad(n, u, i)); d != nil {
			term := ops.Sum(ops.Mul(d, v))
			if s == nil {
				s = term
			} else {
				s = ops.Add(s, ops.Cast(term, s.DType()))
			}
		}
	}
	if !s.IsValid() {
		return s
	}
	r := newReverse([]*graph.Node{s}, []*graph.Node{u})
	r.start()
	r.run()
	return r.adjoint[u.ID()]
}

// probe returns a new node of x's type that stands for any value: nodes that are made of it are
// then differentiated with respect to it, or mapped over values for it. No other node depends on
// it.
func probe(x *graph.Node) *graph.Node {
	first := x.Graph().Len()
	u := ops.StopGradient(x)
	for u.IsValid() && u.ID() < first {
		u = ops.StopGradient(u)
	}
	return u
}
