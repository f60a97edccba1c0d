// Package rewrite improves graphs: it takes a graph with the nodes that are
// wanted of it and gives another graph that computes the same values, with the
// map from old nodes to new and a log of what was done.
//
// The passes are values in one list ([Passes]), each with the reason for its
// place; the rules are rows of tables (name, reason, function). A line of the
// log reads
//
//	stabilise: naive softmax: Div e[i=150 j=3] %12[i=150 j=3] : f32[i=150 j=3]  →  Softmax{axis=1} %9[i=150 j=3] : f32[i=150 j=3]
//
// Gradients follow: stabilise, specialise and a first simplify change the forward
// cone only, and [grad.Of] is then applied again to what it has become, because a
// stable loss with the old derivative would still overflow, and a pairwise
// distance with the old adjoint would still hold an i×j×d array. A derivative by a
// node between, which rules may go round, is taken of a copy of the loss in which they
// cannot look into that node; afterwards what is equal is one node again. So it is
// with a gradient that another loss is made of: derivatives of any order follow.
// Tangents, and derivatives that are mapped, do not.
//
// Scalars are brought together and past what they multiply, so that the 1/n of a
// mean ends beside the learning rate instead of in every array between. That, and
// the reciprocal of a divisor that is repeated, may change the last digits of a
// result; and a result may leave the range of its element type, or stay within it,
// where as written it did not. Nothing else changes more than the order of sums.
//
// What a rule builds is reduced by the same rules, from its first node to its last:
// the list leaves nothing for itself to do. No rule asks how many users a node has,
// so that watching one more node changes no bit elsewhere.
package rewrite
