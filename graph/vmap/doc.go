// Package vmap turns the graph of one example into the graph of a batch. It takes
// nodes, and for some of what they depend on a batch of values, the examples along
// a new first axis; it adds nodes to the same graph that compute the nodes for every
// example.
//
// A product with a matrix that all examples share, as the text form shows it, for
// one example of two rows and for 32:
//
//	%2 = MatMul %0 %1 : f32[i=2 d=5]
//	…
//	%4 = Reshape{to=[64 k=8]} %3 : f32[64 k=8]
//	%5 = MatMul %4 %1 : f32[64 d=5]
//	%6 = Reshape{to=[b=32 i=2 d=5]} %5 : f32[b=32 i=2 d=5]
//
// Operations bring a rule each (ops.Op's Batch), so nothing is unrolled. What does
// not depend on the batch stays one node. Derivatives are ordinary nodes: mapped,
// the gradient of one example's loss gives every example's; and what was mapped can
// be differentiated, and mapped again over another axis.
//
// Random draws below the mapped nodes get the batch's axis too: every example has
// noise of its own, the first that which it would have alone. Updates of states
// are not mapped.
package vmap
