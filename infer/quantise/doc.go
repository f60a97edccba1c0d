// Package quantise makes a trained net compute its products in integers of a byte, and measures what
// that loses:
//
//	q, err := quantise.Int8(ctx, store, []tape.Feed{batch}, quantise.Options{Keep: []string{"stem"}}, logits)
//	…
//	fmt.Print(q)            // a line for each product and each output
//	y, err := q.Store.Eval(ctx, q.Feed(feed), q.Outputs[0])
//
// A product y = x·w of MatMul or Conv, where w depends on parameters, states and constants alone, becomes
//
//	y_o = s·s_o·Σ (q − zero)·v_o    q = ⌊x/s + zero + ½⌋ in 0…255    v_o = round(w_o/s_o) in −127…127
//
// with one scale s for the array x, from the least and the greatest number that it has on the
// calibrating batches, and one scale s_o for each output channel of w. Sums are exact. All of it is
// written with the operations of package ops, so that the graph is printed, drawn, compiled and
// exported as any other. What comes between two products stays float: a bias, a norm, a ReLU, and the
// rounding for the next product are fused by the compiler.
package quantise
