// Package format has the messages of ONNX files and reads and writes them, as
// https://github.com/onnx/onnx/blob/main/onnx/onnx.proto describes them:
//
//	m, err := format.Read(r, size, format.Limits{Folder: "models"})
//	err = m.Write(w)
//
// A message is a Go struct with the fields that mean something to a graph: annotations of
// quantisation and training information are passed over, and so are fields that the format does not
// have. [Model.String] prints a model, a node a line, in the order of the file:
//
//	opset 17, ir 8, producer "pytorch 2.1"
//	input x float32[N 784]
//	init fc.weight float32[10 784]
//	y = Gemm{transB=1} x fc.weight fc.bias  # /fc/Gemm
//	output y float32[N 10]
//
// Promises:
//
//   - A file is read with no more memory than its structure takes, and that is at most 64 times the
//     size of the file and one MiB; elements of tensors stay in the file until [Tensor.Floats] and
//     its like ask for them.
//   - Whatever is wrong with a file is an error with the place of the byte, and never a panic. A
//     model that was read has a graph, nodes with operators, attributes with the value that their
//     type says, and tensors with as many elements as their shape has.
//   - No file outside [Limits.Folder] is opened.
//   - Equal models are written as equal bytes. Elements of tensors are copied from where they lie,
//     so that a model that was opened is written without being in memory.
package format
