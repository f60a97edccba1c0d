package trait

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
)

// Differentiable is an operation with a rule for reverse mode.
type Differentiable interface {
	// Grad returns the derivative of a scalar loss with respect to operand i of y, of that
	// operand's type, given dy, the loss's derivative with respect to y; nil if no derivative flows
	// to it.
	Grad(y, dy *graph.Node, i int) *graph.Node
}

// Joint is a [Differentiable] operation whose derivatives with respect to several operands are
// computed together.
type Joint interface {
	// GradAmong is Grad when the derivatives of several operands are wanted: the string wanted has
	// "1" for each of them, and "0" for each other operand.
	GradAmong(y, dy *graph.Node, i int, wanted string) *graph.Node
}

// Forward is an operation with a rule for forward mode. For an operation that is only
// [Differentiable], forward mode transposes its derivative, which is linear, once more.
type Forward interface {
	// JVP returns the tangent of y, of its type, where dx[i] is that of operand i; nil stands for
	// an operand, or a result, that does not move.
	JVP(y *graph.Node, dx []*graph.Node) *graph.Node
}

// Batched is an operation with a rule for many examples at once. An [Elementwise] operation needs
// none.
type Batched interface {
	// Batch returns y for all examples. If batched[i], in[i] is operand i with the axis b of the
	// examples before its own; otherwise it is the same for all examples. The result has y's type
	// with b before its axes, whose names may be missing. A draw makes
	// numbers for each example.
	Batch(y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node
}

// Conventional is an operation that takes a derivative by convention where it has none.
type Conventional interface {
	// Convention returns a text that says which derivative is taken where.
	Convention() string
}

// Notated is an operation that people write differently from a call.
type Notated interface {
	// Notation returns y in terms of its operands' expressions.
	Notation(y *graph.Node, in []expr.Expr) expr.Expr
}

// Ruled is an operation whose derivative follows from a rule with a name.
type Ruled interface {
	// Rule returns the name, and the law as an equation about the result f and the operand u. The
	// argument moves tells which operands depend on the variable. The law is empty if it follows
	// from the derivative of an [Elementwise] operation, or says nothing new.
	Rule(moves []bool) (name string, law expr.Expr)
}
