package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestPredictInt8: predict computes in integers of a byte, says what that loses, and writes a
// checkpoint that predicts the same.
func TestPredictInt8(t *testing.T) {
	dir := t.TempDir()
	run, small := filepath.Join(dir, "run"), filepath.Join(dir, "small")
	if code, _, errOut := tapestry(t, "train", "conv-2d", "--data", "digits", "--steps", "2", "--checkpoint", run); code != 0 {
		t.Fatal(errOut)
	}
	float := ok(t, "predict", run, "--data", "digits")
	code, int8, loss := tapestry(t, "predict", run, "--data", "digits", "--int8", "--keep", "conv1", "--save", small)
	lines := strings.Split(strings.TrimSpace(loss), "\n")
	if code != 0 || len(lines) != 4 || !strings.HasSuffix(lines[0], "stays float") || !strings.HasPrefix(lines[3], "output 1 ") {
		t.Fatalf("exit %d, said\n%s", code, loss)
	}
	if int8 == float {
		t.Error("the predictions are those of floats")
	}
	if ok(t, "predict", small, "--data", "digits") != int8 {
		t.Error("what was saved predicts other numbers")
	}
	for want, args := range map[string][]string{
		"tapestry: --int8: want no --mixed with it\n": {"--int8", "--mixed"},
		"tapestry: --keep: want --int8 with it\n":     {"--keep", "head"},
		"tapestry: --save: want --int8 with it\n":     {"--save", small},
		"tapestry: " + run:                            {"--int8", "--keep", "nothere"},
	} {
		if _, _, errOut := tapestry(t, append([]string{"predict", run, "--data", "digits"}, args...)...); !strings.HasPrefix(errOut, want) {
			t.Errorf("%v: %s, want %s", args, errOut, want)
		}
	}
}
