package graph

import "math/bits"

// Reachable returns the nodes that the roots depend on, the roots included, in order of creation,
// inputs before users. It passes over invalid roots. Roots of several graphs are listed one graph
// after the other.
func Reachable(roots ...*Node) []*Node { return ReachableUntil(nil, roots...) }

// ReachableUntil is [Reachable] that does not go on to the inputs of nodes for which stop returns
// true; it lists those nodes themselves.
func ReachableUntil(stop func(n *Node) bool, roots ...*Node) []*Node {
	var out []*Node
	for len(roots) > 0 { // once for each graph that has a root
		c := cone{stop: stop}
		var others []*Node
		for _, r := range roots {
			switch {
			case !r.IsValid():
			case c.g == nil || c.g == r.g:
				c.add(r)
			default:
				others = append(others, r)
			}
		}
		c.close(0)
		out = append(out, c.list()...)
		roots = others
	}
	return out
}

// DependsOn reports whether n is computed from x, or is x.
func (n *Node) DependsOn(x *Node) bool {
	if n == x {
		return true
	}
	if !n.IsValid() || !x.IsValid() || n.g != x.g {
		return false
	}
	c := cone{}
	c.add(n)
	c.close(x.id) // inputs are older than their users
	return c.has(x)
}

// cone is a set of nodes of one graph, closed under inputs after close.
type cone struct {
	g    *Graph
	bits []uint64
	open []*Node // nodes whose inputs are still to be added
	stop func(n *Node) bool
}

func (c *cone) add(n *Node) {
	if c.g == nil {
		c.g, c.bits = n.g, make([]uint64, len(n.g.nodes)/64+1)
	}
	if !c.has(n) {
		c.bits[n.id/64] |= 1 << (n.id % 64)
		c.open = append(c.open, n)
	}
}

func (c *cone) has(n *Node) bool { return c.bits[n.id/64]>>(n.id%64)&1 == 1 }

// close adds the nodes that those in the cone depend on, down to number least.
func (c *cone) close(least int) {
	for len(c.open) > 0 {
		n := c.open[len(c.open)-1]
		c.open = c.open[:len(c.open)-1]
		if c.stop != nil && c.stop(n) {
			continue
		}
		for _, x := range n.in {
			if x.id >= least {
				c.add(x)
			}
		}
	}
}

// list returns the nodes in order of creation.
func (c *cone) list() []*Node {
	n := 0
	for _, w := range c.bits {
		n += bits.OnesCount64(w)
	}
	out := make([]*Node, 0, n)
	for k, w := range c.bits {
		for ; w != 0; w &= w - 1 {
			out = append(out, c.g.nodes[64*k+bits.TrailingZeros64(w)])
		}
	}
	return out
}
