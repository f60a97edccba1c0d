package rewrite

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// late is which results of a loop are computed after it, and of what.
type late struct {
	*steps
	carried map[*graph.Node]bool // a carry depends on it
	can     map[*graph.Node]bool // can be computed after the loop
	leaves  map[int]bool         // results, by number
	stacked map[*graph.Node]bool // that the loop gives for it
}

// after moves results that no step needs after the loop.
func (l *steps) after() *graph.Node {
	a := l.late()
	if len(a.leaves) == 0 {
		return nil
	}
	var outs, sums []*graph.Node
	place := map[int]int{} // of results that stay, in the new loop
	for k := l.Carries; k < l.Carries+l.Outs; k++ {
		if !a.leaves[k] {
			place[k] = l.Carries + len(outs)
			outs = append(outs, l.out[k])
		}
	}
	rows := map[*graph.Node]int{}
	for _, n := range l.nodes {
		if a.stacked[n] && !a.there(n) {
			at := slices.Index(outs, n)
			if at < 0 {
				at, outs = len(outs), append(outs, n)
			}
			rows[n] = l.Carries + at
		}
	}
	for k := l.Carries + l.Outs; k < len(l.out); k++ {
		if !a.leaves[k] {
			place[k] = l.Carries + len(outs) + len(sums)
			sums = append(sums, l.out[k])
		}
	}
	var y *graph.Node
	if l.Carries+len(outs)+len(sums) > 0 {
		y = newRemade(l).make(outs, sums)
	}
	stacks := map[*graph.Node]*graph.Node{}
	for n, k := range rows {
		stacks[n] = rowsOf(y, k, 0, l.Steps, n)
	}
	all := newAllTimes(l, y, stacks)
	var parts []*graph.Node
	for k, n := range l.out {
		at, stays := place[k]
		switch {
		case k < l.Carries:
			parts = append(parts, piece(y, k))
		case stays:
			parts = append(parts, piece(y, at))
		case k < l.Carries+l.Outs:
			x, varies := all.of(n)
			if !varies {
				x = ops.BroadcastTo(x, all.shape(n.Shape().Axes()...))
			}
			parts = append(parts, flat(x))
		default:
			parts = append(parts, flat(all.sum(n)))
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return ops.Concat(0, parts...)
}

// late chooses the results that leave. Products leave, and with them what they need; sums leave as
// well, and outs, if all that they need is there.
func (l *steps) late() *late {
	a := &late{l, map[*graph.Node]bool{}, map[*graph.Node]bool{}, map[int]bool{}, map[*graph.Node]bool{}}
	for _, n := range graph.Reachable(l.out[:l.Carries]...) {
		a.carried[n] = true
	}
	for _, n := range l.nodes {
		_, isInput := l.number[n]
		a.can[n] = !isInput && l.moves[n] && (l.free[n] || !a.carried[n] || isView(n)) && (l.free[n] || n.Shape().Len() <= l.most)
		for _, x := range n.Inputs() {
			a.can[n] = a.can[n] && (a.can[x] || a.there(x) || a.stacks(x))
		}
	}
	roots := map[int][]*graph.Node{}
	var heavy []*graph.Node
	for k := l.Carries; k < len(l.out); k++ {
		needs := []*graph.Node{l.out[k]}
		product := false
		if k >= l.Carries+l.Outs {
			needs, product = a.needs(l.out[k])
		}
		if !a.possible(needs) {
			continue
		}
		roots[k] = needs
		for _, n := range a.cone(needs) {
			product = product || isProduct(n) && a.can[n] && !l.free[n]
		}
		if product {
			a.leaves[k] = true
			heavy = append(heavy, needs...)
		}
	}
	a.keep(heavy)
	a.stack(heavy)
	for k := l.Carries + l.Outs; k < len(l.out); k++ {
		if needs := roots[k]; needs != nil && !a.leaves[k] && a.shortens(needs) {
			a.leaves[k] = true
			a.stack(needs)
		}
	}
	for k, needs := range roots {
		ready := true
		for _, n := range a.cone(needs) {
			ready = ready && (a.can[n] || l.isSequence(n) || a.stacked[n] || k < l.Carries+l.Outs && n == l.out[k] && a.there(n))
		}
		a.leaves[k] = a.leaves[k] || ready
		if !a.leaves[k] {
			delete(a.leaves, k)
		}
	}
	return a
}

// stack lets the loop give what the nodes are computed of.
func (a *late) stack(nodes []*graph.Node) {
	for _, n := range a.cone(nodes) {
		if !a.can[n] && !a.isSequence(n) {
			a.stacked[n] = true
		}
	}
}

// shortens reports whether a step has fewer instructions if the sum of the nodes, which are short rows,
// leaves than arrays that the loop then gives in addition.
func (a *late) shortens(nodes []*graph.Node) bool {
	instructions, arrays := 1, 0 // the sum is one itself
	for _, n := range a.cone(nodes) {
		switch {
		case n.Shape().Len() > shortRow:
			return false
		case a.can[n] && !isView(n):
			instructions++
		case !a.can[n] && !a.isSequence(n) && !a.stacked[n]:
			arrays++
		}
	}
	return instructions > arrays
}

// isSequence reports whether a node is an input whose values are there whatever the loop keeps.
func (l *steps) isSequence(n *graph.Node) bool {
	i, isInput := l.number[n]
	return isInput && i >= l.Carries
}

// there reports whether the values of a node at all times are there without another out.
func (a *late) there(n *graph.Node) bool {
	_, isInput := a.number[n]
	return isInput || slices.ContainsFunc(a.out[:a.Carries], func(c *graph.Node) bool { return unshaped(c) == unshaped(n) })
}

// stacks reports whether a node can be an out of the loop.
func (a *late) stacks(n *graph.Node) bool {
	return n.DType() == a.loop.DType() && n.Shape().Len() <= a.most
}

func (a *late) possible(nodes []*graph.Node) bool {
	return !slices.ContainsFunc(nodes, func(n *graph.Node) bool { return !a.can[n] && !a.there(n) && !a.stacks(n) })
}

// needs lists the nodes whose values at all times make the sum of n; product is true if one product
// over the rows of all steps is among what makes it.
func (a *late) needs(n *graph.Node) (list []*graph.Node, product bool) {
	parts, whole := addends(a.steps, n)
	if whole {
		return []*graph.Node{n}, false
	}
	if match.Is(n, match.MatMul) && len(parts) == 2 {
		return parts, true
	}
	for _, x := range n.Inputs() {
		if !slices.Contains(parts, x) {
			list = append(list, x)
			continue
		}
		more, is := a.needs(x)
		list, product = append(list, more...), product || is
	}
	return list, product || match.Is(n, match.MatMul)
}

// cone lists what has to be computed after the loop for the nodes, and what it is computed of.
func (a *late) cone(nodes []*graph.Node) []*graph.Node {
	return graph.ReachableUntil(func(n *graph.Node) bool { return !a.can[n] || a.there(n) }, nodes...)
}

// keep lets cheap nodes stay in the loop that take less memory than what they are computed of.
func (a *late) keep(roots []*graph.Node) {
	cone := a.cone(roots)
	readers := map[*graph.Node]int{}
	below := func(n *graph.Node) (list []*graph.Node) { // what n needs of the loop's steps
		for _, x := range n.Inputs() {
			for a.can[x] && isView(x) && x.NumIn() > 0 {
				x = x.In(0)
			}
			if !a.can[x] && !a.there(x) && !slices.Contains(list, x) {
				list = append(list, x)
			}
		}
		return list
	}
	for _, n := range cone {
		if a.can[n] && !isView(n) {
			for _, x := range below(n) {
				readers[x]++
			}
		}
	}
	for _, n := range roots {
		for a.can[n] && isView(n) && n.NumIn() > 0 {
			n = n.In(0)
		}
		readers[n]++
	}
	for _, n := range cone {
		if !a.can[n] || a.there(n) || isView(n) || isProduct(n) || a.free[n] || !a.stacks(n) {
			continue
		}
		own, elements := 0, 0
		for _, x := range below(n) {
			if readers[x] == 1 {
				own, elements = own+1, elements+x.Shape().Len()
			}
		}
		if elements > n.Shape().Len() || own > 1 && elements == n.Shape().Len() {
			a.can[n] = false
		}
	}
}
