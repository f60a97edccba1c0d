package trait

import "github.com/tapestry-ml/tapestry/graph"

// Elementwise is an operation that is defined on numbers and applied element by element to operands
// of one shape.
type Elementwise interface {
	// Scalar returns the element of the result that belongs to one element of each operand.
	Scalar(x ...float64) float64
}

// IsElementwise reports whether an operation is [Elementwise].
func IsElementwise(op graph.Op) bool {
	_, ok := op.(Elementwise)
	return ok
}

// Integers is an [Elementwise] operation whose arithmetic of integers can overflow.
type Integers interface {
	// Whole returns Scalar of integers; it wraps around as int64 does.
	Whole(x ...int64) int64
}

// Env has the numbers besides its operands that a definition may read, and that random draws depend
// on: the seed, the number of the step, and the number of earlier runs that have drawn in this step
// without an update (0 for the run that does the step). See package tape, "Random numbers".
type Env struct{ Seed, Step, Runs uint64 }

// Defined is an operation that is defined on arrays.
type Defined interface {
	// Eval returns the value of y, a node of the operation, given those of its operands.
	Eval(env Env, y *graph.Node, in []graph.Value) graph.Value
}

// DefinedIntegers is a [Defined] operation whose arithmetic of integers can overflow.
type DefinedIntegers interface {
	// EvalWhole returns the elements of y in row-major order, given those of its operands. The
	// caller wraps them around to the element type.
	EvalWhole(y *graph.Node, in [][]int64) []int64
}

// Iterated is a [Looped] operation.
type Iterated interface {
	// Iterate returns the value of y, given those of its operands; step runs the body b once, given
	// the values of its inputs, and returns those of its results.
	Iterate(y *graph.Node, in []graph.Value, step func(b *graph.Body, in []graph.Value) ([]graph.Value, error)) (graph.Value, error)
}

// Labelled is an operation that reads classes from one of its operands: the labels of a batch, if
// only the loss reads that operand.
type Labelled interface {
	// Labels returns the number of that operand.
	Labels() int
}
