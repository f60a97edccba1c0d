package importer

import (
	"cmp"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/ops"
)

// regions has the operators that read images [n c h w] between their elements, or choose boxes.
var regions = map[string]rule{
	"GridSample":        gridSample,
	"NonMaxSuppression": suppression,
	"RoiAlign":          roiAlign,
}

// rim says how a place beyond an axis is read.
type rim struct {
	lo, hi float64 // what counts as within the axis
	size   int
	mode   string
}

// fold returns places that lie within the axis, as the mode says: those beyond it are clamped to its
// elements, or mirrored at its bounds.
func (r *rim) fold(x *graph.Node) *graph.Node {
	switch r.mode {
	case "border":
		return ops.Select(r.beyond(x), ops.Clip(x, ops.Lit(x, 0), ops.Lit(x, float64(r.size-1))), x)
	case "reflection":
		length := r.hi - r.lo
		if length == 0 {
			return ops.Lit(x, r.lo)
		}
		t := ops.Remainder(ops.Shift(x, -r.lo), ops.Lit(x, 2*length))
		return ops.Select(r.beyond(x), ops.Shift(ops.Minimum(t, ops.Shift(ops.Neg(t), 2*length)), r.lo), x)
	}
	return x
}

func (r *rim) beyond(x *graph.Node) *graph.Node {
	return ops.Or(ops.Less(x, ops.Lit(x, r.lo)), ops.Greater(x, ops.Lit(x, r.hi)))
}

// index returns whole numbers x as indices of the axis, and 1 where there is an element, 0 where
// zeros lie around.
func (r *rim) index(x *graph.Node) (index, within *graph.Node) {
	last := ops.Lit(x, float64(r.size-1))
	within = ops.Cast(ops.And(ops.GreaterEqual(x, ops.Lit(x, 0)), ops.LessEqual(x, last)), x.DType())
	if r.mode != "zeros" {
		x, within = r.fold(x), nil
	}
	return ops.Cast(ops.Clip(x, ops.Lit(x, 0), last), graph.I64), within
}

// gridSample reads x[n c h w] at the places (x, y) of grid[n h′ w′ 2], which run from −1 to 1 over the
// image.
func gridSample(c *call) []value {
	x, grid := c.x(0), bare(c.x(1))
	if x.Rank() != 4 || grid.Rank() != 4 || grid.Dim(3) != 2 || grid.Dim(0) != x.Dim(0) {
		c.fail("an array of shape %v and a grid of shape %v: want [n c h w] and [n h′ w′ 2]", x.Shape().Sizes(), grid.Shape().Sizes())
	}
	padding, align := c.text("padding_mode", "zeros"), c.int("align_corners", 0) != 0
	if padding != "zeros" && padding != "border" && padding != "reflection" {
		c.fail("padding_mode %q", padding)
	}
	if x.Shape().Len() == 0 {
		c.fail("an array without elements")
	}
	n, h, w := x.Dim(0), x.Dim(2), x.Dim(3)
	place := func(i, size int) (*graph.Node, *rim) {
		p, s := ops.At(grid, -1, i), float64(size)
		if align {
			return ops.Scale(ops.Shift(p, 1), (s-1)/2), &rim{0, s - 1, size, padding}
		}
		return ops.Shift(ops.Scale(ops.Shift(p, 1), s/2), -0.5), &rim{-0.5, s - 0.5, size, padding}
	}
	px, rx := place(0, w)
	py, ry := place(1, h)
	// Rows of the table are the channels of an element.
	table := c.reshape(ops.Transpose(bare(x), 0, 2, 3, 1), n*h*w, x.Dim(1))
	image := c.reshape(ops.Scale(ops.Arange(c.g, graph.I64, graph.Ax("", n)), float64(h*w)), n, 1, 1)
	read := func(y, x *graph.Node) *graph.Node { // at whole numbers
		iy, wy := ry.index(y)
		ix, wx := rx.index(x)
		v := ops.Gather(table, ops.Add(image, ops.Add(ops.Scale(iy, float64(w)), ix)), 0)
		if wy == nil {
			return v
		}
		return weighted(v, ops.Mul(wy, wx))
	}
	var y *graph.Node
	switch mode := c.text("mode", "bilinear"); mode {
	case "nearest":
		y = read(ry.fold(ops.Round(py)), rx.fold(ops.Round(px)))
	case "bilinear", "linear":
		y = between(read, ry.fold(py), rx.fold(px), 0, linear)
	case "bicubic", "cubic":
		y = between(read, py, px, -1, cubic) // each neighbour is folded, as in PyTorch
	default:
		c.fail("mode %q", mode)
	}
	return []value{c.is(0, ops.Transpose(y, 0, 3, 1, 2))}
}

// weighted returns v[… c] times a weight for each place.
func weighted(v, w *graph.Node) *graph.Node {
	return ops.Mul(v, ops.Cast(ops.Expand(w, -1, ""), v.DType()))
}

