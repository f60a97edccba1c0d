package importer

import (
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// sampling has what computes an array anew on another grid. Each axis is a sum of elements, whose
// places and weights are known: a gather for each neighbour.
var sampling = map[string]rule{
	"Resize":   resize,
	"Upsample": upsample,
}

// resampling is how an array is resized.
type resampling struct {
	mode, coordinates, nearest string
	cubic                      float64 // the coefficient a of cubic interpolation (Keys, 1981)
	excludes                   bool    // neighbours outside get no weight
	outside                    float64 // beyond the edges, of crops
}

func upsample(c *call) []value {
	x := c.x(0)
	var scales []float64
	switch {
	case c.version() >= 9:
		scales = c.known(1)
	case c.version() >= 7:
		if a := c.attr("scales"); a != nil {
			for _, s := range a.Floats {
				scales = append(scales, float64(s))
			}
		}
	default:
		scales = []float64{1, 1, c.float("height_scale", 1), c.float("width_scale", 1)}
	}
	r := &resampling{mode: c.text("mode", "nearest"), coordinates: "asymmetric", nearest: "floor"}
	if r.mode == "bilinear" {
		r.mode = "linear"
	}
	return []value{c.is(0, r.resize(c, x, scales, nil, nil, places(0, x.Rank())))}
}

func resize(c *call) []value {
	x := c.x(0)
	r := &resampling{
		mode: c.text("mode", "nearest"), coordinates: c.text("coordinate_transformation_mode", "half_pixel"), nearest: c.text("nearest_mode", "round_prefer_floor"),
		cubic: c.float("cubic_coeff_a", -0.75), excludes: c.int("exclude_outside", 0) != 0, outside: c.float("extrapolation_value", 0),
	}
	if c.version() < 11 {
		r.coordinates, r.nearest = "asymmetric", "simple"
		return []value{c.is(0, r.resize(c, x, c.known(1), nil, nil, places(0, x.Rank())))}
	}
	if c.int("antialias", 0) != 0 {
		c.fail("antialias is not known here")
	}
	axes := places(0, x.Rank())
	if a := c.list("axes"); a != nil {
		for i := range a {
			a[i] = c.axis(a[i], x.Rank())
		}
		axes = anys(a)
	}
	var roi, scales []float64
	var sizes []int
	if r.coordinates == "tf_crop_and_resize" {
		if roi = c.known(1); len(roi) != 2*len(axes) {
			c.fail("roi has %d numbers: want %d", len(roi), 2*len(axes))
		}
	}
	if c.has(2) {
		scales = c.known(2)
	}
	if len(scales) == 0 {
		if !c.has(3) {
			c.fail("neither scales nor sizes are given")
		}
		if sizes = c.ints(3); len(sizes) != len(axes) {
			c.fail("%d sizes for %d axes", len(sizes), len(axes))
		}
		sizes, scales = r.keep(c, x, sizes, axes)
	}
	return []value{c.is(0, r.resize(c, x, scales, sizes, roi, axes))}
}

// keep returns the sizes, and the scales that they mean: one for all axes if the aspect ratio is
// kept.
func (r *resampling) keep(c *call, x *graph.Node, sizes []int, axes []any) ([]int, []float64) {
	scales := make([]float64, len(sizes))
	for i, a := range axes {
		if n := x.Dim(a.(int)); n > 0 {
			scales[i] = float64(sizes[i]) / float64(n)
		}
	}
	policy := c.text("keep_aspect_ratio_policy", "stretch")
	var one float64
	switch policy {
	case "stretch":
		return sizes, scales
	case "not_larger":
		one = slices.Min(scales)
	case "not_smaller":
		one = slices.Max(scales)
	default:
		c.fail("keep_aspect_ratio_policy %q", policy)
	}
	out := make([]int, len(sizes))
	for i, a := range axes {
		scales[i] = one
		out[i] = int(math.Floor(one*float64(x.Dim(a.(int))) + 0.5))
	}
	return out, scales
}

func (r *resampling) resize(c *call, x *graph.Node, scales []float64, sizes []int, roi []float64, axes []any) *graph.Node {
	if len(scales) != len(axes) {
		c.fail("%d scales for %d axes", len(scales), len(axes))
	}
	whole := x.DType()
	for i, a := range axes {
		axis, scale := a.(int), scales[i]
		n := x.Dim(axis)
		size := 0
		if sizes != nil {
			size = sizes[i]
		} else {
			size = int(math.Floor(float64(n) * scale))
		}
		if scale <= 0 || size < 1 || n < 1 {
			c.fail("a scale of %v makes %d elements of %d along axis %d", scale, size, n, axis)
		}
		var from, to float64
		if roi != nil {
			from, to = roi[i], roi[i+len(axes)]
		}
		if size == n && scale == 1 && (roi == nil || from == 0 && to == 1) {
			continue
		}
		if r.mode != "nearest" && !x.DType().IsFloat() {
			x = ops.Cast(x, graph.F32)
		}
		x = r.along(c, x, axis, size, scale, from, to)
	}
	return ops.Cast(x, whole)
}

// along resizes one axis.
func (r *resampling) along(c *call, x *graph.Node, axis, size int, scale, from, to float64) *graph.Node {
	n := x.Dim(axis)
	taps := map[string]int{"nearest": 1, "linear": 2, "cubic": 4}[r.mode]
	if taps == 0 {
		c.fail("mode %q: want nearest, linear or cubic", r.mode)
	}
	at, weight := make([][]float64, taps), make([][]float64, taps)
	c.bounded(size)
	for k := range taps {
		at[k], weight[k] = make([]float64, size), make([]float64, size)
	}
	beyond, some := make([]float64, size), false
	for o := range size {
		p := r.coordinate(c, float64(o), scale, n, size, from, to)
		if r.coordinates == "tf_crop_and_resize" && (p < 0 || p > float64(n-1)) {
			beyond[o], some = 1, true
		}
		clamp := func(i float64) float64 { return math.Max(0, math.Min(float64(n-1), i)) }
		floor := math.Floor(p)
		t := p - floor
		switch r.mode {
		case "nearest":
			at[0][o] = clamp(r.round(c, p, scale))
		case "linear":
			at[0][o], at[1][o] = clamp(floor), clamp(floor+1)
			weight[0][o], weight[1][o] = 1-t, t
		case "cubic":
			a, total := r.cubic, 0.0
			w := [4]float64{((a*(t+1)-5*a)*(t+1)+8*a)*(t+1) - 4*a, ((a+2)*t-(a+3))*t*t + 1, ((a+2)*(1-t)-(a+3))*(1-t)*(1-t) + 1, ((a*(2-t)-5*a)*(2-t)+8*a)*(2-t) - 4*a}
			for k := range w {
				i := floor - 1 + float64(k)
				if r.excludes && i != clamp(i) {
					w[k] = 0
				}
				total += w[k]
				at[k][o] = clamp(i)
			}
			for k := range w {
				if weight[k][o] = w[k]; r.excludes {
					weight[k][o] /= total
				}
			}
		}
	}
	if times := size / n; r.mode == "nearest" && times*n == size && !some && repeats(at[0], times) {
		return repeated(c, x, axis, times)
	}
	var sum *graph.Node
	for k := range taps {
		y := ops.Gather(bare(x), c.g.Constant(graph.I64, at[k], graph.Ax("", size)), axis)
		if !y.IsValid() {
			return y
		}
		if taps > 1 {
			y = ops.Mul(y, c.column(y, weight[k], axis))
		}
		if sum == nil {
			sum = y
		} else {
			sum = ops.Add(sum, y)
		}
	}
	if some {
		axes := graph.Dims(slices.Repeat([]int{1}, sum.Rank())[axis:]...)
		axes[0].Size = size
		sum = ops.Select(c.g.Constant(graph.Bool, beyond, axes...), ops.Lit(sum, r.outside), sum)
	}
	return sum
}

// repeats reports whether each element is taken so many times in a row.
func repeats(at []float64, times int) bool {
	for o, i := range at {
		if int(i) != o/times {
			return false
		}
	}
	return true
}

// repeated returns x with each element along an axis so many times in a row.
func repeated(c *call, x *graph.Node, axis, times int) *graph.Node {
	sizes := x.Shape().Sizes()
	wide := slices.Insert(slices.Clone(sizes), axis+1, times)
	sizes[axis] *= times
	return c.reshape(ops.BroadcastTo(ops.Expand(bare(x), axis+1, ""), c.shape(wide...)), sizes...)
}

// column returns numbers along an axis of y, to be multiplied with it.
func (c *call) column(y *graph.Node, numbers []float64, axis int) *graph.Node {
	axes := graph.Dims(slices.Repeat([]int{1}, y.Rank()-axis)...)
	axes[0].Size = len(numbers)
	return c.g.Constant(y.DType(), numbers, axes...)
}

// coordinate returns where element o of the result lies among those of x. It divides in float32, as
// others do: places that are half-way between elements depend on it.
func (r *resampling) coordinate(c *call, o, scale float64, n, size int, from, to float64) float64 {
	last, resized := float64(n-1), scale*float64(n)
	scaled := func(v float64) float64 { return float64(float32(v) / float32(scale)) }
	switch r.coordinates {
	case "half_pixel":
		return scaled(o+0.5) - 0.5
	case "half_pixel_symmetric":
		return float64(n)/2*(1-float64(size)/resized) + scaled(o+0.5) - 0.5
	case "pytorch_half_pixel":
		if size == 1 {
			return 0
		}
		return scaled(o+0.5) - 0.5
	case "align_corners":
		if size == 1 {
			return 0
		}
		return o * last / (resized - 1)
	case "asymmetric":
		return scaled(o)
	case "tf_half_pixel_for_nn":
		return scaled(o + 0.5)
	case "tf_crop_and_resize":
		if size == 1 {
			return (from + to) * last / 2
		}
		return from*last + o*(to-from)*last/(resized-1)
	}
	c.fail("coordinate_transformation_mode %q", r.coordinates)
	return 0
}

// round returns the element nearest to a place. Version 10 takes the next one where it makes arrays
// smaller, as its tests have it.
func (r *resampling) round(c *call, p, scale float64) float64 {
	switch r.nearest {
	case "simple":
		if scale < 1 {
			return math.Ceil(p)
		}
		return math.Floor(p)
	case "round_prefer_floor":
		return math.Ceil(p - 0.5)
	case "round_prefer_ceil":
		return math.Floor(p + 0.5)
	case "floor":
		return math.Floor(p)
	case "ceil":
		return math.Ceil(p)
	}
	c.fail("nearest_mode %q", r.nearest)
	return 0
}
