package simd

import "unsafe"

// The sums of a portable tile, 4×2 or 2×2, and the operands fit into the 15 registers that Go uses
// on amd64. Products are rounded before they are added, so that no compiler contracts them.

// The micro-kernels in plain Go. They are made once: a generic function as a value is allocated.
var (
	portableTiles32 = portableTiles[float32]()
	portableTiles64 = portableTiles[float64]()
)

func portableTiles[T float32 | float64]() [4]Tile {
	return [...]Tile{
		Dot:      {4, 2, downwards(dotTile[T])},
		Distance: {4, 2, downwards(distanceTile[T])},
		Shifted:  {2, 2, downwards(shiftedTile[T])},
		Centred:  {2, 2, downwards(centredTile[T])},
	}
}

// downwards returns the Run of a micro-kernel that computes one tile.
func downwards(tile func(rows, cols, k int, a *byte, rowA, colA int, b *byte, rowB int, x *byte, rowX, colX int,
	c *byte, rowC int, accumulate bool)) func(tiles, rows, cols, k int, a *byte, rowA, colA int, b *byte, rowB int, x *byte, rowX, colX int,
	c *byte, rowC int, accumulate bool, _ uintptr, _ int) {
	return func(tiles, rows, cols, k int, a *byte, rowA, colA int, b *byte, rowB int, x *byte, rowX, colX int,
		c *byte, rowC int, accumulate bool, _ uintptr, _ int) {
		for t := range tiles {
			i := t * rows
			n := min(k, 1) * i // with k = 0, no other address lies within a, or within the x of Shifted
			tile(rows, cols, k, move(a, n*rowA), rowA, colA, b, rowB, move(x, n*rowX), rowX, colX, move(c, i*rowC), rowC, accumulate)
		}
	}
}

// at returns the element at an offset in bytes.
func at[T float32 | float64](p *byte, offset int) T {
	return *(*T)(unsafe.Add(unsafe.Pointer(p), offset))
}

// second returns the offset of the second column of a tile. Where a tile has fewer rows or columns,
// the last is computed again and not stored.
func second[T float32 | float64](cols int) int {
	var e T
	return (cols - 1) * int(unsafe.Sizeof(e))
}

// row returns row i of an operand, or its last row. With k = 0 the operand has no elements, and no
// address but its own lies within it.
func row(p *byte, i, rows, k, stride int) *byte { return move(p, min(i, rows-1, k*rows)*stride) }

// column returns the second column of b, as row does.
func column[T float32 | float64](b *byte, cols, k int) *byte {
	return move(b, min(k, 1)*second[T](cols))
}

// put stores the sums of a tile.
func put[T float32 | float64](rows, cols int, c *byte, rowC int, accumulate bool, sums [8]T) {
	for i := range rows {
		for j, s := range sums[2*i : 2*i+cols] {
			p := (*T)(unsafe.Add(unsafe.Pointer(c), i*rowC+second[T](j+1)))
			if accumulate {
				s += *p
			}
			*p = s
		}
	}
}

func dotTile[T float32 | float64](rows, cols, k int, a *byte, rowA, colA int, b *byte, rowB int, _ *byte, _, _ int,
	c *byte, rowC int, accumulate bool) {
	a1, a2, a3 := row(a, 1, rows, k, rowA), row(a, 2, rows, k, rowA), row(a, 3, rows, k, rowA)
	b1 := column[T](b, cols, k)
	p, q := 0, 0 // offsets of the column of a and the row of b
	var s00, s01, s10, s11, s20, s21, s30, s31 T
	for range k {
		y0, y1 := at[T](b, q), at[T](b1, q)
		x := at[T](a, p)
		s00 += T(x * y0)
		s01 += T(x * y1)
		x = at[T](a1, p)
		s10 += T(x * y0)
		s11 += T(x * y1)
		x = at[T](a2, p)
		s20 += T(x * y0)
		s21 += T(x * y1)
		x = at[T](a3, p)
		s30 += T(x * y0)
		s31 += T(x * y1)
		p += colA
		q += rowB
	}
	put(rows, cols, c, rowC, accumulate, [8]T{s00, s01, s10, s11, s20, s21, s30, s31})
}

func distanceTile[T float32 | float64](rows, cols, k int, a *byte, rowA, colA int, b *byte, rowB int, _ *byte, _, _ int,
	c *byte, rowC int, accumulate bool) {
	a1, a2, a3 := row(a, 1, rows, k, rowA), row(a, 2, rows, k, rowA), row(a, 3, rows, k, rowA)
	b1 := column[T](b, cols, k)
	p, q := 0, 0 // offsets of the column of a and the row of b
	var s00, s01, s10, s11, s20, s21, s30, s31 T
	for range k {
		y0, y1 := at[T](b, q), at[T](b1, q)
		x := at[T](a, p)
		d, e := x-y0, x-y1
		s00 += T(d * d)
		s01 += T(e * e)
		x = at[T](a1, p)
		d, e = x-y0, x-y1
		s10 += T(d * d)
		s11 += T(e * e)
		x = at[T](a2, p)
		d, e = x-y0, x-y1
		s20 += T(d * d)
		s21 += T(e * e)
		x = at[T](a3, p)
		d, e = x-y0, x-y1
		s30 += T(d * d)
		s31 += T(e * e)
		p += colA
		q += rowB
	}
	put(rows, cols, c, rowC, accumulate, [8]T{s00, s01, s10, s11, s20, s21, s30, s31})
}

func shiftedTile[T float32 | float64](rows, cols, k int, a *byte, rowA, colA int, b *byte, rowB int, x *byte, rowX, colX int,
	c *byte, rowC int, accumulate bool) {
	a1, x1, b1 := row(a, 1, rows, k, rowA), row(x, 1, rows, k, rowX), column[T](b, cols, k)
	p, q, r := 0, 0, 0
	var s00, s01, s10, s11 T
	for range k {
		y0, y1 := at[T](b, q), at[T](b1, q)
		u, v := at[T](a, p), at[T](x, r)
		s00 += T(u * (v - y0))
		s01 += T(u * (v - y1))
		u, v = at[T](a1, p), at[T](x1, r)
		s10 += T(u * (v - y0))
		s11 += T(u * (v - y1))
		p += colA
		q += rowB
		r += colX
	}
	put(rows, cols, c, rowC, accumulate, [8]T{s00, s01, s10, s11})
}

func centredTile[T float32 | float64](rows, cols, k int, a *byte, rowA, colA int, b *byte, rowB int, x *byte, rowX, _ int,
	c *byte, rowC int, accumulate bool) {
	a1, x1, b1 := row(a, 1, rows, k, rowA), row(x, 1, rows, 1, rowX), column[T](b, cols, k)
	x00, x01, x10, x11 := at[T](x, 0), at[T](x, second[T](cols)), at[T](x1, 0), at[T](x1, second[T](cols))
	p, q := 0, 0
	var s00, s01, s10, s11 T
	for range k {
		y0, y1 := at[T](b, q), at[T](b1, q)
		u := at[T](a, p)
		s00 += T(u * (x00 - y0))
		s01 += T(u * (x01 - y1))
		u = at[T](a1, p)
		s10 += T(u * (x10 - y0))
		s11 += T(u * (x11 - y1))
		p += colA
		q += rowB
	}
	put(rows, cols, c, rowC, accumulate, [8]T{s00, s01, s10, s11})
}
