package viz

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// mostSigns is the number of signs that a sketch has at most, if a coarser one is possible.
const mostSigns = 48

// widest is the width of a sketch that a page shows, in pixels, if a coarser one is possible.
const widest = 2600

// Sketch returns a drawing of what the roots depend on as a lecture has it: from left to right, one
// sign for each operation, the parts of an array apart along one axis ([Apart]), loops as a cell
// with a step inside, nets whose maps shrink and grow again as a U. Examples of a batch are not
// drawn. Derivatives among the roots are arrows that lead back beside those of the values.
//
// If there would be too many signs, parameters are left to the operations that use them, then
// operations in a row share a sign, and then scopes do.
//
// Of the options it takes [Apart], [Title], [Fed], [FedFrom] and [WithoutLines]. Its errors are
// those of [Draw], and that no array has the axis to draw apart.
func Sketch(roots []*graph.Node, opts ...Option) (*figure.Sketch, error) {
	o := collect(opts)
	o.level, o.leveled = Ops, true
	v, err := newView(roots, o)
	if err != nil {
		return nil, err
	}
	if drawn := withoutIdle(v.order); len(drawn) < len(roots) {
		if v, err = newView(drawn, o); err != nil {
			return nil, err
		}
	}
	s := &sketcher{view: v, batch: batchAxes(v), single: map[string]bool{}}
	for axis := range s.batch {
		s.single[axis] = s.separate(s.cone, axis)
	}
	s.prepare()
	axis, asked := o.apart, o.apart != ""
	if axis == "" {
		axis = s.defaultAxis()
	}
	if asked && !s.choose(axis) {
		return nil, fmt.Errorf("viz: no array has an axis %q to draw apart: want one of %q", axis, s.axes())
	}
	out := s.best(axis, asked)
	out.Title, out.Subtitle = o.title, v.subtitle()
	if out.Title == "" {
		out.Title = oneLine(roots[0].Graph().Name())
	}
	out.Desc = "A computational graph from left to right, with " + strconv.Itoa(len(out.Signs)) + " signs."
	if text := s.batchText(); text != "" {
		out.Footer = append(out.Footer, text)
	}
	return out, nil
}

// Apart names the axis along which [Sketch] draws the parts of arrays apart, as r₁, r₂, r₃. The
// default is an axis that heads are split along, or else one that a softmax or a sum runs over and
// that a parameter or an input has, if there is one.
func Apart(axis string) Option { return func(o *options) { o.apart = axis } }

// sketcher makes a sketch of a view. Groups of nodes become signs.
type sketcher struct {
	*view
	batch    map[string]bool // axes of examples
	single   map[string]bool // those along which an example depends on no other
	prefix   string          // of ids, inside a loop
	body     *graph.Body
	given    map[*graph.Node]bool // inputs of a body that are parameters outside
	axis     string               // drawn apart; "" for none
	parts    int                  // its size
	detail   detail
	operands map[*graph.Node][]*graph.Node // of visible forward nodes, in order
	users    map[*graph.Node][]*graph.Node
	forward  []*graph.Node                 // the visible ones, in order
	part     map[*graph.Node]int           // the result of a loop that a slice takes
	adjoint  map[*graph.Node][]*graph.Node // forward nodes that a node is the derivative by
	by       map[*graph.Node]*graph.Node   // the derivative by a forward node
	groups   []*group
	member   map[*graph.Node]*group
	pins     map[pin]string // the signs of what the steps of loops read and give
}

// detail says how fine a sketch is.
type detail struct {
	apart  bool // parts of arrays are drawn apart
	params bool // parameters have signs of their own
	names  bool // named quantities have signs of their own
	depth  int  // scopes below this depth are closed; 0: none is
}

// group is what one sign stands for, or one sign for each part.
type group struct {
	id      string
	members []*graph.Node // in order; the last one is what the sign computes
	closed  string        // the scope, if it is closed
	apart   bool          // there is a sign for each part
	mixes   bool          // one sign, whose results are apart
	repeats bool          // a hyperparameter of several operations: a sign for each of them
	sum     bool          // a product along the axis that is drawn apart: a sum of products
}

func (g *group) last() *graph.Node { return g.members[len(g.members)-1] }

