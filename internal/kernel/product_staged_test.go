package kernel

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// dense returns an operand with the same values, without gaps or exchanged axes.
func (a array) dense() array {
	d := array{Dense(a.DType, a.Dims[:a.Rank]...), Alloc(a.Len() * a.DType.Size())}
	q := 0
	indices(a.Dims[:a.Rank], func(ix []int) {
		set(a.DType, d.mem, q, a.get(ix...))
		q++
	})
	return d
}

// denseBits fails if the product has other bits than that of dense operands, whole or cut in units.
func (t *trial) denseBits(tb testing.TB) {
	tb.Helper()
	var in []array
	for _, a := range t.in {
		in = append(in, a.dense())
	}
	want := t.run(tb, t.kernel(), in, whole)
	for _, cut := range []func(int) []int{whole, single} {
		if !bytes.Equal(t.run(tb, t.kernel(), t.in, cut), want) {
			tb.Fatalf("%v: other bits than from dense operands", t)
		}
	}
	res := memOf(want)
	for q := 0; q < t.out().Len(); q += 97 {
		t.near(tb, res, q)
	}
}

// transpose lets the last two axes of an operand lie exchanged in memory.
func transpose(r *rand.Rand, dt DType, batches, rows, cols int) array {
	a := styled(r, styleDense, dt, plain, batches, cols, rows)
	a.Dims[1], a.Dims[2] = rows, cols
	a.Strides[1], a.Strides[2] = 1, rows
	return a
}

// A transposed left operand with far rows is packed tile by tile.
func TestProductsPackFarLeftOperands(t *testing.T) { atLevels(t, testProductsPackFarLeftOperands) }

func testProductsPackFarLeftOperands(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	for _, op := range allContractions {
		for _, dt := range []DType{F32, F64} {
			far := farStep / dt.Size()
			for _, s := range [][4]int{{1, far, manyCols, 37}, {2, far + 9, manyCols + 5, 3}, {1, far + 1, 2 * manyCols, 500}} {
				if s[3] > 100 && (op != simd.Dot || level == simd.Portable) {
					continue
				}
				p := newTrial(r, op, dt, s[0], s[1], s[2], s[3], op != simd.Distance && s[0] == 1, func() int { return styleDense })
				p.in[0] = transpose(r, dt, s[0], s[1], s[3])
				m := newMultiplication(p.kernel().product(p.out(), p.layouts()))
				if m.divide(); !m.packsA {
					t.Fatalf("%v: the left operand is not packed", p)
				}
				p.denseBits(t)
			}
		}
	}
}

// A product of few rows with a transposed right operand is computed transposed.
func TestProductsTurn(t *testing.T) { atLevels(t, testProductsTurn) }

func testProductsTurn(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, dt := range []DType{F32, F64} {
		for _, s := range [][4]int{{1, 32, 128, 130}, {2, 32, 201, 401}, {1, 64, 256, 500}} {
			for _, left := range []int{styleDense, styleGaps, stylePermuted} {
				for _, accumulate := range []bool{false, true} {
					p := newTrial(r, simd.Dot, dt, s[0], s[1], s[2], s[3], accumulate, func() int { return left })
					p.in[1] = transpose(r, dt, s[0], s[3], s[2])
					if q := p.kernel().(MatMul).product(p.out(), p.layouts()); !q.turns() {
						t.Fatalf("%v: is not computed transposed", p)
					}
					p.denseBits(t)
				}
			}
		}
	}
}

// Rows of a left operand that fall on few sets of the L1 cache are copied, which changes no bit;
// rows that lie a line further apart are read where they are.
func TestProductsCopyRowsThatCollide(t *testing.T) { atLevels(t, testProductsCopyRowsThatCollide) }

func testProductsCopyRowsThatCollide(t *testing.T) {
	if level == simd.Portable && testing.Short() {
		t.Skip("slow")
	}
	r := rand.New(rand.NewPCG(21, 22))
	for _, dt := range []DType{F32, F64} {
		const m, n = 2*170 + 3, manyCols + 9
		k := wayBytes / dt.Size()
		for _, right := range []array{styled(r, styleDense, dt, plain, 1, k, n), transpose(r, dt, 1, k, n)} {
			wide := styled(r, styleDense, dt, plain, 1, m, k+alignment/dt.Size())
			apart := array{wide.Layout, wide.mem}
			apart.Dims[2] = k
			p := newTrial(r, simd.Dot, dt, 1, m, n, k, r.IntN(2) == 0, func() int { return styleDense })
			var copied []bool
			var bits [][]byte
			for _, left := range []array{apart.dense(), apart} {
				p.in = []array{left, right}
				mul := newMultiplication(MatMul{}.product(p.out(), p.layouts()))
				mul.divide()
				copied = append(copied, mul.copiesA)
				bits = append(bits, p.run(t, p.kernel(), p.in, whole), p.run(t, p.kernel(), p.in, single))
			}
			if want := min(m, simd.TileOf(level, simd.Dot, 8*dt.Size()).Rows) > fewWays; copied[0] != want || copied[1] {
				t.Errorf("%v: rows are copied %v: want %v where they collide, and not where they do not", p, copied, want)
			}
			for _, b := range bits {
				if !bytes.Equal(b, bits[0]) {
					t.Errorf("%v: other bits when the rows of the left operand are copied", p)
				}
			}
			for range 100 {
				p.near(t, memOf(bits[0]), r.IntN(m*n))
			}
		}
	}
}
