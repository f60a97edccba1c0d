// Package check holds a graph, or an operation, to its definition.
//
// [Graph] runs a list of checks on what a graph computes, and gives a [Verdict]
// for each. The truth is the float64 evaluation of the graph, node after node,
// by the definition (Scalar or Eval) of every operation:
//
//	for _, v := range check.Graph(ctx, loss, check.Feed(batch), check.Do(step)) {
//		fmt.Println(v)
//	}
//
// [Op] does the same for an operation on its cases, and for what an operation
// has to offer besides: total shape rules, comparable attributes, a text form, a
// Run method that keeps to its memory. It returns one error, for a test:
//
//	if err := check.Op(swish{}, cases...); err != nil {
//		t.Error(err)
//	}
//
// [Blame] says which of the many rules of a model is wrong, if a derivative is: each
// operation's is checked by itself, at the values that its operands have there.
//
// # Operations from outside the module
//
// An operation is a small comparable type with the methods of graph.Op. It is
// used by graph.Apply; nothing is registered anywhere, and two programs may give
// one name to different operations. Further methods let it be differentiated
// (trait.Differentiable), run (tape.CustomOp), evaluated (Scalar for numbers, Eval
// for arrays; see package trait) and written (trait.Notated); graph.Parse reads it back if
// its vocabulary has it. [Register] is [Op] for a program that wants to be sure
// before it uses the operation: it gives the constructor only if the checks pass.
//
// A derivative of one's own for something that exists is an operation too: one
// that is defined like it and has another Grad. If Grad is meant to be something
// else than the derivative, as in a straight-through estimator, the operation
// says of what function it is (see [Estimator]).
//
// # Kinks
//
// The difference quotient of a ReLU or a maximum is wrong where its points lie
// on both sides of the kink, whatever the derivative. Every quotient is therefore
// taken at several steps, and counts at the first where it agrees with that of half
// the step; a kink that lies within the points makes the two differ. One that lies
// at the point itself does not, but then the quotients to the left and to the right
// stay apart as the step shrinks. If no step will do, the point is moved a little,
// and moved again; if none will do there either, inputs are held (an input may
// stand at the edge of its domain, as a probability of 0 does), which the verdict
// notes. If that does not help, the check fails: no value goes unchecked in silence.
//
// What stands below a StopGradient is held where it is at the point, since it
// counts as constant.
package check
