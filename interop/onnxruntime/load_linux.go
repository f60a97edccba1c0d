//go:build onnxruntime && linux && (amd64 || arm64)

package onnxruntime

const filePattern = "libonnxruntime.so*"

func usualNames() []string { return []string{"libonnxruntime.so", "libonnxruntime.so.1"} }
