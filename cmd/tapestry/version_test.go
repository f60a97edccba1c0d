package main

import (
	"fmt"
	"regexp"
	"runtime"
	"testing"
)

// TestVersion checks that the one line has everything that a bug report needs.
func TestVersion(t *testing.T) {
	want := fmt.Sprintf(`^tapestry \S+ %s %s/%s (portable|avx2|avx512)\n$`, regexp.QuoteMeta(runtime.Version()), runtime.GOOS, runtime.GOARCH)
	if out := ok(t, "--version"); !regexp.MustCompile(want).MatchString(out) {
		t.Errorf("--version prints %q, want %s", out, want)
	}
}
