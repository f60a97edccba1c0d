// Package gorgonia joins gorgonia and this module, in both directions. [Import] makes a graph of ours
// of one of gorgonia's, for programs that move; docs/from-gorgonia.md is their page. [Compile] runs
// graphs of ours on gorgonia's TapeMachine, as a second engine, to compare values and times with
// those of the native tape. It is the only package of the project that imports the gorgonia module.
//
// # A second engine
//
// [Compile] translates the nodes that the fetched results and the updates depend on, one by one;
// [Machine.Run] reads parameters and states from a tape.Store and inputs from a tape.Feed, as the
// native VM does:
//
//	m, err := gorgonia.Compile(g, gorgonia.Fetch(loss), gorgonia.Do(step))
//	defer m.Close()
//	err = m.Run(ctx, tape.Feed{x: iris}, store)
//	v, err := m.Value(loss)
//
// Derivatives are nodes like others and are translated with the rest. Gorgonia's own
// differentiation is not used, because its second derivatives of several functions are wrong;
// docs/gorgonia.md has a table of them, and one of the models that run here. The graph runs as it
// is written; the result of rewrite.Run can be compiled as well.
//
// # Supported operations
//
// One table says for every operation how it is translated, or why not; [Supported] lists it.
// Operations on float32 and float64 are translated, with masks, which gorgonia holds as the numbers
// 0 and 1. Integers and indexing, conversions between the float types, selection by a mask, random
// draws, and float32 functions that gorgonia computes wrongly are not: a node of these makes
// Compile fail with an [Unsupported] that names it and the user's line.
//
// # Differences from a plain translation
//
// Gorgonia 0.9.18 has faults that the translation avoids, so that a result is correct or an error:
//
//   - Softmax, LogSoftmax and LogSumExp are built from exponentials, sums and maxima. Gorgonia's
//     SoftMax starts every row's maximum from the first element of the whole array, and a SoftMax
//     and its logarithm are merged into one node.
//   - Arrays of four and more axes are reduced as arrays of three. Otherwise, beyond the first
//     inner axis, the wrong elements are added.
//   - A quotient of two arrays is a product with the inverse. Otherwise x/0 would be +∞ for every
//     x. The inverse overflows for a subnormal denominator, the only value that is known to be
//     wrong.
//   - Maxima are corrected where an element is NaN, which gorgonia ignores.
//   - Every operation has a unique hash, because gorgonia merges nodes of equal 32-bit hash, and
//     its own memory, because gorgonia writes in place over memory that a reshape shares.
//   - Gorgonia's panics, which would end the process, are errors that name the node.
//
// # The two engines
//
// Losses and gradients of the k-means objectives agree to 1e-9 in float64, also far from the
// origin. Gorgonia allocates every result, repeats operands where axes broadcast, and runs each
// operation by itself: a step of soft k-means on 1024 points, 16 centres and 16 features in float32
// took 6.1 ms and 9.7 MB here, against 0.5 ms and none on the native tape, 1.3 ms as written
// (BenchmarkStep, Zen 5, one machine, 20 steps). A run here copies parameters and results, and does
// not count among the store's steps and runs, which only random draws depend on.
package gorgonia
