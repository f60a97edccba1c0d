package trait

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
)

// Differentiable is an operation with a rule for reverse mode.
type Differentiable interface {
	// Grad returns the derivative of a scalar loss with respect to operand i of y, of that operand's
	// type, given dy, the loss's derivative with respect to y; nil where nothing flows.
	Grad(y, dy *graph.Node, i int) *graph.Node
}

// Joint is a [Differentiable] operation whose derivatives with respect to several operands are
// computed together.
type Joint interface {
	// GradAmong is Grad where the derivatives of some operands are wanted: wanted has a 1 for each of
	// them, and a 0 for each other operand.
	GradAmong(y, dy *graph.Node, i int, wanted string) *graph.Node
}

// Forward is an operation with a rule for forward mode. An operation that is only [Differentiable] is
// moved by the transpose of its transpose; one with a body graph by that of the body.
type Forward interface {
	// JVP returns the tangent of y, of its type, where dx[i] is that of operand i; nil stands for an
	// operand, or a result, that does not move.
	JVP(y *graph.Node, dx []*graph.Node) *graph.Node
}

// Batched is an operation that can be computed for many examples at once. An [Elementwise] operation
// can without saying so, and one with a body graph maps the body.
type Batched interface {
	// Batch returns y for all examples: in[i] is operand i with the axis b of the examples before its
	// own where batched[i], and the same for all examples elsewhere. The result has y's type with b
	// before its axes, whose names may be missing. A draw, which has no operands, gives every example
	// numbers of its own.
	Batch(y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node
}

// Conventional is an operation that has no derivative somewhere, and takes one there all the same.
type Conventional interface {
	// Convention says in words which derivative is taken where.
	Convention() string
}

// Notated is an operation that is written otherwise than as a call.
type Notated interface {
	// Notation returns y in terms of its operands' expressions.
	Notation(y *graph.Node, in []expr.Expr) expr.Expr
}

// Ruled is an operation whose derivative follows from a rule with a name.
type Ruled interface {
	// Rule returns the name, and the law as an equation about the result f and the operand u, given
	// which operands depend on what is differentiated by. The law is empty where it follows from the
	// derivative of an [Elementwise] operation, or is no news.
	Rule(moves []bool) (name string, law expr.Expr)
}
