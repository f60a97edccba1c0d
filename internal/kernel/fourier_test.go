package kernel

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"
)

// Transforms of every small length, and of long ones, against the sum of all products.
func TestFFT(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	test := func(axis int, dims ...int) {
		n := dims[axis]
		for dt, tol := range map[DType]float64{F32: 1e-5, F64: 1e-13} {
			for _, inverse := range []bool{false, true} {
				sign := -1.0
				if inverse {
					sign = 1
				}
				x := styled(r, styleDense, dt, plain, dims...)
				check(t, FFT{Axis: axis, Inverse: inverse}, dt, dims, []array{x}, tol*float64(n), func(ix []int) float64 {
					k, part := ix[axis], ix[len(ix)-1]
					from, sum := append([]int{}, ix...), complex128(0)
					for j := range n {
						from[axis], from[len(ix)-1] = j, 0
						re := x.get(from...)
						from[len(ix)-1] = 1
						sum += complex(re, x.get(from...)) * cmplx.Rect(1, sign*2*math.Pi*float64(j*k%n)/float64(n))
					}
					return []float64{real(sum), imag(sum)}[part]
				})
			}
		}
	}
	for n := 1; n <= 80; n++ {
		test(0, n, 2)
	}
	test(1, 3, 30, 2, 2)
	test(1, 2, 37, 3, 2)
	test(0, 1024, 2)
	test(0, 1009, 2) // a prime
	test(0, 0, 2)
}

// Transforms that need more memory than the scratch are right, and allocate in their first run alone.
func TestLongFFT(t *testing.T) {
	for _, n := range []int{1 << 16, 39989} { // a power of two and a prime
		l := Dense(F64, n, 2)
		c := NewCtx()
		c.In, c.Out = []Mem{Alloc(16 * n)}, Alloc(16*n)
		x, y := As[float64](c.In[0]), As[float64](c.Out)
		x[0], x[2*5] = 1, 1 // its transform is 1 + e^(−2πi·5k/n)
		loop := FFT{}.Bind(l, []Layout{l})
		loop.Run(c, 0, loop.Units)
		for k := range n {
			want := 1 + cmplx.Rect(1, -2*math.Pi*float64(5*k%n)/float64(n))
			if got := complex(y[2*k], y[2*k+1]); cmplx.Abs(got-want) > 1e-12 {
				t.Fatalf("length %d: number %d is %v, want %v", n, k, got, want)
			}
		}
		if allocs := testing.AllocsPerRun(2, func() { loop.Run(c, 0, loop.Units) }); allocs != 0 {
			t.Errorf("length %d: a run allocates %v times", n, allocs)
		}
	}
}
