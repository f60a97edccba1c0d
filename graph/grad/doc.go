// Package grad differentiates graphs symbolically: it takes a scalar node and
// adds the nodes of its derivatives to the same graph.
//
// The derivative of tanh(w·x) summed over i, as the text form shows it:
//
//	%3 = Tanh %2 : f32[i=150] ; "y" @main.go:11
//	%4 = Sum{axes=[0]} %3 : f32[] ; "loss" @main.go:12
//	…
//	%9 = Mul %6 %8 : f32[i=150] ; @main.go:11 grad %3 %4 | "∂loss/∂y" …
//
// Every derivative is made of operations, so it can be differentiated again.
// The adjoints live in the call, not in the graph: several losses in one graph
// do not mix. A derivative node knows the forward node whose rule it came from
// (graph.Origin), and the whole derivative of a node carries a name like
// ∂loss/∂D.
package grad
