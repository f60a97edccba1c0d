package viz

import (
	"slices"
	"strconv"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// spread reports whether an array has the axis that is drawn apart.
func (s *sketcher) spread(n *graph.Node) bool {
	if s.axis == "" {
		return false
	}
	a, ok := axisOf(n, s.axis)
	return ok && a.Size == s.parts
}

// mixes reports whether a part of n along the axis that is drawn apart depends on other parts of
// an operand, as of a softmax. Operations of which that is not known do.
func (s *sketcher) mixes(n *graph.Node) bool {
	if !s.spread(n) || n.NumIn() == 0 {
		return false
	}
	if axes, ok := match.Along(n); ok {
		for i, a := range n.Shape().Axes() {
			if a.Name == s.axis {
				return axes.Has(i) && n.In(0).Shape().SameSizes(n.Shape())
			}
		}
	}
	if trait.IsElementwise(n.Op()) || isLayout(n) || match.Is(n, match.MatMul) || match.Is(n, match.OneHot) {
		return false
	}
	return slices.ContainsFunc(n.Inputs(), s.spread) && !s.alike(n)
}

// alike reports whether the notation of an operation says that a part of n depends on the same part
// of its operands alone: ‖xᵢ − rⱼ‖² has no index j that is bound.
func (s *sketcher) alike(n *graph.Node) bool {
	op, ok := n.Op().(trait.Notated)
	if !ok {
		return false
	}
	marks := make([]expr.Expr, n.NumIn())
	for k := range marks {
		marks[k] = place(k, axisNames(n.In(k)))
	}
	var same func(e expr.Expr) bool
	same = func(e expr.Expr) bool {
		if e.Kind == expr.KindCall || e.Kind == expr.KindBig && slices.Contains(e.Subs, s.axis) {
			return false
		}
		return !slices.ContainsFunc(e.Args, func(a expr.Expr) bool { return !same(a) })
	}
	return same(op.Notation(n, marks))
}

// contracts reports whether n is a product that sums over the axis that is drawn apart.
func (s *sketcher) contracts(n *graph.Node) bool {
	if s.axis == "" || s.spread(n) {
		return false
	}
	if n = s.behind(n); !match.Is(n, match.MatMul) {
		return false
	}
	a, b := n.In(0).Shape(), n.In(1).Shape()
	return a.Axis(a.Rank()-1) == graph.Ax(s.axis, s.parts) && b.Axis(b.Rank()-2) == a.Axis(a.Rank()-1)
}

// sums reports whether n is a sum along the axis that is drawn apart.
func (s *sketcher) sums(n *graph.Node) bool {
	if s.axis == "" || !match.Is(n, match.Sum) || s.spread(n) || !s.spread(n.In(0)) {
		return false
	}
	axes, _ := match.Along(n)
	return len(axes.List()) == 1
}

// isSide reports whether a leaf is no operand of its own in an operation that uses it:
// a hyperparameter, and a parameter that is left to its operation.
func (s *sketcher) isSide(n *graph.Node) bool {
	if n.NumIn() > 0 || s.spread(n) {
		return false
	}
	return s.role(n) == figure.Hyper || s.hides(n)
}

// hides reports whether a leaf has no sign: the operation that uses it says its name.
func (s *sketcher) hides(n *graph.Node) bool {
	if n.NumIn() > 0 || s.detail.params || s.spread(n) || s.roots[n] {
		return false
	}
	switch n.Role() {
	case graph.RoleParam, graph.RoleState:
		return true
	case graph.RoleConstant:
		return true
	}
	return s.given[n] && len(s.users[n]) == 1
}

// data lists the operands of a node that are not at its side.
func (s *sketcher) data(n *graph.Node) (out []*graph.Node) {
	for _, x := range s.operands[n] {
		if !s.isSide(x) {
			out = append(out, x)
		}
	}
	return out
}

// joins reports whether an operation joins two values, so that it is an operator in a circle.
func (s *sketcher) joins(n *graph.Node) bool {
	return s.joiner(n) != "" && (len(s.data(n)) > 1 || n.NumIn() == 2 && len(s.operands[n]) == 1 && len(s.data(n)) == 1 && n.In(0) == n.In(1)) || s.sums(n) || s.contracts(n)
}

// joiner returns the sign of an operation between two values, or "".
func (s *sketcher) joiner(n *graph.Node) string {
	switch match.KindOf(s.behind(n)) {
	case match.Add:
		return "+"
	case match.Sub:
		return "−"
	case match.Mul:
		return "×"
	case match.Div:
		return "÷"
	case match.MatMul:
		return "·"
	}
	return ""
}

// behind returns the operation that a node lays out, if it has no sign of its own.
func (s *sketcher) behind(n *graph.Node) *graph.Node {
	for m := n; isLayout(m); {
		if m = m.In(0); s.visible[m] {
			return n
		} else if !isLayout(m) && m.NumIn() > 0 {
			return m
		}
	}
	return n
}

// slight reports whether an operation is left out of a sign that has others: a change of sign, a
// number that is added or multiplied, a cast, a mean over the examples.
func (s *sketcher) slight(n *graph.Node) bool {
	switch match.KindOf(n) {
	case match.Neg, match.Cast, match.Slice:
		return true
	case match.Reshape, match.Broadcast, match.Transpose:
		return s.behind(n) == n && s.spread(n) == s.spread(n.In(0))
	case match.Mul, match.Div, match.Add, match.Sub:
		return len(s.data(n)) == 1 && !slices.ContainsFunc(s.operands[n], s.hides)
	}
	return s.averages(n)
}

// averages reports whether n is a mean over nothing but axes of examples.
func (s *sketcher) averages(n *graph.Node) bool {
	if !match.Is(n, match.Mean) {
		return false
	}
	axes, _ := match.Along(n)
	for _, i := range axes.List() {
		if a := n.In(0).Shape().Axis(i).Name; !s.single[a] || a == s.axis {
			return false
		}
	}
	return true
}

// fuses reports whether n shares the sign of its only user u.
func (s *sketcher) fuses(n, u *graph.Node) bool {
	data := s.data(u)
	switch {
	case n.NumIn() == 0 || s.roots[n] || len(s.updates[n]) > 0 || trait.LoopBody(n) != nil || trait.LoopBody(u) != nil || len(data) != 1 || s.joins(u):
		return false
	case s.averages(u) && !s.mixes(n) && !s.spread(n):
		return !s.detail.names || !s.named(n) || s.losses[u]
	case s.joins(n) || s.mixes(n) || s.detail.names && s.named(n):
		return false
	case s.spread(n) != s.spread(u) || s.mixes(u):
		return s.slight(n) && s.spread(n) == s.spread(u)
	}
	return true
}

// named reports whether the user named n.
func (s *sketcher) named(n *graph.Node) bool {
	_, ok := s.names[n]
	return ok
}

// form puts the visible nodes into groups.
func (s *sketcher) form() {
	s.groups, s.member = nil, map[*graph.Node]*group{}
	var closed map[*graph.Node]string
	if s.detail.depth > 0 {
		closed = s.closedKeys()
	}
	byScope := map[string]*group{}
	for _, n := range slices.Backward(s.forward) {
		if s.hides(n) {
			continue
		}
		if key := closed[n]; key != "" {
			g := byScope[key]
			if g == nil {
				g = &group{closed: s.path(n)}
				byScope[key] = g
				s.groups = append(s.groups, g)
			}
			g.members = append(g.members, n)
			s.member[n] = g
			continue
		}
		if users := s.users[n]; len(users) == 1 && closed[users[0]] == "" && s.fuses(n, users[0]) {
			g := s.member[users[0]]
			g.members = append(g.members, n)
			s.member[n] = g
			continue
		}
		g := &group{members: []*graph.Node{n}}
		s.groups = append(s.groups, g)
		s.member[n] = g
	}
	for _, g := range s.groups {
		slices.Reverse(g.members)
		n := g.last()
		g.id = s.prefix + "n" + strconv.Itoa(n.ID())
		g.mixes = g.closed == "" && s.spread(n) && slices.ContainsFunc(g.members, s.mixes) || trait.LoopBody(n) != nil && s.spread(n)
		g.apart = g.closed == "" && s.spread(n) && !g.mixes
		g.repeats = !g.apart && len(s.users[n]) > 1 && s.role(n) == figure.Hyper
		g.sum = g.closed == "" && s.contracts(g.members[0])
	}
	slices.SortFunc(s.groups, inOrderOf)
}
