package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// everyType pairs each dtype with a source of values.
var everyType = []struct {
	DType
	value func(*rand.Rand) float64
}{{F32, special}, {F64, special}, {I32, plain}, {I64, plain}, {Bool, plain}}

func TestConcat(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, dims := range shapes(r) {
		if len(dims) == 0 {
			continue
		}
		axis := r.IntN(len(dims))
		for _, e := range everyType {
			dt, value := e.DType, e.value
			var in []array
			out := append([]int{}, dims...)
			out[axis] = 0
			for range 1 + r.IntN(4) {
				part := append([]int{}, dims...)
				part[axis] = r.IntN(dims[axis] + 2)
				out[axis] += part[axis]
				in = append(in, random(r, dt, value, part...))
			}
			check(t, Concat{Axis: axis - len(dims)}, dt, out, in, 0, func(ix []int) float64 {
				from := append([]int{}, ix...)
				for _, a := range in {
					if from[axis] < a.Dims[axis] {
						return a.get(from...)
					}
					from[axis] -= a.Dims[axis]
				}
				panic("beyond the operands")
			})
		}
	}
}

func TestOneHot(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, dims := range shapes(r) {
		for _, ints := range []DType{I32, I64} {
			for _, e := range everyType {
				dt := e.DType
				n := r.IntN(6)
				x := random(r, ints, func(r *rand.Rand) float64 { return float64(r.IntN(n+4) - 2) }, dims...)
				check(t, OneHot{}, dt, append(append([]int{}, dims...), n), []array{x}, 0, func(ix []int) float64 {
					last := len(ix) - 1
					if x.get(ix[:last]...) == float64(ix[last]) {
						return 1
					}
					return 0
				})
			}
		}
	}
}

// picks are random shapes of a table and of integers, some of them out of range, and the axis that
// they pick from.
func picks(r *rand.Rand, f func(table []int, axis int, ints array)) {
	for range 60 {
		table := make([]int, 1+r.IntN(3))
		for a := range table {
			table[a] = 1 + r.IntN(6)
		}
		axis := r.IntN(len(table))
		switch r.IntN(6) {
		case 0:
			table[axis] = 0
		case 1:
			table[len(table)-1] = 150
		case 2:
			table[0] = 1100
		}
		dims := make([]int, r.IntN(3))
		for a := range dims {
			dims[a] = r.IntN(8)
		}
		dt := []DType{I32, I64}[r.IntN(2)]
		f(table, axis, random(r, dt, func(r *rand.Rand) float64 { return float64(r.IntN(table[axis]+3) - 1) }, dims...))
	}
}

// picked returns the shape of Gather's result, and of ScatterAdd's updates.
func picked(table []int, axis int, ints array) []int {
	out := append([]int{}, table[:axis]...)
	out = append(out, ints.shape()...)
	return append(out, table[axis+1:]...)
}

func TestGather(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	picks(r, func(dims []int, axis int, ints array) {
		for _, e := range everyType {
			dt, value := e.DType, e.value
			table := random(r, dt, value, dims...)
			check(t, Gather{Axis: axis}, dt, picked(dims, axis, ints), []array{table, ints}, 0, func(ix []int) float64 {
				i := int(ints.get(ix[axis : axis+ints.Rank]...))
				if i < 0 || i >= dims[axis] {
					if dt == F32 || dt == F64 {
						return math.NaN()
					}
					return 0
				}
				from := append(append([]int{}, ix[:axis]...), i)
				return table.get(append(from, ix[axis+ints.Rank:]...)...)
			})
		}
	})
}

func TestScatterAdd(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	picks(r, func(dims []int, axis int, ints array) {
		for _, dt := range []DType{F32, F64, I32, I64} {
			updates := random(r, dt, plain, picked(dims, axis, ints)...)
			tol := map[DType]float64{F32: 1e-4, F64: 1e-12}[dt]
			check(t, ScatterAdd{Axis: axis - len(dims)}, dt, dims, []array{ints, updates}, tol, func(ix []int) (sum float64) {
				indices(ints.shape(), func(q []int) {
					if int(ints.get(q...)) == ix[axis] {
						from := append(append([]int{}, ix[:axis]...), q...)
						sum += updates.get(append(from, ix[axis+1:]...)...)
					}
				})
				return sum
			})
		}
	})
}

func TestScatter(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	picks(r, func(dims []int, axis int, ints array) {
		for _, e := range everyType {
			for how := ScatterSet; how <= ScatterMin; how++ {
				if e.DType == Bool && how != ScatterSet {
					continue
				}
				x := styled(r, styleDense, e.DType, e.value, dims...)
				slices := random(r, e.DType, e.value, picked(dims, axis, ints)...)
				tol := map[DType]float64{F32: 1e-4, F64: 1e-12}[e.DType]
				check(t, Scatter{Axis: axis - len(dims), How: how}, e.DType, dims, []array{x, ints, slices}, tol, func(ix []int) float64 {
					v := x.get(ix...)
					indices(ints.shape(), func(q []int) {
						if int(ints.get(q...)) != ix[axis] {
							return
						}
						from := append(append([]int{}, ix[:axis]...), q...)
						switch w := slices.get(append(from, ix[axis+1:]...)...); how {
						case ScatterSet:
							v = w
						case ScatterSum:
							v += w
						case ScatterMax:
							v = max(v, w)
						default:
							v = min(v, w)
						}
					})
					return v
				})
			}
		}
	})
}

func TestFirstEqual(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, dims := range shapes(r) {
		for _, dt := range []DType{I32, I64} {
			for _, distinct := range []int{1, 5, 1 << 30} {
				x := random(r, dt, func(r *rand.Rand) float64 { return float64(r.IntN(distinct) - distinct/2) }, dims...)
				from := r.IntN(len(dims) + 1)
				first, next := map[string]float64{}, map[string]float64{}
				key := func(ix []int) string { return fmt.Sprint(ix[:from], x.get(ix...)) }
				indices(x.shape(), func(ix []int) {
					example := fmt.Sprint(ix[:from])
					if _, met := first[key(ix)]; !met {
						first[key(ix)] = next[example]
					}
					next[example]++
				})
				check(t, FirstEqual{From: from}, I64, dims, []array{x}, 0, func(ix []int) float64 { return first[key(ix)] })
			}
		}
	}
}

func TestIota(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, dims := range shapes(r) {
		for axis := range dims {
			for _, dt := range []DType{F32, F64, I32, I64} {
				check(t, Iota{Axis: axis}, dt, dims, nil, 0, func(ix []int) float64 { return float64(ix[axis]) })
			}
		}
	}
}
