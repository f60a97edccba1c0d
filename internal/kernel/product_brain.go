package kernel

import (
	"unsafe"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// The operands of a product that rounds them to bfloat16 are packed by every run, but for a right
// one that [Pack] has laid out: as pairs where the machine multiplies those, otherwise as rounded
// float32. Sums are float32 everywhere.

// Rate returns how many multiply-adds of a kernel a core does in the time of one of its type.
func Rate(k Kernel) int64 {
	if _, pairs := simd.BrainTile(level); pairs && Rounds(k) {
		return 2
	}
	switch k.(type) {
	case MatMulInteger, ConvInteger:
		if level != simd.Portable {
			return 4
		}
	}
	return 1
}

// Rounds reports whether a kernel rounds its operands to bfloat16.
func Rounds(k Kernel) bool {
	switch k := k.(type) {
	case MatMul:
		return k.Brain
	case Conv:
		return k.Brain
	case ConvInput:
		return k.Brain
	case ConvKernel:
		return k.Brain
	}
	return false
}

// Rounding returns the kernel with its operands rounded to bfloat16; ok is false if it has no such
// form.
func Rounding(k Kernel) (rounded Kernel, ok bool) {
	switch k := k.(type) {
	case MatMul:
		k.Brain = true
		return k, true
	case Conv:
		k.Brain = true
		return k, true
	case ConvInput:
		k.Brain = true
		return k, true
	case ConvKernel:
		k.Brain = true
		return k, true
	}
	return k, false
}

// lines returns the number of lines of a packed operand for so many p: pairs have one for two of
// them.
func (m *multiplication) lines(p int) int { return blocks(p, m.together()) }

// together returns the number of terms in an element of a packed operand.
func (m *multiplication) together() int {
	if m.pairs {
		return 2
	}
	return 1
}

// packBrain packs the section's part of b, which starts at from.
func (m *multiplication) packBrain(c *Ctx, from *byte, s *section) {
	s.b, s.rowB, s.panelB = c.panels(), m.Cols*m.size, m.lines(s.depth)*m.Cols*m.size
	for j := 0; j < s.cols; j += m.Cols {
		m.brainPanel(c, move(s.b, j/m.Cols*s.panelB), m.Cols, move(from, j*m.b.col), s.depth, min(m.Cols, s.cols-j), m.b.row, m.b.col)
	}
}

// brainPanel packs a panel of k rows: those of b may lie side by side, and are turned in what is
// beside the panels.
func (m *multiplication) brainPanel(c *Ctx, dst *byte, width int, src *byte, k, cols, row, col int) {
	if m.pairs {
		simd.BrainPanel(m.level, dst, width, src, k, cols, row, col, c.beside())
		return
	}
	simd.Panel(m.level, m.size, dst, width, src, k, cols, row, col)
	for p := range k {
		simd.RoundBrain(floatsAt(move(dst, p*width*m.size), cols))
	}
}

func bytesAt(p *byte, n int) []byte { return unsafe.Slice(p, n) }

func floatsAt(p *byte, n int) []float32 { return unsafe.Slice((*float32)(unsafe.Pointer(p)), n) }

// besideStrides returns the strides of the rows of a that are packed.
func (m *multiplication) besideStrides(depth int) (row, col int) {
	if m.a.col == m.size {
		return m.lines(depth) * m.size, m.size
	}
	return m.size, m.Rows * m.size
}

// packBrainRows packs rows of a for the tiles across.
func (m *multiplication) packBrainRows(c *Ctx, from *byte, rows, depth int) {
	row, _ := m.besideStrides(depth)
	switch {
	case row == m.size: // the other way round, a is a panel
		m.brainPanel(c, c.beside(), m.Rows, from, depth, rows, m.a.col, m.a.row)
	case m.pairs:
		simd.BrainRows(m.level, c.beside(), row, from, m.a.row, rows, depth)
	default:
		simd.CopyRows(m.level, m.size, c.beside(), row, from, m.a.row, rows, depth)
		simd.RoundBrain(floatsAt(c.beside(), rows*depth))
	}
}
