package data

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gorgonia.org/tensor"
)

// Augmentation of images, as changes for [Map]: of a column x[n h w] or x[n h w c] of any
// type, an amount drawn anew for each image each time. They keep the shape, so what moves
// out is lost, and zeros come in.
//
// Package nn/augment has augmentation as part of the graph, where it is drawn and compiled
// with the model, derivatives pass through it and rotation, colour and mixing of images
// are at hand; that is the better place for what belongs to a method. Here it costs the
// training step nothing if [Prefetch] does it on another core, and a checkpoint's data
// position is all that is needed to take it up again.

// RandomFlip mirrors each image left to right with probability p.
func RandomFlip(column string, p float64) Change {
	return eachImage("RandomFlip", column, probability(p), func(rng *rand.Rand, im image) {
		if rng.Float64() >= p {
			return
		}
		for i := range im.h {
			row := im.row(i)
			for a, b := 0, len(row)-im.pixel; a < b; a, b = a+im.pixel, b-im.pixel {
				for k := range im.pixel {
					row[a+k], row[b+k] = row[b+k], row[a+k]
				}
			}
		}
	})
}

// RandomShift moves each image by up to so many pixels up or down, and left or right, all
// equally likely: what cropping at random from an image padded by as many zeros gives.
func RandomShift(column string, most int) Change {
	bad := ""
	const limit = 1 << 20
	if most < 0 {
		bad = fmt.Sprintf("%d pixels: want 0 or more", most)
	} else if most > limit {
		bad = fmt.Sprintf("%d pixels: want at most %d", most, limit)
	}
	return eachImage("RandomShift", column, bad, func(rng *rand.Rand, im image) {
		down, right := rng.IntN(2*most+1)-most, rng.IntN(2*most+1)-most
		right = max(-im.w, min(im.w, right)) * im.pixel
		for k := range im.h {
			i := k // rows in an order in which none is overwritten before it has moved
			if down > 0 {
				i = im.h - 1 - k
			}
			to := im.row(i)
			if i-down < 0 || i-down >= im.h {
				clear(to)
				continue
			}
			from := im.row(i - down)
			if right >= 0 {
				copy(to[right:], from)
				clear(to[:right])
			} else {
				copy(to, from[-right:])
				clear(to[len(to)+right:])
			}
		}
	})
}

// RandomCutout makes a square of size by size pixels 0 with probability p (DeVries and
// Taylor, 2017). Its middle is any pixel of the image; what reaches over the edge is cut
// off.
func RandomCutout(column string, size int, p float64) Change {
	bad := probability(p)
	if size < 0 {
		bad = fmt.Sprintf("a square of %d pixels: want 0 or more", size)
	}
	return eachImage("RandomCutout", column, bad, func(rng *rand.Rand, im image) {
		if rng.Float64() >= p {
			return
		}
		top, left := rng.IntN(im.h)-size/2, rng.IntN(im.w)-size/2
		lo, hi := max(left, 0), max(0, min(im.w, left+size))
		for i := max(top, 0); i < min(im.h, top+size); i++ {
			clear(im.row(i)[lo*im.pixel : hi*im.pixel])
		}
	})
}

// Noise adds a normal draw of mean 0 and standard deviation std to each element of a
// column of tensor.Float32 or Float64, images or not.
func Noise(column string, std float64) Change {
	return func(rng *rand.Rand, b Batch) error {
		t := b.Values[column]
		switch {
		case !(std >= 0) || math.IsInf(std, 0):
			return fmt.Errorf("Noise: a deviation of %g: want 0 or more", std)
		case t == nil:
			return fmt.Errorf("Noise: no column %s", quote(column))
		case t.Dtype() == tensor.Float32:
			for i, x := 0, t.Float32s(); i < len(x); i++ {
				x[i] += float32(std * rng.NormFloat64())
			}
		case t.Dtype() == tensor.Float64:
			for i, x := 0, t.Float64s(); i < len(x); i++ {
				x[i] += float64(std * rng.NormFloat64())
			}
		default:
			return fmt.Errorf("Noise: %w", notFloats(column, t))
		}
		return nil
	}
}

// ReplaceNaN puts v in place of each NaN of a column of tensor.Float32 or Float64. After
// the column was standardised, 0 is the mean.
func ReplaceNaN(column string, v float64) Change {
	return func(_ *rand.Rand, b Batch) error {
		t := b.Values[column]
		switch {
		case t == nil:
			return fmt.Errorf("ReplaceNaN: no column %s", quote(column))
		case t.Dtype() == tensor.Float32:
			replaceNaN(t.Float32s(), float32(v))
		case t.Dtype() == tensor.Float64:
			replaceNaN(t.Float64s(), v)
		default:
			return fmt.Errorf("ReplaceNaN: %w", notFloats(column, t))
		}
		return nil
	}
}

func replaceNaN[T float32 | float64](x []T, v T) {
	for i := range x {
		if x[i] != x[i] {
			x[i] = v
		}
	}
}

// probability says what is wrong with p, or "".
func probability(p float64) string {
	if p >= 0 && p <= 1 {
		return ""
	}
	return fmt.Sprintf("a probability of %g: want 0 to 1", p)
}

// image is h·w pixels, row after row.
type image struct {
	h, w  int
	pixel int // bytes
	bytes []byte
}

func (im image) row(i int) []byte { return im.bytes[i*im.w*im.pixel : (i+1)*im.w*im.pixel] }

// eachImage is a change that does f with each image; bad says what is wrong with the
// arguments.
func eachImage(what, column, bad string, f func(rng *rand.Rand, im image)) Change {
	return func(rng *rand.Rand, b Batch) error {
		if bad != "" {
			return fmt.Errorf("%s: %s", what, bad)
		}
		t := b.Values[column]
		if t == nil {
			return fmt.Errorf("%s: no column %s", what, quote(column))
		}
		s := t.Shape()
		if len(s) != 3 && len(s) != 4 {
			return fmt.Errorf("%s: column %s%v holds no images: want [n h w] or [n h w c]", what, quote(column), []int(s))
		}
		x := bytesOf(t)
		size := len(x) / s[0]
		im := image{h: s[1], w: s[2], pixel: size / (s[1] * s[2])}
		for k := range s[0] {
			im.bytes = x[k*size : (k+1)*size]
			f(rng, im)
		}
		return nil
	}
}