// best returns the finest sketch that is not too large.
func (s *sketcher) best(axis string, asked bool) *figure.Sketch {
	depth := 0
	for _, n := range s.forward {
		depth = max(depth, strings.Count(s.path(n), "/")+1)
	}
	ways := []detail{{true, true, true, 0}, {true, false, true, 0}, {true, false, false, 0}, {false, false, true, 0}, {false, false, false, 0}}
	for d := depth; d > 0; d-- {
		ways = append(ways, detail{false, false, true, d}, detail{false, false, false, d})
	}
	var out, few *figure.Sketch // few: with few enough signs
	for i, w := range ways {
		if axis == "" && w.apart {
			w.apart = false
		}
		if asked && !w.apart {
			break
		}
		s.detail = w
		s.axis = ""
		if w.apart {
			s.choose(axis)
		}
		most := mostSigns
		if w.params {
			most /= 2
		}
		if s.form(); len(s.groups) > most && i+1 < len(ways) && !asked {
			continue
		}
		if out = s.compose(); len(out.Signs) > most {
			continue
		}
		if wide, _ := out.Size(); wide <= widest {
			return out
		}
		if few == nil {
			few = out
		}
	}
	if few != nil {
		return few
	}
	return out
}

// prepare finds operands, users and derivatives of what is visible.
func (s *sketcher) prepare() {
	s.operands, s.users, s.part = map[*graph.Node][]*graph.Node{}, map[*graph.Node][]*graph.Node{}, map[*graph.Node]int{}
	s.adjoint, s.by = map[*graph.Node][]*graph.Node{}, map[*graph.Node]*graph.Node{}
	for _, n := range s.cone {
		if s.backward[n] {
			for _, a := range adjoints(n) {
				s.adjoint[n] = append(s.adjoint[n], a.Of)
				s.by[a.Of] = n
			}
			continue
		}
		if k, ok := partOf(n); ok && !s.roots[n] {
			s.part[n] = k
		}
	}
	users := s.usersOf()
	for _, n := range s.shown {
		if !s.backward[n] && s.passes(n, users[n]) {
			s.visible[n] = false
		}
	}
	for _, n := range s.shown {
		if s.backward[n] || !s.visible[n] {
			continue
		}
		if _, part := s.part[n]; part {
			continue
		}
		s.forward = append(s.forward, n)
		s.operands[n] = s.sources(n)
		for _, x := range s.operands[n] {
			if !slices.Contains(s.users[x], n) {
				s.users[x] = append(s.users[x], n)
			}
		}
	}
}

// passes reports whether a node only takes a slice of a value, and those who use it read nothing
// else of that value: it has no sign.
func (s *sketcher) passes(n *graph.Node, users []*graph.Node) bool {
	if !match.Is(n, match.Slice) || s.named(n) || s.roots[n] || len(s.updates[n]) > 0 {
		return false
	}
	if _, part := s.part[n]; part {
		return false
	}
	behind := func(x *graph.Node) *graph.Node {
		for isLayout(x) || match.Is(x, match.Slice) {
			x = x.In(0)
		}
		return x
	}
	for i := 0; i < len(users); i++ {
		u := users[i]
		if s.backward[u] {
			continue
		}
		if !s.visible[u] && isLayout(u) {
			users = append(users[:len(users):len(users)], s.usersOf()[u]...)
			continue
		}
		same := 0
		for _, x := range u.Inputs() {
			if behind(x) == behind(n) {
				same++
			}
		}
		if same > 1 {
			return false
		}
	}
	return true
}

// sources lists the visible nodes that a node reads, in order, each once.
func (s *sketcher) sources(n *graph.Node) (out []*graph.Node) {
	for i := range n.NumIn() {
		for _, x := range s.source(n.In(i), n) {
			if !slices.Contains(out, x) {
				out = append(out, x)
			}
		}
	}
	return out
}

// source returns the visible nodes behind an operand of a node.
func (s *sketcher) source(x, user *graph.Node) []*graph.Node {
	_, part := s.part[x]
	switch {
	case part:
		return s.sources(x)
	case s.visible[x]:
		if c, ok := x.Constant(); ok && uniform(c) {
			return nil
		}
		return []*graph.Node{x}
	case !s.flows(x, user):
		return nil
	}
	return s.sources(x)
}

// partOf returns the result of a loop that a slice of the loop's value takes.
func partOf(n *graph.Node) (k int, ok bool) {
	for isLayout(n) {
		n = n.In(0)
	}
	return loopPart(n)
}

// closedKeys returns the closed scope of each node that is in one, split where scopes would feed
// each other in a circle.
func (s *sketcher) closedKeys() map[*graph.Node]string {
	key := map[*graph.Node]string{}
	for _, n := range s.forward {
		if n.NumIn() == 0 || trait.LoopBody(n) != nil {
			continue
		}
		parts := strings.Split(s.path(n), "/")
		if s.path(n) != "" && len(parts) >= s.detail.depth {
			key[n] = strings.Join(parts[:s.detail.depth], "/")
		}
	}
	s.cutCycles(key)
	return key
}

// inOrderOf sorts groups by their last nodes.
func inOrderOf(a, b *group) int { return cmp.Compare(a.last().ID(), b.last().ID()) }
