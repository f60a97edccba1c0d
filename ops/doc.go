// Package ops defines every operation, each in one place.
//
// An operation is a small comparable struct. Its file has everything about it, from the function
// that adds it to a graph to its test cases; tanh.go is the model to read. [List] has them all, and
// [Scan] makes loops, [While] loops that stop, [Cond] branches, and [Call] functions. What is built in
// their bodies may use any node of the graph around them, draw random numbers, and carry values of any
// types; docs/control.md has a program for each.
//
// The functions take nodes and return a node, never nil and never an error: a mistake is recorded
// in the graph with the user's line, and [graph.Graph.Err] returns it. In the docs, x[… t c] is an
// array whose last two axes are t and c, whatever their names, with any axes before them. Floats
// are f32 and f64, f16 and bf16, numbers are floats, i32 and i64, i8 and u8, and a mask is a bool.
// The operands of a function and its result have one element type unless its doc says otherwise.
//
// Values of f16 and bf16 are computed in f32, sums and products included, and each result is rounded
// once. Definitions round no floats: like an f32 graph, one of f16 is evaluated as its meaning.
// Parameters are trained in f32, and are converted where they are used:
//
//	y := ops.Cast(ops.MatMul(ops.Cast(x, graph.BF16), ops.Cast(w, graph.BF16)), graph.F32)
//
// An axis is given by its name, or by its number, negative from the end:
//
//	m := ops.Mean(ops.Sum(D, "d"), 0, ops.Keep)
//
// An axis may have size 0, and an array then has no elements. What is made of it is as in NumPy: sums
// are 0, products 1, means NaN; the largest of nothing, an index into nothing and windows over nothing
// are mistakes; no derivative flows through it, so that derivatives are zeros of the right type.
//
// Elementwise functions broadcast as in NumPy, except that axes of different names never meet, and
// that [n=3 1] and [3] do not make a matrix of all pairs; see [graph.Align].
//
// Arithmetic on integers wraps around, as in Go, NumPy and PyTorch. A constant that a program gives
// ([Scale], [Lit], [Pad]) must be a value of the array's type: half of an integer is a mistake.
//
// Where a function has no derivative, its operation's Convention method says which value is used.
// Comparisons, argmax, one-hot and casts to integers have no derivative.
package ops
