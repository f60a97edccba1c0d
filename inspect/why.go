package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// Share is how much a value has to do with one element of another, by the derivative: an element x
// of the value contributes ∂y/∂x·x to the element y.
//
// If y is linear in the value, Exact is set: the contributions are the terms of a sum, such as
// x_ik·w_kj of the product of two matrices, and without them y would be y − Total. Otherwise a
// contribution is right to first order: y changes by 1 % of it if x grows by 1 %.
type Share struct {
	Node  *graph.Node
	Exact bool
	Total float64 // of all contributions
	Size  float64 // the sum of their absolute values
	Count int     // of contributions that are not 0
	Parts []Part  // the largest in absolute value, largest first
	Rows  []Part  // likewise of slices along the first axis; nil for values of fewer than two axes
	None  string  // why there are no contributions; "" if there may be some
}

// Part is a contribution.
type Part struct {
	Entry                // the element; of Rows, the slice, whose Value is the sum of its elements
	Contribution float64 // of the element, or of all elements of the slice
}

// Reason is what an element of a value is made of; see [Record.Why].
type Reason struct {
	Entry
	Operands []Share // in the order in which they are computed; empty for a leaf
}

// Why explains one element of n, given by its position in row-major order, by the operands of its
// operation, each with at most so many parts. Given nodes by which to explain it, such as those that
// a drawing shows, it goes back to these, and to the leaves where the way does not pass one of them.
//
// Either way the operands are taken as they are, whatever they are computed from, and each for
// itself: where operands are multiplied, as in Mul and MatMul, each contributes the whole. An
// operand by which n has no derivative, such as the indices of Gather, has no contributions, and
// its None says why.
//
// It is an error if n was not recorded or is not of a float type, or if there is no such element.
func (r *Record) Why(ctx context.Context, n *graph.Node, at, most int, by ...*graph.Node) (*Reason, error) {
	entry, err := r.element(n, at)
	if err != nil {
		return nil, err
	}
	out := &Reason{Entry: entry}
	operands := n.Inputs()
	if len(by) > 0 {
		operands = frontier(n, by)
	}
	if len(operands) == 0 {
		return out, nil
	}
	alone, err := aloneOf(ctx, n, at, distinct(operands))
	if err != nil {
		return nil, err
	}
	values, err := valuesOf(ctx, r.feed, r.store, append(slices.Clone(alone.adjoints), alone.y), func(feed tape.Feed) {
		for i, x := range alone.operands {
			feed[alone.inputs[i]] = tape.Tensor(r.values[x].Value())
		}
	})
	if err != nil {
		return nil, err
	}
	if got := values[len(alone.operands)].At(0); !near(got, entry.Value) {
		return nil, fmt.Errorf("inspect: %v is not a function of its operands alone, which give %v", entry, got)
	}
	for i, x := range alone.operands {
		s := Share{Node: x, None: withoutDerivative(x, n)}
		if a := alone.adjoints[i]; a != nil {
			s = r.share(x, values[i], most)
			s.Exact = !slices.Contains(graph.Reachable(a), alone.inputs[i])
		}
		out.Operands = append(out.Operands, s)
	}
	return out, nil
}

// frontier returns the nodes by which n is explained: those of by that it reads, and the leaves that it
// reads past them, without constants.
func frontier(n *graph.Node, by []*graph.Node) (out []*graph.Node) {
	ends := map[*graph.Node]bool{}
	for _, x := range by {
		ends[x] = x != n
	}
	for _, x := range graph.ReachableUntil(func(x *graph.Node) bool { return ends[x] }, n) {
		_, constant := x.Constant()
		if ends[x] || x.NumIn() == 0 && x != n && !constant && x.Role() != graph.RoleOp {
			out = append(out, x)
		}
	}
	return out
}

