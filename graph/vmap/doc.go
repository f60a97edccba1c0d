// Package vmap turns the graph of one example into the graph of a batch. It takes nodes, and
// batches for some of the nodes that they depend on, with the examples along a new first axis. To
// the same graph it adds nodes that compute the results for every example.
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
// Each operation has a rule (trait.Batched), so nothing is unrolled. A node that does not depend on
// the batch stays one node. Derivatives are ordinary nodes: if the gradient of one example's loss
// is mapped, the result is that of every example. Mapped nodes can be differentiated, and mapped
// again over another axis.
//
// Random draws below the mapped nodes get the batch's axis too: every example has noise of its own,
// and the first has that which it would have alone. Updates of states are not mapped.
package vmap
