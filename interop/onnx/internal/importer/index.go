package importer

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// indexing has the operators that read and write elements by their indices, which count from the
// end where they are negative.
var indexing = map[string]rule{
	"Compress":        compress,
	"Gather":          gather,
	"GatherElements":  gatherElements,
	"GatherND":        gatherND,
	"Scatter":         scatterElements,
	"ScatterElements": scatterElements,
	"ScatterND":       scatterND,
}

// index returns operand i as indices of an axis with n elements, counted from 0.
func (c *call) index(i, n int) *graph.Node {
	x := c.x(i)
	if !x.DType().IsInt() {
		c.fail("indices of type %v: want integers", x.DType())
	}
	if !c.isKnown(i) {
		x = ops.Cast(x, graph.I64)
		return ops.Select(ops.Less(x, ops.Lit(x, 0)), ops.Shift(x, float64(n)), x)
	}
	v := c.ints(i)
	for j, p := range v {
		if p < -n || p >= n {
			c.fail("index %d of an axis with %d elements", p, n)
		}
		v[j] = modulo(p, n)
	}
	return c.reshape(c.vector(v), x.Shape().Sizes()...)
}

func gather(c *call) []value {
	x := c.x(0)
	axis := c.axis(c.int("axis", 0), x.Rank())
	if rank := x.Rank() - 1 + c.x(1).Rank(); rank > graph.MaxRank {
		c.fail("%d axes: at most %d", rank, graph.MaxRank)
	}
	return []value{c.is(0, ops.Gather(x, c.index(1, x.Dim(axis)), axis))}
}

// compress takes the elements along an axis, or of all in a row, for which operand 1 is true.
func compress(c *call) []value {
	x, axis := c.x(0), 0
	if c.attr("axis") != nil {
		axis = c.axis(c.int("axis", 0), x.Rank())
	} else {
		x = c.reshape(x, x.Shape().Len())
	}
	var index []int
	for i, v := range c.known(1) {
		if v != 0 {
			if i >= x.Dim(axis) {
				c.fail("element %d is wanted of an axis with %d", i, x.Dim(axis))
			}
			index = append(index, i)
		}
	}
	if index == nil {
		return []value{c.is(0, span(x, axis, 0, 0))}
	}
	return []value{c.is(0, ops.Gather(x, c.vector(index), axis))}
}

// gatherElements reads at each place of the indices the element with an index along one axis. The
// indices may have less elements along the other axes.
func gatherElements(c *call) []value {
	x, shape := c.x(0), c.x(1).Shape()
	axis := c.axis(c.int("axis", 0), x.Rank())
	if shape.Rank() != x.Rank() {
		c.fail("indices with %d axes for %d", shape.Rank(), x.Rank())
	}
	index := c.index(1, x.Dim(axis))
	for a := range x.Rank() {
		if a != axis {
			if shape.Dim(a) > x.Dim(a) {
				c.fail("indices of shape %v for an array of shape %v", shape.Sizes(), x.Shape().Sizes())
			}
			x = span(x, a, 0, shape.Dim(a))
		}
	}
	return []value{c.is(0, ops.TakeAlong(x, index, axis))}
}

// gatherND reads slices at lists of indices, which lie along the last axis of operand 1.
func gatherND(c *call) []value {
	x, index := c.x(0), c.x(1)
	batch := c.int("batch_dims", 0)
	if batch < 0 || index.Rank() < 1 || batch >= min(index.Rank(), x.Rank()) {
		c.fail("%d axes of a batch among %d of the indices and %d of the operand", batch, index.Rank(), x.Rank())
	}
	sizes, at := x.Shape().Sizes(), index.Shape().Sizes()
	k := batch + at[len(at)-1]
	if k > x.Rank() || !slices.Equal(sizes[:batch], at[:batch]) {
		c.fail("indices of shape %v for an array of shape %v", at, sizes)
	}
	to := append(slices.Clone(at[:len(at)-1]), sizes[k:]...)
	if len(to) > graph.MaxRank {
		c.fail("%d axes: at most %d", len(to), graph.MaxRank)
	}
	flat := c.reshape(x, append([]int{product(sizes[:k])}, sizes[k:]...)...)
	place := c.linear(1, sizes[:k], batch)
	return []value{c.is(0, c.reshape(ops.Gather(flat, place, 0), to...))}
}

// linear returns the places, in row-major order of an array of the given sizes, that the lists of
// indices along the last axis of operand i have, as a list. The first axes are those of a batch, of
// which each list has its own place.
func (c *call) linear(i int, sizes []int, batch int) *graph.Node {
	index := c.x(i)
	if !index.DType().IsInt() {
		c.fail("indices of type %v: want integers", index.DType())
	}
	lists := product(index.Shape().Sizes()[:index.Rank()-1])
	k := len(sizes) - batch
	stride := make([]int, k)
	for a, n := k-1, 1; a >= 0; a-- {
		stride[a] = n
		n *= sizes[batch+a]
	}
	// The batch's part of each place.
	each, all := product(sizes[batch:]), product(sizes[:batch])
	c.bounded(lists)
	base := make([]int, lists)
	for j := range base {
		base[j] = j / max(lists/max(all, 1), 1) * each
	}
	if c.isKnown(i) {
		v := c.ints(i)
		for j := range base {
			for a, s := range stride {
				p, n := v[j*k+a], sizes[batch+a]
				if p < -n || p >= n {
					c.fail("index %d of an axis with %d elements", p, n)
				}
				base[j] += modulo(p, n) * s
			}
		}
		return c.vector(base)
	}
	if k == 0 {
		return c.vector(base)
	}
	x := c.reshape(ops.Cast(index, graph.I64), lists, k)
	size := c.vector(sizes[batch:])
	x = ops.Select(ops.Less(x, ops.Lit(x, 0)), ops.Add(x, size), x)
	place := ops.Sum(ops.Mul(x, c.vector(stride)), 1)
	if batch > 0 {
		place = ops.Add(place, c.vector(base))
	}
	if k == 1 && batch == 0 {
		return place
	}
	// An index outside its axis is an error though the place may be inside the array.
	inside := ops.All(ops.And(ops.GreaterEqual(x, ops.Lit(x, 0)), ops.Less(x, size)), 1)
	return ops.Select(inside, place, ops.Lit(place, -1))
}

