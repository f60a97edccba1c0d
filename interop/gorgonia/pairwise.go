package gorgonia

import G "gorgonia.org/gorgonia"

// The operations on all pairs of rows hold the array of differences here, with
// axes batch, i, j, d. The expansion x² + r² − 2xr would save it, and lose every
// digit where rows are close and far from the origin.

// pairs holds the sizes of x[… i d] and r[… j d].
type pairs struct {
	site
	batch, i, j, d int
}

func (s site) pairs(x, r *G.Node) pairs {
	n := x.Dims()
	return pairs{s, product(x.Shape()[:n-2]), x.Shape()[n-2], r.Shape()[n-2], x.Shape()[n-1]}
}

// overJ, overI and overD lay arrays [… i d], [… j d] and [… i j] out over all pairs.
func (p pairs) overJ(x *G.Node) *G.Node {
	return p.laidOut(x, []int{p.batch, p.i, 1, p.d}, []int{p.batch, p.i, p.j, p.d})
}

func (p pairs) overI(x *G.Node) *G.Node {
	return p.laidOut(x, []int{p.batch, 1, p.j, p.d}, []int{p.batch, p.i, p.j, p.d})
}

func (p pairs) overD(x *G.Node) *G.Node {
	return p.laidOut(x, []int{p.batch, p.i, p.j, 1}, []int{p.batch, p.i, p.j, p.d})
}

func (p pairs) differences(x, r *G.Node) *G.Node { return p.sub(p.overJ(x), p.overI(r)) }

func sqDist(s site, x []*G.Node) *G.Node {
	p := s.pairs(x[0], x[1])
	return s.like(s.y, s.total(s.one(G.Square, p.differences(x[0], x[1])), 3))
}

func weightedDiff(s site, x []*G.Node) *G.Node {
	p := s.pairs(x[1], x[2])
	return s.like(s.y, s.total(s.mul(p.overD(x[0]), p.differences(x[1], x[2])), 2))
}

func diffDot(s site, x []*G.Node) *G.Node {
	p := s.pairs(x[1], x[2])
	return s.like(s.y, s.total(s.mul(p.overJ(x[0]), p.differences(x[1], x[2])), 3))
}
