// Package onnx writes graphs as ONNX models, and reads such models as graphs.
//
//	err := onnx.Write(file, m.Graph, store, onnx.Output(m.Output), onnx.Loss(m.Loss), onnx.Fetch(gradients...))
//
// What is written is version 17 of the operators and version 8 of the format.
//
// # Reading
//
//	f, err := onnx.Open("net.onnx")
//	m, err := f.Build(builders.Settings{"batch": 32}, graph.F32)
//	m.Output, m.Loss, m.Params()
//
// A file is a builder like those of the registry: its settings are what it leaves open, and the loss; see
// [File.Builder]. Versions 1 to 22 of the operators are read. Weights are parameters that start at the
// file's values, what computes shapes is evaluated on the way, and control flow becomes that of package
// ops. What cannot be read is one error, [Problems], that lists all such nodes.
//
// # Names
//
// Parameters, states and inputs are called by their paths; nodes by their scopes and names, which viewers show as
// modules; the names of axes are denotations of dimensions. What a reader needs besides, such as which
// output is the loss and how parameters start, is in the model's metadata, under keys that begin with
// tapestry.
//
// # Training elsewhere
//
// With [Do] the updates of a training step are written, those of an optimiser among them. Every
// parameter and state that they assign is an input NAME whose default is its value in the store, and its
// new value is the output NAME.next; the key tapestry.updates of the metadata pairs them. A run
// without these inputs is the first step, and whoever gives each output back as the input takes the next:
//
//	held := map[string]onnxruntime.Array{}
//	for _, batch := range batches {
//		maps.Copy(batch, held)
//		out, err := session.Run(ctx, batch)
//		for name, next := range updates {
//			held[name] = out[next]
//		}
//	}
//
// What is a scalar input with a default in the graph, such as a learning rate, is one in the file; [Let]
// makes it follow a schedule by a count of steps, a state like any other. [Begin] writes the
// defaults as a model of their own, for runtimes that take no inputs with a default. The step of
// train.LBFGS moves by its rate: its search is no graph.
//
// # Lanes
//
// A sum over the lanes of a step, ops.SumRanks, is written as its term, and ops.CopyRanks as its
// operand: the model of the file is the only lane. A step of training in the file therefore wants
// whole batches.
//
// # Any number of rows
//
// [WriteSymbolic] writes a model, or its step, that runs on any number of rows.
package onnx
