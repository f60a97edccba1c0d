package kernel

import (
	"bytes"
	"math/rand/v2"
	"slices"
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
		for _, s := range []struct {
			m, n   int
			shared bool
		}{{2*372 + 3, manyCols + 9, false}, {150, 700, true}} {
			m, n, k := s.m, s.n, wayBytes/dt.Size()
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
					if shared := mul.shares(m) > 1 && mul.strips > 1; shared != (s.shared && mul.copiesA) {
						t.Errorf("%v: strips share the copy: %v", p, shared)
					}
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
}

// Tiles of short depth go down, in sections, with the bits of a product of one section and one
// tile.
func TestProductsGoDown(t *testing.T) { atLevels(t, testProductsGoDown) }

func testProductsGoDown(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	for _, op := range []simd.Contraction{simd.Dot, simd.Distance, simd.Shifted} {
		for _, dt := range []DType{F32, F64} {
			for _, s := range [][3]int{{500, 37, 8}, {301, 16, 32}, {211, 70, 33}} {
				for _, accumulate := range []bool{false, op != simd.Distance} {
					p := newTrial(r, op, dt, 1, s[0], s[1], s[2], accumulate, func() int { return styleDense })
					m := newMultiplication(p.kernel().product(p.out(), p.layouts()))
					if m.divide(); !m.down {
						t.Fatalf("%v: the tiles do not go down", p)
					}
					got := p.check(t)
					size, row := dt.Size(), s[1]*dt.Size()
					for i := 0; i < s[0]; i += 29 { // a row alone is one section and one tile
						one := *p
						one.m = 1
						one.in = slices.Clone(p.in)
						for k := range one.in[:len(one.in)-1] {
							a := &one.in[k]
							a.Offset += i * a.Strides[a.Rank-2]
							a.Dims[a.Rank-2] = 1
						}
						one.before = p.before.Slice(i*row, s[1]*size)
						if !bytes.Equal(one.run(t, one.kernel(), one.in, whole), got[i*row:][:row]) {
							t.Fatalf("%v: row %d has other bits than alone", p, i)
						}
					}
				}
			}
		}
	}
}

// Matrices of a batch are packed as each is alone.
func TestPackBatches(t *testing.T) { atLevels(t, testPackBatches) }

func testPackBatches(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	for _, dt := range []DType{F32, F64} {
		a := transpose(r, dt, 3, 21, 35)
		l, ok := MatMul{}.PackOperand([]Layout{{}, a.Layout})
		if !ok || l.Rank != 3 {
			t.Fatalf("no matrices of a batch: %v", l)
		}
		n := Pack{}.Len(dt, 21, 35)
		run := func(l Layout, mem Mem, length int) []byte {
			c := NewCtx()
			c.In, c.Out = []Mem{mem}, Alloc(length*dt.Size())
			loop := Pack{}.Bind(Dense(dt, length), []Layout{l})
			for u := loop.Units - 1; u >= 0; u-- {
				loop.Run(c, u, u+1)
			}
			return raw[byte](c.Out)
		}
		all := run(l, a.mem, 3*n)
		for b := range 3 {
			one := Layout{DType: dt, Rank: 2, Offset: l.Offset + b*l.Strides[0]}
			one.Dims[0], one.Dims[1], one.Strides[0], one.Strides[1] = l.Dims[1], l.Dims[2], l.Strides[1], l.Strides[2]
			if !bytes.Equal(run(one, a.mem, n), all[b*n*dt.Size():][:n*dt.Size()]) {
				t.Errorf("%v: matrix %d is packed otherwise than alone", dt, b)
			}
		}
	}
	half := transpose(r, F64, 3, 4, 5)
	half.Rank, half.Dims, half.Strides = 4, [MaxRank]int{2, 3, 4, 5}, [MaxRank]int{0, half.Strides[0], half.Strides[1], half.Strides[2]}
	if l, ok := (MatMul{}).PackOperand([]Layout{{}, half.Layout}); ok {
		t.Errorf("matrices that one axis of a batch repeats are packed: %v", l)
	}
}
