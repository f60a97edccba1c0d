// Package randgraph makes random graphs for property tests and fuzzing: from a
// seed and a size it gives a graph of well-shaped operations over all that
// package ops has, with values for its leaves and a scalar loss that depends on
// every parameter.
//
// Two evaluations of such a graph that differ only by rounding agree closely,
// because
//
//   - every node lies in [−1, 1] or nearly so, and no operation's slope is much
//     above 2: sums are averages, exponentials, roots and quotients are scaled
//     back, and what goes into a logarithm or a root stays well above 0;
//   - comparisons, maxima, argmax, relu and what else has a jump or a kink see
//     leaves only (or the same elements in another layout), whose elements are
//     float32 numbers that differ by at least 1/512.
//
// Among the operations are the patterns that package rewrite looks for, each in
// several spellings. Equal seeds give equal graphs.
//
// [New] makes one loss. [Wide] makes more kinds of leaves and integer arithmetic
// besides, with several losses and their derivatives to second order.
package randgraph
