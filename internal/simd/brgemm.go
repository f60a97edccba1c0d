package simd

import "unsafe"

//go:generate go run -C ../asmgen . -out ../simd brgemm

// A BatchReduce is the micro-kernel of batch-reduced products of matrices: Run computes a tile of
// at most Rows×Cols results
//
//	c[i,j] (+)= Σ_q Σ_p a[q,i,p]·b[q,p,j]
//
// with its sums in registers. Strides are in bytes, any for a and for the rows of b and c, whose
// columns lie side by side; nextA and nextB are the distances between the matrices of the batch.
// Nothing outside the tile is read or written. The sum runs in order, over q first; accumulate adds
// it to c, else it replaces c. Results do not depend on the size of their tile. k and batch may be
// 0.
type BatchReduce struct {
	Rows, Cols int
	Run        func(rows, cols, k, batch int, a *byte, rowA, colA, nextA int, b *byte, rowB, nextB int,
		c *byte, rowC int, accumulate bool)
}

// BatchReduceOf returns the micro-kernel of a level, which the machine must have, for floats of 32
// or 64 bits.
func BatchReduceOf(level Level, bits int) BatchReduce {
	switch bits {
	case 32:
		if level == Portable {
			return portableBatchReduce(portableTiles32[Dot])
		}
		return batchReduce32[level]
	case 64:
		if level == Portable {
			return portableBatchReduce(portableTiles64[Dot])
		}
		return batchReduce64[level]
	}
	panic(unknownFloat(bits))
}

// WindowReduceOf returns the micro-kernel of a level, which the machine must have, for floats of 32
// or 64 bits, which computes
//
//	c[i,j] (+)= Σ_q Σ_p a[q,i,p,j]·b[q,p,j]
//
// the sums of windows in which each column j has weights of its own, as a depthwise convolution has
// them. Rows of a are as long as those of b; otherwise it is as a [BatchReduce].
func WindowReduceOf(level Level, bits int) BatchReduce {
	switch bits {
	case 32:
		if level == Portable {
			return BatchReduce{6, 16, windowReduce[float32]}
		}
		return windowReduce32[level]
	case 64:
		if level == Portable {
			return BatchReduce{6, 8, windowReduce[float64]}
		}
		return windowReduce64[level]
	}
	panic(unknownFloat(bits))
}

func windowReduce[T float32 | float64](rows, cols, k, batch int, a *byte, rowA, colA, nextA int, b *byte, rowB, nextB int,
	c *byte, rowC int, accumulate bool) {
	for i := range rows {
		out := unsafe.Slice((*T)(unsafe.Pointer(move(c, i*rowC))), cols)
		if !accumulate {
			clear(out)
		}
		for q := range batch {
			for p := range k {
				x := unsafe.Slice((*T)(unsafe.Pointer(move(a, q*nextA+i*rowA+p*colA))), cols)
				w := unsafe.Slice((*T)(unsafe.Pointer(move(b, q*nextB+p*rowB))), cols)
				for j := range out {
					out[j] += x[j] * w[j]
				}
			}
		}
	}
}

// portableBatchReduce adds up the products of the batch.
func portableBatchReduce(t Tile) BatchReduce {
	return BatchReduce{t.Rows, t.Cols, func(rows, cols, k, batch int, a *byte, rowA, colA, nextA int, b *byte, rowB, nextB int,
		c *byte, rowC int, accumulate bool) {
		if batch == 0 {
			k, batch = 0, 1
		}
		for q := range batch {
			t.Run(1, rows, cols, k, move(a, q*nextA), rowA, colA, move(b, q*nextB), rowB, nil, 0, 0, c, rowC, accumulate || q > 0, 0, 0)
		}
	}}
}
