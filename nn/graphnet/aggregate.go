package graphnet

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// Aggregation is a function of the messages from any number of neighbours that does not depend on
// their order (the notes on graph networks). Without any messages the product is 1, all others are
// 0.
type Aggregation uint8

// The aggregations, feature by feature.
const (
	AggregateSum Aggregation = iota
	AggregateMean
	AggregateMax
	AggregateMin
	AggregateProduct
	AggregateVariance
	AggregateSoftmax // Σ_j softmax_j(m_ij)·m_ij: between mean and maximum
)

// aggregations are their names, in order.
var aggregations = []string{"sum", "mean", "max", "min", "product", "variance", "softmax"}

// String returns the aggregation's name.
func (how Aggregation) String() string {
	if int(how) < len(aggregations) {
		return aggregations[how]
	}
	return "unknown"
}

// aggregate brings messages m together along one axis, where the mask, which
// fits m, is true.
func aggregate(how Aggregation, m, mask *graph.Node, axis int) *graph.Node {
	g := graph.Of(m, mask)
	if !m.IsValid() || !mask.IsValid() {
		return g.Fail("Aggregate", build.ErrNoOperand, m, mask)
	}
	defer g.Scope(how.String())()
	zero := ops.Lit(m, 0)
	count := ops.Sum(ops.Cast(mask, m.DType()), axis, ops.Keep)
	// total is the sum over the axis, which stays.
	total := func(x *graph.Node) *graph.Node { return ops.Sum(ops.Select(mask, x, zero), axis, ops.Keep) }
	mean := func(x *graph.Node) *graph.Node { return ops.Div(total(x), ops.Maximum(count, ops.Lit(count, 1))) }
	// chosen is an extremum over the axis; where there is none to choose from it would be infinite.
	chosen := func(of func(*graph.Node, ...any) *graph.Node, least float64) *graph.Node {
		none := ops.Equal(count, ops.Lit(count, 0))
		return ops.Select(none, zero, of(ops.Select(mask, m, ops.Lit(m, least)), axis, ops.Keep))
	}
	var y *graph.Node
	switch how {
	case AggregateSum:
		y = total(m)
	case AggregateMean:
		y = mean(m)
	case AggregateMax:
		y = chosen(ops.Max, math.Inf(-1))
	case AggregateMin:
		y = chosen(ops.Min, math.Inf(1))
	case AggregateProduct:
		y = ops.Prod(ops.Select(mask, m, ops.Lit(m, 1)), axis, ops.Keep)
	case AggregateVariance:
		y = mean(ops.Square(ops.Sub(m, mean(m))))
	case AggregateSoftmax:
		y = total(ops.Mul(build.SoftmaxAmong(m, mask, axis, false), m))
	default:
		return g.Fail("Aggregate", graphMistake("an unknown aggregation"), m)
	}
	return ops.Squeeze(y, axis)
}

// aggregateSegments brings values m[e …] with the same index[e] together, along the axis
// to; an index of −1 goes nowhere. Sums, means and variances take as many steps as
// there are values; an extremum or a product compares every place with every
// value, in an array that is as many times larger.
func aggregateSegments(how Aggregation, m, index *graph.Node, to graph.Axis) *graph.Node {
	g := graph.Of(m, index)
	if !m.IsValid() || !index.IsValid() {
		return g.Fail("Aggregate", build.ErrNoOperand, m, index)
	}
	if m.Rank() < 1 || index.Rank() != 1 {
		return g.Fail("Aggregate", graphMistake("want messages m[e …] and an index[e]"), m, index)
	}
	add := func(x *graph.Node) *graph.Node { return addSegments(x, index, to) }
	mean := func(x *graph.Node) *graph.Node {
		ones := ops.BroadcastTo(ops.Lit(x, 1), x.Shape())
		count := add(ones)
		return ops.Div(add(x), ops.Maximum(count, ops.Lit(count, 1)))
	}
	switch how {
	case AggregateSum:
		defer g.Scope(how.String())()
		return add(m)
	case AggregateMean:
		defer g.Scope(how.String())()
		return mean(m)
	case AggregateVariance:
		defer g.Scope(how.String())()
		return mean(ops.Square(ops.Sub(m, ops.Gather(mean(m), somewhere(index), 0))))
	case AggregateSoftmax:
		defer g.Scope(how.String())()
		return add(ops.Mul(softmaxSegments(m, index, to), m))
	}
	return aggregate(how, ops.Expand(m, 0, to.Name), incidence(index, m, to), 1)
}

// somewhere returns the index with 0 in place of −1; use goes to leave these elements out.
func somewhere(index *graph.Node) *graph.Node {
	return ops.Select(goes(index, 1), index, ops.Lit(index, 0))
}

// goes returns a mask over [e 1 …], of the given rank, that is false where the index is −1.
func goes(index *graph.Node, rank int) *graph.Node {
	mask := ops.NotEqual(index, ops.Lit(index, -1))
	for range rank - 1 {
		mask = ops.Expand(mask, -1, "")
	}
	return mask
}

// addSegments returns the sum of the values x[e …] that go to each place of the axis to.
func addSegments(x, index *graph.Node, to graph.Axis) *graph.Node {
	if !x.IsValid() || !index.IsValid() {
		return graph.Of(x, index).Fail("Aggregate", build.ErrNoOperand, x, index)
	}
	defer graph.Of(x, index).Calling("Aggregate", x, index)()
	axes := x.Shape().Axes()
	axes[0] = to
	return ops.ScatterAdd(somewhere(index), ops.Select(goes(index, x.Rank()), x, ops.Lit(x, 0)), 0, axes...)
}

// incidence returns a mask over [to e 1 …] that is true where the value e of m[e …] goes.
func incidence(index, m *graph.Node, to graph.Axis) *graph.Node {
	defer graph.Of(m, index).Calling("Aggregate", m, index)()
	hot := ops.And(ops.NotEqual(ops.OneHot(somewhere(index), 0, to, m.DType()), ops.Lit(m, 0)), goes(index, 1))
	for range m.Rank() - 1 {
		hot = ops.Expand(hot, -1, "")
	}
	return hot
}

// softmaxSegments returns softmax of scores[e …] over the places with the same
// index[e]; 0 where the index is −1.
func softmaxSegments(scores, index *graph.Node, to graph.Axis) *graph.Node {
	g := graph.Of(scores, index)
	if !scores.IsValid() || !index.IsValid() {
		return g.Fail("Softmax", build.ErrNoOperand, scores, index)
	}
	zero, one := ops.Lit(scores, 0), ops.Lit(scores, 1)
	at, there := somewhere(index), goes(index, scores.Rank())
	// The greatest score of each place is taken away; it cancels, and so has no derivative.
	fixed := ops.StopGradient(scores)
	most := ops.Gather(aggregate(AggregateMax, ops.Expand(fixed, 0, to.Name), incidence(index, scores, to), 1), at, 0)
	p := ops.Exp(ops.Select(there, ops.Sub(scores, most), zero))
	total := ops.Gather(addSegments(p, index, to), at, 0)
	return ops.Select(there, ops.Div(p, ops.Select(there, total, one)), zero)
}
