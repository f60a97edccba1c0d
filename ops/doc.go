// Package ops defines every operation, each in one place.
//
// An operation is a small comparable struct. Its file says everything about it: the function that
// adds it to a graph, the rule for its shape, its derivative as a line of mathematics over nodes,
// its definition in float64, its notation, its kernel, the cases that it is tested with, and, where
// no rule of its kind says so, how a tangent passes through it and how it is batched. tanh.go is
// the model to read. [All] lists the operations; the contract tests, the reference pages, the
// vocabulary of the text form and the gradient checks follow from the list.
//
// # Shapes, types and mistakes
//
// The functions take nodes and return a node, never nil and never an error: a mistake is recorded
// in the graph with the user's line, and returned by [graph.Graph.Err]. In the docs, x[… t c] is an
// array whose last two axes are t and c, whatever they are called, with any axes before them.
// Floats are f32 and f64, numbers are floats, i32 and i64, and a mask is a bool. Operands of one
// function have one element type unless its doc says otherwise, and so has the result. Another
// element type, an axis that the array does not have or that is given twice, and shapes that do not
// fit are mistakes.
//
// An axis is referred to by name or by number, negative from the end:
//
//	D := ops.Sum(ops.Square(ops.Sub(ops.Over(x, "i", "j", "d"), ops.Over(r, "i", "j", "d"))), "d")
//	m := ops.Mean(D, 0, ops.Keep)
//
// Elementwise functions broadcast as in NumPy, but refuse what NumPy does by accident: a column
// [n=3 1] and a list [3] do not make a matrix of all pairs. The broadcast is a node of its own; see
// [graph.Align] for the rule.
//
// Integers wrap around: 2147483647 + 1 of type i32 is −2147483648, as in Go, NumPy and PyTorch.
// Differences, products, negations and sums of integers wrap around as well; [Cast] does not. A
// number in a program ([Scale], [Lit], [Pad]) must be a value of the array's type: half of an
// integer is a mistake.
//
// A recurrence is a loop, one node whatever its length, over a step that is written like any other
// function over nodes; see [Scan].
//
// # Conventions at kinks
//
// Where a function has no derivative, its Convention method says which value the operation uses
// instead, and whether PyTorch agrees; docs/reference/README.md lists these values. Comparisons,
// argmax, one-hot and casts to integers have no derivative.
package ops