// between returns the sum of what is read around places, with the weights that the distance from the
// element before gives to the neighbours from the first on.
func between(read func(y, x *graph.Node) *graph.Node, py, px *graph.Node, from float64, weights func(t *graph.Node) []*graph.Node) *graph.Node {
	fy, fx := ops.Floor(py), ops.Floor(px)
	wy, wx := weights(ops.Sub(py, fy)), weights(ops.Sub(px, fx))
	var sum *graph.Node
	for i := range wy {
		for j := range wx {
			v := weighted(read(ops.Shift(fy, from+float64(i)), ops.Shift(fx, from+float64(j))), ops.Mul(wy[i], wx[j]))
			if sum == nil {
				sum = v
			} else {
				sum = ops.Add(sum, v)
			}
		}
	}
	return sum
}

func linear(t *graph.Node) []*graph.Node { return []*graph.Node{ops.OneMinus(t), t} }

// cubic has the weights of four neighbours (Keys, 1981, with a = −3/4).
func cubic(t *graph.Node) []*graph.Node {
	const a = -0.75
	near := func(t *graph.Node) *graph.Node { // ((a+2)t − (a+3))t² + 1
		return ops.Shift(ops.Mul(ops.Shift(ops.Scale(t, a+2), -a-3), ops.Square(t)), 1)
	}
	far := func(t *graph.Node) *graph.Node { // ((at − 5a)t + 8a)t − 4a
		y := ops.Shift(ops.Scale(t, a), -5*a)
		return ops.Shift(ops.Mul(ops.Shift(ops.Mul(y, t), 8*a), t), -4*a)
	}
	left := ops.OneMinus(t)
	return []*graph.Node{far(ops.Shift(t, 1)), near(t), near(left), far(ops.Shift(left, 1))}
}

// roiAlign averages x[n c h w] over the cells of a grid within each region [x₁ y₁ x₂ y₂] (He, Gkioxari,
// Dollár & Girshick, 2017). An average of interpolated samples is a product with the weights of the
// rows and with those of the columns.
func roiAlign(c *call) []value {
	x, rois, batch := c.x(0), bare(c.x(1)), c.x(2)
	if x.Rank() != 4 || rois.Rank() != 2 || rois.Dim(1) != 4 || batch.Rank() != 1 || batch.Dim(0) != rois.Dim(0) {
		c.fail("an array of shape %v, regions %v and indices %v: want [n c h w], [r 4] and [r]", x.Shape().Sizes(), rois.Shape().Sizes(), batch.Shape().Sizes())
	}
	if mode := c.text("mode", "avg"); mode != "avg" {
		c.fail("mode %q, of which implementations have different notions: want avg", mode)
	}
	aligned := c.version() >= 16
	if t := c.text("coordinate_transformation_mode", "half_pixel"); t == "output_half_pixel" {
		aligned = false
	} else if t != "half_pixel" {
		c.fail("coordinate_transformation_mode %q", t)
	}
	scaled := ops.Scale(rois, c.float("spatial_scale", 1))
	if aligned {
		scaled = ops.Shift(scaled, -0.5)
	}
	weights := func(axis, cells, size int) *graph.Node { // [r cells size]
		from, to := ops.At(scaled, 1, axis), ops.At(scaled, 1, 2+axis)
		length := ops.Sub(to, from)
		if !aligned {
			length = ops.Maximum(length, ops.Lit(length, 1))
		}
		offset, share := c.samples(length, axis, cells, aligned)
		cell := ops.Scale(length, 1/float64(cells))
		at := ops.Add(c.reshape(ops.Arange(c.g, from.DType(), graph.Ax("", cells)), 1, cells, 1), ops.Expand(offset, 1, "")) // [r cells samples], in cells
		column := func(v *graph.Node) *graph.Node { return c.reshape(v, v.Dim(0), 1, 1) }
		at = ops.Add(column(from), ops.Mul(column(cell), at))
		in := ops.And(ops.GreaterEqual(at, ops.Lit(at, -1)), ops.LessEqual(at, ops.Lit(at, float64(size))))
		share = ops.Mul(ops.Expand(share, 1, ""), ops.Cast(in, share.DType()))
		at = ops.Clip(at, ops.Lit(at, 0), ops.Lit(at, float64(size-1)))
		distance := ops.Abs(ops.Sub(ops.Expand(at, -1, ""), c.reshape(ops.Arange(c.g, at.DType(), graph.Ax("", size)), 1, 1, 1, size)))
		return ops.Sum(ops.Mul(ops.ReLU(ops.OneMinus(distance)), ops.Expand(share, -1, "")), 2)
	}
	rows := ops.Cast(weights(1, c.int("output_height", 1), x.Dim(2)), x.DType())
	columns := ops.Cast(weights(0, c.int("output_width", 1), x.Dim(3)), x.DType())
	images := ops.Gather(bare(x), bare(batch), 0) // [r c h w]
	y := ops.MatMul(ops.Expand(rows, 1, ""), images)
	return []value{c.is(0, ops.MatMul(y, ops.Expand(ops.Transpose(columns, 0, 2, 1), 1, "")))}
}

