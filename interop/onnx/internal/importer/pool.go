package importer

import (
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/ops"
)

// pools has pooling over windows of [n c …] and over whole images.
var pools = map[string]rule{
	"AveragePool":       averagePool,
	"GlobalAveragePool": global(ops.Mean),
	"GlobalLpPool": func(c *call) []value {
		p := float64(c.int("p", 2))
		if c.version() < 2 {
			p = c.float("p", 2)
		}
		x := c.x(0)
		return []value{c.is(0, root(ops.Sum(powered(x, p), append(places(2, x.Rank()), ops.Keep)...), p))}
	},
	"GlobalMaxPool": global(ops.Max),
	"LpPool":        lpPool,
	"MaxPool":       maxPool,
	"MaxUnpool":     maxUnpool,
}

func global(f func(x *graph.Node, axes ...any) *graph.Node) rule {
	return func(c *call) []value {
		x := c.x(0)
		return []value{c.is(0, f(x, append(places(2, x.Rank()), ops.Keep)...))}
	}
}

// pooling reads the attributes of a pooling. Rounding up counts windows that begin in the array, or
// in the padding before it, and reach beyond the padding; how far is the padding behind it then. A
// window that begins in the padding behind the array counts for some, and not for others.
func (c *call) pooling(x *graph.Node) (w window, beyond []int) {
	w = c.window(x, c.list("kernel_shape"))
	beyond = make([]int, len(w.size))
	if c.int("ceil_mode", 0) == 0 {
		return w, beyond
	}
	for i := range w.size {
		n := x.Dim(2 + i)
		span := n + w.before[i] + w.after[i] - w.reach(i)
		if rest := span % w.stride[i]; span > 0 && rest > 0 {
			if last := (span/w.stride[i] + 1) * w.stride[i]; last >= n+w.before[i] {
				c.fail("with ceil_mode a window lies in the padding behind axis %d, which versions of ONNX count or do not", 2+i)
			}
			beyond[i] = w.stride[i] - rest
		}
	}
	return w, beyond
}

func (w *window) widened(beyond []int) window {
	out := *w
	out.after = slices.Clone(w.after)
	for i, b := range beyond {
		out.after[i] += b
	}
	return out
}

func maxPool(c *call) []value {
	x := c.x(0)
	w, beyond := c.pooling(x)
	w = w.widened(beyond)
	if len(c.n.Outputs) > 1 && c.n.Outputs[1] != "" {
		return c.maxPlaces(x, w)
	}
	lowest := math.Inf(-1)
	wide := x
	if !x.DType().IsFloat() { // small integers, of which floats are exact
		wide = ops.Cast(x, graph.F32)
	}
	y, options := w.options(wide, lowest)
	f := []func(x *graph.Node, options ...ops.Window) *graph.Node{ops.MaxPool1D, ops.MaxPool2D, ops.MaxPool3D}[len(w.size)-1]
	y = f(y, append(options, ops.Size(w.size...))...)
	return []value{c.is(0, ops.Cast(y, x.DType()))}
}

// maxPlaces returns the largest elements of windows, and where they lie: places count through the
// whole array.
func (c *call) maxPlaces(x *graph.Node, w window) []value {
	sizes := x.Shape().Sizes()
	k := len(w.size)
	// at[window element] holds the places of the elements of windows along the plane, −1 in the padding.
	counts, windows, plane := make([]int, k), 1, 1
	for i := range k {
		counts[i] = (sizes[2+i]+w.before[i]+w.after[i]-w.reach(i))/w.stride[i] + 1
		windows *= counts[i]
		plane *= sizes[2+i]
	}
	area := 1
	for _, s := range w.size {
		area *= s
	}
	c.bounded(windows * area)
	columnFirst := c.int("storage_order", 0) != 0
	at, number := make([]float64, windows*area), make([]float64, windows*area)
	inside := make([]float64, windows*area)
	for p := range windows {
		for e := range area {
			place, valid, rest, in := 0, true, p, e
			position := make([]int, k)
			for i := k - 1; i >= 0; i-- {
				position[i] = rest%counts[i]*w.stride[i] - w.before[i] + in%w.size[i]*w.dilation[i]
				rest, in = rest/counts[i], in/w.size[i]
				valid = valid && position[i] >= 0 && position[i] < sizes[2+i]
			}
			for i := range k {
				place = place*sizes[2+i] + position[i]
			}
			if j := p*area + e; valid {
				at[j], inside[j], number[j] = float64(place), 1, float64(place)
				if columnFirst && k >= 2 {
					transposed := 0
					for i := k - 1; i >= 0; i-- {
						transposed = transposed*sizes[2+i] + position[i]
					}
					number[j] = float64(transposed)
				}
			}
		}
	}
	axes := graph.Dims(windows, area)
	flat := ops.Reshape(bare(x), sizes[0], sizes[1], plane)
	elements := ops.Gather(flat, c.g.Constant(graph.I64, at, axes...), 2) // [n c windows area]
	lowest := ops.Lit(elements, math.Inf(-1))
	if !x.DType().IsFloat() {
		elements = ops.Cast(elements, graph.F32)
		lowest = ops.Lit(elements, math.Inf(-1))
	}
	elements = ops.Select(c.g.Constant(graph.Bool, inside, axes...), elements, lowest)
	pick := ops.ArgMax(elements, 3) // [n c windows]
	values := ops.Cast(ops.Max(elements, 3), x.DType())
	base := ops.Scale(ops.Arange(c.g, graph.I64, graph.Ax("", windows)), float64(area))
	local := ops.Gather(ops.Reshape(c.g.Constant(graph.I64, number, axes...), windows*area), ops.Add(ops.Cast(pick, graph.I64), base), 0)
	images := ops.Scale(ops.Arange(c.g, graph.I64, graph.Ax("", sizes[0]*sizes[1])), float64(plane))
	indices := ops.Add(local, ops.Reshape(images, sizes[0], sizes[1], 1))
	to := append([]int{sizes[0], sizes[1]}, counts...)
	return []value{c.is(0, ops.Reshape(values, to...)), {node: ops.Reshape(indices, to...), elem: format.Int64}}
}

