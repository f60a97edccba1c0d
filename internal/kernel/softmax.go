package kernel

// Softmax is exp(x)/Σ exp(x) along an axis, negative counted from the end, or its logarithm. The
// greatest element of each row is subtracted first, so that nothing overflows. A row of -Inf alone,
// or with +Inf or NaN in it, gives NaN. Where exp(x − max) is less than 2²⁴ times the smallest
// normal number, the quotient is 0: products with subnormal numbers take a hundred cycles each, and
// a weight so small changes no sum.
type Softmax struct {
	elementwise // each row overwrites itself alone
	Axis        int
	Log         bool
}

// LogSumExp is log Σ exp(x) along an axis, negative counted from the end, which is removed or kept
// with size 1. A row of -Inf alone, or an empty one, gives -Inf; one with +Inf gives +Inf; one with
// NaN gives NaN.
type LogSumExp struct {
	apart
	Axis int
}

// Flops counts four per element: subtraction, exponential, sum, division.
func (Softmax) Flops(out Layout, _ []Layout) int64 { return 4 * int64(out.Len()) }

// Flops counts three per element of the operand: subtraction, exponential, sum.
func (LogSumExp) Flops(_ Layout, in []Layout) int64 { return 3 * int64(in[0].Len()) }

// Divide divides along the axes before the one that is normalised.
func (k Softmax) Divide(out Layout, in []Layout) []Division { return along(out, in, out.axis(k.Axis)) }

// Bind takes one operand, of floats.
func (k Softmax) Bind(out Layout, in []Layout) Bound {
	kind := softmax
	if k.Log {
		kind = logSoftmax
	}
	switch out.DType {
	case F32:
		return exponentialLoop[float32](kind, out, in[0], k.Axis)
	case F64:
		return exponentialLoop[float64](kind, out, in[0], k.Axis)
	}
	panic(unsupported(k, out.DType))
}

// Divide divides along the axes before the one that is summed.
func (k LogSumExp) Divide(out Layout, in []Layout) []Division {
	return along(out, in, in[0].axis(k.Axis))
}

// Bind takes one operand, of floats.
func (k LogSumExp) Bind(out Layout, in []Layout) Bound {
	switch out.DType {
	case F32:
		return exponentialLoop[float32](logSumExp, out, in[0], k.Axis)
	case F64:
		return exponentialLoop[float64](logSumExp, out, in[0], k.Axis)
	}
	panic(unsupported(k, out.DType))
}

type exponential uint8

const (
	softmax exponential = iota
	logSoftmax
	logSumExp
)
