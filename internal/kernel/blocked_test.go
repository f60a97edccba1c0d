package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// square returns a random matrix of order n, with so much added to its diagonal.
func square(r *rand.Rand, n int, diagonal float64) []float64 {
	a := make([]float64, n*n)
	for i := range a {
		a[i] = r.NormFloat64()
	}
	for i := range n {
		a[i*n+i] += diagonal
	}
	return a
}

// applied runs a kernel on dense operands.
func applied(k Kernel, out Layout, in []Layout, operands ...[]float64) []float64 {
	c := NewCtx()
	for _, x := range operands {
		c.In = append(c.In, Of(x))
	}
	y := make([]float64, out.Len())
	c.Out = Of(y)
	b := k.Bind(out, in)
	b.Run(c, 0, b.Units)
	return y
}

// matrixProduct is the product of m×k and k×n matrices.
func matrixProduct(a, b []float64, m, k, n int) []float64 {
	y := make([]float64, m*n)
	for i := range m {
		for p := range k {
			for j := range n {
				y[i*n+j] += a[i*k+p] * b[p*n+j]
			}
		}
	}
	return y
}

func apart64(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	size, most := 1.0, 0.0
	for i := range want {
		size, most = max(size, math.Abs(want[i])), max(most, math.Abs(got[i]-want[i]))
		if got[i] != got[i] {
			most = math.Inf(1)
		}
	}
	if !(most <= tolerance*size) {
		t.Errorf("%s: off by %g of %g", what, most, size)
	}
}

// TestLargeMatrices: products of what is returned are what was given, for orders on both sides of those
// from which on matrices are halved, at every level, and matrices without a result are NaN.
func TestLargeMatrices(t *testing.T) {
	eachLevel(t, func(t *testing.T, l simd.Level) {
		defer func(old simd.Level) { level = old }(level)
		level = l
		r := rand.New(rand.NewPCG(1, 2))
		for _, n := range []int{7, 31, 47, 48, 49, 64, 97, 150} {
			for _, m := range []int{1, 5, 8, 33} {
				what := func(s string) string { return fmt.Sprintf("%s of order %d, %d columns", s, n, m) }
				a, b := square(r, n, 3), square(r, max(n, m), 0)[:n*m]
				la, lb := Dense(F64, n, n), Dense(F64, n, m)
				x := applied(Solve{}, lb, []Layout{la, lb}, a, b)
				apart64(t, what("Solve"), matrixProduct(a, x, n, n, m), b, 1e-9)
				for _, k := range []SolveTriangular{{}, {Upper: true}, {Unit: true}, {Upper: true, Unit: true}} {
					tri := make([]float64, n*n)
					for i := range n {
						for j := range n {
							if j < i && !k.Upper || j > i && k.Upper {
								tri[i*n+j] = a[i*n+j] / float64(n)
							}
						}
						if tri[i*n+i] = 3 + a[i*n+i]/4; k.Unit {
							tri[i*n+i] = 1
						}
					}
					full := append([]float64(nil), a...)
					for i := range full {
						if i%n == i/n || (i%n > i/n) == k.Upper {
							full[i] = tri[i]
						}
					}
					x := applied(k, lb, []Layout{la, lb}, full, b)
					apart64(t, what(fmt.Sprint(k)), matrixProduct(tri, x, n, n, m), b, 1e-12)
					if i := r.IntN(n); !k.Unit {
						full[i*n+i] = 0
						if x := applied(k, lb, []Layout{la, lb}, full, b); x[0] == x[0] || x[n*m-1] == x[n*m-1] {
							t.Errorf("%s: element %d of the diagonal is 0, and the solution %v", what(fmt.Sprint(k)), i, x[0])
						}
					}
				}
			}
			a := square(r, n, 2*float64(n))
			la := Dense(F64, n, n)
			lower := applied(Cholesky{}, la, []Layout{la}, a)
			upper, sym := make([]float64, n*n), make([]float64, n*n)
			for i := range n {
				for j := range n {
					upper[j*n+i] = lower[i*n+j]
					sym[i*n+j] = (a[i*n+j] + a[j*n+i]) / 2
				}
			}
			apart64(t, fmt.Sprintf("Cholesky of order %d", n), matrixProduct(lower, upper, n, n, n), sym, 1e-13)
			want := 0.0
			for i := range n {
				want += 2 * math.Log(lower[i*n+i])
			}
			apart64(t, fmt.Sprintf("LogDet of order %d", n), applied(Determinant{}, Dense(F64), []Layout{la}, sym), []float64{want}, 1e-12)
			for _, m := range []int{n, n + 1, 3 * n} {
				what := fmt.Sprintf(" of %d rows, %d columns", m, n)
				a := square(r, m, 0)[:m*n]
				y := applied(QR{}, Dense(F64, m+n, n), []Layout{Dense(F64, m, n)}, a)
				q, tri, unit, turned := y[:m*n], y[m*n:], make([]float64, n*n), make([]float64, m*n)
				for i := range n {
					unit[i*n+i] = 1
					for j := range i + 1 {
						if got := tri[i*n+j]; j < i && got != 0 || j == i && !(got > 0) {
							t.Errorf("QR%s: element %d,%d of R is %v", what, i, j, got)
						}
					}
				}
				transposeTo(turned, q, m, n)
				apart64(t, "QR: vectors"+what, matrixProduct(turned, q, n, m, n), unit, 2e-14)
				apart64(t, "QR: product"+what, matrixProduct(q, tri, m, n, n), a, 2e-14)
				from, to := r.IntN(n/2), n-1-r.IntN(n/3)
				for i := range m {
					a[i*n+to] = 2 * a[i*n+from]
				}
				if y := applied(QR{}, Dense(F64, m+n, n), []Layout{Dense(F64, m, n)}, a); y[0] == y[0] || y[m*n] == y[m*n] {
					t.Errorf("QR%s, of which two are parallel, is %v", what, y[0])
				}
			}
			sym[n*n-1] = -1
			if y := applied(Cholesky{}, la, []Layout{la}, sym); y[0] == y[0] || y[n*n-1] == y[n*n-1] {
				t.Errorf("the factor of an indefinite matrix of order %d is %v", n, y[0])
			}
			zero := r.IntN(n)
			for i := range n {
				a[i*n+zero] = 0
			}
			if sign := applied(Determinant{Sign: true}, Dense(F64), []Layout{la}, a); sign[0] != 0 {
				t.Errorf("the determinant of a matrix of order %d with a column of zeros has the sign %v", n, sign)
			}
		}
	})
}

