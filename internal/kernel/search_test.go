package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSearchSorted holds places to counts of the elements that come before, for rows and numbers of any
// layout, with ties, infinities and NaN.
func TestSearchSorted(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 6))
	coarse := func(r *rand.Rand) float64 { return float64(r.IntN(7) - 3) }
	before := func(a, b float64) bool { return a < b || a == a && b != b }
	for range 40 {
		rows := make([]int, 1+r.IntN(3))
		for a := range rows {
			rows[a] = 1 + r.IntN(5)
		}
		rows[len(rows)-1] = r.IntN(40)
		numbers := slices.Clone(rows[:len(rows)-1])
		for range r.IntN(3) {
			numbers = append(numbers, r.IntN(30))
		}
		for _, dt := range []DType{F32, F64, I32, I64} {
			value := special
			if dt >= I32 || r.IntN(2) == 0 {
				value = coarse
			}
			sorted, x := styled(r, []int{styleDense, stylePermuted, styleGaps, styleReversed}[r.IntN(4)], dt, value, rows...), random(r, dt, value, numbers...)
			sortRows(sorted)
			for _, right := range []bool{false, true} {
				check(t, SearchSorted{Right: right}, I32, numbers, []array{sorted, x}, 0, func(ix []int) (n float64) {
					v := x.get(ix...)
					at := append(slices.Clone(ix[:len(rows)-1]), 0)
					for at[len(rows)-1] = range rows[len(rows)-1] {
						if e := sorted.get(at...); before(e, v) || right && !before(v, e) {
							n++
						}
					}
					return n
				})
			}
		}
	}
}

// sortRows sorts an array along its last axis, NaN last.
func sortRows(a array) {
	last := a.Rank - 1
	indices(a.Dims[:last], func(ix []int) {
		var row []float64
		p := a.Offset
		for b, i := range ix {
			p += i * a.Strides[b]
		}
		for i := range a.Dims[last] {
			row = append(row, element(a.DType, a.mem, p+i*a.Strides[last]))
		}
		slices.SortFunc(row, func(x, y float64) int {
			switch {
			case x < y || x == x && y != y:
				return -1
			case x > y || x != x && y == y:
				return 1
			}
			return 0
		})
		for i, v := range row {
			set(a.DType, a.mem, p+i*a.Strides[last], v)
		}
	})
}

// A million numbers in 1000 bins.
func BenchmarkSearchSorted(b *testing.B) {
	for _, bins := range []int{10, 1000} {
		b.Run(fmt.Sprint(bins), func(b *testing.B) {
			limits, x := make([]float32, bins), make([]float32, 1e6)
			for i := range limits {
				limits[i] = float32(i) / float32(bins)
			}
			for i := range x {
				x[i] = float32(Random{Key: 1}.Draw(F32, 1, 0, uint64(i)))
			}
			c := NewCtx()
			c.In, c.Out = []Mem{Of(limits), Of(x)}, Of(make([]int32, len(x)))
			loop := SearchSorted{}.Bind(Dense(I32, len(x)), []Layout{Dense(F32, bins), Dense(F32, len(x))})
			b.ReportAllocs()
			for b.Loop() {
				loop.Run(c, 0, loop.Units)
			}
		})
	}
}
