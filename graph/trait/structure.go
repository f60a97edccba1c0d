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

// Along is an operation that works along some axes of its operand, and does the same at all places
// along the others: a reduction, a softmax, a concatenation.
type Along interface {
	// Along returns the axes of the operand that the operation works along.
	Along() attr.AxisSet
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

// Strided is an operation that takes a regular part of its operand, or fills one of its result with
// it.
type Strided interface {
	// Strides returns, for each axis, where the part starts and how far apart its elements are.
	Strides() (start, step []int)
}