func averagePool(c *call) []value {
	x := c.x(0)
	w, beyond := c.pooling(x)
	wide := w.widened(beyond)
	f := []func(x *graph.Node, options ...ops.Window) *graph.Node{ops.AvgPool1D, ops.AvgPool2D, ops.AvgPool3D}[len(w.size)-1]
	size := ops.Size(w.size...)
	within := c.int("count_include_pad", 0) == 0
	symmetric := slices.Equal(wide.before, wide.after)
	for i, pad := range wide.before { // ours is at most half a window
		symmetric = symmetric && 2*pad <= w.size[i]
	}
	zero := !slices.ContainsFunc(wide.before, func(n int) bool { return n != 0 }) && symmetric
	switch {
	case zero || symmetric && !slices.ContainsFunc(beyond, func(n int) bool { return n > 0 }):
		y, options := wide.options(x, 0)
		if options = append(options, size); within && !zero {
			options = append(options, ops.ExcludePadding())
		}
		return []value{c.is(0, f(y, options...))}
	}
	// Divided by how much of each window counts: a plane that is computed here.
	y := f(wide.padded(x, 0), ops.Channels(1), ops.Along(places(2, x.Rank())...), ops.Stride(w.stride...), ops.Dilation(w.dilation...), size)
	sizes := y.Shape().Sizes()
	c.bounded(product(sizes[2:]))
	for i, n := range w.size {
		c.bounded(sizes[2+i] * n)
	}
	shares := []float64{1}
	var axes []graph.Axis
	for i := range w.size {
		var next []float64
		for _, share := range shares {
			for o := range sizes[2+i] {
				n := 0
				for e := range w.size[i] {
					at := o*w.stride[i] - w.before[i] + e*w.dilation[i]
					lo, hi := 0, x.Dim(2+i)
					if !within {
						lo, hi = -w.before[i], x.Dim(2+i)+w.after[i]
					}
					if at >= lo && at < hi {
						n++
					}
				}
				next = append(next, share*float64(w.size[i])/float64(n))
			}
		}
		shares, axes = next, append(axes, graph.Ax("", sizes[2+i]))
	}
	return []value{c.is(0, ops.Mul(y, c.g.Constant(x.DType(), shares, axes...)))}
}

// powered returns |x|ᵖ, and root its inverse.
func powered(x *graph.Node, p float64) *graph.Node {
	switch p {
	case 1:
		return ops.Abs(x)
	case 2:
		return ops.Square(x)
	}
	return ops.Pow(ops.Abs(x), ops.Lit(x, p))
}

func root(x *graph.Node, p float64) *graph.Node {
	switch p {
	case 1:
		return x
	case 2:
		return ops.Sqrt(x)
	}
	return ops.Pow(x, ops.Lit(x, 1/p))
}

// lpPool is the p-norm of windows.
func lpPool(c *call) []value {
	x, p := c.x(0), float64(c.int("p", 2))
	if c.version() < 2 {
		p = c.float("p", 2)
	}
	w, beyond := c.pooling(x)
	w = w.widened(beyond)
	y, options := w.padded(powered(x, p), 0), w.strides(x)
	area := 1.0
	for _, s := range w.size {
		area *= float64(s)
	}
	f := []func(x *graph.Node, options ...ops.Window) *graph.Node{ops.AvgPool1D, ops.AvgPool2D, ops.AvgPool3D}[len(w.size)-1]
	return []value{c.is(0, root(ops.Scale(f(y, append(options, ops.Size(w.size...))...), area), p))}
}

// maxUnpool puts values where the largest elements were: places count through the whole result.
func maxUnpool(c *call) []value {
	x, places := c.x(0), c.x(1)
	sizes := x.Shape().Sizes()
	w := c.window(x, c.list("kernel_shape"))
	whole := slices.Clone(sizes)
	for i := range w.size {
		whole[2+i] = (sizes[2+i]-1)*w.stride[i] - w.before[i] - w.after[i] + w.size[i]
	}
	to := whole
	if c.has(2) { // the places are still those of the array without it
		to = c.ints(2)
	}
	if len(to) != len(sizes) {
		c.fail("output_shape %v for an array with %d axes", to, len(sizes))
	}
	n := product(whole)
	y := ops.AddAlong(ops.Reshape(bare(places), x.Shape().Len()), ops.Reshape(bare(x), x.Shape().Len()), 0, graph.Ax("", n))
	y = ops.Reshape(y, whole...)
	for i := range to {
		switch {
		case to[i] > whole[i]:
			y = ops.Pad(y, i, 0, to[i]-whole[i], 0)
		case to[i] < whole[i]:
			c.fail("output_shape %v is smaller than the array that was pooled, %v", to, whole)
		}
	}
	return []value{c.is(0, y)}
}
