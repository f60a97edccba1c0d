//go:build onnxruntime

package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/interop/onnxruntime"
)

// TestMeasure: a file is timed on both engines, with a size that it leaves open; settings that it
// does not have are those of other files.
func TestMeasure(t *testing.T) {
	if os.Getenv(onnxruntime.Variable) == "" {
		t.Skipf("%s names no ONNX Runtime", onnxruntime.Variable)
	}
	rt, err := onnxruntime.Open("")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	turns := &turns{out: &b, rt: rt, threads: 1, time: time.Millisecond}
	if err := turns.measure("../../interop/onnx/testdata/net.onnx", "batch=7,time=3"); err != nil {
		t.Fatal(err)
	}
	if row := regexp.MustCompile(`^\| net \| [\d.e-]+ \([\d.e-]+\) \| [\d.e-]+ \([\d.e-]+\) \| [\d.]+ \|\n$`); !row.MatchString(b.String()) {
		t.Errorf("the row is %q", b.String())
	}
}
