// Package check compares graphs and operations with their definitions.
//
// [Graph] runs a list of checks on the results of a graph, and returns a [Verdict] for each. The
// reference is the evaluation of the graph in float64, node after node, by the definition (Scalar
// or Eval) of every operation:
//
//	for _, v := range check.Graph(ctx, loss, check.Feed(batch), check.Do(step)) {
//		fmt.Println(v)
//	}
//
// [Op] does the same for an operation on its cases, and checks its other methods: total shape
// rules, comparable attributes, a text form, a Run method that keeps to its memory. It returns one
// error, for a test:
//
//	if err := check.Op(swish{}, cases...); err != nil {
//		t.Error(err)
//	}
//
// If a derivative is wrong, [Blame] finds which of the many rules of a model is: it checks the rule
// of each operation by itself, at the values that the operands have in the model.
//
// # Operations from outside the module
//
// An operation is a small comparable type with the methods of graph.Op. graph.Apply adds it to a
// graph; nothing is registered anywhere, and two programs may give one name to different
// operations. Further methods let it be differentiated (trait.Differentiable), run (tape.CustomOp),
// evaluated (Scalar for numbers, Eval for arrays; see package trait) and written (trait.Notated);
// graph.Parse reads it back if its vocabulary has it. [Register] is [Op] for a program that checks
// an operation before it uses it: it returns the constructor only if the checks pass.
//
// Your own derivative for an existing function is an operation as well: it has the same definition
// and another Grad. If Grad is deliberately not the derivative, as in a straight-through estimator,
// the operation says which function Grad does differentiate; see [Estimator].
//
// # Kinks
//
// The difference quotient of a ReLU or a maximum is wrong if its points lie on both sides of the
// kink, whatever the derivative. Therefore every quotient is taken at several steps, and counts at
// the first where it agrees with that of half the step: a kink between the points makes the two
// differ. A kink at the point itself does not, but then the quotients to the left and to the right
// stay apart as the step shrinks. If no step works, the point is moved a little, and moved again.
// If none works there either, inputs are held, which the verdict notes: an input may be at the edge
// of its domain, such as a probability of 0. If that does not help, the check fails: no value goes
// unchecked in silence.
//
// Nodes below a StopGradient keep their values of the point, since they count as constants.
package check
