package importer

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/ops"
)

// Elements of int16, uint16, uint32 and uint64 lie in the next wider type here, so what is computed
// of them is wrapped to the width that they have in the file. Numbers of uint64 from 2⁶³ on have no
// type here: they are negative, which is right for sums, differences and products alone.

// as returns a result with elements of a type of the file, wrapped to its width.
func as(elem format.DataType, n *graph.Node) value { return value{node: wrapped(elem, n), elem: elem} }

// wrapped returns n, whose elements stand for those of type elem modulo 2 to the power of its width.
func wrapped(elem format.DataType, n *graph.Node) *graph.Node {
	switch elem {
	case format.Uint16:
		return ops.Remainder(n, ops.Lit(n, 1<<16))
	case format.Uint32:
		return ops.Remainder(n, ops.Lit(n, 1<<32))
	case format.Int16:
		return ops.Shift(ops.Remainder(ops.Shift(n, 1<<15), ops.Lit(n, 1<<16)), -1<<15)
	}
	return n
}

// narrow reports whether elements of a type lie in a wider one here.
func narrow(elem format.DataType) bool {
	return elem == format.Int16 || elem == format.Uint16 || elem == format.Uint32
}

// bits returns the width of the elements of an integer type.
func bits(elem format.DataType) float64 { return float64(8 * elem.Size()) }

// quotient returns a/b, of integers without the fraction, as in C. Integers divided by 0 are 0.
func quotient(a, b *graph.Node) *graph.Node {
	if !a.DType().IsInt() {
		return ops.Div(a, b)
	}
	q := ops.FloorDiv(a, b)
	up := ops.And(ops.Less(q, ops.Lit(q, 0)), ops.NotEqual(ops.Remainder(a, b), ops.Lit(a, 0)))
	return ops.Add(q, ops.Cast(up, q.DType()))
}

// remainder returns the rest of the division a/b with the sign of a, as fmod in C.
func remainder(a, b *graph.Node) *graph.Node {
	if !a.DType().IsInt() {
		return ops.Mul(ops.Sign(a), ops.Remainder(ops.Abs(a), ops.Abs(b)))
	}
	r, zero := ops.Remainder(a, b), ops.Lit(a, 0)
	other := ops.And(ops.NotEqual(r, zero), ops.NotEqual(ops.Less(a, zero), ops.Less(r, zero)))
	return ops.Select(other, ops.Sub(r, b), r)
}

// power returns aᵇ of integers a, and b of any type, in the type of a. A whole number that is known is
// a product, which wraps around; otherwise the power is that of float64, and its fraction is dropped.
func (c *call) power(a, b *graph.Node) *graph.Node {
	if p, ok := c.number(1); ok && p == math.Trunc(p) && 0 <= p && p <= 64 {
		y := ops.OnesLike(a)
		for square := a; p > 0; p = math.Floor(p / 2) {
			if math.Mod(p, 2) == 1 {
				y = ops.Mul(y, square)
			}
			square = ops.Mul(square, square)
		}
		return c.repeat(y, b.Shape().Sizes())
	}
	xs := c.broadcast(ops.Cast(a, graph.F64), ops.Cast(b, graph.F64))
	return ops.Cast(ops.Pow(xs[0], xs[1]), a.DType())
}

// shifted returns integers without sign with their bits moved to the left or to the right by as
// many places as n says: 0 where these are all places.
func shifted(x, n *graph.Node, elem format.DataType, left bool) *graph.Node {
	x64, n64 := ops.Cast(x, graph.I64), ops.Cast(n, graph.I64)
	half := ops.FloorDiv(n64, ops.Lit(n64, 2))
	for _, by := range []*graph.Node{half, ops.Sub(n64, half)} { // 2⁶³ is no i64
		p := ops.Cast(ops.Exp2(ops.Cast(by, graph.F64)), graph.I64)
		if left {
			x64 = ops.Mul(x64, p)
		} else {
			x64 = ops.FloorDiv(x64, p)
		}
	}
	all := ops.GreaterEqual(n64, ops.Lit(n64, bits(elem)))
	return ops.Cast(ops.Select(all, ops.Lit(x64, 0), x64), x.DType())
}

// ofFloats returns a function of floats for integers too, which it converts to float64 and back.
func ofFloats(f func(*graph.Node) *graph.Node) func(*graph.Node) *graph.Node {
	return func(x *graph.Node) *graph.Node {
		if x.DType().IsFloat() {
			return f(x)
		}
		return ops.Cast(f(ops.Cast(x, graph.F64)), x.DType())
	}
}
