package rewrite

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// allTimes computes nodes of a loop's body for all steps, beside the loop: by the rules for batches,
// of which the steps are the examples.
type allTimes struct {
	*steps
	axis   graph.Axis
	known  map[*graph.Node]*graph.Node
	varied map[*graph.Node]bool // the values for all steps lie along a first axis
}

// newAllTimes knows the sequences and constants of the loop, and the stacked nodes. It has the values of the
// carries if the loop y, which may be another over the same carries, is there.
func newAllTimes(l *steps, y *graph.Node, stacked map[*graph.Node]*graph.Node) *allTimes {
	a := &allTimes{l, graph.Axis{Size: l.Steps}, map[*graph.Node]*graph.Node{}, map[*graph.Node]bool{}}
	for n, x := range stacked {
		a.set(n, x, true)
	}
	for i := l.Carries; i < len(l.in); i++ {
		a.set(l.in[i], l.loop.In(i), i < l.Carries+l.Sequences)
	}
	first := 0
	if l.Reverse {
		first = 1
	}
	for i := 0; i < l.Carries && y != nil; i++ {
		a.set(l.in[i], rowsOf(y, i, first, l.Steps, l.in[i]), true)
		for _, n := range l.nodes {
			if l.varies[n] && unshaped(n) == unshaped(l.out[i]) {
				a.set(n, rowsOf(y, i, 1-first, l.Steps, l.in[i]), true)
			}
		}
	}
	return a
}

// unshaped returns the node that n has the elements of, in their order.
func unshaped(n *graph.Node) *graph.Node {
	for match.Is(n, match.Reshape) {
		n = n.In(0)
	}
	return n
}

// rowsOf returns rows of result k of the loop y, each like n.
func rowsOf(y *graph.Node, k, from, rows int, n *graph.Node) *graph.Node {
	p := y.Op().(trait.Looped).Loop().Parts(y.Body())[k]
	lo := p.At + from*p.Size
	s, _ := graph.NewShape(append([]graph.Axis{{Size: rows}}, n.Shape().Axes()...)...)
	return ops.ReshapeTo(ops.Slice(y, 0, lo, lo+rows*p.Size), s)
}

// set makes x the values of n, at all times if it varies. What is an input or a carry is known as that
// first.
func (a *allTimes) set(n, x *graph.Node, varies bool) {
	if a.known[n] != nil {
		return
	}
	want := n.Shape()
	if varies {
		want = a.shape(want.Axes()...)
	}
	a.known[n], a.varied[n] = ops.ReshapeTo(x, want), varies
}

func (a *allTimes) shape(axes ...graph.Axis) graph.Shape {
	s, err := graph.NewShape(append([]graph.Axis{a.axis}, axes...)...)
	if err != nil {
		panic("rewrite: a node has no room for the steps of its loop: " + err.Error())
	}
	return s
}

// of returns the values of a node of the body, at all times if it varies.
func (a *allTimes) of(n *graph.Node) (x *graph.Node, varies bool) {
	if x = a.known[n]; x != nil {
		return x, a.varied[n]
	}
	in, batched := make([]*graph.Node, n.NumIn()), make([]bool, n.NumIn())
	for i := range in {
		in[i], batched[i] = a.of(n.In(i))
		varies = varies || batched[i]
	}
	a.during(n, func() *graph.Node {
		if !varies {
			x = a.loop.Graph().Copy(n, in)
			return x
		}
		rule, _ := vmap.RuleOf(n.Op())
		x = ops.ReshapeTo(rule.Batch(n, in, batched, a.axis), a.shape(n.Shape().Axes()...))
		return x
	})
	a.known[n], a.varied[n] = x, varies
	return x, varies
}

// during gives what f adds the place of n, a node of the body, and its names to what f returns.
func (a *allTimes) during(n *graph.Node, f func() *graph.Node) {
	g, at, origin := a.loop.Graph(), n.First(), a.loop.First().Origin
	var x *graph.Node
	origin.Rule = "fission"
	g.During(at, origin, func() { x = f() })
	for _, o := range n.Occurrences() {
		if o.Name != "" {
			o.Origin = origin
			g.Occur(x, o)
		}
	}
}

