//go:build onnxruntime && darwin && (amd64 || arm64)

package onnxruntime

const filePattern = "libonnxruntime.*dylib"

// usualNames has Homebrew's folders, where the loader does not look.
func usualNames() []string {
	return []string{"libonnxruntime.dylib", "/opt/homebrew/lib/libonnxruntime.dylib", "/usr/local/lib/libonnxruntime.dylib"}
}
