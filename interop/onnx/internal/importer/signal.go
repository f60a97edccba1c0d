package importer

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/ops"
)

// signals has Fourier transforms, and what belongs to them.
var signals = map[string]rule{
	"BlackmanWindow":  cosines(0.42, -0.5, 0.08),
	"DFT":             fourier,
	"HammingWindow":   cosines(25.0/46, -21.0/46),
	"HannWindow":      cosines(0.5, -0.5),
	"MelWeightMatrix": melWeights,
	"STFT":            shortFourier,
}

// cosines is a window Σ_k a_k·cos(2πkn/N) over n = 0, 1, …, with N the size, or one less if the
// window is to be symmetric.
func cosines(a ...float64) rule {
	return func(c *call) []value {
		size := c.whole(0)
		if size < 0 || size > 1<<24 {
			c.fail("a window of %d", size)
		}
		period := float64(size)
		if c.int("periodic", 1) == 0 {
			period--
		}
		data := make([]float64, size)
		for i := range data {
			for k, v := range a {
				if angle := 2 * math.Pi * float64(k*i); angle == 0 {
					data[i] += v
				} else {
					data[i] += v * math.Cos(angle/period)
				}
			}
		}
		elem, dt := c.typed("output_datatype", format.Float)
		return []value{{node: c.array(dt, data, size), elem: elem}}
	}
}

// parts returns the real and the imaginary parts of signals in an array whose last axis has both, or
// the real part alone.
func (c *call) parts(x *graph.Node) (re, im *graph.Node) {
	last := x.Dim(max(0, x.Rank()-1))
	if x.Rank() < 2 || last != 1 && last != 2 {
		c.fail("signals of shape %v: want [… 1] of real or [… 2] of complex numbers", x.Shape().Sizes())
	}
	x = bare(x)
	re = ops.At(x, -1, 0)
	if last == 2 {
		return re, ops.At(x, -1, 1)
	}
	return re, ops.ZerosLike(re)
}

// together puts real and imaginary parts into a last axis.
func together(re, im *graph.Node) *graph.Node {
	return ops.Concat(-1, ops.Expand(re, -1, ""), ops.Expand(im, -1, ""))
}

// fourier transforms along an axis, which is an attribute before version 20 and an operand from then
// on.
func fourier(c *call) []value {
	x := c.x(0)
	axis := c.int("axis", 1)
	if c.version() >= 20 {
		axis = -2
		if c.has(2) {
			axis = c.whole(2)
		}
	}
	if axis = c.axis(axis, x.Rank()); axis == x.Rank()-1 {
		c.fail("a transform along the axis of the real and imaginary parts")
	}
	re, im := c.parts(x)
	if c.has(1) {
		n := c.whole(1)
		if n < 1 || n > 1<<24 {
			c.fail("a transform of %d numbers", n)
		}
		re, im = fitted(re, axis, n), fitted(im, axis, n)
	}
	one, inverse := c.int("onesided", 0) != 0, c.int("inverse", 0) != 0
	if one && inverse {
		c.fail("an inverse transform of one side")
	}
	if inverse {
		re, im = ops.IFFT(re, im, axis)
	} else {
		re, im = ops.FFT(re, im, axis)
	}
	if one {
		n := re.Dim(axis)/2 + 1
		re, im = span(re, axis, 0, n), span(im, axis, 0, n)
	}
	return []value{c.is(0, together(re, im))}
}

// fitted returns x with n elements along an axis: with zeros behind them, or the first alone.
func fitted(x *graph.Node, axis, n int) *graph.Node {
	if have := x.Dim(axis); have < n {
		return ops.Pad(x, axis, 0, n-have, 0)
	}
	return span(x, axis, 0, n)
}

// shortFourier transforms frames of signals [batch time 1 or 2], each times a window. Its operands
// are the signals, the step, the window and the length of a frame.
func shortFourier(c *call) []value {
	x := c.x(0)
	if x.Rank() != 3 {
		c.fail("signals of shape %v: want [batch time 1] or [batch time 2]", x.Shape().Sizes())
	}
	step, length := c.whole(1), 0
	if c.has(2) {
		length = c.x(2).Shape().Len()
	}
	if c.has(3) {
		length = c.whole(3)
	}
	time := x.Dim(1)
	if step < 1 || length < 1 || length > time || c.has(2) && c.x(2).Shape().Len() != length {
		c.fail("frames of %d numbers by steps of %d over %d", length, step, time)
	}
	frames := (time-length)/step + 1
	c.bounded(frames * length)
	places := make([]float64, 0, frames*length)
	for f := range frames {
		for i := range length {
			places = append(places, float64(f*step+i))
		}
	}
	index := c.array(graph.I64, places, frames, length)
	re, im := c.parts(x)
	re, im = ops.Gather(re, index, 1), ops.Gather(im, index, 1) // [batch frames length]
	if c.has(2) {
		window := c.reshape(c.x(2), length)
		re, im = ops.Mul(re, window), ops.Mul(im, window)
	}
	re, im = ops.FFT(re, im, 2)
	if c.int("onesided", 1) != 0 {
		re, im = span(re, 2, 0, length/2+1), span(im, 2, 0, length/2+1)
	}
	return []value{c.is(0, together(re, im))}
}

// melWeights has the weights that take the power at the frequencies of a transform to that in bins
// of the mel scale. Its operands are the number of bins, the length of the transform, the sample rate,
// and the lowest and the highest frequency.
func melWeights(c *call) []value {
	bins, length, rate := c.whole(0), c.whole(1), c.whole(2)
	lowest, highest := c.known(3)[0], c.known(4)[0]
	rows := length/2 + 1
	if bins < 0 || length < 1 || rate < 1 || bins > 1<<16 || length > 1<<24 || rows*bins > 1<<26 {
		c.fail("%d bins for transforms of %d numbers at %d a second", bins, length, rate)
	}
	mel := func(f float64) float64 { return 2595 * math.Log10(1+f/700) }
	lo, hi := mel(lowest), mel(highest)
	edges := make([]int, bins+2)
	for i := range edges {
		f := 700 * (math.Pow(10, (lo+float64(i)*(hi-lo)/float64(len(edges)))/2595) - 1)
		edges[i] = int(math.Floor(float64(length+1) * f / float64(rate)))
		if edges[i] < 0 || edges[i] >= rows {
			c.fail("a frequency of %v at %d a second", f, rate)
		}
	}
	data := make([]float64, rows*bins)
	for i := range bins {
		low, mid, high := edges[i], edges[i+1], edges[i+2]
		if low == mid {
			data[mid*bins+i] = 1
		}
		for j := low; j <= mid && low < mid; j++ {
			data[j*bins+i] = float64(j-low) / float64(mid-low)
		}
		for j := mid; j < high; j++ {
			data[j*bins+i] = float64(high-j) / float64(high-mid)
		}
	}
	elem, dt := c.typed("output_datatype", format.Float)
	return []value{{node: c.array(dt, data, rows, bins), elem: elem}}
}
