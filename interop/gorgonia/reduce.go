package gorgonia

import (
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	G "gorgonia.org/gorgonia"
)

// total returns gorgonia's sum along one axis, and largest its maximum, which ignores NaN.
func (b *builder) total(x *G.Node, axis int) *G.Node { return b.reduce(G.Sum, x, axis) }

func (b *builder) largest(x *G.Node, axis int) *G.Node { return b.reduce(G.Max, x, axis) }

// reduce applies f along one axis of at most three: with four, gorgonia reads the wrong elements
// for all inner axes but the first.
func (b *builder) reduce(f func(x *G.Node, along ...int) (*G.Node, error), x *G.Node, axis int) *G.Node {
	sizes := x.Shape()
	at := axis
	if len(sizes) > 3 {
		x, at = b.around(x, axis), 1
	}
	y := b.one(func(x *G.Node) (*G.Node, error) { return f(x, at) }, x)
	return b.reshape(y, slices.Delete(slices.Clone(sizes), axis, axis+1)...)
}

// sum adds along one axis after the other, the last first.
func sum(s site, x []*G.Node) *G.Node {
	axes, _ := match.Along(s.y)
	y := x[0]
	for _, a := range slices.Backward(axes.List()) {
		y = s.total(y, a)
	}
	return s.like(s.y, y)
}

func mean(s site, x []*G.Node) *G.Node {
	n := s.y.In(0).Shape().Len() / s.y.Shape().Len()
	y := sum(s, x)
	return s.div(y, s.number(y, float64(n)))
}

func maxOver(s site, x []*G.Node) *G.Node {
	a := s.along()
	y := s.like(s.y, s.largest(x[0], a))
	wrong := s.like(s.y, s.total(s.compare(G.Ne, x[0], x[0]), a))
	return s.add(y, s.nanUnless(s.compare(G.Eq, wrong, s.filled(wrong, 0))))
}

func minOver(s site, x []*G.Node) *G.Node {
	return s.one(G.Neg, maxOver(s, []*G.Node{s.one(G.Neg, x[0])}))
}

// alongOne holds the parts of a softmax along one axis. Gorgonia's own SoftMax starts the maximum
// of every row from the first element of the whole array.
type alongOne struct {
	most  *G.Node // the maximum, clipped to finite numbers, without the axis
	exp   *G.Node // exp(x − most)
	total *G.Node // its sum, without the axis
	over  func(x *G.Node) *G.Node
}

func (s site) exponentials(x *G.Node) alongOne {
	a := s.along()
	sizes := s.y.In(0).Shape().Sizes()
	limit := math.MaxFloat64
	if s.dt == graph.F32 {
		limit = math.MaxFloat32
	}
	var e alongOne
	e.over = func(y *G.Node) *G.Node { // y, without the axis, along the axis
		kept := slices.Clone(sizes)
		kept[a] = 1
		return s.laidOut(y, kept, sizes)
	}
	m := s.largest(x, a)
	m = s.between(G.MaxBetween, m, s.filled(m, -limit))
	e.most = s.between(G.MinBetween, m, s.filled(m, limit))
	e.exp = s.one(G.Exp, s.sub(x, e.over(e.most)))
	e.total = s.total(e.exp, a)
	return e
}

func softmax(s site, x []*G.Node) *G.Node {
	e := s.exponentials(x[0])
	return s.mul(e.exp, e.over(s.inverse(e.total)))
}

// sparsemax takes the axis to the end and back: the engine's own operation is wrong along another one.
func sparsemax(s site, x []*G.Node) *G.Node {
	order := make([]int, s.y.Rank()) // its own inverse
	for i := range order {
		order[i] = i
	}
	a, last := s.along(), len(order)-1
	if order[a], order[last] = last, a; a == last {
		return s.one(func(x *G.Node) (*G.Node, error) { return G.Sparsemax(x) }, x[0])
	}
	turned := func(x *G.Node) *G.Node {
		return s.one(func(x *G.Node) (*G.Node, error) { return G.Transpose(x, order...) }, x)
	}
	return turned(s.one(func(x *G.Node) (*G.Node, error) { return G.Sparsemax(x) }, turned(x[0])))
}

func logSumExp(s site, x []*G.Node) *G.Node {
	e := s.exponentials(x[0])
	return s.like(s.y, s.add(s.one(G.Log, e.total), e.most))
}

func logSoftmax(s site, x []*G.Node) *G.Node {
	e := s.exponentials(x[0])
	return s.sub(s.sub(x[0], e.over(e.most)), e.over(s.one(G.Log, e.total)))
}

// matMul merges the axes of the batch into one.
func matMul(s site, x []*G.Node) *G.Node {
	if s.y.Rank() == 2 {
		return s.two(G.Mul, x[0], x[1])
	}
	three := func(x *G.Node) *G.Node {
		n := x.Dims()
		return s.reshape(x, product(x.Shape()[:n-2]), x.Shape()[n-2], x.Shape()[n-1])
	}
	batched := func(a, b *G.Node) (*G.Node, error) { return G.BatchedMatMul(a, b) }
	return s.like(s.y, s.two(batched, three(x[0]), three(x[1])))
}
