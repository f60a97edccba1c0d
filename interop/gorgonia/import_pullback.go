package gorgonia

import (
	"reflect"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// Gorgonia's derivatives of operations are operations of their own, with operands x, dy or x, y, dy.
// They are imported as the derivative, by our rules, of what the operation is imported as. It stands
// in a function of its own, in which x and dy do not depend on each other.

// pullback returns the rule for the derivative of an operation, whose operand number at is dy.
func pullback(forward importRule, at int) importRule {
	return func(s theirs) *graph.Node {
		s.outside()
		return backward(s, s.x(0), s.x(at), func(x *graph.Node) *graph.Node {
			inside := s
			inside.instead = x
			return forward(inside)
		})
	}
}

// outside imports all operands before the function of the derivative is built.
func (s theirs) outside() {
	for i := range s.operands[s.n] {
		s.x(i)
	}
}

// backward returns the derivative of Σ f(x)·dy by x.
func backward(s theirs, x, dy *graph.Node, f func(x *graph.Node) *graph.Node) *graph.Node {
	return ops.Call(kindOf(s.n), func(in []*graph.Node) []*graph.Node {
		x, dy := in[0], in[1]
		y := f(x)
		if y.IsValid() {
			dy = reshaping(dy, y.Shape().Sizes())
		}
		return grad.OrZero(ops.Sum(ops.Mul(y, dy)), x)
	}, x, dy)[0]
}

// importByIndicesDiff has the operands x, dy and the indices.
func importByIndicesDiff(s theirs) *graph.Node {
	index := s.x(2)
	index = reshaping(index, []int{index.Shape().Len()})
	axis := s.int("axis")
	return backward(s, s.x(0), s.x(1), func(x *graph.Node) *graph.Node { return ops.Gather(x, index, axis) })
}

// importSparsemaxDiff has the operands y and dy, and no axis of its own.
func importSparsemaxDiff(s theirs) *graph.Node {
	y := s.arg(0)
	if kindOf(y) != "sparsemaxOp" {
		panic(noRule{"its operand is no Sparsemax"})
	}
	axis := int(attribute(y.Op(), "axis").Int())
	return backward(s, s.of(s.operands[y][0]), s.x(1), func(x *graph.Node) *graph.Node { return ops.Sparsemax(x, axis) })
}

// importCTCDiff has the operands of the loss, and dy.
func importCTCDiff(s theirs) *graph.Node {
	s.outside()
	return backward(s, s.x(0), s.x(4), s.ctc)
}

// importBatchNormDiff has the operands x and dy.
func importBatchNormDiff(s theirs) *graph.Node {
	s.statistics(s.primal(), s.x(0))
	return pullback(importBatchNorm, 1)(s)
}

func pointerOf(x any) uintptr { return reflect.ValueOf(x).Pointer() }