// sum returns the sum of a node over all steps. The terms of a product are those of one product over
// the rows of all steps.
func (a *allTimes) sum(n *graph.Node) (total *graph.Node) {
	a.during(n, func() *graph.Node {
		total = a.total(n)
		return total
	})
	return total
}

func (a *allTimes) total(n *graph.Node) *graph.Node {
	parts, whole := addends(a.steps, n)
	if whole {
		x, varies := a.of(n)
		if !varies {
			return ops.Scale(x, float64(a.Steps))
		}
		return ops.Sum(x, 0)
	}
	if match.Is(n, match.MatMul) && len(parts) == 2 {
		return ops.ReshapeTo(ops.MatMul(a.wide(n.In(0), true), a.wide(n.In(1), false)), n.Shape())
	}
	in := make([]*graph.Node, n.NumIn())
	for i, x := range n.Inputs() {
		if slices.Contains(parts, x) {
			in[i] = a.sum(x)
		} else {
			in[i], _ = a.of(x)
		}
	}
	return a.loop.Graph().Copy(n, in)
}

// addends returns the operands of n whose sums over the steps, or, of a product of two that vary, whose
// values at all times, give the sum of n; whole is true if its own values have to be summed up.
func addends(l *steps, n *graph.Node) (parts []*graph.Node, whole bool) {
	for _, x := range n.Inputs() {
		if l.varies[x] {
			parts = append(parts, x)
		}
	}
	if _, isInput := l.number[n]; isInput || len(parts) == 0 || !multiplied(l, n) {
		return nil, true
	}
	return parts, false
}

// multiplied reports whether the sum of a node over the steps is made of products.
func multiplied(l *steps, n *graph.Node) bool {
	varying := 0
	for _, x := range n.Inputs() {
		if l.varies[x] {
			varying++
		}
	}
	switch _, isInput := l.number[n]; match.KindOf(n) {
	case match.MatMul:
		return !isInput && varying > 0
	case match.Neg, match.Reshape, match.Transpose, match.Slice, match.Place:
		return multiplied(l, n.In(0))
	case match.Mul:
		return varying == 1 && (multiplied(l, n.In(0)) || multiplied(l, n.In(1)))
	case match.Add, match.Sub:
		return varying == 2 && (multiplied(l, n.In(0)) || multiplied(l, n.In(1)))
	}
	return false
}

// wide returns the factors x of the products of all steps as one matrix: side by side where they are on
// the left of the products, and one below the other on the right.
func (a *allTimes) wide(x *graph.Node, left bool) *graph.Node {
	r := x.Rank()
	order, ok := match.Permuted(x)
	turned := left && ok && isSwap(order)
	if turned {
		x = x.In(0)
	}
	all, _ := a.of(x)
	at := r - 2 // the axis of the batch that the steps go before: that of the terms
	if left && !turned {
		at = r - 1
	}
	perm := make([]any, 0, r+1)
	for i := range r {
		if i == at {
			perm = append(perm, 0)
		}
		perm = append(perm, i+1)
	}
	sizes := x.Shape().Sizes()
	sizes[at] *= a.Steps
	s, _ := graph.NewShape(graph.Dims(sizes...)...)
	if at > 0 {
		all = ops.Transpose(all, perm...)
	}
	if all = ops.ReshapeTo(all, s); turned {
		all = swapped(all)
	}
	return all
}

// isSwap reports whether an order exchanges the last two axes.
func isSwap(order []int) bool {
	r := len(order)
	for i, a := range order {
		switch {
		case i < r-2 && a != i, i == r-2 && a != r-1, i == r-1 && a != r-2:
			return false
		}
	}
	return r >= 2
}

func swapped(x *graph.Node) *graph.Node {
	order := make([]any, x.Rank())
	for i := range order {
		order[i] = i
	}
	r := len(order)
	order[r-1], order[r-2] = r-2, r-1
	return ops.Transpose(x, order...)
}
