package ops

import (
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// fft transforms complex numbers, pairs along the last axis, along another axis; there is no factor
// before the sum, so that the one direction is the adjoint of the other.
type fft struct {
	Axis    int
	Inverse bool
}

// FFT returns the discrete Fourier transform of complex numbers along one axis, as the arrays of
// their real and imaginary parts:
//
//	X_k = Σ_j x_j·e^(−2πi·jk/n)
//
// re and im are floats of one shape, of at most 7 axes; so are the results. n may be any number. It
// takes O(n log n) operations (Cooley & Tukey, 1965; Bluestein, 1970, for prime factors above 31), in
// float64 also for f32. As in NumPy, the factor 1/n is that of [IFFT]. Where an element is NaN or
// infinite, every number of the result along the axis has a part that is not finite.
func FFT(re, im *graph.Node, axis any) (realPart, imagPart *graph.Node) {
	defer calling("FFT", re, im)()
	return parts(fourier("FFT", re, im, axis, false))
}

// IFFT returns the inverse of [FFT] along one axis: x_j = (1/n)·Σ_k X_k·e^(2πi·jk/n).
func IFFT(re, im *graph.Node, axis any) (realPart, imagPart *graph.Node) {
	defer calling("IFFT", re, im)()
	y := fourier("IFFT", re, im, axis, true)
	if y.IsValid() {
		y = Scale(y, 1/float64(y.Dim(y.Op().(fft).Axis)))
	}
	return parts(y)
}

// RFFT returns the first ⌊n/2⌋+1 numbers of the [FFT] of real x along one axis of size n; the others
// are their conjugates, X_{n−k} = X̄_k.
func RFFT(x *graph.Node, axis any) (realPart, imagPart *graph.Node) {
	defer calling("RFFT", x)()
	zero := x
	if x.IsValid() {
		zero = BroadcastTo(Lit(x, 0), x.Shape())
	}
	y := fourier("RFFT", x, zero, axis, false)
	if y.IsValid() {
		a := y.Op().(fft).Axis
		y = Slice(y, a, 0, y.Dim(a)/2+1)
	}
	return parts(y)
}

// IRFFT returns the real array of size n along one axis whose [RFFT] is re + i·im, of which there
// are ⌊n/2⌋+1 numbers along the axis; n tells an even size from an odd one. As in NumPy, the
// imaginary part of number 0 does not count, nor does that of number n/2.
func IRFFT(re, im *graph.Node, n int, axis any) *graph.Node {
	defer calling("IRFFT", re, im)()
	if !re.IsValid() {
		return graph.Of(re, im).Fail("IRFFT", errNil, re, im)
	}
	return withAxes("IRFFT", re, []any{axis}, func(list []int) *graph.Node {
		a := list[0]
		bins := re.Dim(a)
		if n < 1 || n/2+1 != bins {
			return re.Graph().Fail("IRFFT", &graph.Mistake{Problem: fmt.Sprintf("%d numbers along axis %v for %d real ones", bins, re.Shape().Axis(a), n),
				Fix: fmt.Sprintf("give a size of %d or %d", max(1, 2*bins-2), 2*bins-1)}, re, im)
		}
		z := paired("IRFFT", re, im)
		if !z.IsValid() || !z.DType().IsFloat() {
			return first(parts(graph.Apply(fft{a, true}, z)))
		}
		weights := make([]float64, bins) // a number and its conjugate count together
		for k := range weights {
			weights[k] = 2 / float64(n)
			if k == 0 || 2*k == n {
				weights[k] = 1 / float64(n)
			}
		}
		axes := graph.Dims(make([]int, z.Rank()-a)...)
		for i := range axes {
			axes[i].Size = 1
		}
		axes[0] = graph.Axis{Size: bins}
		z = Mul(z, z.Graph().Constant(z.DType(), weights, axes...))
		return first(parts(graph.Apply(fft{a, true}, Pad(z, a, 0, n-bins, 0))))
	})
}

func first(y, _ *graph.Node) *graph.Node { return y }

// fourier packs the parts of complex numbers and transforms them along an axis.
func fourier(what string, re, im *graph.Node, axis any, inverse bool) *graph.Node {
	if !re.IsValid() {
		return graph.Of(re, im).Fail(what, errNil, re, im)
	}
	return withAxes(what, re, []any{axis}, func(list []int) *graph.Node {
		return graph.Apply(fft{list[0], inverse}, paired(what, re, im))
	})
}

// paired is the array of complex numbers, whose last axis has the real and the imaginary part.
func paired(what string, re, im *graph.Node) *graph.Node {
	if im.IsValid() && re.Graph() == im.Graph() && !re.Shape().SameSizes(im.Shape()) {
		return re.Graph().Fail(what, fmt.Errorf("a real part of shape %v and an imaginary part of shape %v: want one shape", re.Shape(), im.Shape()), re, im)
	}
	return Stack(-1, "", re, im)
}

// parts takes complex numbers apart.
func parts(z *graph.Node) (re, im *graph.Node) {
	if !z.IsValid() {
		return z, z
	}
	return Squeeze(Slice(z, -1, 0, 1), -1), Squeeze(Slice(z, -1, 1, 2), -1)
}

func (fft) Name() string                   { return "FFT" }
func (fft) Kind() match.Kind               { return match.FFT }
func (fft) Magnifies() trait.Magnification { return trait.Cancellation }
func (fft) Doc() string                    { return "discrete Fourier transform of pairs along an axis" }

// Rule returns the name of the rule of its derivative.
func (fft) Rule(_ []bool) (name string, law expr.Expr) {
	return named("the transform the other way round")
}

func (op fft) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 1); err != nil {
		return graph.Type{}, err
	}
	if err := wantFloat(in...); err != nil {
		return graph.Type{}, err
	}
	s := in[0].Shape()
	if s.Rank() < 2 || s.Dim(s.Rank()-1) != 2 {
		return graph.Type{}, fmt.Errorf("%v: want pairs along the last axis", s)
	}
	if op.Axis < 0 || op.Axis >= s.Rank()-1 {
		return graph.Type{}, fmt.Errorf("axis %d of %v", op.Axis, s)
	}
	return in[0].Type(), nil
}

