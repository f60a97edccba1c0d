// Package grad differentiates graphs symbolically: it takes nodes and adds the
// nodes of their derivatives to the same graph.
//
//	Of        a scalar's derivative by any nodes: one sweep back
//	JVP       how any nodes move when others do: one sweep forward
//	HVP       second derivatives of a scalar times a direction: forward over back
//	Jacobian  every element by every element: one row or column, mapped by package vmap
//	Hessian   the Jacobian of a derivative
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
// ∂loss/∂D, a tangent one like δD. What [Of] gives follows rewrites of its loss
// (graph.Derivation); tangents are rewritten as other nodes are.
package grad
