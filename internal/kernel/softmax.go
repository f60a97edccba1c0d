package kernel

import "math"

// Softmax is exp(x)/Σ exp(x) along an axis, negative counted from the end, or its logarithm. The greatest element of each row is
// subtracted first, so that nothing overflows. A row of -Inf alone, or with +Inf or NaN in it, gives NaN.
type Softmax struct {
	elementwise // each row overwrites itself alone
	Axis        int
	Log         bool
}

// LogSumExp is log Σ exp(x) along an axis, negative counted from the end, which is removed or kept with size 1. A row of -Inf alone,
// or an empty one, gives -Inf; one with +Inf gives +Inf; one with NaN gives NaN.
type LogSumExp struct {
	apart
	Axis int
}

// Flops counts four per element: subtraction, exponential, sum, division.
func (Softmax) Flops(out Layout, _ []Layout) int64 { return 4 * int64(out.Len()) }

// Flops counts three per element of the operand: subtraction, exponential, sum.
func (LogSumExp) Flops(_ Layout, in []Layout) int64 { return 3 * int64(in[0].Len()) }

// Bind takes one operand, of floats.
func (k Softmax) Bind(out Layout, in []Layout) Loop {
	kind := softmax
	if k.Log {
		kind = logSoftmax
	}
	switch out.DType {
	case F32:
		return exponentialLoop[float32](kind, in[0], k.Axis)
	case F64:
		return exponentialLoop[float64](kind, in[0], k.Axis)
	}
	panic(unsupported(k, out.DType))
}

// Bind takes one operand, of floats.
func (k LogSumExp) Bind(out Layout, in []Layout) Loop {
	switch out.DType {
	case F32:
		return exponentialLoop[float32](logSumExp, in[0], k.Axis)
	case F64:
		return exponentialLoop[float64](logSumExp, in[0], k.Axis)
	}
	panic(unsupported(k, out.DType))
}

type exponential uint8

const (
	softmax exponential = iota
	logSoftmax
	logSumExp
)

// exponentialLoop goes along the rows where the axis is the last, else through blocks of neighbouring rows side by side, so that
// the result is written in order either way.
func exponentialLoop[T float](kind exponential, x Layout, axis int) Loop {
	axis = x.axis(axis)
	kept, row := split(x, 1<<axis)
	inner := x.count(axis+1, x.Rank)
	if inner > 1 {
		across := blocks(inner, columns)
		return Loop{kept.n / inner * across, func(c *Ctx, lo, hi int) {
			for u := lo; u < hi; u++ {
				from := u % across * columns
				exponentialColumns[T](c, kind, kept, row, inner, u/across, from, min(from+columns, inner))
			}
		}}
	}
	per := rowsPer(row.n)
	return Loop{blocks(kept.n, per), func(c *Ctx, lo, hi int) {
		for o := lo * per; o < min(hi*per, kept.n); o++ {
			exponentialRow[T](c, kind, kept, row, o)
		}
	}}
}

// exponentialRow does row o.
func exponentialRow[T float](c *Ctx, kind exponential, kept, row *walk, o int) {
	src, buf, base, n := raw[T](c.In[0]), tile[T](c, 0), kept.at(o), row.n
	peak, sum := negInf, 0.0
	for i := 0; i < n; i += tileLen {
		peak = maxTile(peak, read(row, src, buf, base, i, min(i+tileLen, n)))
	}
	out := raw[T](c.Out)
	if kind != logSumExp {
		out = out[o*n : (o+1)*n]
	}
	for i := 0; i < n; i += tileLen {
		end := min(i+tileLen, n)
		var exps []T
		if kind == softmax {
			exps = out[i:end]
		}
		sum += sumExp(exps, read(row, src, buf, base, i, end), peak)
	}
	switch kind {
	case softmax:
		for i, e := range out {
			out[i] = T(float64(e) / sum)
		}
	case logSoftmax:
		logSum := math.Log(sum)
		for i := 0; i < n; i += tileLen {
			for j, v := range read(row, src, buf, base, i, min(i+tileLen, n)) {
				out[i+j] = T(float64(v) - peak - logSum)
			}
		}
	case logSumExp:
		out[o] = T(logOfSum(peak, sum))
	}
}

// exponentialColumns does columns [from,to) of the matrix, row.n by inner, that has the given number.
func exponentialColumns[T float](c *Ctx, kind exponential, kept, row *walk, inner, matrix, from, to int) {
	src, buf, out, n := raw[T](c.In[0]), tile[T](c, 0), raw[T](c.Out), row.n
	peak, sum := tile[float64](c, 1)[:to-from], tile[float64](c, 2)[:to-from]
	fill(peak, negInf)
	clear(sum)
	lo, hi := matrix*inner+from, matrix*inner+to
	for at, k := row.seek(0), 0; k < n; k++ {
		maxRow(peak, read(kept, src, buf, at.pos, lo, hi))
		row.step(&at, 1)
	}
	for at, k := row.seek(0), 0; k < n; k++ {
		var exps []T
		if kind == softmax {
			exps = out[(matrix*n+k)*inner+from:][:to-from]
		}
		sumExpRow(exps, read(kept, src, buf, at.pos, lo, hi), peak, sum)
		row.step(&at, 1)
	}
	if kind == logSumExp {
		for j := range sum {
			out[lo+j] = T(logOfSum(peak[j], sum[j]))
		}
		return
	}
	if kind == logSoftmax {
		for j, s := range sum {
			sum[j] = math.Log(s)
		}
	}
	for at, k := row.seek(0), 0; k < n; k++ {
		dst := out[(matrix*n+k)*inner+from:][:to-from]
		if kind == softmax {
			for j, e := range dst {
				dst[j] = T(float64(e) / sum[j])
			}
		} else {
			for j, v := range read(kept, src, buf, at.pos, lo, hi) {
				dst[j] = T(float64(v) - peak[j] - sum[j])
			}
		}
		row.step(&at, 1)
	}
}

// sumExp is Σ exp(x - peak); it keeps the terms in dst, if there is one.
func sumExp[T float](dst, x []T, peak float64) (sum float64) {
	for i, v := range x {
		e := math.Exp(float64(v) - peak)
		sum += e
		if dst != nil {
			dst[i] = T(e)
		}
	}
	return sum
}

// sumExpRow adds exp(x[i] - peak[i]) to sum[i]; it keeps the terms in dst, if there is one.
func sumExpRow[T float](dst, x []T, peak, sum []float64) {
	for i, v := range x {
		e := math.Exp(float64(v) - peak[i])
		sum[i] += e
		if dst != nil {
			dst[i] = T(e)
		}
	}
}

// logOfSum is peak + log sum. An infinite peak decides alone: its differences are NaN.
func logOfSum(peak, sum float64) float64 {
	if math.IsInf(peak, 0) {
		return peak
	}
	return peak + math.Log(sum)
}
