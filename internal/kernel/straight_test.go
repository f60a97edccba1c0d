package kernel

import (
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// TestRunStraight: kernels that run straight do what each of them does alone, whether they are one
// call of a loop or not, and look at the memory before they use it.
func TestRunStraight(t *testing.T) {
	const n = 21
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = float64(i)-7.25, float64(i%4)+0.5
	}
	row, one := Dense(F64, n), Layout{DType: F64, Rank: 1, Dims: Dense(F64, n).Dims}
	turned := Layout{DType: F64, Rank: 2}
	turned.Dims, turned.Strides = Dense(F64, 3, 7).Dims, [MaxRank]int{1, 3}
	for name, c := range map[string]struct {
		kernel Kernel
		out    Layout
		in     []Layout
		single bool // it is one call
	}{
		"rows":           {Binary{Operation: simd.Mul}, row, []Layout{row, row}, true},
		"one element":    {Binary{Operation: simd.Sub}, row, []Layout{row, one}, simd.ZipOf[float64](level, simd.Sub).OneY != nil},
		"transposed":     {Binary{Operation: simd.Add}, Dense(F64, 3, 7), []Layout{turned, Dense(F64, 3, 7)}, false},
		"no operation":   {Unary{Function: simd.Exp}, row, []Layout{row}, false},
		"of no elements": {Binary{Operation: simd.Add}, Dense(F64, 0), []Layout{Dense(F64, 0), Dense(F64, 0)}, false},
	} {
		b := c.kernel.Bind(c.out, c.in)
		s := NewStraight(c.kernel, c.out, c.in, b)
		if single := s.pair != nil; single != c.single {
			t.Errorf("%s: one call of a loop: %v, want %v", name, single, c.single)
		}
		got, want := make([]float64, n), make([]float64, n)
		in := []Mem{Of(x), Of(y)}[:len(c.in)]
		ctx := NewCtx()
		ctx.Out, ctx.In = Of(want), in
		b.Run(ctx, 0, b.Units)
		ctx.Out = Of(got)
		RunStraight([]Straight{s}, []Ctx{*ctx})
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		if !c.single {
			continue
		}
		for operand := range 3 {
			mem := []Mem{Of(got), in[0], in[1]}
			if mem[operand] = mem[operand].First(8); name == "one element" && operand == 2 {
				mem[operand] = Mem{}
			}
			func() {
				defer func() {
					if r := recover(); r != short {
						t.Errorf("%s: array %d is too short: got %v", name, operand, r)
					}
				}()
				RunStraight([]Straight{s}, []Ctx{{Out: mem[0], In: mem[1:], Worker: ctx.Worker}})
			}()
		}
	}
}
