package kernel

import (
	"math"
	"math/bits"
)

// FFT is the discrete Fourier transform y_k = Σ_j x_j·e^(∓2πi·jk/n) along an axis, of any length n,
// without a factor before the sum: − as it is, and + if Inverse. The last axis has size 2, the real
// and the imaginary part; Axis is another one. It is computed in float64 whatever the dtype.
// Where an element is NaN or infinite, every pair of its row has a part that is not finite.
type FFT struct {
	denseInPlace // each row is read before it is written
	Axis         int
	Inverse      bool
}

// Flops counts 5·log₂ n for each pair, as usual for Fourier transforms.
func (k FFT) Flops(out Layout, _ []Layout) int64 {
	return 5 * int64(out.Len()/2) * int64(bits.Len(uint(max(1, out.Dims[k.Axis])-1)))
}

// Divide divides along the axes before the one that is transformed.
func (k FFT) Divide(out Layout, in []Layout) []Division { return along(out, in, k.Axis) }

// Bind takes one operand, of floats.
func (k FFT) Bind(out Layout, _ []Layout) Bound {
	switch out.DType {
	case F32:
		return fourierLoop[float32](k, out)
	case F64:
		return fourierLoop[float64](k, out)
	}
	panic(unsupported(k, out.DType))
}

// Work is two rows of complex numbers.
func (k FFT) Work(out Layout, _ []Layout) int {
	if out.Len() == 0 {
		return 0
	}
	return 2 * 16 * fourierSize(out.Dims[k.Axis])
}

func fourierLoop[T float](k FFT, out Layout) Bound {
	n, inner := out.Dims[k.Axis], 1
	if out.Len() == 0 {
		return idle
	}
	for _, d := range out.Dims[k.Axis+1 : out.Rank-1] {
		inner *= d
	}
	p := planFourier(n, k.Inverse)
	rows, per := out.Len()/2/n, rowsPer(n)
	return Bound{blocks(rows, per), func(c *Ctx, lo, hi int) {
		work := raw[complex128](c.working(2 * 16 * p.size()))
		src, dst := raw[T](c.In[0]), raw[T](c.Out)
		for r := lo * per; r < min(hi*per, rows); r++ {
			first := 2 * (r/inner*n*inner + r%inner)
			x, y := work[:p.size()], work[p.size():]
			for i := range n {
				at := first + 2*i*inner
				x[i] = complex(float64(src[at]), float64(src[at+1]))
			}
			for i, v := range p.transform(x, y)[:n] {
				at := first + 2*i*inner
				dst[at], dst[at+1] = T(real(v)), T(imag(v))
			}
		}
	}}
}

// fourier is what transforms of one length have in common. It is not changed after it is made.
type fourier struct {
	n       int
	factors []int
	roots   []complex128 // e^(∓2πi·k/n)

	// Where n has a large prime factor, the transform is a convolution with a chirp of a length
	// that is a power of two (Bluestein, 1970).
	long     *fourier
	chirp    []complex128 // e^(∓πi·k²/n)
	spectrum []complex128 // of the chirp's conjugate, over its length
}

// largestFactor bounds the prime factors whose transforms are sums of all products.
const largestFactor = 31

func planFourier(n int, inverse bool) *fourier {
	factors, small := smallFactors(n)
	p := &fourier{n: n, factors: factors}
	if small {
		p.roots = make([]complex128, n)
		for k := range p.roots {
			p.roots[k] = root(int64(k), int64(n), inverse)
		}
		return p
	}
	m := fourierSize(n)
	p.factors, p.long = nil, planFourier(m, false)
	p.chirp = make([]complex128, n)
	work := make([]complex128, 2*m)
	for k := range p.chirp {
		p.chirp[k] = root(int64(k)*int64(k)%int64(2*n), int64(2*n), inverse)
		work[k] = conjugate(p.chirp[k])
		if k > 0 {
			work[m-k] = work[k]
		}
	}
	p.spectrum = p.long.transform(work[:m], work[m:])
	for k, v := range p.spectrum {
		p.spectrum[k] = complex(real(v)/float64(m), imag(v)/float64(m))
	}
	return p
}

// root returns e^(∓2πi·k/n) for 0 ≤ k < n, exactly where it is a power of i.
func root(k, n int64, inverse bool) complex128 {
	quarter, rest := 4*k/n, 4*k%n
	s, c := math.Sincos(math.Pi / 2 * (float64(rest) / float64(n)))
	for range quarter {
		s, c = c, -s
	}
	if !inverse {
		s = -s
	}
	return complex(c, s)
}

// smallFactors returns the factors of n up to largestFactor; ok is false if it has others.
func smallFactors(n int) (factors []int, ok bool) {
	for _, f := range []int{4, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, largestFactor} {
		for ; n%f == 0; n /= f {
			factors = append(factors, f)
		}
	}
	return factors, n == 1
}

// fourierSize returns the length of the transform that one of length n is made of: n, or a power of two
// that is at least 2n − 1.
func fourierSize(n int) int {
	if _, ok := smallFactors(n); ok {
		return n
	}
	return 1 << bits.Len(uint(2*n-2))
}

// size is the number of elements of each of the two arrays that transform works in.
func (p *fourier) size() int {
	if p.long != nil {
		return p.long.n
	}
	return p.n
}

