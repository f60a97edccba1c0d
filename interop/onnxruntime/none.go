//go:build !(onnxruntime && (linux || darwin || windows) && (amd64 || arm64))

package onnxruntime

import "context"

const notBuilt = "onnxruntime: this program was built without ONNX Runtime: build it with go build -tags onnxruntime, for Linux, macOS or Windows on amd64 or arm64"

// library, native, call and their methods stand for those that the tag onnxruntime adds. There are no
// values of them.
type library struct{}

type native struct{}

func load(string) (lib *library, file, version string, err error) { return nil, "", "", ErrNotBuilt }

func (*library) session([]byte, string, Options) (*native, error) { return nil, ErrNotBuilt }

func (*native) values() (inputs, outputs []ValueInfo, err error) { return nil, nil, ErrNotBuilt }

func (*native) call([]given, []int, []given) (*call, error) { return nil, ErrNotBuilt }

func (*native) metadata(string) (string, error) { return "", ErrNotBuilt }

func (*native) close() {}

type call struct{}

func (*call) run(context.Context) error { return ErrNotBuilt }

func (*call) results() ([]Array, error) { return nil, ErrNotBuilt }

func (*call) release() {}