// TestSpectraOfLargeMatrices: vectors are orthonormal and the product is the matrix, for orders on both
// sides of those from which on matrices are made tridiagonal, where values are equal, 0, large or tiny.
func TestSpectraOfLargeMatrices(t *testing.T) {
	turned := func(a []float64, m, n int) []float64 {
		y := make([]float64, len(a))
		transposeTo(y, a, m, n)
		return y
	}
	unit := func(n int) []float64 {
		a := make([]float64, n*n)
		for i := range n {
			a[i*n+i] = 1
		}
		return a
	}
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{31, 32, 33, 70, 101} {
		thin := square(r, n, 0)[:n*3]
		pairs := unit(n)
		for i := range n {
			pairs[i*n+(i+n/2)%n]++
		}
		for name, a := range map[string][]float64{"random": square(r, n, 0), "unit": unit(n), "pairs": pairs,
			"zero": make([]float64, n*n), "rank three": matrixProduct(thin, turned(thin, n, 3), n, 3, n)} {
			for _, scale := range []float64{1, 0x1p1000, 0x1p-1000} {
				what := fmt.Sprintf("%s matrix of order %d times %g", name, n, scale)
				sym, scaled := make([]float64, n*n), make([]float64, n*n)
				for i := range n {
					for j := range n {
						sym[i*n+j] = (a[i*n+j] + a[j*n+i]) / 2
						scaled[i*n+j] = a[i*n+j] * scale
					}
				}
				y := applied(Eigh{}, Dense(F64, n+1, n), []Layout{Dense(F64, n, n)}, scaled)
				values, v := y[:n], y[n:]
				apart64(t, "Eigh: vectors of the "+what, matrixProduct(turned(v, n, n), v, n, n, n), unit(n), 2e-14)
				left := append([]float64(nil), v...)
				for p := range left {
					left[p] *= values[p%n] / scale
				}
				apart64(t, "Eigh: product of the "+what, matrixProduct(left, turned(v, n, n), n, n, n), sym, 2e-14)
				for m := n - 3; m <= n+3; m += 6 {
					b := append([]float64(nil), append(scaled, scaled...)[:m*n]...)
					k := min(m, n)
					y := applied(SVD{}, Dense(F64, m+1+n, k), []Layout{Dense(F64, m, n)}, b)
					u, s, v := y[:m*k], y[m*k:(m+1)*k], y[(m+1)*k:]
					apart64(t, "SVD: left vectors of the "+what, matrixProduct(turned(u, m, k), u, k, m, k), unit(k), max(2e-14, 4e-16*float64(n)))
					apart64(t, "SVD: right vectors of the "+what, matrixProduct(turned(v, n, k), v, k, n, k), unit(k), max(2e-14, 4e-16*float64(n)))
					for p := range u {
						u[p] *= s[p%k] / scale
					}
					for p := range b {
						b[p] /= scale
					}
					apart64(t, "SVD: product of the "+what, matrixProduct(u, turned(v, n, k), m, k, n), b, max(2e-14, 4e-16*float64(n)))
				}
			}
		}
	}
}

