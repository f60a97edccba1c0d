package importer

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/ops"
)

// layout has the operators that move elements, and those that ask for shapes.
var layout = map[string]rule{
	"Concat":          concat,
	"DepthToSpace":    depthToSpace,
	"Expand":          expand,
	"Flatten":         flatten,
	"Pad":             pad,
	"Reshape":         reshape,
	"ReverseSequence": reverseSequence,
	"Shape":           shape,
	"Size":            func(c *call) []value { return []value{c.size(c.x(0).Shape().Len())} },
	"Slice":           slice,
	"SpaceToDepth":    spaceToDepth,
	"Split":           splits,
	"Squeeze":         squeeze,
	"Tile":            tile,
	"Transpose":       transpose,
	"Trilu":           trilu,
	"Unsqueeze":       unsqueeze,
}

// size returns an integer as a scalar.
func (c *call) size(n int) value {
	return value{node: c.g.Constant(graph.I64, []float64{float64(n)}), elem: format.Int64}
}

// shape gives the sizes of some axes since version 15; of all before.
func shape(c *call) []value {
	sizes := c.x(0).Shape().Sizes()
	place := func(name string, otherwise int) int {
		a := c.int(name, otherwise)
		if a < 0 {
			a += len(sizes)
		}
		return min(max(a, 0), len(sizes))
	}
	from, to := place("start", 0), place("end", len(sizes))
	return []value{{node: c.vector(sizes[from:max(from, to)]), elem: format.Int64}}
}

// reshape takes 0 for the size that the axis has in the operand, unless allowzero is set, and −1
// for the size that takes all elements.
func reshape(c *call) []value {
	x := c.x(0)
	to := slices.Clone(c.attrOrInts("shape", 1))
	rest, hole := 1, -1
	for i, n := range to {
		switch {
		case n == 0 && c.int("allowzero", 0) == 0:
			if i >= x.Rank() {
				c.fail("size %d is that of an axis of the operand, which has %d", i, x.Rank())
			}
			to[i] = x.Dim(i)
		case n == -1 && hole < 0:
			hole = i
			continue
		case n < 0:
			c.fail("size %d is %d", i, n)
		}
		rest *= to[i]
	}
	n := x.Shape().Len()
	if hole >= 0 {
		if rest == 0 || n%rest != 0 {
			c.fail("%d elements cannot be laid out as %v", n, to)
		}
		to[hole] = n / rest
		rest = n
	}
	if rest != n {
		c.fail("%d elements cannot be laid out as %v", n, to)
	}
	return []value{c.is(0, c.reshape(x, to...))}
}

// flatten makes a matrix. The axis may be the rank.
func flatten(c *call) []value {
	x := c.x(0)
	axis := c.int("axis", 1)
	if axis != x.Rank() {
		axis = c.axis(axis, x.Rank())
	}
	return []value{c.is(0, c.flat(x, axis))}
}

func squeeze(c *call) []value {
	x := c.x(0)
	axes := c.axes(c.attrOrInts("axes", 1), x.Rank())
	for _, a := range axes {
		if n := x.Dim(a.(int)); n != 1 {
			c.fail("axis %d has size %d: want 1", a, n)
		}
	}
	if len(axes) == 0 {
		for a, n := range x.Shape().Sizes() {
			if n == 1 {
				axes = append(axes, a)
			}
		}
	}
	if len(axes) == 0 {
		return c.in[:1]
	}
	return []value{c.is(0, ops.Squeeze(x, axes...))}
}

func unsqueeze(c *call) []value {
	x := c.x(0)
	list := c.attrOrInts("axes", 1)
	rank := x.Rank() + len(list)
	if rank > graph.MaxRank {
		c.fail("%d axes: at most %d", rank, graph.MaxRank)
	}
	added := c.axes(list, rank)
	slices.SortFunc(added, func(a, b any) int { return a.(int) - b.(int) })
	for _, a := range added {
		x = ops.Expand(x, a.(int), "")
	}
	return []value{c.is(0, x)}
}

