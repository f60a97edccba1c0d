package importer

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// bilinear is an operation that is linear in both operands, on floats and on bytes.
type bilinear struct {
	floats func(x, w *graph.Node) *graph.Node
	bytes  func(x, w, zero *graph.Node) *graph.Node // as [ops.MatMulInteger]; nil where there is none

	perOutput int   // the axis of w with the outputs, each of which may have a zero of its own
	outputs   int   // the axis of the result with them
	ones      []int // the sizes of a w for which all outputs are the same sum over x
}

// centredProduct returns p of x − xZero and w − wZero, where wZero is operand j, if there is one.
// Of bytes it is of i32, else of float64, which is exact for sums of fewer than 2³⁷ terms. xZero
// may be nil.
//
// The products of bytes have a second operand of i8 without a zero. Others follow by linearity:
//
//	Σ (x − xZero)·(w − wZero) = Σ (x − xZero)·(w − s) − (wZero − s)·Σ (x − xZero),  s = 128 for u8
func (c *call) centredProduct(p bilinear, x, xZero, w *graph.Node, j int) *graph.Node {
	if p.bytes == nil || !isByte(x) || !isByte(w) || xZero != nil && xZero.Rank() > 0 {
		var wZero *graph.Node
		if c.has(j) {
			wZero = c.along(c.x(j), w, p.perOutput)
		}
		return p.floats(centred(x, xZero, graph.F64), centred(w, wZero, graph.F64))
	}
	if xZero == nil {
		xZero = c.array(x.DType(), []float64{0})
	}
	shift := 0.0
	if w.DType() == graph.U8 {
		shift = 128
		w = ops.Cast(centred(w, c.array(graph.I32, []float64{shift}), graph.I32), graph.I8)
	}
	y := p.bytes(x, w, xZero)
	off := c.array(graph.I32, []float64{-shift})
	switch {
	case c.isKnown(j) && !slices.ContainsFunc(c.known(j), func(v float64) bool { return v != shift }), !c.has(j) && shift == 0:
		return y
	case c.has(j):
		off = c.along(centred(c.x(j), c.array(graph.I32, []float64{shift}), graph.I32), y, p.outputs)
	}
	n := 1
	for _, d := range p.ones {
		n *= d
	}
	sums := p.bytes(x, c.array(graph.I8, slices.Repeat([]float64{1}, n), p.ones...), xZero)
	in := c.broadcast(off, sums)
	in = c.broadcast(y, ops.Mul(in[0], in[1]))
	return ops.Sub(in[0], in[1])
}

func isByte(n *graph.Node) bool { return n.DType() == graph.U8 || n.DType() == graph.I8 }

// matrices returns [centredProduct] of rows x and a matrix w.
func (c *call) matrices(x, xZero, w *graph.Node, j int) *graph.Node {
	x, w = bare(x), bare(w)
	if xZero != nil {
		xZero = c.rows(xZero, x)
	}
	p := bilinear{floats: func(x, w *graph.Node) *graph.Node { return ops.MatMul(x, w) }, perOutput: w.Rank() - 1}
	if w.Rank() == 2 && x.Rank() > 0 {
		p.bytes, p.outputs, p.ones = ops.MatMulInteger, x.Rank()-1, []int{w.Dim(0), 1}
	}
	return c.centredProduct(p, x, xZero, w, j)
}

// images returns [centredProduct] of x[n c …], whose zero is operand i, and a kernel [out in …],
// with the attributes of a convolution.
func (c *call) images(x *graph.Node, i int, kernel *graph.Node, j int) *graph.Node {
	p := bilinear{floats: c.convolved, outputs: 1, ones: kernel.Shape().Sizes()}
	if c.int("group", 1) == 1 && len(p.ones) > 0 {
		p.ones[0] = 1
	}
	if k := kernel.Rank() - 2; (k == 1 || k == 2) && x.Rank() == k+2 {
		w := c.window(x, kernel.Shape().Sizes()[2:])
		around := 0.0
		if !w.even() && c.isKnown(i) {
			around = c.known(i)[0]
		}
		if w.even() || !c.has(i) || c.isKnown(i) {
			p.bytes = func(x, w, zero *graph.Node) *graph.Node {
				return c.convolvedBy(func(x, w *graph.Node, options ...ops.Window) *graph.Node {
					return ops.ConvInteger(x, w, zero, options...)
				}, x, w, around)
			}
		}
	}
	return c.centredProduct(p, x, c.zero(i), kernel, j)
}