// TestSignsOfLargeMatrices: that of a permutation is its parity.
func TestSignsOfLargeMatrices(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{30, 60, 101} {
		a, want := make([]float64, n*n), 1.0
		p := r.Perm(n)
		for i := range n {
			a[i*n+p[i]] = 2
			for j := range i {
				if p[j] > p[i] {
					want = -want
				}
			}
		}
		if got := applied(Determinant{Sign: true}, Dense(F64), []Layout{Dense(F64, n, n)}, a); got[0] != want {
			t.Errorf("order %d: sign %v, want %v", n, got, want)
		}
	}
}

// BenchmarkMatrices times the factorisations of one matrix.
func BenchmarkMatrices(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{64, 256, 512, 1024} {
		symmetric := square(r, n, 0)
		for i := range n {
			for j := range i {
				symmetric[j*n+i] = symmetric[i*n+j]
			}
			symmetric[i*n+i] += 3 * math.Sqrt(float64(n))
		}
		unit := make([]float64, n*n)
		for i := range n {
			unit[i*n+i] = 1
		}
		for _, dt := range []DType{F64, F32} {
			la, one := Dense(dt, n, n), Dense(dt, n, 1)
			for _, c := range []struct {
				name string
				k    Kernel
				out  Layout
				in   []Layout
			}{
				{"Cholesky", Cholesky{}, la, []Layout{la}},
				{"Solve", Solve{}, one, []Layout{la, one}},
				{"Inv", Solve{}, la, []Layout{la, la}},
				{"LogDet", Determinant{}, Dense(dt), []Layout{la}},
				{"QR", QR{}, Dense(dt, 2*n, n), []Layout{la}},
				{"Eigh", Eigh{}, Dense(dt, n+1, n), []Layout{la}},
				{"SVD", SVD{}, Dense(dt, 2*n+1, n), []Layout{la}},
			} {
				b.Run(fmt.Sprintf("%s/%v/%d", c.name, dt, n), func(b *testing.B) {
					ctx := NewCtx()
					for i, l := range c.in {
						from := [][]float64{symmetric, unit}[i]
						m := Alloc(l.Len() * dt.Size())
						for p := range l.Len() {
							set(dt, m, p, from[p])
						}
						ctx.In = append(ctx.In, m)
					}
					ctx.Out = Alloc(c.out.Len() * dt.Size())
					loop := c.k.Bind(c.out, c.in)
					for b.Loop() {
						loop.Run(ctx, 0, loop.Units)
					}
				})
			}
		}
	}
}

// TestWorkIsReserved: a worker with the memory that a kernel says it works in allocates none.
func TestWorkIsReserved(t *testing.T) {
	const n, m = 60, 9
	a, b := Dense(F64, n, n), Dense(F64, n, m)
	pairs := Dense(F64, 3, 1009, 2) // a prime: the transform is one of a power of two
	for _, c := range []struct {
		k   Working
		out Layout
		in  []Layout
	}{
		{Cholesky{}, a, []Layout{a}},
		{Solve{}, b, []Layout{a, b}},
		{SolveTriangular{Upper: true}, b, []Layout{a, b}},
		{Determinant{}, Dense(F64), []Layout{a}},
		{QR{}, Dense(F64, 2*n, n), []Layout{a}},
		{Eigh{}, Dense(F64, n+1, n), []Layout{a}},
		{SVD{}, Dense(F64, n+1+m, m), []Layout{b}},
		{MatrixExp{}, a, []Layout{a}},
		{FFT{Axis: 1}, pairs, []Layout{pairs}},
	} {
		ctx := NewCtx()
		for _, l := range c.in {
			ctx.In = append(ctx.In, Of(square(rand.New(rand.NewPCG(7, 8)), 80, 9)[:l.Len()]))
		}
		ctx.Out = Alloc(8 * c.out.Len())
		loop := c.k.Bind(c.out, c.in)
		ctx.Reserve(c.k.Work(c.out, c.in))
		if allocated := testing.AllocsPerRun(1, func() { loop.Run(ctx, 0, loop.Units) }); allocated > 0 || ctx.work.Len() != c.k.Work(c.out, c.in) {
			t.Errorf("%T: %v allocations, and %d bytes of work instead of %d", c.k, allocated, ctx.work.Len(), c.k.Work(c.out, c.in))
		}
	}
}
