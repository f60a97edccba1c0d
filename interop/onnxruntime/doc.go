// Package onnxruntime runs ONNX models in ONNX Runtime, https://onnxruntime.ai: a judge of exported
// graphs that is not ours, and a second engine for training and checking.
//
//	rt, err := onnxruntime.Open("")
//	s, err := rt.Load(model, onnxruntime.Options{Threads: 1})
//	defer s.Close()
//	out, err := s.Run(ctx, map[string]onnxruntime.Array{"x": onnxruntime.Of([]float32{1, 2, 3}, 1, 3)})
//
// # Building
//
// The package needs the build tag onnxruntime, and ONNX Runtime's shared library when the program
// runs. It calls the library without cgo, by github.com/ebitengine/purego, on Linux, macOS and
// Windows, amd64 and arm64. A program that is built without the tag, or for another platform, does
// not contain purego and stays as it is; [Open] then returns [ErrNotBuilt].
//
//	go build -tags onnxruntime ./cmd/tapestry
//
// The library comes with the system's package, with Python's onnxruntime, or with the npm package
// onnxruntime-node, which has it for all six platforms below bin/napi-v3. It must be version 1.12 or
// later, the first with the operators that package onnx exports.
//
// # Memory
//
// Inputs are read where they are, without a copy, and must not change during a run; results are
// copies. Elements are row-major and little-endian, as on all platforms above.
package onnxruntime
