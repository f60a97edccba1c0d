package simd

import "fmt"

//go:generate go run -C ../asmgen . -out ../simd gemm

// Contraction names the terms that a product of matrices sums over p.
type Contraction uint8

// The contractions.
const (
	Dot      Contraction = iota // Σ_p a[i,p]·b[p,j]
	Distance                    // Σ_p (a[i,p] - b[p,j])²
	Shifted                     // Σ_p a[i,p]·(x[i,p] - b[p,j])
	Centred                     // Σ_p a[i,p]·(x[i,j] - b[p,j])
)

// Tile is a micro-kernel: Run computes one or more tiles of at most Rows×Cols results, each below
// the one before, with the sums of a tile in registers. Strides are in bytes, any
// for rows and for the columns of a and of Shifted's x; the columns of b, c and of Centred's x lie
// side by side. Nothing outside the tiles is read or written. The sum over p runs in order from 0;
// accumulate adds it to c, else it replaces c. Results do not depend on the size of their tile.
// With each p of each tile, Run prefetches the cache line at ahead, which need not exist, and moves
// ahead by stepAhead bytes. x is ignored where there is none; k may be 0.
type Tile struct {
	Rows, Cols int
	Run        func(tiles, rows, cols, k int, a *byte, rowA, colA int, b *byte, rowB int, x *byte, rowX, colX int,
		c *byte, rowC int, accumulate bool, ahead uintptr, stepAhead int)
}

// TileOf returns the micro-kernel of a level, which the machine must have, for floats of 32 or 64
// bits.
func TileOf(level Level, op Contraction, bits int) Tile {
	switch bits {
	case 32:
		if level == Portable {
			return portableTiles32[op]
		}
		return tiles32[level][op]
	case 64:
		if level == Portable {
			return portableTiles64[op]
		}
		return tiles64[level][op]
	}
	panic(unknownFloat(bits))
}

// WideTileOf returns a micro-kernel of Dot for few rows: it reads b in longer runs, which suits
// memory.
func WideTileOf(level Level, bits int) Tile {
	switch {
	case level == Portable:
		return TileOf(level, Dot, bits)
	case bits == 32:
		return wideTiles32[level]
	case bits == 64:
		return wideTiles64[level]
	}
	panic(unknownFloat(bits))
}

func unknownFloat(bits int) string { return fmt.Sprintf("simd: no floats of %d bits", bits) }
