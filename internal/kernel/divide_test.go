package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Blocks of rows, written or added up, give what the kernel gives at once.
func TestDivisions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	x := func(dims ...int) array { return styled(r, styleDense, F64, (*rand.Rand).NormFloat64, dims...) }
	for _, c := range []struct {
		Kernel
		out []int
		in  []array
	}{
		{MatMul{}, []int{5, 33}, []array{x(5, 17), x(17, 33)}},
		{MatMul{}, []int{4, 5, 33}, []array{x(4, 5, 17), x(4, 17, 33)}},
		{MatMul{}, []int{2, 3, 5, 33}, []array{x(3, 5, 17), x(2, 1, 17, 33)}},
		{Reduce{Op: ReduceMean, Axes: 0b100}, []int{2, 3, 17}, []array{x(2, 3, 9, 17)}},
		{SqDist{}, []int{5, 7}, []array{x(5, 17), x(7, 17)}},
		{WeightedDiff{}, []int{5, 17}, []array{x(5, 7), x(5, 17), x(7, 17)}},
		{DiffDot{}, []int{5, 7}, []array{x(5, 17), x(5, 17), x(7, 17)}},
		{Reduce{Op: ReduceSum, Axes: 1}, []int{17}, []array{x(9, 17)}},
		{Reduce{Op: ReduceMean, Axes: 1}, []int{17}, []array{x(9, 17)}},
		{Reduce{Op: ReduceMean, Axes: 3}, []int{17}, []array{x(9, 3, 17)}},
		{Reduce{Op: ReduceMax, Axes: 2}, []int{9}, []array{x(9, 17)}},
		{Reduce{Op: ReduceSum, Axes: 2}, []int{9}, []array{x(9, 17)}},
	} {
		t.Run(fmt.Sprintf("%+v", c.Kernel), func(t *testing.T) { checkDivision(t, c.Kernel, F64, c.out, c.in, 1e-13) })
	}
}

// TestSumsDivide: rows of a sum stand alone where they are kept, and add up where they are folded,
// be it along the first axes or along the last ones.
func TestSumsDivide(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	whole := func(r *rand.Rand) float64 { return float64(r.IntN(100)) } // adds up without rounding
	for _, c := range []struct {
		dims     []int
		mask     uint8
		kept     bool // there is a division into rows of the result
		contribs int  // divisions into terms
	}{
		{[]int{7, 5}, 0b01, false, 1},
		{[]int{7, 5}, 0b10, true, 1},
		{[]int{7, 5}, 0b11, false, 1},
		{[]int{4, 3, 5}, 0b100, true, 1},
		{[]int{4, 3, 5}, 0b110, true, 1},
		{[]int{4, 3, 5}, 0b010, true, 1},
		{[]int{4, 3, 5}, 0b101, false, 1},
	} {
		k := Reduce{Op: ReduceSum, Axes: c.mask}
		for style := range styles {
			x := styled(r, style, F32, whole, c.dims...)
			if style == styleReversed { // rows go forwards
				continue
			}
			out := keptDims(c.dims, c.mask)
			checkDivision(t, k, F32, out, []array{x}, 0)
			kept, terms := 0, 0
			for _, d := range k.Divide(Dense(F32, out...), []Layout{x.Layout}) {
				if d.Accumulate == nil {
					kept++
				} else {
					terms++
				}
			}
			if kept > 1 || (kept > 0) != c.kept || terms != c.contribs {
				t.Errorf("%v, axes %b: %d divisions into rows and %d into terms", c.dims, c.mask, kept, terms)
			}
		}
	}
	for _, op := range []ReduceOp{ReduceProd, ReduceMax, ReduceMin} {
		x := Dense(F32, 7, 5)
		for _, d := range (Reduce{Op: op, Axes: 0b10}).Divide(Dense(F32, 7), []Layout{x}) {
			if d.Accumulate != nil {
				t.Errorf("fold %v adds up", op)
			}
		}
	}
}
