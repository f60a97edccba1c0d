package kernel

import (
	"math"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// Pack copies the right operand [k,n] of a product in the order in which the innermost loops read
// it: to a 1-D array of [Pack.Len] elements. For SqDist the operand is r[j,d] seen as [d,j], for Conv
// it is w[kh,kw,c,o] seen as [kh·kw·c,o]. An operand with axes before is copied matrix by matrix.
// Floats; strides are arbitrary. With Brain it rounds float32 to bfloat16 (see [MatMul]). With Taps it lays the dense int8 weights of [MatMulInteger] or
// [ConvInteger] out, of which windows have so many taps, and behind each panel the sums of its columns.
type Pack struct {
	apart
	Brain bool
	Taps  int
}

// PackReader is a product or a convolution that can read its right operand as [Pack] lays it out.
type PackReader interface {
	Kernel
	// PackOperand returns the right operand as the matrix [k,n] that Pack takes, behind the axes of
	// the batch if it has matrices of its own. ok is false where only some of these axes repeat it.
	PackOperand(in []Layout) (l Layout, ok bool)
	// PackPays reports whether one packing saves time if so many runs with these layouts read it, or
	// [EveryRun].
	PackPays(out Layout, in []Layout, runs int) bool
	// WithPacked returns the kernel that reads what pack has laid out.
	WithPacked() (reader Kernel, pack Pack)
}

// EveryRun stands for runs without an end, of which the first packs: that pays where each would pack
// for itself.
const EveryRun = math.MaxInt32

// packOperand returns the matrix of l that all batches share, or their matrices behind the axes of
// the batch; exchanged exchanges the axes of a matrix.
func packOperand(l Layout, exchanged bool) (m Layout, ok bool) {
	own, repeats := false, false
	for a := range l.Rank - 2 {
		own = own || l.Strides[a] != 0 && l.Dims[a] != 1
		repeats = repeats || l.Strides[a] == 0 && l.Dims[a] != 1
	}
	if own && repeats {
		return Layout{}, false
	}
	m = l
	row, col := l.Rank-2, l.Rank-1
	if exchanged {
		m.Dims[row], m.Dims[col] = l.Dims[col], l.Dims[row]
		m.Strides[row], m.Strides[col] = l.Strides[col], l.Strides[row]
	}
	if own {
		return m, true
	}
	one := Layout{DType: l.DType, Rank: 2, Offset: l.Offset}
	copy(one.Dims[:], m.Dims[row:l.Rank])
	copy(one.Strides[:], m.Strides[row:l.Rank])
	return one, true
}

// Len returns the length of the result for a [k,n] operand, or for each of several.
func (k Pack) Len(dt DType, rows, cols int) int {
	if k.Taps > 0 {
		tile := simd.QuadReduceOf(level)
		return blocks(cols, tile.Cols) * k.panelOfQuads(tile, rows)
	}
	m := k.multiplication(dt)
	return m.lines(rows) * blocks(cols, m.Cols) * m.Cols
}

// multiplication returns a product that reads the panels.
func (k Pack) multiplication(dt DType) *multiplication {
	return newMultiplication(product{op: simd.Dot, dtype: dt, packed: true, brain: k.Brain})
}

// packPays reports whether packing the right operand once saves time if so many runs of a product
// read it.
func packPays(p product, runs int) bool {
	if p.batches*p.m*p.n*p.k == 0 || !p.b.shared() || !p.brain && p.byVectors() {
		return false
	}
	m := newMultiplication(p)
	if runs == EveryRun {
		m.divide()
		return m.packs
	}
	return runs > 1 && (m.brain || m.scattered() || m.far() && m.m*runs > manyRows)
}

// packedRows is the number of rows that one call of assembly moves: it cannot be interrupted.
const packedRows = 1024

// Flops is 0.
func (Pack) Flops(Layout, []Layout) int64 { return 0 }

// Bind takes one operand of rank 2 or, of floats, up.
func (k Pack) Bind(_ Layout, in []Layout) Bound {
	l := in[0]
	if k.Taps > 0 {
		return k.bindQuads(l)
	}
	if l.DType != F32 && l.DType != F64 {
		panic(unsupported(k, l.DType))
	}
	m := k.multiplication(l.DType)
	size, width := m.size, m.Cols
	y, x := l.Rank-2, l.Rank-1
	depth, cols, row, col := l.Dims[y], l.Dims[x], l.Strides[y]*size, l.Strides[x]*size
	batches := l.count(0, y)
	if depth == 0 || batches == 0 {
		return Bound{0, func(*Ctx, int, int) {}}
	}
	over := l
	over.Rank = y
	where := walkOver(over, over)
	reach, length := l.reach()*size, k.Len(l.DType, depth, cols)*size
	panels := blocks(cols, width)
	return Bound{batches * panels, func(c *Ctx, lo, hi int) {
		if c.In[0].n < reach || c.Out.n < batches*length {
			panic("kernel: less memory than the layouts of a packing say")
		}
		for u := lo; u < hi; u++ {
			batch, j := u/panels, u%panels*width
			for p := 0; p < depth; p += packedRows {
				to := at(c.Out, batch*length+(m.lines(depth)*j+m.lines(p)*width)*size)
				from, rows := at(c.In[0], where.at(batch)*size+p*row+j*col), min(packedRows, depth-p)
				if k.Brain {
					m.brainPanel(c, to, width, from, rows, min(width, cols-j), row, col)
				} else {
					simd.Panel(m.level, size, to, width, from, rows, min(width, cols-j), row, col)
				}
			}
		}
	}}
}

// panelOfQuads returns the bytes of a panel of int8 weights.
func (k Pack) panelOfQuads(tile simd.BatchReduce, rows int) int {
	return (k.Taps*blocks(rows/k.Taps, 4) + 1) * tile.Cols * 4
}

func (k Pack) bindQuads(l Layout) Bound {
	if l.DType != I8 || !l.IsDense() {
		panic(unsupported(k, l.DType))
	}
	tile, rows, cols := simd.QuadReduceOf(level), l.Dims[0], l.Dims[1]
	panel := k.panelOfQuads(tile, rows)
	return sized(Bound{blocks(cols, tile.Cols), func(c *Ctx, lo, hi int) {
		for u := lo; u < hi; u++ {
			j := u * tile.Cols
			packQuads(tile, at(c.Out, u*panel), at(c.In[0], j), cols, k.Taps, rows/k.Taps, min(tile.Cols, cols-j))
		}
	}}, Dense(I8, k.Len(I8, rows, cols)), []Layout{l})
}