// Grad is the adjoint of the transform, the other way round.
func (op fft) Grad(_, dy *graph.Node, _ int) *graph.Node {
	return graph.Apply(fft{op.Axis, !op.Inverse}, dy)
}

func (fft) JVP(y *graph.Node, dx []*graph.Node) *graph.Node { return linearly(y, dx) }

func (op fft) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return graph.Apply(fft{op.Axis + 1, op.Inverse}, in[0])
}

// Eval is the sum of all products.
func (op fft) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	s, sign, n := y.Shape(), -1.0, y.Dim(op.Axis)
	if op.Inverse {
		sign = 1
	}
	out := graph.NewValue(y.Type())
	p := 0
	walk(s, func(ix []int) {
		k, imag := ix[op.Axis], ix[len(ix)-1] == 1
		from, sum := slices.Clone(ix), 0.0
		for j := range n {
			from[op.Axis], from[len(ix)-1] = j, 0
			re := in[0].Data[at(s, from)]
			from[len(ix)-1] = 1
			im := in[0].Data[at(s, from)]
			sin, cos := math.Sincos(sign * 2 * math.Pi * float64(j*k%n) / float64(n))
			if imag {
				sum += re*sin + im*cos
			} else {
				sum += re*cos - im*sin
			}
		}
		out.Data[p] = sum
		p++
	})
	return out
}

func (op fft) Kernel(*graph.Node) kernel.Kernel {
	return kernel.FFT{Axis: op.Axis, Inverse: op.Inverse}
}

func (op fft) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	name := "fft"
	if op.Inverse {
		name = "n·ifft"
	}
	return functionAlong(name, y, op.Axis, in[0])
}

func (fft) Cases() []Case {
	one := func(typ string, op fft) Case {
		return Case{[]Operand{{typ, Reals}}, func(in []*graph.Node) *graph.Node { return graph.Apply(op, in[0]) }}
	}
	return []Case{
		one("float[t=4 2]", fft{0, false}),
		one("float[i=3 t=5 d=2 2]", fft{1, true}),
		one("float[i=2 t=6 2]", fft{1, false}),
		{[]Operand{{"float[i=2 t=7]", Reals}, {"float[i=2 t=7]", Reals}}, func(in []*graph.Node) *graph.Node {
			return first(FFT(in[0], in[1], "t"))
		}},
		{[]Operand{{"float[t=4 d=2]", Reals}, {"float[t=4 d=2]", Reals}}, func(in []*graph.Node) *graph.Node {
			return IRFFT(in[0], in[1], 7, "t")
		}},
	}
}
