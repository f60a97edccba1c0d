//go:build onnxruntime && windows && (amd64 || arm64)

package onnxruntime

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

const filePattern = "onnxruntime.dll"

func usualNames() []string { return []string{"onnxruntime.dll"} }

func open(name string) (uintptr, error) {
	h, err := windows.LoadLibrary(name)
	return uintptr(h), err
}

func symbol(handle uintptr, name string) (uintptr, error) {
	return windows.GetProcAddress(windows.Handle(handle), name)
}

// pathOf returns a name of a file as the library takes it.
func pathOf(path string) (unsafe.Pointer, error) {
	p, err := windows.UTF16PtrFromString(path)
	return unsafe.Pointer(p), err
}
