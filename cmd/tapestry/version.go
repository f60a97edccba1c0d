package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// version returns the version of the module that the program was built from.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// versionText returns the output of --version, which belongs in a bug report: the version, the Go
// version it was built with, the system, and the instruction set in use.
func versionText() string {
	return fmt.Sprintf("tapestry %s %s %s/%s %v\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, simd.Active())
}
