package main

import (
	"strings"
	"testing"
)

// TestExportFromTraining: what was trained in f64, as train does by default, is exported in f32, and
// read back with the values learnt.
func TestExportFromTraining(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, line := range []string{
		"train loss-cross-entropy --steps 30 --seeds 1 --checkpoint run",
		"export loss-cross-entropy --from run -o own.onnx",
		"export loss-cross-entropy --from run --dtype f64 -o wide.onnx",
		"export loss-cross-entropy -o fresh.onnx",
	} {
		if code, _, errOut := tapestry(t, strings.Fields(line)...); code != 0 {
			t.Fatalf("tapestry %s: %s", line, errOut)
		}
	}
	weights := func(line string) string {
		code, out, errOut := tapestry(t, strings.Fields(line)...)
		if code != 0 || !strings.Contains(out, "linear/w") {
			t.Fatalf("tapestry %s: %s%s", line, out, errOut)
		}
		_, out, _ = strings.Cut(out, "linear/w")
		w, _, _ := strings.Cut(out, "\n\n")
		return w
	}
	own, learnt := weights("eval own.onnx"), weights("eval wide.onnx")
	if own != learnt || own == weights("eval fresh.onnx") {
		t.Errorf("the export has\n%s\nwant what was learnt\n%s", own, learnt)
	}
}
