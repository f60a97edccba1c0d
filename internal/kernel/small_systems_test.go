package kernel

import (
	"math/rand/v2"
	"testing"
)

func TestSmallSystems(t *testing.T) { atLevels(t, testSmallSystems) }

// testSmallSystems factors and solves small systems together, some of which have no result, and
// compares the bits with those of each alone.
func testSmallSystems(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for _, dt := range []DType{F32, F64} {
		for n := 1; n <= smallOrder; n++ {
			for _, batch := range [][]int{{fewSystems}, {3, 50}, {65}} {
				dims := append(append([]int{}, batch...), n, n)
				a := random(r, dt, plain, dims...)
				indices(dims, func(ix []int) {
					p, last := a.Offset, len(ix)-1
					for i, j := range ix {
						p += j * a.Strides[i]
					}
					if ix[last] == ix[last-1] && r.IntN(20) > 0 {
						set(dt, a.mem, p, 20+plain(r))
					} else if ix[last] == ix[last-1] {
						set(dt, a.mem, p, special(r))
					}
				})
				check(t, Cholesky{}, dt, dims, []array{a}, 0, alone(Cholesky{}, dt, dims, a))
				for _, m := range []int{1, 2, smallOrder} {
					dims := append(append([]int{}, batch...), n, m)
					x := random(r, dt, plain, dims...)
					for _, k := range []SolveTriangular{{}, {Upper: true}, {Unit: true}, {Upper: true, Unit: true}} {
						check(t, k, dt, dims, []array{a, x}, 0, alone(k, dt, dims, a, x))
					}
				}
			}
		}
	}
}

// alone runs a kernel on each matrix, and returns what gives the elements of the results.
func alone(k Kernel, dt DType, dims []int, in ...array) func(ix []int) float64 {
	out := array{Dense(dt, dims...), Alloc(Dense(dt, dims...).Len() * dt.Size())}
	one := Dense(dt, dims[len(dims)-2:]...)
	size, c := one.Len()*dt.Size(), NewCtx()
	number := 0
	indices(dims[:len(dims)-2], func(ix []int) {
		layouts := make([]Layout, len(in))
		c.In = nil
		for i, a := range in {
			l := Layout{DType: dt, Rank: 2, Offset: a.Offset}
			for b, j := range ix {
				l.Offset += j * a.Strides[b]
			}
			copy(l.Dims[:], a.Dims[a.Rank-2:a.Rank])
			copy(l.Strides[:], a.Strides[a.Rank-2:a.Rank])
			layouts[i], c.In = l, append(c.In, a.mem)
		}
		c.Out = out.mem.Slice(number*size, size)
		loop := k.Bind(one, layouts)
		loop.Run(c, 0, loop.Units)
		number++
	})
	return func(ix []int) float64 { return out.get(ix...) }
}
