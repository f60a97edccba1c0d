package main

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// TestStepWhy: the terminal explains an element of a model of the registry, of the notation and with
// a loop, in words and as JSON.
func TestStepWhy(t *testing.T) {
	for args, want := range map[string][]string{
		"step kmeans-softmax --train 2 --why alpha[5,1]":                  {"training step 2", "α[i=5 j=1] = ", "by D, to first order: ", "behind it\nby x, to first order", "what it contributes\nby loss, exact"},
		"step kmeans-softmax --why ∂loss/∂r[0,1]":                         {"∂loss/∂r[j=0 d=1] = ", "behind it"},
		"step ../../examples/notation/kmeans-between.tapestry --why loss": {"by goofy, exact: ", "by λ, exact: "},
		"step rnn-lstm --why loss":                                        {"loss = ", "behind it\nby "},
	} {
		code, out, errOut := tapestry(t, strings.Fields(args)...)
		if code != 0 {
			t.Fatalf("%s: %d %s", args, code, errOut)
		}
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("%s: %q is not in\n%s", args, w, out)
			}
		}
	}
	code, out, errOut := tapestry(t, "step", "kmeans-softmax", "--dtype", "f64", "--why", "loss", "--json")
	var r reasonJSON
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil {
		t.Fatalf("%d %v %s\n%s", code, err, errOut, out)
	}
	for _, s := range r.Operands { // loss = mean Σ α·D is linear in α and in D
		if (s.Name == "α" || s.Name == "D") && (!s.Exact || math.Abs(float64(s.Total-r.Value)) > 1e-9*float64(r.Value)) {
			t.Errorf("%s contributes %v of %v, exact: %v", s.Name, s.Total, r.Value, s.Exact)
		}
	}
	for args, want := range map[string]string{
		"step kmeans-softmax --why zork":           `tapestry: --why: inspect: element "zork": the model has no quantity "zork"`,
		"step kmeans-softmax --why alpha[1]":       `tapestry: --why: inspect: element "alpha[1]": α is [i=150 j=3]: want 2 indices`,
		"step kmeans-softmax --why alpha[1,3]":     `tapestry: --why: inspect: element "alpha[1,3]": want an index from 0 to 2 along axis 1 of α, not "3"`,
		"step kmeans-softmax --why alpha[1,x]":     `not "x"`,
		"step kmeans-softmax --why loss --written": "tapestry: --written: --why prints an element",
	} {
		if code, _, errOut := tapestry(t, strings.Fields(args)...); code == 0 || !strings.Contains(errOut, want) {
			t.Errorf("%s: %d %s, want %s", args, code, errOut, want)
		}
	}
}
