package builders

import (
	"math"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// The small tasks that convolutional models learn.

// orientations are the classes of bars: horizontal, vertical and both diagonals.
const orientations = 4

// bars draws images[n h w c] with a noisy bar each, somewhere, and its orientation, one of the
// first so many.
func bars(rng *rand.Rand, images, labels graph.Type, classes int) (x, label graph.Value) {
	label = choices(rng, labels, min(classes, orientations))
	h, w, c := images.Shape.Dim(1), images.Shape.Dim(2), images.Shape.Dim(3)
	at := make([]int, len(label.Data))
	for i := range at {
		switch label.Data[i] {
		case 0:
			at[i] = rng.IntN(h)
		case 1:
			at[i] = rng.IntN(w)
		default: // diagonals pass near the middle, so that they are long
			at[i] = rng.IntN(max(1, w/2)) - w/4
		}
	}
	x = build.Computed(images, func(p int) float64 {
		n, i, j := p/(h*w*c), p/(w*c)%h, p/c%w
		on := [...]bool{i == at[n], j == at[n], j-i == at[n], j+i == w-1+at[n]}[int(label.Data[n])]
		v := 0.2 * rng.NormFloat64()
		if on {
			v++
		}
		return v
	})
	return x, label
}

// exposed gives every image[n h w c] a brightness and a contrast of its own, as
// numbers mostly between 0 and 255.
func exposed(rng *rand.Rand, x graph.Value) graph.Value {
	each := len(x.Data) / x.Type.Shape.Dim(0)
	var bright, contrast float64
	return build.Computed(x.Type, func(p int) float64 {
		if p%each == 0 {
			bright, contrast = 80+20*rng.Float64(), 60+40*rng.Float64()
		}
		return bright + contrast*x.Data[p]
	})
}

// blobs draws images[n h w c] with a noisy disc each, and says for every pixel[n h w]
// whether it lies in the disc.
func blobs(rng *rand.Rand, images, labels graph.Type) (x, label graph.Value) {
	h, w, c := images.Shape.Dim(1), images.Shape.Dim(2), images.Shape.Dim(3)
	var row, column, radius float64
	label = build.Computed(labels, func(p int) float64 {
		if p%(h*w) == 0 {
			row, column = float64(h)*rng.Float64(), float64(w)*rng.Float64()
			radius = (0.2 + 0.2*rng.Float64()) * float64(min(h, w))
		}
		if math.Hypot(float64(p/w%h)-row, float64(p%w)-column) <= max(radius, 1) {
			return 1
		}
		return 0
	})
	x = build.Computed(images, func(p int) float64 { return label.Data[p/c] + 0.3*rng.NormFloat64() })
	return x, label
}

// motifs draws sequences of tokens[n t] below v that hold the pair 0 1 or the pair 1
// 0 once, which only the order tells apart, and which of them it is.
func motifs(rng *rand.Rand, tokens, labels graph.Type, v, classes int) (x, label graph.Value) {
	label = choices(rng, labels, min(classes, 2))
	t := tokens.Shape.Dim(1)
	at := 0
	x = build.Computed(tokens, func(p int) float64 {
		if p%t == 0 {
			at = rng.IntN(max(1, t-1))
		}
		first := label.Data[p/t]
		switch p % t {
		case at:
			return first
		case at + 1:
			return 1 - first
		}
		return float64(min(v-1, 2+rng.IntN(max(1, v-2))))
	})
	return x, label
}

// filtered draws sequences x[n t c] of noise and the outputs of a fixed filter for them,
// y[n q o] = Σ_kc a_kco·x_{q+k−padding,c}, so that the filter can be learnt.
func filtered(rng *rand.Rand, sequences, targets graph.Type, w ops.Sliding) (x, y graph.Value) {
	x = normals(rng, sequences)
	t, c := sequences.Shape.Dim(1), sequences.Shape.Dim(2)
	m, o := targets.Shape.Dim(1), targets.Shape.Dim(2)
	y = build.Computed(targets, func(p int) float64 {
		n, q, sum := p/(m*o), p/o%m, 0.0
		for k := range w.Size {
			if i := q + k - w.Before; i >= 0 && i < t {
				for ch := range c {
					sum += math.Cos(float64((k*c+ch)*o+p%o)) * x.Data[(n*t+i)*c+ch]
				}
			}
		}
		return sum
	})
	return x, y
}

// halved returns the average of squares of 2×2 of fine[n h w c], for coarse[n h/2 w/2 c].
func halved(fine graph.Value, coarse graph.Type) graph.Value {
	h, w, c := coarse.Shape.Dim(1), coarse.Shape.Dim(2), coarse.Shape.Dim(3)
	return build.Computed(coarse, func(p int) float64 {
		n, i, j, ch := p/(h*w*c), p/(w*c)%h, p/c%w, p%c
		corner := ((n*2*h+2*i)*2*w+2*j)*c + ch
		return (fine.Data[corner] + fine.Data[corner+c] + fine.Data[corner+2*w*c] + fine.Data[corner+2*w*c+c]) / 4
	})
}

// turned returns points[n 2] after a quarter of a turn about the origin.
func turned(points graph.Value) graph.Value {
	return build.Computed(points.Type, func(p int) float64 {
		if p%2 == 0 {
			return -points.Data[p+1]
		}
		return points.Data[p-1]
	})
}