// samples returns where within a cell the samples of each region lie, and the weight of each. They
// are as many as a region has elements in a cell, so that the regions must be known, unless
// sampling_ratio says the number.
func (c *call) samples(length *graph.Node, axis, cells int, aligned bool) (offset, share *graph.Node) {
	if cells < 1 {
		c.fail("%d cells", cells)
	}
	r := length.Dim(0)
	c.bounded(r)
	counts := slices.Repeat([]int{c.int("sampling_ratio", 0)}, r)
	if c.int("sampling_ratio", 0) <= 0 {
		scale := float32(c.float("spatial_scale", 1))
		for i, v := range slices.Collect(slices.Chunk(c.known(1), 4)) {
			size := float32(v[2+axis])*scale - float32(v[axis])*scale
			if !aligned {
				size = max(size, 1)
			}
			counts[i] = max(0, int(math.Ceil(min(float64(size/float32(cells)), 1<<12+1))))
		}
	}
	most := 1
	for _, n := range counts {
		most = max(most, n)
	}
	if most > 1<<12 {
		c.fail("%d samples in a cell", most)
	}
	c.bounded(r * most)
	at, weight := make([]float64, r*most), make([]float64, r*most)
	for i, n := range counts {
		for j := range n {
			at[i*most+j], weight[i*most+j] = (float64(j)+0.5)/float64(n), 1/float64(n)
		}
	}
	return c.array(length.DType(), at, r, most), c.array(length.DType(), weight, r, most)
}

// suppression chooses boxes of the highest scores, and drops others of the class that overlap with
// them. How many it chooses depends on the numbers, so that all must be known. The operands are the
// boxes [n b 4], the scores [n classes b], how many to choose of a class, and the thresholds of the
// overlap and of the score.
func suppression(c *call) []value {
	boxes, scores := c.x(0).Shape().Sizes(), c.x(1).Shape().Sizes()
	if len(boxes) != 3 || len(scores) != 3 || boxes[2] != 4 || boxes[0] != scores[0] || boxes[1] != scores[2] {
		c.fail("boxes %v and scores %v: want [n b 4] and [n classes b]", boxes, scores)
	}
	most, overlap, least := 0, 0.0, math.Inf(-1)
	if c.has(2) {
		most = c.whole(2)
	}
	if c.has(3) {
		overlap = c.known(3)[0]
	}
	if c.has(4) {
		least = c.known(4)[0]
	}
	if !(overlap >= 0 && overlap <= 1) {
		c.fail("a threshold of the overlap of %v: want one from 0 to 1", overlap)
	}
	corners, score := c.known(0), c.known(1)
	center := c.int("center_point_box", 0) != 0
	var chosen []float64
	for n := range boxes[0] {
		for class := range scores[1] {
			list := make([]int, 0, boxes[1])
			value := score[(n*scores[1]+class)*boxes[1]:][:boxes[1]]
			for b := range boxes[1] {
				if value[b] > least {
					list = append(list, b)
				}
			}
			slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(value[b], value[a]) })
			var kept []box
			for _, b := range list {
				if len(kept) == most {
					break
				}
				x := boxOf(corners[(n*boxes[1]+b)*4:][:4], center)
				if !slices.ContainsFunc(kept, func(k box) bool { return k.overlap(x) > overlap }) {
					kept = append(kept, x)
					chosen = append(chosen, float64(n), float64(class), float64(b))
				}
			}
		}
	}
	return []value{{node: c.array(graph.I64, chosen, len(chosen)/3, 3), elem: format.Int64}}
}

// box is a rectangle by two corners.
type box struct{ x0, y0, x1, y1 float64 }

// boxOf reads [y₁ x₁ y₂ x₂], the corners in any order, or [x y width height] with the center.
func boxOf(v []float64, center bool) box {
	if center {
		return box{v[0] - v[2]/2, v[1] - v[3]/2, v[0] + v[2]/2, v[1] + v[3]/2}
	}
	return box{min(v[1], v[3]), min(v[0], v[2]), max(v[1], v[3]), max(v[0], v[2])}
}

func (b box) area() float64 { return (b.x1 - b.x0) * (b.y1 - b.y0) }

// overlap returns the area that two boxes share, relative to the area of both together.
func (b box) overlap(o box) float64 {
	shared := max(0, min(b.x1, o.x1)-max(b.x0, o.x0)) * max(0, min(b.y1, o.y1)-max(b.y0, o.y0))
	if shared == 0 {
		return 0
	}
	return shared / (b.area() + o.area() - shared)
}
