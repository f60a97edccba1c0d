// Package ops holds every operation, one definition each.
//
// An operation is a small comparable struct; its file says everything about it:
// the function that adds it to a graph, the shape rule, the derivative as a line
// of mathematics over nodes, how it moves and how it is batched where no rule of its
// kind says so, the definition in float64, the notation, the kernel, and the cases it
// is tested with. tanh.go is the model to read. [All] lists them; the contract tests,
// the reference page, the text form's vocabulary and the gradient checks follow from
// the list.
//
// The functions take nodes and give a node, never nil and never an error; see
// package graph for how mistakes are reported. An axis is referred to by name
// or by number, negative from the end:
//
//	D := ops.Sum(ops.Square(ops.Sub(ops.Over(x, "i", "j", "d"), ops.Over(r, "i", "j", "d"))), "d")
//	m := ops.Mean(D, 0, ops.Keep)
//
// Elementwise functions broadcast as NumPy does, but refuse what NumPy does by accident: a
// column [n=3 1] and a list [3] are no matrix of all pairs. The broadcast is a node of its own
// (see graph.Align for what may meet what).
//
// Integers wrap around: 2147483647 + 1 of type i32 is −2147483648, as in Go, NumPy and
// PyTorch, and so do differences, products, negations and sums of any type of integers.
// [Cast] from float does not: it drops the fraction and takes the nearest integer there is
// beyond the range, 0 for NaN, on every machine alike. A number in a program ([Scale], [Lit],
// [Pad]) must be a value of the array's type: half of an integer is a mistake.
//
// A recurrence is a loop, one node whatever its length, of a step written like any
// other function over nodes: see [Scan].
//
// # Conventions at kinks
//
// Where there is no derivative, an operation says by its Convention method what it
// takes for one, and where that agrees with PyTorch; docs/reference/README.md lists
// them. Comparisons, argmax, one-hot and casts to integers have none.
package ops
