package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// levels are those of this machine.
func levels() []Level {
	var ls []Level
	for l := range Best() + 1 {
		ls = append(ls, l)
	}
	return ls
}

var contractions = []string{Dot: "dot", Distance: "distance", Shifted: "shifted", Centred: "centred"}

func TestTiles(t *testing.T) {
	for _, level := range levels() {
		for op, name := range contractions {
			t.Run(fmt.Sprint(level, "/", name), func(t *testing.T) {
				testTile[float32](t, TileOf(level, Contraction(op), 32), Contraction(op), 0x1p-23)
				testTile[float64](t, TileOf(level, Contraction(op), 64), Contraction(op), 0x1p-52)
			})
		}
		t.Run(fmt.Sprint(level, "/wide"), func(t *testing.T) {
			testTile[float32](t, WideTileOf(level, 32), Dot, 0x1p-23)
			testTile[float64](t, WideTileOf(level, 64), Dot, 0x1p-52)
		})
	}
}

// testTile compares every size of tile, one or three of them, with sums in float64, between guards.
func testTile[T float32 | float64](t *testing.T, tile Tile, op Contraction, eps float64) {
	size := int(unsafe.Sizeof(T(0)))
	r := rand.New(rand.NewPCG(1, 2))
	const pad = 3
	for high := 1; high <= tile.Rows; high++ {
		for cols := 1; cols <= tile.Cols; cols++ {
			for n, k := range []int{0, 1, 2, 7, 2, 63, 64, 150} {
				tiles := 1 + n/4*2
				rows := tiles * high
				a, b := random[T](r, rows*k*2+1), random[T](r, k*(cols+pad)+1)
				rowA, colA := k, 1
				if cols%2 == 0 {
					rowA, colA = 1, rows+1
				}
				rowX, colX := rowA, colA
				if op == Centred {
					rowX, colX = cols+1, 1
				}
				x := random[T](r, max(len(a), rows*(cols+1)))
				c := random[T](r, rows*(cols+pad)+pad)
				rowB, rowC := cols+pad, cols+pad
				for _, accumulate := range []bool{false, true} {
					got := append([]T(nil), c...)
					p := func(s []T) *byte { return (*byte)(unsafe.Pointer(unsafe.SliceData(s))) }
					tile.Run(tiles, high, cols, k, p(a), rowA*size, colA*size, p(b), rowB*size, p(x), rowX*size, colX*size,
						p(got[pad:]), rowC*size, accumulate, 0, 0)
					for q := range got {
						i, j := (q-pad)/rowC, (q-pad)%rowC
						if q < pad || i >= rows || j >= cols {
							if got[q] != c[q] {
								t.Fatalf("%d tiles of %dx%d k=%d: wrote element %d", tiles, high, cols, k, q-pad)
							}
							continue
						}
						want, bound := 0.0, 0.0
						if accumulate {
							want = float64(c[q])
							bound = math.Abs(want)
						}
						for p := range k {
							u, v := float64(a[i*rowA+p*colA]), float64(b[p*rowB+j])
							var f float64
							switch op {
							case Dot:
								f = u * v
							case Distance:
								f = (u - v) * (u - v)
							case Shifted:
								f = u * (float64(x[i*rowX+p*colX]) - v)
							case Centred:
								f = u * (float64(x[i*rowX+j]) - v)
							}
							want += f
							bound += math.Abs(f)
						}
						if d := math.Abs(float64(got[q]) - want); !(d <= float64(k+3)*eps*bound) {
							t.Fatalf("%d tiles of %dx%d k=%d accumulate=%v: element %d,%d is %v, want %v", tiles, high, cols, k, accumulate, i, j, got[q], want)
						}
					}
				}
			}
		}
	}
}

func random[T float32 | float64](r *rand.Rand, n int) []T {
	s := make([]T, n)
	for i := range s {
		s[i] = T(r.NormFloat64())
	}
	return s
}
