package graphnet

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// A filter on a graph is a polynomial of its adjacency matrix, as a filter of
// signals is one of the shift (the notes on graph networks: adjacency powers,
// spectral methods): it commutes with whatever leaves the graph as it is.

// Powers returns the k + 1 arrays x, Â·x, …, Âᵏ·x, each [… i d] like the nodes x[… i d]: the parts
// of x that are heard from 0 to k steps away. The weights Â have one number for each pair of n, […
// i j] for an [Adjacency] and [e] for [Edges], as [Normalised] returns them. With k ≤ 0 it returns
// x alone.
func Powers(n Neighbours, weights, x *graph.Node, k int) []*graph.Node {
	terms := []*graph.Node{x}
	for p := 1; p <= k; p++ {
		if n == nil {
			return append(terms, graph.Of(weights, x).Fail("Powers", build.ErrNoOperand, weights, x))
		}
		terms = append(terms, n.Sum(weights, terms[p-1]).As(fmt.Sprintf("x%d", p)))
	}
	return terms
}

// Chebyshev returns the k + 1 arrays T₀(L̃)·x, …, T_k(L̃)·x, each [… i d] like the nodes x[… i d],
// with the Chebyshev polynomials of the normalised Laplacian L = I − D^{−½} A D^{−½}, scaled by its
// bound 2 to L̃ = L − I (Defferrard, Bresson & Vandergheynst, 2016):
//
//	T₀ = x,  T₁ = L̃·x,  T_p = 2·L̃·T_{p−1} − T_{p−2}
//
// normalised is D^{−½} A D^{−½} over the pairs; see [Normalised].
func Chebyshev(n Neighbours, normalised, x *graph.Node, k int) []*graph.Node {
	terms := []*graph.Node{x}
	for p := 1; p <= k; p++ {
		if n == nil {
			return append(terms, graph.Of(normalised, x).Fail("Chebyshev", build.ErrNoOperand, normalised, x))
		}
		t := ops.Neg(n.Sum(normalised, terms[p-1]))
		if p > 1 {
			t = ops.Sub(ops.Scale(t, 2), terms[p-2])
		}
		terms = append(terms, t.As(fmt.Sprintf("T%d", p)))
	}
	return terms
}

// GraphFilter is a filter with learnt taps, Σ_p term_p·W_p + b, over terms such as those of
// [Powers] and [Chebyshev].
type GraphFilter struct {
	Name string
	Taps []*graph.Node // W_p[in out]
	B    *graph.Node   // b[out]; nil for none
}

// NewGraphFilter adds the parameters NAME/w0[in out], …, NAME/wk[in out] and NAME/b[out] of a
// filter of the terms 0 to k.
func NewGraphFilter(g *graph.Graph, name string, dt graph.DType, k int, in, out graph.Axis) GraphFilter {
	defer g.Scope(name)()
	l := GraphFilter{Name: name}
	for p := range k + 1 {
		l.Taps = append(l.Taps, g.Param(fmt.Sprintf("w%d", p), dt, in, out))
	}
	l.B = g.Param("b", dt, out)
	return l
}

// Of returns the filtered nodes [… i out]; there must be as many terms[… i in] as taps.
func (l GraphFilter) Of(terms ...*graph.Node) *graph.Node {
	defer build.Within(l.Name, append(terms, l.Taps...)...)()
	if len(terms) != len(l.Taps) || len(terms) == 0 {
		return graph.Of(append(terms, l.Taps...)...).Fail("GraphFilter", fmt.Errorf("%d terms for %d taps", len(terms), len(l.Taps)), terms...)
	}
	y := ops.MatMul(terms[0], l.Taps[0])
	for p := 1; p < len(terms); p++ {
		y = ops.Add(y, ops.MatMul(terms[p], l.Taps[p]))
	}
	if l.B != nil {
		y = ops.Add(y, l.B)
	}
	return y
}
