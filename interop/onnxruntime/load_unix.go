//go:build onnxruntime && (linux || darwin) && (amd64 || arm64)

package onnxruntime

import (
	"unsafe"

	"github.com/ebitengine/purego"
)

func open(name string) (uintptr, error) {
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func symbol(handle uintptr, name string) (uintptr, error) { return purego.Dlsym(handle, name) }

// pathOf returns a name of a file as the library takes it.
func pathOf(path string) (unsafe.Pointer, error) {
	return unsafe.Pointer(&append([]byte(path), 0)[0]), nil
}
