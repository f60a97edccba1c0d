// Package rewrite improves graphs: it takes a graph with the nodes that are
// wanted of it and gives another graph that computes the same values, with the
// map from old nodes to new and a log of what was done.
//
// The passes are values in one list ([Passes]), each with the reason for its
// place; the rules are rows of tables (name, reason, function). A line of the
// log reads
//
//	stabilise: naive softmax: %9 = Div %5 %8 : f32[3]  →  Softmax %0
//
// Gradients follow: stabilise and specialise change the forward cone first, and
// [grad.Of] is then applied again to what it has become, because a stable loss
// with the old derivative would still overflow, and a pairwise distance with the
// old adjoint would still hold an i×j×d array.
//
// No rule asks how many users a node has: watching one more node never changes
// what happens to the others.
package rewrite
