package augment

import (
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// Bilinear samples images x[n h w c] by bilinear interpolation between the four nearest pixels,
// with zeros outside the image. rows and columns, counted from 0, are of the shape [n h w] of the
// result or broadcast to it. They get a derivative, that of the weights.
func Bilinear(x, rows, columns *graph.Node) *graph.Node {
	if bad := wantImages("Bilinear", x); bad != nil { // before its sizes are asked for
		return bad
	}
	if bad := wantFrame("Bilinear", x, x.Dim(1), x.Dim(2)); bad != nil {
		return bad
	}
	f := frame(x)
	r, s := clamped(rows, f.height), clamped(columns, f.width)
	r0, s0 := floor(r).As("i₀"), floor(s).As("j₀")
	down, right := f.beyond(r, r0).As("a"), f.beyond(s, s0).As("b")
	row := func(r *graph.Node) *graph.Node {
		return between(right, f.at(r, s0), f.at(r, ops.Shift(s0, 1)))
	}
	return between(down, row(r0).As("above"), row(ops.Shift(r0, 1)).As("below"))
}

// between returns (1 − t)·a + t·b.
func between(t, a, b *graph.Node) *graph.Node {
	return ops.Add(ops.Mul(ops.OneMinus(t), a), ops.Mul(t, b))
}

// framed is images with zeros around them, so that pixels from −1 to the size plus 1 can be looked
// up.
type framed struct {
	pixels        *graph.Node // [n·rows·columns c]
	first         *graph.Node // [n 1 1], where an image starts
	height, width int
}

func frame(x *graph.Node) framed {
	h, w := x.Dim(1), x.Dim(2)
	padded := ops.Pad(ops.Pad(x, 1, 1, 2, 0), 2, 1, 2, 0)
	n := append([]graph.Axis{x.Shape().Axis(0)}, ones(2)...)
	first := build.Computed(graph.Type{DType: graph.I64, Shape: shapeWith(n...)}, func(i int) float64 {
		return float64((i*(h+3)+1)*(w+3) + 1)
	})
	return framed{ops.Merge(padded, "pixel", 0, 1, 2).As("pixels"), x.Graph().ConstantValue(first).As("first"), h, w}
}

// wantFrame returns nil if x is an array of images and no axis of it or of the result is too long
// for pixels to be numbered, and else records a mistake.
func wantFrame(what string, x *graph.Node, height, width int) *graph.Node {
	const most = 1 << 24
	if bad := wantImages(what, x); bad != nil {
		return bad
	}
	if n := x.Dim(0); min(height, width) < 1 || max(height, width, n) > most {
		return x.Graph().Fail(what, fmt.Errorf("%d by %d pixels of %d images: want 1 to %d of each", height, width, n, most), x)
	}
	return nil
}

// at returns the pixels at integer rows r and columns s.
func (f framed) at(r, s *graph.Node) *graph.Node {
	return ops.Gather(f.pixels, ops.Add(f.first, ops.Add(ops.Mul(r, ops.Lit(r, float64(f.width+3))), s)), 0)
}

// beyond returns the distance of v from the pixel before it, for every channel.
func (framed) beyond(v, place *graph.Node) *graph.Node {
	return ops.Expand(ops.Sub(v, ops.Cast(place, build.DType(v))), -1, "")
}

// clamped clips positions to the zeros around an image of the given size.
func clamped(v *graph.Node, size int) *graph.Node {
	return ops.Minimum(ops.Maximum(v, ops.Lit(v, -1)), ops.Lit(v, float64(size)))
}

// grid returns the row numbers [h 1] and the column numbers [1 w], from 0, of images like x of the
// given size.
func grid(x *graph.Node, dt graph.DType, height, width int) (rows, columns *graph.Node) {
	count := func(axes ...graph.Axis) *graph.Node {
		return x.Graph().ConstantValue(build.Computed(graph.Type{DType: dt, Shape: shapeWith(axes...)}, func(i int) float64 { return float64(i) }))
	}
	h, w := x.Shape().Axis(1), x.Shape().Axis(2)
	h.Size, w.Size = height, width
	return count(h, graph.Axis{Size: 1}).As("i"), count(graph.Axis{Size: 1}, w).As("j")
}

// shapeWith returns the shape of axes that are known to fit; empty if they do not.
func shapeWith(axes ...graph.Axis) graph.Shape {
	s, err := graph.NewShape(axes...)
	if err != nil {
		return graph.Shape{}
	}
	return s
}

// Rotate turns images x[n h w c] anticlockwise about their centre by degrees, a scalar or [n].
// Pixels from outside the image are 0.
func Rotate(x, degrees *graph.Node) *graph.Node {
	if bad := wantImages("Rotate", x); bad != nil {
		return bad
	}
	θ := ops.Scale(aligned(degrees, 3), math.Pi/180).As("θ")
	cos, sin := ops.Cos(θ), ops.Sin(θ)
	i, j := grid(x, x.DType(), x.Dim(1), x.Dim(2))
	middle, centre := float64(x.Dim(1)-1)/2, float64(x.Dim(2)-1)/2
	a, b := ops.Shift(i, -middle), ops.Shift(j, -centre)
	rows := ops.Shift(ops.Add(ops.Mul(a, cos), ops.Mul(b, sin)), middle).As("row")
	columns := ops.Shift(ops.Sub(ops.Mul(b, cos), ops.Mul(a, sin)), centre).As("column")
	return Bilinear(x, rows, columns).As("turned")
}

// RandomRotation turns each image, with probability p, by a uniform angle between −most and most
// degrees.
func RandomRotation(x, most, p *graph.Node) *graph.Node {
	defer graph.Of(x, most, p).Scope("rotate")()
	return sometimes("RandomRotation", x, p, func(x *graph.Node) *graph.Node {
		return Rotate(x, ops.Mul(most, alone(build.Centred(uniform(x, "u")))))
	})
}

// alone returns u[n 1 …] without its axes of size 1: u[n].
func alone(u *graph.Node) *graph.Node {
	if u.Rank() < 2 {
		return u
	}
	var single []any
	for a := 1; a < u.Rank(); a++ {
		single = append(single, a)
	}
	return ops.Squeeze(u, single...)
}

// Translate moves images x[n h w c] down and to the right by so many pixels, scalars or [n].
// Fractions of a pixel blend neighbours, and pixels from outside the image are 0.
func Translate(x, down, right *graph.Node) *graph.Node {
	if bad := wantImages("Translate", x); bad != nil {
		return bad
	}
	i, j := grid(x, x.DType(), x.Dim(1), x.Dim(2))
	return Bilinear(x, ops.Sub(i, aligned(down, 3)).As("row"), ops.Sub(j, aligned(right, 3)).As("column")).As("moved")
}

// RandomTranslation moves each image, with probability p, by a uniform number of pixels between
// −most and most along each axis.
func RandomTranslation(x, most, p *graph.Node) *graph.Node {
	defer graph.Of(x, most, p).Scope("translate")()
	return sometimes("RandomTranslation", x, p, func(x *graph.Node) *graph.Node {
		by := func(name string) *graph.Node { return ops.Mul(most, alone(build.Centred(uniform(x, name)))) }
		return Translate(x, by("u"), by("v"))
	})
}

// Crop returns a window [n height width c] of each image x[n h w c]. Its first row is top and its
// first column left, scalars or [n] of x's type, rounded down. Pixels outside the image are 0.
func Crop(x, top, left *graph.Node, height, width int) *graph.Node {
	if bad := wantFrame("Crop", x, height, width); bad != nil {
		return bad
	}
	i, j := grid(x, graph.I64, height, width)
	f := frame(x)
	rows := clamped(ops.Add(i, floor(aligned(top, 3))), f.height).As("row")
	columns := clamped(ops.Add(j, floor(aligned(left, 3))), f.width).As("column")
	return f.at(rows, columns).As("window")
}

// RandomCrop returns a window of height by width pixels of each image: with probability p a random
// one of the image with padding zeros on every side, a scalar, and otherwise the one in the middle.
func RandomCrop(x, padding, p *graph.Node, height, width int) *graph.Node {
	defer graph.Of(x, padding, p).Scope("crop")()
	if bad := wantImages("RandomCrop", x); bad != nil {
		return bad
	}
	taken := chosen(x, p)
	first := func(name string, size, part int) *graph.Node {
		places := ops.Shift(ops.Scale(padding, 2), float64(size-part+1))
		at := ops.Sub(whole(ops.Mul(uniform(x, name), places)), padding)
		middle := ops.Lit(x, math.Floor(float64(size-part)/2))
		return alone(ops.Select(taken, at, middle))
	}
	return Crop(x, first("u", x.Dim(1), height).As("top"), first("v", x.Dim(2), width).As("left"), height, width)
}
