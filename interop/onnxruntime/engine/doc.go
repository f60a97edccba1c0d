// Package engine runs graphs in ONNX Runtime: it writes them as ONNX models and feeds what comes out
// back, as any program that trains such a file does. It is a second engine, beside the tape, for
// training and for checking.
//
//	rt, err := onnxruntime.Open("")
//	m, err := engine.Compile(rt, g, store, []*graph.Node{loss}, step, onnxruntime.Options{Threads: 1})
//	defer m.Close()
//	err = m.Run(ctx, tape.Feed{x: iris}, store)
//	v, err := m.Value(loss)
//
// Random numbers are inputs of the model, and are given those that the tape draws: a net with dropout
// trains alike on both, to the rounding of sums.
package engine
