// Package inspect looks at a run from inside: every value of it, its gradient
// beside it, forwards and backwards in time, and where the first bad number came
// from.
//
// It takes nodes, what is fed and a store, none of which it changes, and gives a
// [Record]: the value of every node that the given ones depend on. All else is
// read off records. A [Session] goes through a training program with them,
// instruction by instruction or node by node, within a step of training and from step
// to step, to where a [Break] holds; [Statistics] and [Values] show what is there:
//
//	s, err := inspect.Open(ctx, inspect.Subject{Graph: g, Wanted: []*graph.Node{loss}, Step: step, Feed: feed, Store: store})
//	hit, ok, err := s.Continue(ctx, 100, inspect.OnNode("α"), inspect.IsNaN())
//	ins, err := s.Instruction(ctx, s.At()) // operands, result, gradients
//	fmt.Print(inspect.StatisticsOf(ins.Result.Value, 8), "\n", inspect.Values("α", ins.Result.Value, inspect.Window{Rows: 5}))
//
// The text form is that of values, a table by named axes:
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
// [Autopsy] finds the first value that is not finite and what made it so, [MeasurePrecision]
// where float32 loses digits. A finding prints as
//
//	NaN at step 0: log of a negative: log(−1.5018069)
//	  first     h3[i=0 k=1] = NaN
//	  line      model.go:56, in three
//	  operand   z[i=0 k=1] = −1.5018069
//
// What it promises: a run is a pure function of the feed and the store, with its seed and
// counts, so a record is what the tape computes, with the random draws that the step of
// training has there, or the next run of a model that is only run (see [Take]); element by element operations have the same bits, sums
// differ by rounding at most, because a record is made without fusion. Going back in
// time gives the same bits as the first time. Nothing is committed to the store that
// was given.
package inspect
