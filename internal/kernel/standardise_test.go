package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// momentsOf returns, for an index of the kept axes, the mean and the reciprocal standard deviation
// of what is averaged.
func momentsOf(x array, mask uint8, eps float64) func(kept []int) (mean, rstd float64) {
	known := map[string][2]float64{}
	return func(kept []int) (float64, float64) {
		key := fmt.Sprint(kept)
		m, ok := known[key]
		if !ok {
			sum, squares, n := 0.0, 0.0, 0.0
			folds(x, mask, kept, func(_ int, v float64) { sum, n = sum+v, n+1 })
			folds(x, mask, kept, func(_ int, v float64) { squares += (v - sum/n) * (v - sum/n) })
			m = [2]float64{sum / n, 1 / math.Sqrt(squares/n+eps)}
			known[key] = m
		}
		return m[0], m[1]
	}
}

func TestStandardise(t *testing.T) { atLevels(t, testStandardise) }

func testStandardise(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, dims := range append(shapes(r), []int{5, 300, 20}, []int{2, 40, 33, 3}, []int{3, 2500}, []int{300, 40}, []int{2, 20, 30}) {
		for range 2 {
			mask := uint8(r.IntN(1 << len(dims)))
			for _, dt := range []DType{F32, F64} {
				for _, offset := range []float64{0, 100} { // a mean of squares minus a squared mean would lose digits
					x := styled(r, styleDense, dt, func(r *rand.Rand) float64 { return offset + plain(r) }, dims...)
					tol := map[DType]float64{F32: 1e-5 * (1 + offset/20), F64: 1e-12 * (1 + offset/20)}[dt]
					const eps = 1e-2
					of := momentsOf(x, mask, eps)
					check(t, Standardise{Axes: mask, Eps: eps}, dt, dims, []array{x}, tol, func(ix []int) float64 {
						mean, rstd := of(keptDims(ix, mask))
						return (x.get(ix...) - mean) * rstd
					})
					check(t, Rstd{Axes: mask, Eps: eps}, dt, keptDims(dims, mask), []array{x}, tol, func(ix []int) float64 {
						_, rstd := of(ix)
						return rstd
					})
				}
			}
		}
	}
}

// Rows and columns with a special value are NaN throughout, the others are not touched by it.
func TestStandardiseOfSpecialValues(t *testing.T) { atLevels(t, testStandardiseOfSpecialValues) }

func testStandardiseOfSpecialValues(t *testing.T) {
	const n = 20
	inf, nan := math.Inf(1), math.NaN()
	for _, special := range []float64{inf, -inf, nan} {
		for _, axis := range []int{0, 1} {
			x := make([]float64, 3*n)
			at := func(row, i int) *float64 { return &x[[]int{i*3 + row, row*n + i}[axis]] }
			for i := range n {
				*at(0, i), *at(1, i), *at(2, i) = float64(i), float64(i%2), 7
			}
			*at(0, 5) = special
			dims := [][]int{{n, 3}, {3, n}}[axis]
			a := array{Dense(F64, dims...), Of(x)}
			check(t, Standardise{Axes: 1 << axis}, F64, dims, []array{a}, 1e-15, func(ix []int) float64 {
				if ix[1-axis] != 1 {
					return nan // the last is constant: 0/0
				}
				return float64(2*(ix[axis]%2) - 1)
			})
			check(t, Rstd{Axes: 1 << axis}, F64, []int{3}, []array{a}, 1e-15, func(ix []int) float64 { return []float64{nan, 2, inf}[ix[0]] })
			check(t, Standardise{Axes: 1 << axis, Eps: 1}, F64, dims, []array{a}, 1e-15, func(ix []int) float64 {
				return []float64{nan, float64(2*(ix[axis]%2)-1) / 2 / math.Sqrt(1.25), 0}[ix[1-axis]]
			})
		}
	}
}

// What a block of rows gives does not depend on where the rows are cut.
func TestStandardiseDivides(t *testing.T) { atLevels(t, testStandardiseDivides) }

func testStandardiseDivides(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		dims []int
		mask uint8
	}{{[]int{60, 130}, 2}, {[]int{12, 40, 30}, 2}, {[]int{12, 3, 1100}, 4}, {[]int{6, 20, 70}, 6}} {
		x := styled(r, styleDense, F32, plain, c.dims...)
		out := Dense(F32, c.dims...)
		k := Standardise{Axes: c.mask, Eps: 1e-5}
		whole, parts := Alloc(4*out.Len()), Alloc(4*out.Len())
		run := func(out, in Layout, dst, src Mem) {
			ctx := dirty(worker, []array{{in, src}})
			ctx.Out = dst
			loop := k.Bind(out, []Layout{in})
			loop.Run(ctx, 0, loop.Units)
		}
		run(out, x.Layout, whole, x.mem)
		d := k.Divide(out, []Layout{x.Layout})[0]
		rows := c.dims[0]
		to, ok := d.Rows(out, -1, rows)
		from, also := d.Rows(x.Layout, 0, rows)
		if !ok || !also {
			t.Fatalf("%v over %b does not divide", c.dims, c.mask)
		}
		for row := 0; row < rows; {
			n := min(1+r.IntN(5), rows-row)
			run(to.Layout(n), from.Layout(n), parts.From(4*to.At(row)), x.mem.From(4*from.At(row)))
			row += n
		}
		for i, v := range As[float32](whole) {
			if got := As[float32](parts)[i]; got != v {
				t.Fatalf("%v over %b: element %d is %v in a block of rows, %v in all", c.dims, c.mask, i, got, v)
			}
		}
	}
}
