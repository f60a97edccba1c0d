package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// A producer is a kernel that is a product.
type producer interface {
	Kernel
	product(out Layout, in []Layout) product
}

// eachLevel runs a test at every level of this machine.
func eachLevel(t *testing.T, f func(t *testing.T, level simd.Level)) {
	for level := range simd.Best() + 1 {
		t.Run(level.String(), func(t *testing.T) { f(t, level) })
	}
}

// term is one term of a product's sum, at [..., i, j] and p.
type term func(in []array, batch []int, i, j, p int) float64

// afar is data far from 0, where the Gram form of a distance would lose its digits.
func afar(r *rand.Rand) float64 { return 1000 + r.NormFloat64() }

func TestProducts(t *testing.T) { atLevels(t, testProducts) }

func testProducts(t *testing.T) {
	at := func(a array, batch []int, i, j int) float64 {
		return a.get(append(append(make([]int, 0, MaxRank), batch...), i, j)...)
	}
	cases := []struct {
		k     producer
		shape func(m, n, k int) [][2]int // of the operands
		value []func(*rand.Rand) float64
		f     term
	}{
		{MatMul{}, func(m, n, k int) [][2]int { return [][2]int{{m, k}, {k, n}} },
			[]func(*rand.Rand) float64{plain, plain},
			func(in []array, b []int, i, j, p int) float64 { return at(in[0], b, i, p) * at(in[1], b, p, j) }},
		{SqDist{}, func(m, n, k int) [][2]int { return [][2]int{{m, k}, {n, k}} },
			[]func(*rand.Rand) float64{afar, afar},
			func(in []array, b []int, i, j, p int) float64 {
				d := at(in[0], b, i, p) - at(in[1], b, j, p)
				return d * d
			}},
		{WeightedDiff{}, func(m, n, k int) [][2]int { return [][2]int{{m, k}, {m, n}, {k, n}} },
			[]func(*rand.Rand) float64{plain, afar, afar},
			func(in []array, b []int, i, j, p int) float64 {
				return at(in[0], b, i, p) * (at(in[1], b, i, j) - at(in[2], b, p, j))
			}},
		{DiffDot{}, func(m, n, k int) [][2]int { return [][2]int{{m, k}, {m, k}, {n, k}} },
			[]func(*rand.Rand) float64{plain, afar, afar},
			func(in []array, b []int, i, j, p int) float64 {
				return at(in[0], b, i, p) * (at(in[1], b, i, p) - at(in[2], b, j, p))
			}},
	}
	r := rand.New(rand.NewPCG(1, 2))
	var sizes [][4]int // batch, m, n, k
	for n := range 10 {
		sizes = append(sizes, [4]int{1, n, 1 + r.IntN(9), 1 + r.IntN(9)}, [4]int{1, 3, n, 5}, [4]int{2, 5, 4, n})
	}
	sizes = append(sizes, [4]int{1, 33, 67, 300}, [4]int{3, 70, 5, 2}, [4]int{2, 31, 130, 17}, [4]int{1, 4, 2, 520}, [4]int{0, 2, 2, 2})
	for _, c := range cases {
		for _, s := range sizes {
			batch := []int{s[0]}
			if s[0] == 1 && r.IntN(2) == 0 {
				batch = nil
			}
			for _, dt := range []DType{F32, F64} {
				var in []array
				for i, shape := range c.shape(s[1], s[2], s[3]) {
					dims := append(append([]int{}, batch...), shape[0], shape[1])
					in = append(in, random(r, dt, c.value[i], dims...))
				}
				// The terms are rounded, and lie within a few dozen: the error grows with their
				// number.
				tol := map[DType]float64{F32: 1e-5, F64: 1e-14}[dt] * float64(s[3]+1)
				check(t, c.k, dt, append(append([]int{}, batch...), s[1], s[2]), in, tol, func(ix []int) (sum float64) {
					b, i, j := ix[:len(batch)], ix[len(batch)], ix[len(batch)+1]
					for p := range s[3] {
						sum += c.f(in, b, i, j, p)
					}
					return sum
				})
			}
		}
	}
}

// A batch of one operand broadcasts, be it missing or of size 1.
func TestMatMulBroadcastsBatches(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	a, b := random(r, F64, plain, 2, 1, 3, 4), random(r, F64, plain, 5, 4, 2)
	check(t, MatMul{}, F64, []int{2, 5, 3, 2}, []array{a, b}, 1e-13, func(ix []int) (sum float64) {
		for p := range 4 {
			sum += a.get(ix[0], 0, ix[2], p) * b.get(ix[1], p, ix[3])
		}
		return sum
	})
}

// A NaN or an infinity reaches the results that depend on it and no other, also past the edges of
// blocks.
func TestProductsKeepSpecialValuesApart(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const m, n, k = 7, 5, 3
	a, b := styled(r, styleDense, F32, plain, m, k), styled(r, styleDense, F32, plain, k, n)
	x := As[float32](a.mem)
	x[6*k+1], x[2*k] = float32(math.Inf(1)), float32(math.NaN())
	check(t, MatMul{}, F32, []int{m, n}, []array{a, b}, 1e-4, func(ix []int) (sum float64) {
		for p := range k {
			sum += a.get(ix[0], p) * b.get(p, ix[1])
		}
		return sum
	})
}