func transpose(c *call) []value {
	x := c.x(0)
	list := c.list("perm")
	if list == nil {
		list = upTo(x.Rank())
		slices.Reverse(list)
	}
	order := c.axes(list, x.Rank())
	if len(order) != x.Rank() {
		c.fail("an order %v of %d axes", list, x.Rank())
	}
	if slices.IsSorted(list) {
		return c.in[:1]
	}
	return []value{c.is(0, ops.Transpose(x, order...))}
}

// concat joins along axis 1 by default before version 4.
func concat(c *call) []value {
	xs := make([]*graph.Node, len(c.in))
	for i := range c.in {
		xs[i] = c.x(i)
	}
	axis := c.axis(c.int("axis", 1), c.x(0).Rank())
	for _, x := range xs[1:] {
		for a, n := range x.Shape().Sizes() {
			if x.Rank() != xs[0].Rank() || a != axis && n != xs[0].Dim(a) {
				c.fail("operands of shapes %v along axis %d", sizesOf(xs), axis)
			}
		}
	}
	if len(xs) == 1 {
		return c.in
	}
	return []value{c.is(0, ops.Concat(axis, xs...))}
}

// splits has its sizes as an attribute, and as an operand in version 1 and since version 13. Without
// them the parts are equal; since version 18 the last may be smaller.
func splits(c *call) []value {
	x := c.x(0)
	axis := c.axis(c.int("axis", 0), x.Rank())
	n, parts := x.Dim(axis), len(c.n.Outputs)
	sizes := c.attrOrInts("split", 1)
	if len(sizes) == 0 {
		each := (n + parts - 1) / parts
		if n%parts != 0 && c.version() < 18 {
			c.fail("%d elements in %d equal parts", n, parts)
		}
		for i := range parts {
			sizes = append(sizes, max(0, min(each, n-i*each)))
		}
	}
	var out []value
	from := 0
	for _, size := range sizes {
		if size < 0 || size > n-from {
			c.fail("parts of sizes %v of an axis of size %d", sizes, n)
		}
		out = append(out, c.is(0, span(x, axis, from, from+size)))
		from += size
	}
	if from != n || len(sizes) < parts {
		c.fail("parts of sizes %v of an axis of size %d, for %d outputs", sizes, n, parts)
	}
	return out
}

// span returns elements from to to−1 along an axis; none if to is not above from.
func span(x *graph.Node, axis, from, to int) *graph.Node {
	n := x.Dim(axis)
	switch {
	case from == 0 && to == n:
		return x
	case from >= to:
		return ops.Slice(x, axis, n, n)
	}
	return ops.Slice(x, axis, from, to)
}

// expand repeats axes of size 1 of the operand, or takes size 1 of the shape for any size.
func expand(c *call) []value {
	return []value{c.is(0, c.repeat(c.x(0), c.ints(1)))}
}

// repeat returns x broadcast with an array of the given sizes.
func (c *call) repeat(x *graph.Node, sizes []int) *graph.Node {
	rank := max(x.Rank(), len(sizes))
	if rank > graph.MaxRank {
		c.fail("%d axes: at most %d", rank, graph.MaxRank)
	}
	axes := make([]graph.Axis, rank)
	for k := range axes {
		axes[k].Size = 1
		if i := k - rank + len(sizes); i >= 0 {
			axes[k].Size = sizes[i]
		}
		if i := k - rank + x.Rank(); i >= 0 {
			axes[k].Name = x.Shape().Axis(i).Name
			switch n := x.Dim(i); {
			case axes[k].Size == 1:
				axes[k].Size = n
			case n != 1 && n != axes[k].Size:
				c.fail("an array of shape %v does not broadcast with shape %v", x.Shape().Sizes(), sizes)
			}
		}
	}
	to, err := graph.NewShape(axes...)
	if err != nil {
		c.fail("%v", err)
	}
	if to == x.Shape() {
		return x
	}
	return ops.BroadcastTo(x, to)
}

