package onnxruntime

import "errors"

// Variable is the environment variable that names the library's file, or the folder that it is in.
const Variable = "TAPESTRY_ONNXRUNTIME"

// ErrNotBuilt is the error of [Open] in a program that was built without the tag onnxruntime, or for
// a platform on which ONNX Runtime is not called.
var ErrNotBuilt = errors.New(notBuilt)

// Runtime is ONNX Runtime's library, loaded. It stays loaded until the program ends; there is nothing
// to close. Its methods may be called concurrently.
type Runtime struct {
	lib     *library
	file    string
	version string
}

// Open loads ONNX Runtime from a file, or from the folder that has it. Without a name, those of the
// environment variable TAPESTRY_ONNXRUNTIME count, and else the usual names of the library, where
// the system's loader finds them. A library that is not there, or is older than 1.12, is an error of
// one line that says what to do.
func Open(library string) (*Runtime, error) {
	lib, file, version, err := load(library)
	if err != nil {
		return nil, err
	}
	return &Runtime{lib: lib, file: file, version: version}, nil
}

// File returns the name of the library that was loaded.
func (r *Runtime) File() string {
	if r == nil {
		return ""
	}
	return r.file
}

// Version returns the version of ONNX Runtime, such as 1.20.1.
func (r *Runtime) Version() string {
	if r == nil {
		return ""
	}
	return r.version
}

var errNoRuntime = errors.New("onnxruntime: there is no runtime: onnxruntime.Open makes one")
