//go:build onnxruntime && (linux || darwin) && (amd64 || arm64)

package onnxruntime

import (
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// open stays on one thread, because the reason of a failure, which is asked for by a second call, is
// kept by thread.
func open(name string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func symbol(handle uintptr, name string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlsym(handle, name)
}

// pathOf returns a name of a file as the library takes it.
func pathOf(path string) (unsafe.Pointer, error) {
	return unsafe.Pointer(&append([]byte(path), 0)[0]), nil
}