// transform returns the transform of the first n elements of x, in x or in y.
func (p *fourier) transform(x, y []complex128) []complex128 {
	if p.long == nil {
		return p.stages(x, y)
	}
	for k, c := range p.chirp {
		x[k] = times(x[k], c)
	}
	clear(x[p.n:])
	a := p.long.stages(x, y)
	for k, s := range p.spectrum {
		a[k] = conjugate(times(a[k], s))
	}
	if &a[0] == &x[0] {
		a = p.long.stages(x, y)
	} else {
		a = p.long.stages(y, x)
	}
	for k, c := range p.chirp {
		a[k] = times(conjugate(a[k]), c)
	}
	return a
}

// stages does one factor of n after the other from x to y and back, so that the result is in order
// (Stockham's algorithm). Before a factor f, x holds s interleaved sequences of f·m elements, and
// afterwards f·s ones of m.
func (p *fourier) stages(x, y []complex128) []complex128 {
	s, m := 1, p.n
	for _, f := range p.factors {
		m /= f
		switch f {
		case 2:
			p.halves(x, y, s, m)
		case 3:
			p.thirds(x, y, s, m)
		case 4:
			p.quarters(x, y, s, m)
		case 5:
			p.fifths(x, y, s, m)
		default:
			p.parts(x, y, f, s, m)
		}
		s, x, y = s*f, y, x
	}
	return x
}

func (p *fourier) halves(x, y []complex128, s, m int) {
	for j := range m {
		w := p.roots[j*s]
		a, b, to := x[j*s:][:s], x[(j+m)*s:][:s], y[2*j*s:][:2*s]
		for q := range s {
			to[q], to[s+q] = a[q]+b[q], times(a[q]-b[q], w)
		}
	}
}

func (p *fourier) quarters(x, y []complex128, s, m int) {
	turn := imag(p.roots[p.n/4]) // −1 or, inverse, 1
	for j := range m {
		w1, w2, w3 := p.roots[j*s], p.roots[2*j*s], p.roots[3*j*s]
		a, b, c, d := x[j*s:][:s], x[(j+m)*s:][:s], x[(j+2*m)*s:][:s], x[(j+3*m)*s:][:s]
		to := y[4*j*s:][:4*s]
		for q := range s {
			even, odd := a[q]+c[q], b[q]+d[q]
			less, t := a[q]-c[q], turned(stretched(b[q]-d[q], turn))
			to[q], to[s+q] = even+odd, times(less+t, w1)
			to[2*s+q], to[3*s+q] = times(even-odd, w2), times(less-t, w3)
		}
	}
}

// thirds and fifths add and subtract the elements whose roots are conjugate first: then the roots'
// two parts multiply sums and differences, in place of complex numbers.
func (p *fourier) thirds(x, y []complex128, s, m int) {
	root := p.roots[p.n/3]
	for j := range m {
		w1, w2 := p.roots[j*s], p.roots[2*j*s]
		a, b, c, to := x[j*s:][:s], x[(j+m)*s:][:s], x[(j+2*m)*s:][:s], y[3*j*s:][:3*s]
		for q := range s {
			sum, less := b[q]+c[q], b[q]-c[q]
			even, odd := a[q]+stretched(sum, real(root)), turned(stretched(less, imag(root)))
			to[q], to[s+q], to[2*s+q] = a[q]+sum, times(even+odd, w1), times(even-odd, w2)
		}
	}
}

func (p *fourier) fifths(x, y []complex128, s, m int) {
	near, far := p.roots[p.n/5], p.roots[2*p.n/5]
	for j := range m {
		w1, w2, w3, w4 := p.roots[j*s], p.roots[2*j*s], p.roots[3*j*s], p.roots[4*j*s]
		a, b, c, d, e := x[j*s:][:s], x[(j+m)*s:][:s], x[(j+2*m)*s:][:s], x[(j+3*m)*s:][:s], x[(j+4*m)*s:][:s]
		to := y[5*j*s:][:5*s]
		for q := range s {
			sum, less := b[q]+e[q], b[q]-e[q]
			sum2, less2 := c[q]+d[q], c[q]-d[q]
			even := a[q] + stretched(sum, real(near)) + stretched(sum2, real(far))
			odd := turned(stretched(less, imag(near)) + stretched(less2, imag(far)))
			even2 := a[q] + stretched(sum, real(far)) + stretched(sum2, real(near))
			odd2 := turned(stretched(less, imag(far)) - stretched(less2, imag(near)))
			to[q] = a[q] + sum + sum2
			to[s+q], to[4*s+q] = times(even+odd, w1), times(even-odd, w4)
			to[2*s+q], to[3*s+q] = times(even2+odd2, w2), times(even2-odd2, w3)
		}
	}
}

// stretched is a·c with every product rounded, and turned is a·i.
func stretched(a complex128, c float64) complex128 {
	return complex(float64(real(a)*c), float64(imag(a)*c))
}

func turned(a complex128) complex128 { return complex(-imag(a), real(a)) }

func (p *fourier) parts(x, y []complex128, f, s, m int) {
	step := p.n / f
	for j := range m {
		for k := range f {
			w, to := p.roots[j*k*s], y[(f*j+k)*s:][:s]
			copy(to, x[j*s:][:s])
			for i := 1; i < f; i++ {
				r, from := p.roots[i*k%f*step], x[(j+i*m)*s:][:s]
				for q, v := range from {
					to[q] += times(v, r)
				}
			}
			for q, v := range to {
				to[q] = times(v, w)
			}
		}
	}
}

// times is a·b with every product rounded, on every machine.
func times(a, b complex128) complex128 {
	return complex(float64(real(a)*real(b))-float64(imag(a)*imag(b)), float64(real(a)*imag(b))+float64(imag(a)*real(b)))
}

func conjugate(a complex128) complex128 { return complex(real(a), -imag(a)) }
