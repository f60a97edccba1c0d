// Package ops holds every operation, one definition each.
//
// An operation is a small comparable struct; its file says everything about it:
// the function that adds it to a graph, the shape rule, the derivative as a line
// of mathematics over nodes, the definition in float64, the notation, the
// kernel, and the cases it is tested with. tanh.go is the model to read. [All]
// lists them; the contract test, the reference page, the text form's vocabulary
// and the gradient checks follow from the list.
//
// The functions take nodes and give a node, never nil and never an error; see
// package graph for how mistakes are reported. An axis is referred to by name
// or by number, negative from the end:
//
//	D := ops.Sum(ops.Square(ops.Sub(ops.Over(x, "i", "j", "d"), ops.Over(r, "i", "j", "d"))), "d")
//	m := ops.Mean(D, 0, ops.Keep)
//
// Elementwise functions broadcast as NumPy does, and the broadcast is a node of
// its own (see graph.Align for what may meet what).
//
// # Conventions at kinks
//
//	relu'(0) = 0, |x|'(0) = 0            as PyTorch
//	max, min over an axis: the first     as PyTorch's max(dim); amax shares equally
//	max of a window: the first           as PyTorch
//	elementwise max, min: half each      as PyTorch
//	0^b: the derivative by b is 0        as PyTorch
//	comparisons, argmax, one-hot, casts to integers: no derivative
package ops
