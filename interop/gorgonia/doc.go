// Package gorgonia runs graphs on gorgonia's TapeMachine, as a second engine: to
// compare values and times with the native tape, and as a way over for programs
// that use gorgonia. It is the only package of the project that imports the
// gorgonia module.
//
// [Compile] takes wanted nodes and updates and translates what they depend on,
// node by node; [Machine.Run] reads parameters and states from a tape.Store and
// inputs from a tape.Feed, as the native VM does:
//
//	m, err := gorgonia.Compile(g, gorgonia.Fetch(loss), gorgonia.Do(step))
//	defer m.Close()
//	err = m.Run(ctx, tape.Feed{x: iris}, store)
//	v, err := m.Value(loss)
//
// Derivatives are nodes like others and are translated with the rest. Gorgonia's
// own differentiation is not used: its second derivatives of several functions are
// wrong; docs/gorgonia.md has a table of them, and one of what runs here. The
// graph is run as it is written; the result of rewrite.Run can be compiled too.
//
// # What is translated
//
// One table says for every operation how, or why not; [Supported] lists it. What
// computes with float32 and float64 is there, with masks, which gorgonia holds as
// the numbers 0 and 1. Not there are integers and what indexes with them,
// conversions between the float types, the choice by a mask, random draws, and
// float32 functions that gorgonia gets wrong. A node of that kind makes Compile
// fail with an [Unsupported] that names it and the user's line.
//
// # What is built differently, and why
//
// Gorgonia 0.9.18 has faults that a translation must go round, so that a result is
// right or an error. Softmax and its relatives are built from exponentials, sums
// and maxima: gorgonia's SoftMax starts every row's maximum from the first
// element of the whole array, and merges with its logarithm. Arrays of four axes
// and more are reduced as arrays of three: beyond the first inner axis the wrong
// elements are added. A quotient of two arrays is a product with the inverse: x/0
// would be +∞ for every x. The inverse overflows for a subnormal denominator, the
// one case in which a value is known to be wrong. Maxima pass over NaN, and are
// put right. Every operation is unlike any other to gorgonia, which merges nodes
// of equal 32-bit hash; it has memory of its own, since gorgonia writes in place
// over memory that a reshape shares; and its panics, which would end the process,
// are errors that name our node.
//
// # The two engines
//
// Losses and gradients of the k-means objectives agree to 1e-9 in float64, also
// far from the origin. Gorgonia allocates every result, repeats operands where
// axes broadcast and runs each operation for itself: a step of soft k-means on
// 1024 points, 16 centres and 16 features in float32 took 6.1 ms and 9.7 MB here,
// against 0.5 ms and none on the native tape, 1.3 ms as written (BenchmarkStep,
// Zen 5, one machine, 20 steps). A run here copies parameters and results, and
// counts neither in the store's steps nor in its runs, on which random draws alone depend.
package gorgonia
