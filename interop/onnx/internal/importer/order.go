package importer

import (
	"cmp"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/ops"
)

// ordering has the operators that sort, count and add up along an axis.
var ordering = map[string]rule{
	"CumSum":  cumSum,
	"NonZero": nonZero,
	"TopK":    topK,
	"Unique":  distinct,
}

// topK has the number as an attribute before version 10, as an operand since.
func topK(c *call) []value {
	x := c.x(0)
	k := c.int("k", 0)
	if c.has(1) {
		k = c.whole(1)
	}
	axis := c.axis(c.int("axis", -1), x.Rank())
	if k < 0 || k > x.Dim(axis) {
		c.fail("%d elements of an axis with %d", k, x.Dim(axis))
	}
	var values, indices *graph.Node
	if c.int("largest", 1) != 0 {
		values, indices = ops.TopK(x, k, axis)
	} else {
		values, indices = span(ops.Sort(x, axis), axis, 0, k), span(ops.ArgSort(x, axis), axis, 0, k)
	}
	return []value{c.is(0, values), {node: indices, elem: format.Int64}}
}

func cumSum(c *call) []value {
	x := c.x(0)
	axis := c.axis(c.whole(1), x.Rank())
	back := c.int("reverse", 0) != 0
	if back {
		x = ops.Reverse(x, axis)
	}
	if n := x.Dim(axis); c.int("exclusive", 0) != 0 && n > 0 {
		x = ops.Pad(span(x, axis, 0, n-1), axis, 1, 0, 0)
	}
	y := ops.CumSum(x, axis)
	if back {
		y = ops.Reverse(y, axis)
	}
	return []value{as(c.in[0].elem, y)}
}

// nonZero gives the indices of elements that are not 0, an axis a row. It must know them.
func nonZero(c *call) []value {
	sizes := c.x(0).Shape().Sizes()
	if len(sizes) == 0 {
		sizes = []int{1}
	}
	rows := make([][]int, len(sizes))
	for p, v := range c.known(0) {
		if v == 0 {
			continue
		}
		for a := len(sizes) - 1; a >= 0; a-- {
			rows[a] = append(rows[a], p%sizes[a])
			p /= sizes[a]
		}
	}
	n := len(rows[0])
	if c.x(0).Rank() == 0 {
		rows = nil // as NumPy: no axis, no row
	}
	return []value{{node: c.reshape(c.vector(slices.Concat(rows...)), len(rows), n), elem: format.Int64}}
}

// distinct gives the different elements, or slices along an axis, of an operand that must be known:
// themselves, where each comes first, which of them each is, and how often each comes.
func distinct(c *call) []value {
	x, axis := c.x(0), 0
	data, sizes := c.known(0), c.x(0).Shape().Sizes()
	if c.attr("axis") != nil {
		axis = c.axis(c.int("axis", 0), x.Rank())
	} else {
		x, sizes = c.reshape(x, len(data)), []int{len(data)}
	}
	n, inner := sizes[axis], product(sizes[axis+1:])
	at := func(i int) []float64 { // the slice, in order
		var out []float64
		for o := range product(sizes[:axis]) {
			out = append(out, data[(o*n+i)*inner:(o*n+i+1)*inner]...)
		}
		return out
	}
	slice := make([][]float64, n)
	order := upTo(n)
	for i := range slice {
		slice[i] = at(i)
	}
	slices.SortStableFunc(order, func(i, j int) int { return slices.Compare(slice[i], slice[j]) })
	var first, count []int
	inverse := make([]int, n)
	for k, i := range order {
		if k == 0 || !slices.Equal(slice[i], slice[order[k-1]]) {
			first, count = append(first, i), append(count, 0)
		}
		inverse[i] = len(first) - 1
		count[len(count)-1]++
	}
	if c.int("sorted", 1) == 0 { // in the order in which they come
		order := upTo(len(first))
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(first[a], first[b]) })
		rank := make([]int, len(order))
		sortedFirst, sortedCount := slices.Clone(first), slices.Clone(count)
		for k, u := range order {
			rank[u], first[k], count[k] = k, sortedFirst[u], sortedCount[u]
		}
		for i, u := range inverse {
			inverse[i] = rank[u]
		}
	}
	y := span(x, axis, 0, 0)
	if len(first) > 0 {
		y = ops.Gather(x, c.vector(first), axis)
	}
	out := []value{c.is(0, y)}
	for _, v := range [][]int{first, inverse, count} {
		out = append(out, value{node: c.vector(v), elem: format.Int64})
	}
	return out
}