// scatterElements writes elements at indices along one axis, each at its own place of the others.
func scatterElements(c *call) []value {
	x, updates := c.x(0), c.x(2)
	axis := c.axis(c.int("axis", 0), x.Rank())
	sizes, at := x.Shape().Sizes(), c.x(1).Shape().Sizes()
	if len(at) != len(sizes) || !slices.Equal(at, updates.Shape().Sizes()) {
		c.fail("indices of shape %v and updates of shape %v for an array of shape %v", at, updates.Shape().Sizes(), sizes)
	}
	for a := range at {
		if a != axis && at[a] > sizes[a] {
			c.fail("indices of shape %v for an array of shape %v", at, sizes)
		}
	}
	index := c.index(1, sizes[axis])
	n := product(at)
	// The places of the other axes.
	c.bounded(n)
	base := make([]int, n)
	for j := range base {
		rest, stride := j, 1
		for a := len(at) - 1; a >= 0; a-- {
			if a != axis {
				base[j] += rest % at[a] * stride
			}
			rest /= at[a]
			stride *= sizes[a]
		}
	}
	stride := product(sizes[axis+1:])
	var place *graph.Node
	if c.isKnown(1) {
		for j, p := range c.ints(1) {
			base[j] += modulo(p, sizes[axis]) * stride
		}
		place = c.vector(base)
	} else {
		i := c.reshape(index, n)
		place = ops.Add(ops.Scale(i, float64(stride)), c.vector(base))
		if len(at) > 1 {
			inside := ops.And(ops.GreaterEqual(i, ops.Lit(i, 0)), ops.Less(i, ops.Lit(i, float64(sizes[axis]))))
			place = ops.Select(inside, place, ops.Lit(place, -1))
		}
	}
	y := c.scatter(c.reshape(x, product(sizes)), place, c.reshape(updates, n))
	return []value{as(c.in[0].elem, c.reshape(y, sizes...))}
}

// scatterND writes slices at lists of indices, which lie along the last axis of operand 1.
func scatterND(c *call) []value {
	x, index, updates := c.x(0), c.x(1), c.x(2)
	if index.Rank() < 1 {
		c.fail("indices without axes")
	}
	sizes, at := x.Shape().Sizes(), index.Shape().Sizes()
	lists, k := at[:len(at)-1], at[len(at)-1]
	if k > len(sizes) || !slices.Equal(append(slices.Clone(lists), sizes[k:]...), updates.Shape().Sizes()) {
		c.fail("indices of shape %v and updates of shape %v for an array of shape %v", at, updates.Shape().Sizes(), sizes)
	}
	rest := sizes[k:]
	flat := c.reshape(x, append([]int{product(sizes[:k])}, rest...)...)
	updates = c.reshape(updates, append([]int{product(lists)}, rest...)...)
	y := c.scatter(flat, c.linear(1, sizes[:k], 0), updates)
	return []value{as(c.in[0].elem, c.reshape(y, sizes...))}
}

// scatter writes slices into x, along its first axis, as the attribute reduction says. Of slices with
// equal places the last one counts, or all do.
func (c *call) scatter(x, place, slices *graph.Node) *graph.Node {
	if slices.Shape().Len() == 0 {
		return x
	}
	switch reduction := c.text("reduction", "none"); reduction {
	case "none":
		return ops.SetAt(x, place, slices, 0)
	case "add":
		return ops.AddAt(x, place, slices, 0)
	case "max":
		return ops.MaxAt(x, place, slices, 0)
	case "min":
		return ops.MinAt(x, place, slices, 0)
	case "mul":
		return c.multiplyAt(x, place, slices)
	default:
		c.fail("reduction %q: want none, add, mul, max or min", reduction)
		panic("unreachable")
	}
}

// multiplyAt multiplies slices of x in rounds, in each of which no place comes twice.
func (c *call) multiplyAt(x, place, slices *graph.Node) *graph.Node {
	v, ok := place.Constant()
	if !ok {
		c.fail("reduction mul by indices that are known only when the program runs")
	}
	seen := map[float64]int{}
	var rounds [][]int
	for j, p := range v.Data {
		r := seen[p]
		seen[p]++
		if r == len(rounds) {
			rounds = append(rounds, nil)
		}
		rounds[r] = append(rounds[r], j)
	}
	if len(rounds) > 64 {
		c.fail("reduction mul of %d slices at one place", len(rounds))
	}
	for _, round := range rounds {
		at := make([]int, len(round))
		for i, j := range round {
			at[i] = int(v.Data[j])
		}
		to := c.vector(at)
		x = ops.SetAt(x, to, ops.Mul(ops.Gather(x, to, 0), ops.Gather(slices, c.vector(round), 0)), 0)
	}
	return x
}
