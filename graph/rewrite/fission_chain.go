package rewrite

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// chain is a sum or a product of several terms, of which some depend on no carry.
type chain struct{ free, bound []*graph.Node }

// gathered brings the terms of sums and products that depend on no carry together, so that they
// leave the loop as one: (c + x) + b is c + (x + b).
func (l *steps) gathered() *graph.Node {
	readers := map[*graph.Node]int{}
	for _, n := range l.nodes {
		for _, x := range n.Inputs() {
			readers[x]++
		}
	}
	for _, n := range l.out {
		readers[n] += 2
	}
	r := newRemade(l)
	for _, n := range l.nodes {
		if c, ok := l.chain(n, readers); ok {
			r.chains[n] = c
		}
	}
	for _, n := range l.nodes { // of a chain within another only the whole counts
		if c, ok := r.chains[n]; ok {
			for _, x := range c.inner(n, readers) {
				delete(r.chains, x)
			}
		}
	}
	if len(r.chains) == 0 {
		return nil
	}
	return r.make(l.outs(), l.sums())
}

// chain returns the terms of n if bringing them together shortens the step: if several depend on no
// carry, and do not stand together.
func (l *steps) chain(n *graph.Node, readers map[*graph.Node]int) (c chain, ok bool) {
	if l.free[n] || !match.Is(n, match.Add) && !match.Is(n, match.Mul) {
		return c, false
	}
	varying := 0
	for _, x := range terms(n, readers) {
		if _, constant := match.Literal(x); constant {
			return c, false // factors have their own rules
		}
		if !l.free[x] {
			c.bound = append(c.bound, x)
			continue
		}
		if c.free = append(c.free, x); l.varies[x] {
			varying++
		}
	}
	return c, len(c.free) > 1 && varying > 0
}

// terms lists the terms of a sum, or the factors of a product, from the first to the last, through
// sums and products that nothing else reads.
func terms(n *graph.Node, readers map[*graph.Node]int) (list []*graph.Node) {
	for _, x := range n.Inputs() {
		if match.KindOf(x) == match.KindOf(n) && readers[x] == 1 && x.Type() == n.Type() {
			list = append(list, terms(x, readers)...)
		} else {
			list = append(list, x)
		}
	}
	return list
}

// inner lists the sums or products between n and its terms.
func (c chain) inner(n *graph.Node, readers map[*graph.Node]int) (list []*graph.Node) {
	for _, x := range n.Inputs() {
		if match.KindOf(x) == match.KindOf(n) && readers[x] == 1 && !slices.Contains(c.free, x) && !slices.Contains(c.bound, x) {
			list = append(append(list, x), c.inner(x, readers)...)
		}
	}
	return list
}

// built returns the chain over new terms: the bound ones, and then the others together.
func (c chain) built(op graph.Op, of func(n *graph.Node) *graph.Node) *graph.Node {
	join := func(list []*graph.Node) *graph.Node {
		y := of(list[0])
		for _, x := range list[1:] {
			y = y.Graph().Apply(op, y, of(x))
		}
		return y
	}
	y := join(c.bound)
	return y.Graph().Apply(op, y, join(c.free))
}
