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
// do not mix. A derivative node records the forward node whose rule made it
// (graph.Origin); the whole derivative of a node has a name like ∂loss/∂D, and
// a tangent one like δD. A rewriter that changes a loss takes the derivatives that
// [Of] returned again (graph.Derivation); it rewrites tangents as other nodes.
//
// # Formulas that overflow
//
// Compiling replaces formulas that overflow as written, such as log(1 + exp x), by others that do
// not (the pass stabilise of package rewrite). Derivatives are taken of the formula as written.
// Those of [Of] are then taken again of its replacement, so that they are finite if it is, in any
// order, and also if the loss is made of a derivative or mapped by package vmap. Other derivatives
// are not taken again: those of [JVP], [HVP], [Jacobian] and [Hessian], a derivative that is mapped
// (vmap.Each of a function that calls Of), and those of Of of any of these. At x = 1000 the value
// of log(1 + exp x) is 1000 and its derivative by Of is 1, but its tangent is NaN. There, write a
// formula that does not overflow:
//
//	log(1 + exp x)                        ops.Softplus(x)
//	log Σ exp x                           ops.LogSumExp(x, …)
//	exp x / Σ exp x                       ops.Softmax(x, axis)
//	log of it                             ops.LogSoftmax(x, axis)
//	1/(1 + exp(−x)), exp x/(1 + exp x)    ops.Sigmoid(x)
//	log of it                             ops.LogSigmoid(x)
//
// or, for second derivatives along v, Of(ops.Sum(ops.Mul(v, Of(loss, x)[0])), x).
package grad