// tile repeats along one axis in version 1, which has operands for the number and the axis, and
// along each since.
func tile(c *call) []value {
	x := c.x(0)
	times := c.ints(1)
	if c.has(2) {
		axis := c.axis(c.whole(2), x.Rank())
		n := c.whole(1)
		times = ones(x.Rank())
		times[axis] = n
	}
	if len(times) != x.Rank() {
		c.fail("%d numbers of repetitions for %d axes", len(times), x.Rank())
	}
	for a, n := range times {
		sizes := x.Shape().Sizes()
		switch {
		case n < 0:
			c.fail("%d repetitions", n)
		case n == 0:
			x = span(x, a, 0, 0)
		case n == 1:
		case sizes[a] == 1:
			sizes[a] = n
			x = c.repeat(x, sizes)
		default: // [… a …] → [… 1 a …] → [… n a …] → [… n·a …]
			wide := slices.Insert(slices.Clone(sizes), a, n)
			sizes[a] *= n
			x = c.reshape(c.repeat(ops.Expand(x, a, ""), wide), sizes...)
		}
	}
	return []value{c.is(0, x)}
}

func trilu(c *call) []value {
	x, k := c.x(0), 0
	if x.Rank() < 2 {
		c.fail("an operand with %d axes: want matrices", x.Rank())
	}
	if c.has(1) {
		k = min(max(c.whole(1), -x.Dim(x.Rank()-2)-1), x.Dim(x.Rank()-1)+1)
	}
	if c.int("upper", 1) != 0 {
		return []value{c.is(0, ops.Triu(x, k))}
	}
	return []value{c.is(0, ops.Tril(x, k))}
}

// depthToSpace moves blocks of channels into blocks of pixels.
func depthToSpace(c *call) []value {
	x, b := c.blocks()
	n, d, h, w := x.Dim(0), x.Dim(1), x.Dim(2), x.Dim(3)
	if d%(b*b) != 0 {
		c.fail("%d channels in blocks of %d×%d", d, b, b)
	}
	d /= b * b
	switch mode := c.text("mode", "DCR"); mode {
	case "DCR":
		x = ops.Transpose(c.reshape(x, n, b, b, d, h, w), 0, 3, 4, 1, 5, 2)
	case "CRD":
		x = ops.Transpose(c.reshape(x, n, d, b, b, h, w), 0, 1, 4, 2, 5, 3)
	default:
		c.fail("mode %q: want DCR or CRD", mode)
	}
	return []value{c.is(0, c.reshape(x, n, d, h*b, w*b))}
}

func spaceToDepth(c *call) []value {
	x, b := c.blocks()
	n, d, h, w := x.Dim(0), x.Dim(1), x.Dim(2), x.Dim(3)
	if h%b != 0 || w%b != 0 {
		c.fail("%d×%d pixels in blocks of %d×%d", h, w, b, b)
	}
	x = ops.Transpose(c.reshape(x, n, d, h/b, b, w/b, b), 0, 3, 5, 1, 2, 4)
	return []value{c.is(0, c.reshape(x, n, d*b*b, h/b, w/b))}
}

func (c *call) blocks() (x *graph.Node, size int) {
	x, size = c.x(0), c.int("blocksize", 0)
	if x.Rank() != 4 || size < 1 {
		c.fail("an operand with %d axes in blocks of %d: want 4 axes and at least 1", x.Rank(), size)
	}
	return x, size
}

// reverseSequence reverses the first elements along the axis of time, of each example as many as
// operand 1 says.
func reverseSequence(c *call) []value {
	x, lengths := c.x(0), ops.Cast(c.x(1), graph.I64)
	batch, time := c.axis(c.int("batch_axis", 1), x.Rank()), c.axis(c.int("time_axis", 0), x.Rank())
	if batch == time || lengths.Rank() != 1 || lengths.Dim(0) != x.Dim(batch) {
		c.fail("lengths of shape %v for axis %d, along axis %d", lengths.Shape().Sizes(), batch, time)
	}
	alongAxis := func(v *graph.Node, axis int) *graph.Node {
		sizes := ones(x.Rank())
		sizes[axis] = x.Dim(axis)
		return c.reshape(v, sizes...)
	}
	t := alongAxis(ops.Arange(c.g, graph.I64, graph.Ax("", x.Dim(time))), time)
	n := alongAxis(lengths, batch)
	from := ops.Select(ops.Less(t, n), ops.Sub(ops.Shift(n, -1), t), t)
	return []value{c.is(0, ops.TakeAlong(x, c.repeat(from, x.Shape().Sizes()), time))}
}
