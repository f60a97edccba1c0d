package main

import (
	"strings"
	"testing"
)

// TestDrawLoop: a step of a model's loop is drawn by itself, and a model without that
// loop says so.
func TestDrawLoop(t *testing.T) {
	code, out, errOut := tapestry(t, "draw", "rnn-lstm", "--loop", "1")
	if code != 0 || !strings.Contains(out, "c̃ = tanh(") || strings.Contains(out, "logits") {
		t.Errorf("exit code %d, %q, drew\n%.300s", code, errOut, out)
	}
	for args, want := range map[string]string{
		"draw rnn-lstm --loop 2": "tapestry: --loop 2: rnn-lstm has 1 loop\n",
		"draw resnet --loop 1":   "tapestry: --loop: resnet has no loop\n",
	} {
		if code, _, errOut := tapestry(t, strings.Fields(args)...); code != 2 || errOut != want {
			t.Errorf("%s: exit code %d, %q", args, code, errOut)
		}
	}
}
