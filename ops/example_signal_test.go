package ops_test

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// The spectrum of 3 + cos(πt/2) + cos(πt)/2: the mean, a wave of period 4 and one of period 2, each
// times 4 or, where a number and its conjugate share a wave, times 2.
func ExampleRFFT() {
	g := graph.New("spectrum")
	x := g.Constant(graph.F64, []float64{4.5, 2.5, 2.5, 2.5}, graph.Ax("t", 4))
	re, im := ops.RFFT(x, "t")
	show(re, im, ops.IRFFT(re, im, 4, "t"))
	// Output:
	// [t=3] [12 2 2]
	// [t=3] [0 0 0]
	// [t=4] [4.5 2.5 2.5 2.5]
}

// A product of spectra is the spectrum of a circular convolution. The kernel takes each element from
// the one before, and so the derivative by an element is the weight of the one after.
func ExampleFFT() {
	g := graph.New("convolution")
	t := graph.Ax("t", 5)
	x := g.Constant(graph.F64, []float64{1, 2, 3, 4, 5}, t)
	w := g.Constant(graph.F64, []float64{0, 1, 0, 0, 0}, t)
	zero := ops.Sub(x, x)
	a, b := ops.FFT(x, zero, "t")
	c, d := ops.FFT(w, zero, "t")
	y, _ := ops.IFFT(ops.Sub(ops.Mul(a, c), ops.Mul(b, d)), ops.Add(ops.Mul(a, d), ops.Mul(b, c)), "t")
	weights := g.Constant(graph.F64, []float64{10, 20, 30, 40, 50}, t)
	show(y, grad.Of(ops.Sum(ops.Mul(weights, y)), x)[0])
	// Output:
	// [t=5] [5 1 2 3 4]
	// [t=5] [20 30 40 50 10]
}
