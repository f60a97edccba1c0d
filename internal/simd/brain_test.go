package simd

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/half"
)

// brainly returns the micro-kernel of bfloat16; the test is skipped where there is none.
func brainly(t *testing.T) Tile {
	tile, ok := BrainTile(active)
	if !ok {
		t.Skip("no AVX512-BF16")
	}
	return tile
}

// TestBrainPanel: every order in memory, odd numbers of rows, and what is beside the panel.
func TestBrainPanel(t *testing.T) {
	tile := brainly(t)
	r := rand.New(rand.NewPCG(5, 6))
	for range 400 {
		k, cols := 1+r.IntN(90), 1+r.IntN(tile.Cols)
		row, col := cols+r.IntN(4), 1
		if kind := r.IntN(3); kind == 1 {
			row, col = 1, k+r.IntN(4)
		} else if kind == 2 {
			row, col = 2*cols+1, 2
		}
		src := make([]float32, k*row+cols*col)
		for i := range src {
			src[i] = float32(r.NormFloat64())
		}
		src[r.IntN(len(src))] = float32(math.Inf(1))
		src[r.IntN(len(src))] = float32(math.NaN())
		lines := (k + 1) / 2
		dst, temp := make([]uint32, lines*tile.Cols+1), make([]uint32, lines*cols)
		for i := range dst {
			dst[i] = 77
		}
		BrainPanel(active, pointer(dst), tile.Cols, pointer(src), k, cols, 4*row, 4*col, pointer(temp))
		for i, v := range dst {
			q, j, want := i/tile.Cols, i%tile.Cols, uint32(77)
			if q < lines && j < cols {
				want = uint32(half.BrainBits(src[2*q*row+j*col]))
				if 2*q+1 < k {
					want |= uint32(half.BrainBits(src[(2*q+1)*row+j*col])) << 16
				}
			}
			if v != want {
				t.Fatalf("%d×%d, strides %d, %d: element %d,%d is %x, want %x", k, cols, row, col, q, j, v, want)
			}
		}
	}
}

// TestBrainTile: every size of a tile gives Σ a·b of what was rounded, and has the same bits in
// every tile.
func TestBrainTile(t *testing.T) {
	tile := brainly(t)
	r := rand.New(rand.NewPCG(7, 8))
	const lines = 19
	a, b := make([]uint32, tile.Rows*lines), make([]uint32, lines*tile.Cols)
	for _, x := range [][]uint32{a, b} {
		for i := range x {
			x[i] = uint32(half.BrainBits(float32(r.NormFloat64())))<<16 | uint32(half.BrainBits(float32(r.NormFloat64())))
		}
	}
	number := func(x uint32, odd int) float64 { return float64(half.Brain(uint16(x >> (16 * odd)))) }
	whole := make([]float32, tile.Rows*tile.Cols)
	for rows := tile.Rows; rows > 0; rows-- {
		for cols := tile.Cols; cols > 0; cols-- {
			c := make([]float32, tile.Rows*tile.Cols+1)
			for i := range c {
				c[i] = 5
			}
			for _, accumulate := range []bool{false, true} {
				tile.Run(1, rows, cols, lines, pointer(a), 4*lines, 4, pointer(b), 4*tile.Cols, nil, 0, 0, pointer(c), 4*tile.Cols, accumulate, 0, 0)
				if !accumulate && rows == tile.Rows && cols == tile.Cols {
					copy(whole, c)
				}
				for i, v := range c {
					i, j := i/tile.Cols, i%tile.Cols
					if i >= rows || j >= cols {
						if v != 5 {
							t.Fatalf("%d×%d: element %d,%d was written", rows, cols, i, j)
						}
						continue
					}
					want := 0.0
					for q := range lines {
						x, y := a[i*lines+q], b[q*tile.Cols+j]
						want += number(x, 0)*number(y, 0) + number(x, 1)*number(y, 1)
					}
					if accumulate {
						want *= 2
					} else if v != whole[i*tile.Cols+j] {
						t.Fatalf("%d×%d: element %d,%d has other bits than in the largest tile", rows, cols, i, j)
					}
					if math.Abs(float64(v)-want) > 1e-4 {
						t.Fatalf("%d×%d: element %d,%d is %v, want %v", rows, cols, i, j, v, want)
					}
				}
			}
		}
	}
}

func BenchmarkBrainTile(b *testing.B) {
	tile, ok := BrainTile(active)
	if !ok {
		b.Skip("no AVX512-BF16")
	}
	const lines = 384
	x, y, c := make([]uint32, tile.Rows*lines), make([]uint32, lines*tile.Cols), make([]float32, tile.Rows*tile.Cols)
	for name, run := range map[string]func(){
		"brain": func() {
			tile.Run(1, tile.Rows, tile.Cols, lines, pointer(x), 4*lines, 4, pointer(y), 4*tile.Cols, nil, 0, 0, pointer(c), 4*tile.Cols, false, 0, 0)
		},
		"float32": func() {
			TileOf(active, Dot, 32).Run(1, tile.Rows, tile.Cols, lines, pointer(x), 4*lines, 4, pointer(y), 4*tile.Cols, nil, 0, 0, pointer(c), 4*tile.Cols, false, 0, 0)
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				run()
			}
			b.ReportMetric(float64(b.N)*float64(2*tile.Rows*tile.Cols*lines)/b.Elapsed().Seconds()/1e9, "Gterms/s")
		})
	}
}
