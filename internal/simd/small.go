package simd

import "unsafe"

//go:generate go run -C ../asmgen . -out ../simd small

// SmallTerms is the largest number of terms of small products.
const SmallTerms = 8

// SmallProducts multiplies matrices in batches: c[q,i,j] = Σ_p a[q,i,p]·b[q,p,j] for n columns, of
// at most those of the [Small], and 1 to [SmallTerms] terms. Strides are in bytes: next leads to
// the next matrix. The columns of b and c lie side by side, and the rows of c, of all matrices, are
// rowC bytes apart. Nothing outside the matrices is read or written. Each sum runs in order from 0,
// as that of a [Tile] does.
type SmallProducts func(batch, m, n, k int, a *byte, nextA, rowA, colA int, b *byte, nextB, rowB int, c *byte, rowC int)

// Small is the loop of small products for some columns.
type Small struct {
	Cols int // at most
	Run  SmallProducts
}

// SmallOf returns the loop of a level, which the machine must have, for floats of 32 or 64 bits and
// n columns. Where there are more columns than those of the loop, it is to be run several times.
func SmallOf(level Level, bits, n int) Small {
	switch {
	case level == Portable && bits == 32:
		return Small{8, smallProducts[float32]}
	case level == Portable:
		return Small{8, smallProducts[float64]}
	case bits == 32:
		return small32[level]
	case n > small64[level].Cols:
		return smallWide64[level]
	}
	return small64[level]
}

func smallProducts[T float32 | float64](batch, m, n, k int, a *byte, nextA, rowA, colA int, b *byte, nextB, rowB int, c *byte, rowC int) {
	for q := range batch {
		for i := range m { // pointers are made of offsets: past the last matrix is no memory
			var sum [8]T
			for p := range k {
				x := at[T](a, q*nextA+i*rowA+p*colA)
				for j, y := range unsafe.Slice((*T)(unsafe.Pointer(move(b, q*nextB+p*rowB))), n) {
					sum[j&7] += T(x * y)
				}
			}
			copy(unsafe.Slice((*T)(unsafe.Pointer(move(c, (q*m+i)*rowC))), n), sum[:n])
		}
	}
}