// distinct returns nodes without repetitions.
func distinct(nodes []*graph.Node) (out []*graph.Node) {
	for _, n := range nodes {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// withoutDerivative says why n has no derivative by x.
func withoutDerivative(x, n *graph.Node) string {
	if !x.DType().IsFloat() {
		return "its values are chosen among or counted, not added or multiplied"
	}
	return n.Op().Name() + " has no derivative by it"
}

// element returns an element whose reason can be asked for.
func (r *Record) element(n *graph.Node, at int) (Entry, error) {
	switch {
	case n == nil || r.Value(n).Type.DType == graph.InvalidDType:
		return Entry{}, errors.New("inspect: the node was not recorded")
	case !n.DType().IsFloat():
		return Entry{}, fmt.Errorf("inspect: %s is of type %v: only floats are sums of shares", nameOf(n), n.DType())
	case at < 0 || at >= n.Shape().Len():
		return Entry{}, fmt.Errorf("inspect: %s has no element %d: it has 0 to %d", nameOf(n), at, n.Shape().Len()-1)
	}
	return r.entry(n, at), nil
}

// alone is an element as a function of some operands, with its derivatives.
type alone struct {
	operands         []*graph.Node // the recorded ones
	inputs, adjoints []*graph.Node // of the function; an adjoint is nil if there is none
	y                *graph.Node
}

// aloneOf tries all operands at once and, if one of them has no derivative, each by itself: a
// derivative that does not exist is a mistake that its graph keeps.
func aloneOf(ctx context.Context, n *graph.Node, at int, operands []*graph.Node) (*alone, error) {
	var by []int
	for i, x := range operands {
		if x.DType().IsFloat() {
			by = append(by, i)
		}
	}
	out, wrong, err := newAlone(ctx, n, at, operands, by)
	if err != nil || wrong == nil {
		return out, err
	}
	var some []int
	for _, i := range by {
		if _, wrong, err := newAlone(ctx, n, at, operands, []int{i}); err != nil {
			return nil, err
		} else if wrong == nil {
			some = append(some, i)
		}
	}
	if out, wrong, err = newAlone(ctx, n, at, operands, some); err == nil {
		err = wrong
	}
	return out, err
}

// copying changes nothing: its run is a copy of a graph, to which nodes may be added.
var copying = rewrite.Pass{Name: "copy"}

// newAlone differentiates by some of the operands. Its graph is a copy of that of n, because an
// operation may be a loop whose body is part of its graph. The error wrong is that of the
// derivatives.
func newAlone(ctx context.Context, n *graph.Node, at int, operands []*graph.Node, by []int) (out *alone, wrong, err error) {
	copied, err := rewrite.RunContext(ctx, n.Graph(), append([]*graph.Node{n}, operands...), copying)
	if err != nil {
		return nil, nil, err
	}
	g := copied.Graph
	out = &alone{operands: operands, adjoints: make([]*graph.Node, len(operands))}
	became := map[*graph.Node]*graph.Node{}
	for i, x := range operands {
		name := fmt.Sprintf("operand %d", i)
		for g.Lookup(name) != nil {
			name += "'"
		}
		in := g.Input(name, x.DType(), x.Shape().Axes()...)
		out.inputs, became[copied.Node(x)] = append(out.inputs, in), in
	}
	for _, x := range graph.ReachableUntil(func(x *graph.Node) bool { return became[x] != nil }, copied.Node(n)) {
		if became[x] != nil {
			continue
		}
		became[x] = x
		if in := x.Inputs(); len(in) > 0 {
			for i := range in {
				in[i] = became[in[i]]
			}
			became[x] = g.Copy(x, in)
		}
	}
	out.y = pick(became[copied.Node(n)], at)
	if err := g.Err(); err != nil {
		return nil, nil, err
	}
	for _, i := range by {
		out.adjoints[i] = grad.OrZero(out.y, out.inputs[i])[0]
	}
	return out, g.Err(), nil
}

// valuesOf runs a graph for the given nodes, of which nil ones have no value, with the feed of
// another one; more adds to it.
func valuesOf(ctx context.Context, feed tape.Feed, store *tape.Store, nodes []*graph.Node, more func(tape.Feed)) ([]tape.Array, error) {
	wanted := slices.DeleteFunc(slices.Clone(nodes), func(n *graph.Node) bool { return n == nil })
	rec, err := newRecorder(ctx, wanted)
	if err != nil {
		return nil, err
	}
	g := graph.Of(wanted...)
	rec.training = len(g.Updates()) > 0
	feed = Feed(feed, g)
	more(feed)
	values, err := rec.Take(ctx, feed, store)
	if err != nil {
		return nil, err
	}
	out := make([]tape.Array, len(nodes))
	for i, n := range nodes {
		if n != nil {
			out[i] = values.Value(n)
		}
	}
	return out, nil
}

// pick returns one element as a scalar.
func pick(n *graph.Node, at int) *graph.Node {
	return ops.Sum(ops.Slice(ops.Reshape(n, n.Shape().Len()), 0, at, at+1))
}

// share adds up what the elements of x contribute, given the derivative by each.
func (r *Record) share(x *graph.Node, slope tape.Array, most int) Share {
	value := r.values[x]
	return r.sum(x, most, func(p int) float64 {
		if g := slope.At(p); g != 0 { // 0·Inf is no contribution
			return g * value.At(p)
		}
		return 0
	})
}

// sum adds up the contributions of the elements of x, or to them.
func (r *Record) sum(x *graph.Node, most int, contribution func(p int) float64) Share {
	s := Share{Node: x}
	value, shape := r.values[x], x.Shape()
	var parts, rows []Part
	across := 1
	if shape.Rank() > 1 && shape.Dim(0) > 0 {
		across = shape.Len() / shape.Dim(0)
		rows = make([]Part, shape.Dim(0))
		for i := range rows {
			rows[i].Entry = Entry{Node: x, Index: []int{i}}
		}
	}
	for p := range shape.Len() {
		v, c := value.At(p), contribution(p)
		if rows != nil {
			rows[p/across].Value += v
			rows[p/across].Contribution += c
		}
		if c == 0 {
			continue
		}
		s.Count++
		s.Total += c
		s.Size += math.Abs(c)
		parts = append(parts, Part{Entry{Node: x, Index: []int{p}, Value: v}, c}) // unravelled if it stays
	}
	s.Parts = largest(parts, most)
	for i := range s.Parts {
		s.Parts[i].Index = unravel(shape, s.Parts[i].Index[0])
	}
	s.Rows = largest(slices.DeleteFunc(rows, func(p Part) bool { return p.Contribution == 0 }), most)
	return s
}

// largest returns the parts with the largest contributions, in absolute value, largest first; NaN
// is larger than anything.
func largest(parts []Part, most int) []Part {
	size := func(p Part) float64 {
		if math.IsNaN(p.Contribution) {
			return math.Inf(1)
		}
		return math.Abs(p.Contribution)
	}
	slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(size(b), size(a)) })
	return slices.Clone(parts[:min(most, len(parts))])
}

// near reports whether two computations of one number agree up to rounding.
func near(a, b float64) bool {
	return a == b || a != a && b != b || math.Abs(a-b) <= 1e-4*max(math.Abs(a), math.Abs(b))+1e-30
}
