package importer

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// slice has attributes before version 10, and operands since. Bounds count from the end where they
// are negative, and stop at the ends of the axis.
func slice(c *call) []value {
	x := c.x(0)
	starts, ends := c.attrOrInts("starts", 1), c.attrOrInts("ends", 2)
	axes, steps := c.attrOrInts("axes", 3), c.attrOrInts("steps", 4)
	if axes == nil {
		axes = upTo(len(starts))
	}
	if steps == nil {
		steps = ones(len(starts))
	}
	if len(ends) != len(starts) || len(axes) != len(starts) || len(steps) != len(starts) {
		c.fail("%d starts, %d ends, %d axes and %d steps", len(starts), len(ends), len(axes), len(steps))
	}
	for i, a := range c.axes(axes, x.Rank()) {
		axis := a.(int)
		n := x.Dim(axis)
		from, to, step := starts[i], ends[i], steps[i]
		if from < 0 {
			from += n
		}
		if to < 0 {
			to += n
		}
		switch {
		case step == 0 || step == math.MinInt:
			c.fail("a step of %d", step)
		case step < 0:
			// The elements counted from the last one: n−1 is 0. A start before the first element is
			// that, unlike in NumPy.
			x = ops.Reverse(x, axis)
			from, to, step = n-1-min(max(from, 0), n-1), n-1-min(max(to, -1), n-1), -step
		default:
			from, to = min(max(from, 0), n), min(max(to, 0), n)
		}
		if step == 1 || from >= to {
			x = span(x, axis, from, to)
		} else {
			x = ops.SliceStep(x, axis, from, to, step)
		}
	}
	return []value{c.is(0, x)}
}

// pad has attributes before version 11, and operands since. A negative number of elements to add
// removes elements.
func pad(c *call) []value {
	x := c.x(0)
	amounts := c.attrOrInts("pads", 1)
	if amounts == nil {
		amounts = c.list("paddings") // of version 1
	}
	axes := anys(upTo(x.Rank()))
	if c.has(3) {
		axes = c.axes(c.ints(3), x.Rank())
	}
	if len(amounts) != 2*len(axes) {
		c.fail("%d amounts of padding for %d axes", len(amounts), len(axes))
	}
	v := c.float("value", 0)
	if c.has(2) && c.x(2).Shape().Len() > 0 {
		v = c.known(2)[0]
	}
	mode := c.text("mode", "constant")
	for i, a := range axes {
		axis := a.(int)
		before, after := amounts[i], amounts[i+len(axes)]
		n := x.Dim(axis)
		if from, to := max(0, -before), n-max(0, -after); from > 0 || to < n {
			if from > to {
				c.fail("%d elements removed of %d", from+n-to, n)
			}
			x = span(x, axis, from, to)
		}
		if before, after = max(0, before), max(0, after); before+after == 0 {
			continue
		}
		if max(before, after) > 1<<30 {
			c.fail("%d elements of padding", max(before, after))
		}
		x = c.padded(x, axis, before, after, mode, v)
	}
	return []value{c.is(0, x)}
}

func (c *call) padded(x *graph.Node, axis, before, after int, mode string, v float64) *graph.Node {
	n := x.Dim(axis)
	var from func(i int) int
	switch mode {
	case "constant":
		return ops.Pad(x, axis, before, after, v)
	case "reflect":
		if max(before, after) < n {
			return ops.ReflectPad(x, axis, before, after)
		}
		from = func(i int) int {
			i = modulo(i, max(2*n-2, 1))
			return min(i, max(2*n-2-i, 0))
		}
	case "edge":
		from = func(i int) int { return min(max(i, 0), n-1) }
	case "wrap":
		from = func(i int) int { return modulo(i, n) }
	default:
		c.fail("mode %q: want constant, reflect, edge or wrap", mode)
	}
	if n == 0 || before+after > 1<<24 {
		c.fail("%d elements of padding of mode %q for an axis of size %d", before+after, mode, n)
	}
	c.bounded(before + n + after)
	index := make([]int, before+n+after)
	for i := range index {
		index[i] = from(i - before)
	}
	return ops.Gather(x, c.vector(index), axis)
}

func modulo(a, n int) int { return ((a % n) + n) % n }
