package builders

import (
	"math"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
)

// The small tasks that regularised models learn.

// twoMoons draws points[n d] on two half circles that reach into each other, with
// noise, and which of the two each is on. Beyond the first two numbers a point has noise alone.
func twoMoons(rng *rand.Rand, points, labels graph.Type, classes int) (x, label graph.Value) {
	label = choices(rng, labels, min(classes, 2))
	d := points.Shape.Dim(1)
	var φ float64
	x = build.Computed(points, func(p int) float64 {
		side, at := 1-2*label.Data[p/d], 0.0
		switch p % d {
		case 0:
			φ = math.Pi * rng.Float64()
			at = side * (math.Cos(φ) - 0.5)
		case 1:
			at = side * (math.Sin(φ) - 0.25)
		}
		return at + 0.15*rng.NormFloat64()
	})
	return x, label
}

// figures are the classes of shapes: a disc, a ring and a cross.
const figures = 3

// shapes draws images[n h w c] between 0 and 1 with a noisy figure each, about the middle, and
// which of the first so many it is. A figure that is rotated, flipped or moved stays the same.
func shapes(rng *rand.Rand, images, labels graph.Type, classes int) (x, label graph.Value) {
	label = choices(rng, labels, min(classes, figures))
	h, w, c := images.Shape.Dim(1), images.Shape.Dim(2), images.Shape.Dim(3)
	var row, column, radius float64
	x = build.Computed(images, func(p int) float64 {
		if p%(h*w*c) == 0 {
			row, column = float64(h-1)/2+rng.Float64()-0.5, float64(w-1)/2+rng.Float64()-0.5
			radius = (0.3 + 0.1*rng.Float64()) * float64(min(h, w))
		}
		a, b := math.Abs(float64(p/(w*c)%h)-row), math.Abs(float64(p/c%w)-column)
		far := math.Hypot(a, b)
		on := [...]bool{far <= radius, far <= radius && far > radius-1.2, min(a, b) < 0.6 && far <= radius}
		v := 0.15 + 0.05*rng.NormFloat64()
		if on[int(label.Data[p/(h*w*c)])] {
			v += 0.65
		}
		return min(1, max(0, v))
	})
	return x, label
}

// planeWaves draws images between 0 and 1 of a structure that means nothing: the sum of
// two plane waves each.
func planeWaves(rng *rand.Rand, images graph.Type) graph.Value {
	w, c := images.Shape.Dim(2), images.Shape.Dim(3)
	each := images.Shape.Dim(1) * w * c
	var k [6]float64
	return build.Computed(images, func(p int) float64 {
		if p%each == 0 {
			for i := range k {
				k[i] = 3 * rng.NormFloat64()
			}
		}
		i, j := float64(p%each/(w*c))/float64(w), float64(p/c%w)/float64(w)
		return (2 + math.Sin(k[0]+k[1]*i+k[2]*j) + math.Sin(k[3]+k[4]*i+k[5]*j)) / 4
	})
}
