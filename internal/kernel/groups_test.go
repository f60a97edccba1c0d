package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestGroups: what is averaged over a short innermost axis and another one outside of the results
// is as defined, however the operand lies, and sums add to what is there.
func TestGroups(t *testing.T) { atLevels(t, testGroups) }

func testGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		dims []int
		mask uint8
		is   bool // they are folded as groups
	}{
		{[]int{2, 30, 4, 8}, 0b1010, true},
		{[]int{3, 5, 6, 4, 3}, 0b10110, true},
		{[]int{9, 300, 5}, 0b101, true}, // more columns than a unit has
		{[]int{40, 2, 64}, 0b101, true},
		{[]int{40, 2, 65}, 0b101, false},
		{[]int{7, 4, 8}, 0b101, false},
		{[]int{2, 300, 3, 2}, 0b1010, true},
	} {
		for _, dt := range []DType{F32, F64} {
			for style := range styles {
				x := styled(r, style, dt, func(r *rand.Rand) float64 { return 3 + plain(r) }, c.dims...)
				kept := keptDims(c.dims, c.mask)
				if style == styleDense {
					walked := walkOf(x.Layout, c.mask, 0)
					high, far := walked.inner()
					if is := grouped(walkOf(x.Layout, ^c.mask, 0), walked.outer(), high, far); is != c.is {
						t.Errorf("%v over %b: groups %v, want %v", c.dims, c.mask, is, c.is)
					}
					of := momentsOf(x, c.mask, 0.1)
					tol := map[DType]float64{F32: 1e-5, F64: 1e-12}[dt]
					check(t, Standardise{Axes: c.mask, Eps: 0.1}, dt, c.dims, []array{x}, tol, func(ix []int) float64 {
						mean, rstd := of(keptDims(ix, c.mask))
						return (x.get(ix...) - mean) * rstd
					})
					check(t, Rstd{Axes: c.mask, Eps: 0.1}, dt, kept, []array{x}, tol, func(ix []int) float64 {
						_, rstd := of(ix)
						return rstd
					})
				}
				for _, op := range []ReduceOp{ReduceSum, ReduceMean, ReduceMax} {
					check(t, Reduce{Op: op, Axes: c.mask}, dt, kept, []array{x}, map[DType]float64{F32: 1e-3, F64: 1e-9}[dt], func(ix []int) float64 {
						sum, n, most := 0.0, 0.0, math.Inf(-1)
						folds(x, c.mask, ix, func(_ int, v float64) { sum, n, most = sum+v, n+1, max(most, v) })
						return map[ReduceOp]float64{ReduceSum: sum, ReduceMean: sum / n, ReduceMax: most}[op]
					})
				}
				for _, to := range []DType{dt, F64} {
					ctx := dirty(worker, []array{x})
					out := Dense(to, kept...)
					ctx.Out = Alloc(out.Len() * to.Size())
					for i := range out.Len() {
						set(to, ctx.Out, i, float64(i))
					}
					loop := Reduce{Op: ReduceSum, Axes: c.mask, Accumulate: true}.Bind(out, []Layout{x.Layout})
					loop.Run(ctx, 0, loop.Units)
					i := 0
					indices(kept, func(ix []int) {
						want := float64(i)
						folds(x, c.mask, ix, func(_ int, v float64) { want += v })
						if got := element(to, ctx.Out, i); !same(got, want, map[DType]float64{F32: 1e-2, F64: 1e-9}[dt]) {
							t.Fatalf("%v %v over %b added to %d in %v is %v, want %v", dt, c.dims, c.mask, i, to, got, want)
						}
						i++
					})
				}
			}
		}
	}
}
