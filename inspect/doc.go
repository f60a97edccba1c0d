// Package inspect looks into a run: at each of its values with its gradient, forwards and backwards
// in time, and at the origin of the first NaN or infinity.
//
// It takes nodes, a feed and a store, changes none of them, and returns a [Record]: the value of
// every node that the given ones depend on. Everything else is derived from records. A [Session]
// steps through a training program, instruction by instruction or node by node, within a training
// step and from step to step, until a [Break] holds. [Statistics] and [Values] show values:
//
//	s, err := inspect.Open(ctx, inspect.Subject{Graph: g, Wanted: []*graph.Node{loss}, Step: step, Feed: feed, Store: store})
//	hit, ok, err := s.Continue(ctx, 100, inspect.OnNode("α"), inspect.IsNaN())
//	ins, err := s.Instruction(ctx, s.At()) // operands, result, gradients
//	fmt.Print(inspect.StatisticsOf(ins.Result.Value, 8), "\n", inspect.Values("α", ins.Result.Value, inspect.Window{Rows: 5}))
//
// The text form of a value is a table with named axes:
//
//	min 0.0001  mean 0.3333  max 0.9998  std 0.4  |x| ≤ 0.9998
//	α[i=0..149 j=0..2]
//	        j=0       1       2
//	i=0  0.0001  0.7388  0.2611
//	1    0.0001  0.5825  0.4173
//	…         …       …       …
//	148  0.9468  0.0014  0.0518
//	149  0.7982  0.0050  0.1968
//
// [Record.Why] says what an element is made of, [Record.Sources] all that is behind it and
// [Record.Effects] what it contributes. A [Reason] prints as
//
//	α[i=5 j=1] = 0.98436831
//	by γ, to first order: +0.064979352
//	by D, to first order: +0.064979352
//	  +0.067403493   D[i=5 j=2] = 8.8045701
//	  −0.0044823512  D[i=5 j=1] = 0.57639669
//	  +0.0020582099  D[i=5 j=0] = 17.011129
//
// [Autopsy] finds the first value that is not finite, and its cause; [MeasurePrecision] finds
// where float32 loses digits. A finding prints as
//
//	NaN at step 0: log of a negative: log(−1.5018069)
//	  first     h3[i=0 k=1] = NaN
//	  line      model.go:56, in three
//	  operand   z[i=0 k=1] = −1.5018069
//
// A run is a pure function of the feed and the store with its seed and counts. So a record has
// the values that the tape computes, with the random draws of that training step, or of the next
// run if the model is only run (see [Take]). Elementwise operations agree bit for bit; sums agree
// up to rounding, because a record is made without fusion. Going back in time restores the same
// bits. The given store is never changed.
package inspect
