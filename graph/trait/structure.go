package trait

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
)

// Linear is an operation that is linear in some operands: a factor of one of them is a factor of
// the result.
type Linear interface {
	// Linear reports whether f(…, s·x, …) = s·f(…, x, …) for a scalar s and operand i, x.
	Linear(i int) bool
}

// Commutative is an operation on two operands that may be exchanged.
type Commutative interface {
	// Commutes does nothing: having it says that f(a, b) = f(b, a).
	Commutes()
}

// Paired is an operation that either keeps the axes that it reduces, with size 1, or removes them.
type Paired interface {
	// Twin returns the operation that does the other of the two.
	Twin() graph.Op
}

// Quantisable is a product of its two operands, floats, that there is for integers of a byte too.
type Quantisable interface {
	// Integer returns that operation. Its operands are the first in u8 or i8, the second in i8, and
	// the number that stands for 0 in the first.
	Integer() graph.Op
}

// Along is an operation that works along some axes of its operand, and does the same at all places
// along the others: a reduction, a softmax, a concatenation.
type Along interface {
	// Along returns the axes of the operand that the operation works along.
	Along() attr.AxisSet
}

// Deviating is an operation that divides by the standard deviation of its operand over its axes, or
// is the reciprocal of that.
type Deviating interface {
	// Epsilon returns what is added to the variance.
	Epsilon() float64
}

// Permuting is an operation that brings the axes of its operand into another order.
type Permuting interface {
	// Order returns, for each axis of the result, the axis of the operand.
	Order() []int
}

// Scattering is an [Indexing] operation that brings slices of its last operand to indices along an axis
// of its result: their axes there are those of the indices.
type Scattering interface {
	// Scatters returns the axis.
	Scatters() int
}

// Packed is an operation whose results lie below each other, along the last axis but one of its value.
type Packed interface {
	// Parts lists the results in the value y.
	Parts(y *graph.Node) []PackedPart
}

// A PackedPart is one of the results of an operation that is [Packed]: so many rows of its value.
type PackedPart struct {
	Name     string // in formulas: Q, of Q(A)
	At, Rows int
}

// PartOf returns the result of a [Packed] operation that y is all of, a slice of its value; ok is false
// for other nodes.
func PartOf(y *graph.Node) (p PackedPart, ok bool) {
	op, isStrided := y.Op().(Strided)
	if !isStrided || y.NumIn() != 1 || y.Rank() < 2 || y.Rank() != y.In(0).Rank() {
		return p, false
	}
	x, axis := y.In(0), y.Rank()-2
	packed, isPacked := x.Op().(Packed)
	if !isPacked {
		return p, false
	}
	start, step := op.Strides()
	for i := range start {
		if step[i] != 1 && y.Dim(i) > 1 || i != axis && y.Dim(i) != x.Dim(i) {
			return p, false
		}
	}
	for _, p := range packed.Parts(x) {
		if p.At == start[axis] && p.Rows == y.Dim(axis) {
			return p, true
		}
	}
	return p, false
}

// Strided is an operation that takes a regular part of its operand, or fills one of its result with
// it.
type Strided interface {
	// Strides returns, for each axis, where the part starts and how far apart its elements are.
	Strides() (start, step []int)
}
