package kernel

import "github.com/tapestry-ml/tapestry/internal/simd"

// turns reports whether to compute the transposed product: where b is transposed in memory and a
// has few rows, packing a and transposing the result costs less than packing b. The rows of a
// become columns, which should fill vectors.
func (p *product) turns() bool {
	size := p.dtype.Size()
	lanes := simd.TileOf(level, p.op, 8*size).Cols / 2
	return p.op == simd.Dot && !p.packed && p.b.row == 1 && p.b.col != 1 && p.m%lanes == 0 && 4*p.m <= min(p.n, p.k) &&
		p.m*p.n*size <= turnedBytes
}

// turnedBytes is the size of the largest result that is transposed.
const turnedBytes = 256 << 10

// begin returns the memory for a part of the transposed result, filled with the values that are to
// be added to.
func (m *multiplication) begin(c *Ctx, batch, i0, i1, j0, j1 int) *byte {
	if m.accumulate {
		simd.Transpose(m.level, m.size, c.beside(), m.result(c, batch, i0, j0), j1-j0, i1-i0, (j1-j0)*m.size, m.m*m.size)
	}
	return c.beside()
}

// finish transposes the part into the result.
func (m *multiplication) finish(c *Ctx, batch, i0, i1, j0, j1 int) {
	simd.Transpose(m.level, m.size, m.result(c, batch, i0, j0), c.beside(), i1-i0, j1-j0, m.m*m.size, (j1-j0)*m.size)
}

// result returns a pointer into the result, to element i,j of the transposed product.
func (m *multiplication) result(c *Ctx, batch, i, j int) *byte {
	return at(c.Out, ((batch*m.n+j)*m.m+i)*m.size)
}
