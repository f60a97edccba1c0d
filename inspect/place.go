package inspect

import (
	"math"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
)

// Entry is one element of a node's value.
type Entry struct {
	Node  *graph.Node
	Index []int // along each axis
	Value float64
}

// EntryAt returns element p of a node, counted in row-major order, with a value of it.
func EntryAt(n *graph.Node, p int, value float64) Entry {
	return Entry{n, unravel(n.Shape(), p), value}
}

// entry is EntryAt with the recorded value.
func (r *Record) entry(n *graph.Node, p int) Entry { return EntryAt(n, p, r.values[n].At(p)) }

// String returns the element with its index and the names of the axes: h[i=2 d=5] = -0.31.
func (e Entry) String() string { return e.Place() + " = " + trait.Number(e.Value) }

// Place returns the element's name and index without its value: h[i=2 d=5].
func (e Entry) Place() string {
	if len(e.Index) == 0 {
		return nameOf(e.Node)
	}
	parts := make([]string, len(e.Index))
	for a, k := range e.Index {
		parts[a] = strconv.Itoa(k)
		if name := e.Node.Shape().Axis(a).Name; name != "" {
			parts[a] = name + "=" + parts[a]
		}
	}
	return nameOf(e.Node) + "[" + strings.Join(parts, " ") + "]"
}

// nameOf returns the name by which the reader knows a node.
func nameOf(n *graph.Node) string {
	if _, ok := n.Constant(); !ok {
		return n.Label()
	}
	for _, o := range n.Occurrences() { // the 1 that derivatives begin with is any other 1 too
		if o.Name != "" && o.Origin.Kind == graph.FromUser {
			return o.Name
		}
	}
	return "constant"
}

// call returns a node as an operation on the names of its operands: Log h.
func call(n *graph.Node) string {
	if n.Role() != graph.RoleOp {
		return n.Role().String()
	}
	if n == nil {
		return n.String()
	}
	s := n.Op().Name()
	for _, x := range n.Inputs() {
		if v, ok := x.Constant(); ok && len(v.Data) == 1 && nameOf(x) == "constant" {
			s += " " + trait.Number(v.Data[0])
		} else {
			s += " " + nameOf(laidOut(x))
		}
	}
	return s
}

// laidOut returns the node that an unnamed operand was before it was laid out for its user.
func laidOut(x *graph.Node) *graph.Node {
	for x.Name() == "" && moves(x) {
		x = x.In(0)
	}
	return x
}

// line returns the line and the scope in which the user wrote a node.
func line(n *graph.Node) string {
	o := n.First()
	s := o.Pos.String()
	if s == "" {
		s = "an unknown line"
	}
	if o.Scope != "" {
		s += ", in " + o.Scope
	}
	return s
}

// unravel returns the index of element p in row-major order.
func unravel(s graph.Shape, p int) []int {
	index := make([]int, s.Rank())
	for a := s.Rank() - 1; a >= 0; a-- {
		index[a] = p % s.Dim(a)
		p /= s.Dim(a)
	}
	return index
}

// finite reports whether v is neither NaN nor infinite.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// ravel returns the place of an index in row-major order.
func ravel(s graph.Shape, index []int) int {
	p := 0
	for a, k := range index {
		p = p*s.Dim(a) + k
	}
	return p
}
