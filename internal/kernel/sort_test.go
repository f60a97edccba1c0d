package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestArgSort holds sorts, whole and of the first few, to a stable sort of each row: of arrays of
// any layout, and of rows that are longer than the collected part.
func TestArgSort(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	coarse := func(r *rand.Rand) float64 { return float64(r.IntN(9) - 4) } // many ties
	dims := shapes(r)
	for _, n := range []int{1, 47, 48, 100, 200, 3000} {
		dims = append(dims, []int{n}, []int{2, n}, []int{n, 2})
	}
	for _, d := range dims {
		if len(d) == 0 {
			continue
		}
		axis := slices.Index(d, slices.Max(d))
		for _, dt := range []DType{F32, F64, I32, I64, Bool} {
			for _, value := range []func(*rand.Rand) float64{coarse, special} {
				if dt >= I32 {
					value = func(r *rand.Rand) float64 { return float64(r.IntN(2000) - 1000) }
				}
				testArgSort(t, r, random(r, dt, value, d...), axis)
			}
		}
	}
}

func testArgSort(t *testing.T, r *rand.Rand, x array, axis int) {
	t.Helper()
	d := slices.Clone(x.shape())
	n := d[axis]
	for _, down := range []bool{false, true} {
		orders := map[string][]int{}
		order := func(ix []int) []int {
			row := slices.Clone(ix)
			row[axis] = 0
			key := fmt.Sprint(row)
			if orders[key] == nil {
				list, values := make([]int, n), make([]float64, n)
				for i := range n {
					row[axis] = i
					list[i], values[i] = i, x.get(row...)
				}
				slices.SortStableFunc(list, func(i, j int) int {
					a, b := values[i], values[j]
					c := 0
					switch {
					case a < b || !math.IsNaN(a) && math.IsNaN(b):
						c = -1
					case a > b || math.IsNaN(a) && !math.IsNaN(b):
						c = 1
					}
					if down {
						return -c
					}
					return c
				})
				orders[key] = list
			}
			return orders[key]
		}
		for _, first := range []int{n, min(n, 3), min(n, 100)} {
			d[axis] = first
			check(t, ArgSort{Axis: axis - len(d), Descending: down}, I64, d, []array{x}, 0, func(ix []int) float64 { return float64(order(ix)[ix[axis]]) })
		}
	}
}

// TestArgSortAllocatesOnce: a run allocates nothing, once a row as long has been sorted.
func TestArgSortAllocatesOnce(t *testing.T) {
	x, y := make([]float32, 900), make([]int64, 900)
	c := NewCtx()
	c.In, c.Out = []Mem{Of(x)}, Of(y)
	loop := ArgSort{Axis: 1}.Bind(Dense(I64, 3, 300), []Layout{Dense(F32, 3, 300)})
	if n := testing.AllocsPerRun(5, func() { loop.Run(c, 0, loop.Units) }); n != 0 {
		t.Errorf("%v allocations a run", n)
	}
}

// Rows of a thousand, sorted whole and for the first ten.
func BenchmarkArgSort(b *testing.B) {
	for _, first := range []int{1000, 10} {
		b.Run(fmt.Sprint(first), func(b *testing.B) {
			x := make([]float32, 1000*1000)
			for i := range x {
				x[i] = float32(Random{Key: 1, Law: LawNormal}.Draw(F32, 1, 0, uint64(i)))
			}
			c := NewCtx()
			c.In, c.Out = []Mem{Of(x)}, Of(make([]int64, 1000*first))
			loop := ArgSort{Axis: 1, Descending: true}.Bind(Dense(I64, 1000, first), []Layout{Dense(F32, 1000, 1000)})
			b.ReportAllocs()
			for b.Loop() {
				loop.Run(c, 0, loop.Units)
			}
		})
	}
}
