package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// bytesOf returns random bytes, with the ends of their range among them.
func bytesOf(r *rand.Rand, n int) []byte {
	x := make([]byte, n)
	for i := range x {
		x[i] = byte(r.Uint32())
		if r.IntN(4) == 0 {
			x[i] = []byte{0, 127, 128, 255}[r.IntN(4)]
		}
	}
	return x
}

// TestQuadPanel: numbers of rows and columns that are no multiples of anything, and what is beside
// the panel.
func TestQuadPanel(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		k, cols := 1+r.IntN(21), 1+r.IntN(40)
		width, row := cols+r.IntN(9), cols+r.IntN(5)
		src, lines := bytesOf(r, k*row), (k+3)/4
		dst := slices.Repeat([]byte{77}, 4*lines*width)
		QuadPanel(active, &dst[0], width, &src[0], row, k, cols)
		for i, v := range dst {
			p, j, want := i/(4*width)*4+i%4, i/4%width, byte(77)
			if j < cols {
				want = 0
				if p < k {
					want = src[p*row+j]
				}
			}
			if v != want {
				t.Fatalf("%d×%d, %d wide: element %d,%d is %d, want %d", k, cols, width, p, j, v, want)
			}
		}
	}
}

// TestQuadReduce: every size of a tile is what a loop over numbers gives, and nothing else is
// written. The largest products do not saturate.
func TestQuadReduce(t *testing.T) {
	tile := QuadReduceOf(active)
	r := rand.New(rand.NewPCG(5, 6))
	const k, batch, beyond = 5, 2, 1234567
	rowA := 4*k + 8
	nextA, rowB := rowA*tile.Rows, 4*tile.Cols
	a, b := bytesOf(r, batch*nextA), bytesOf(r, batch*k*rowB)
	for i := range 4 * k { // of the first row and columns
		a[i] = 255
	}
	for p := range k {
		for i := range 8 {
			b[p*rowB+i] = []byte{127, 128}[i/4]
		}
	}
	want := make([]int32, tile.Rows*tile.Cols)
	for i := range want {
		for q := range batch {
			for p := range 4 * k {
				x, w := a[q*nextA+i/tile.Cols*rowA+p], int8(b[(q*k+p/4)*rowB+4*(i%tile.Cols)+p%4])
				want[i] += int32(x) * int32(w)
			}
		}
	}
	for rows := tile.Rows; rows > 0; rows-- {
		for cols := tile.Cols; cols > 0; cols-- {
			c := slices.Repeat([]int32{beyond}, tile.Rows*tile.Cols+1)
			for times := range int32(2) {
				tile.Run(rows, cols, k, batch, &a[0], rowA, 4, nextA, &b[0], rowB, k*rowB, pointer(c), 4*tile.Cols, times > 0)
				for i, v := range c {
					inside := i/tile.Cols < rows && i%tile.Cols < cols
					if inside && v != (times+1)*want[i] || !inside && v != beyond {
						t.Fatalf("%d×%d, %d times: element %d,%d is %d", rows, cols, times+1, i/tile.Cols, i%tile.Cols, v)
					}
				}
			}
		}
	}
}

func BenchmarkQuadReduce(b *testing.B) {
	const k = 144
	tile, floats := QuadReduceOf(active), BatchReduceOf(active, 32)
	x, y, c := make([]uint32, 14*k), make([]uint32, k*32), make([]uint32, 14*32)
	for name, run := range map[string]BatchReduce{"uint8": tile, "float32": floats} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				run.Run(run.Rows, run.Cols, k, 1, pointer(x), 4*k, 4, 0, pointer(y), 4*run.Cols, 0, pointer(c), 4*run.Cols, false)
			}
			terms := 2 * run.Rows * run.Cols * k
			if name == "uint8" {
				terms *= 4
			}
			b.ReportMetric(float64(b.N)*float64(terms)/b.Elapsed().Seconds()/1e9, "Gop/s")
		})
	}
}
