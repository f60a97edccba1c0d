package kernel

import (
	"unsafe"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// SumOfProducts adds up a few products of two operands, along an axis of theirs, in the order of
// the terms: with the bits of a product and a sum one after the other.
type SumOfProducts struct {
	apart
	axis, rank int // of the operands
	terms      int
	inner      int // elements of an index of the axis, without the rows
	size       int // of an element
}

// SumProducts returns the kernel that computes of the operands of a product, whose result has the
// given layout, what the sum computes of that; of a square it takes the operand twice. ok is false
// if there is none: for other kernels than a Sum of a Mul or Square of floats along one axis, or
// for more than a few products.
func SumProducts(sum, product Kernel, of Layout) (k SumOfProducts, ok bool) {
	s, isSum := sum.(Reduce)
	if !isSum || s.Op != ReduceSum || s.Accumulate || !isMul(product) || of.DType != F32 && of.DType != F64 {
		return k, false
	}
	k = SumOfProducts{axis: -1, rank: of.Rank, size: of.DType.Size()}
	for a := range of.Rank {
		if s.Axes>>a&1 == 0 || of.Dims[a] == 1 {
			continue
		}
		if k.axis >= 0 {
			return k, false
		}
		k.axis, k.terms, k.inner = a, of.Dims[a], of.count(a+1, of.Rank)
	}
	return k, 1 < k.terms && k.terms <= plainTerms
}

// isMul reports whether a kernel is a product, or a square.
func isMul(k Kernel) bool {
	switch k := k.(type) {
	case Binary:
		return k.Operation == simd.Mul
	case Unary:
		return k.Function == simd.Square
	}
	return false
}

// Fits reports whether the kernel can do n rows that lie turned and give so many elements each: a
// Reduce adds up fewer or more in another order.
func (k SumOfProducts) Fits(n, row int) bool {
	return 1 < n && n*k.inner < piece && n*row*k.size <= panelBytes
}

// Flops counts a product and a sum for each term.
func (k SumOfProducts) Flops(out Layout, _ []Layout) int64 { return int64(2 * k.terms * out.Len()) }

// Bind takes operands with the rows as the last axis, of the rank that the product has with it.
func (k SumOfProducts) Bind(out Layout, in []Layout) Bound {
	var dims [MaxRank]int
	for a := range k.rank + 1 {
		dims[a] = max(in[0].Dims[a], in[1].Dims[a])
	}
	dims[k.axis] = 1
	sum := Dense(out.DType, dims[:k.rank+1]...)
	if out.DType == F64 {
		if b, ok := sumProducts[float64](k, sum, in); ok {
			return b
		}
	} else if b, ok := sumProducts[float32](k, sum, in); ok {
		return b
	}
	add := Binary{Operation: simd.Add}.Bind(sum, []Layout{sum, sum})
	products := make([]Bound, k.terms)
	for t := range products {
		x, y := in[0].index(k.axis, t), in[1].index(k.axis, t)
		products[t] = Binary{Operation: simd.Mul}.Bind(sum, []Layout{x, y})
	}
	bytes := sum.Len() * k.size
	return Bound{1, func(c *Ctx, lo, hi int) {
		if lo >= hi {
			return
		}
		products[0].Run(c, 0, products[0].Units)
		to, in, product := c.Out, (*[2]Mem)(c.In), Mem{unsafe.Pointer(c.panels()), bytes}
		x, y := in[0], in[1]
		for _, p := range products[1:] {
			c.Out = product
			p.Run(c, 0, p.Units)
			c.Out, in[0], in[1] = to, to, product
			add.Run(c, 0, add.Units)
			in[0], in[1] = x, y
		}
	}}
}

// sumProducts binds the loop that adds up two or three products, where a single call does all the
// work.
func sumProducts[T float](k SumOfProducts, sum Layout, in []Layout) (b Bound, ok bool) {
	n := newNest(sum, in[0].index(k.axis, 0), in[1].index(k.axis, 0))
	n.divide()
	if k.terms > 3 || !n.direct() || n.step(1) != k.size || n.step(2) != k.size {
		return b, false
	}
	rows, cols := n.inner()
	toOut, toX, toY := n.strides[0][0], n.strides[1][0], n.strides[2][0]
	x, y := n.offset[1], n.offset[2]
	nextX, nextY := in[0].Strides[k.axis]*k.size, in[1].Strides[k.axis]*k.size
	reachOut, reachX, reachY := n.reach[0], in[0].reach()*k.size, in[1].reach()*k.size
	two, three := simd.SumTwoProductsOf[T](level), simd.SumThreeProductsOf[T](level)
	return Bound{1, func(c *Ctx, lo, hi int) {
		if lo >= hi {
			return
		}
		in := (*[2]Mem)(c.In)
		if c.Out.n < reachOut || in[0].n < reachX || in[1].n < reachY {
			panic(short)
		}
		out, x, y := at(c.Out, 0), at(in[0], x), at(in[1], y)
		if k.terms == 2 {
			two(out, x, move(x, nextX), y, move(y, nextY), rows, cols, toOut, toX, toX, toY, toY)
		} else {
			three(out, x, move(x, nextX), move(x, 2*nextX), y, move(y, nextY), move(y, 2*nextY), rows, cols, toOut, toX, toX, toX, toY, toY, toY)
		}
	}}, true
}

// index returns the layout of one index of an axis, which stays with size 1.
func (l Layout) index(axis, i int) Layout {
	if l.Dims[axis] > 1 {
		l.Offset += i * l.Strides[axis]
		l.Dims[axis] = 1
	}
	return l
}
