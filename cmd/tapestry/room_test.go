package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/memory"
)

// TestModelsThatDoNotFit checks that a model whose examples exceed any memory is refused in one
// line by commands that would draw them, and shown by those that do not; a file is refused at the
// line concerned.
func TestModelsThatDoNotFit(t *testing.T) {
	if there, known := memory.Available(); !known || there > 400<<30 {
		t.Skip("the machine does not say what memory it has, or has it")
	}
	dir := t.TempDir()
	size := []string{"--set", "b=1000000000"} // 477 GiB of numbers a batch
	for _, args := range [][]string{
		{"check", "attention-self"}, {"check", "attention-self", "--blame"}, {"train", "attention-self", "--steps", "2"},
		{"train", "attention-self", "--steps", "2", "--checkpoint", filepath.Join(dir, "kept")},
		{"step", "attention-self", "--print"}, {"autopsy", "attention-self"}, {"precision", "attention-self"}, {"rewrite", "attention-self"},
		{"compare", "attention-self", "attention-dot", "--out", filepath.Join(dir, "r.html")},
		{"geometry", "attention-self"}, {"tape", "attention-self", "--profile"},
	} {
		code, out, errOut := tapestry(t, append(args, size...)...)
		if code != 1 || out != "" || strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, "attention-self: it takes ") {
			t.Errorf("%q: exit code %d, %.300s", args, code, errOut)
		}
	}
	for _, args := range [][]string{ // the mask t×t
		{"draw"}, {"tape"}, {"grad"}, {"train"}, {"check"}, {"step", "--print"}, {"compare"}, {"precision"},
	} {
		code, out, errOut := tapestry(t, append(args, "transformer-gpt", "--set", "t=1000000")...)
		if code == 0 || out != "" || strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, "transformer-gpt: nn/attention/mask.go:") || !strings.Contains(errOut, "bool[t=1000000 t′=1000000] takes 8.2 TiB") {
			t.Errorf("%q: exit code %d, %.300s", args, code, errOut)
		}
	}
	for _, args := range [][]string{{"draw", "attention-self"}, {"tape", "attention-self"}, {"grad", "attention-self"}} {
		ok(t, append(args, size...)...)
	}
	for text, want := range map[string]string{
		"input x[i=1099511627776]\nparam w\nloss = mean((x*w)^2)\n":                                       "1:9: the size of i is 1099511627776: want a whole number from 1 to 134217728",
		"input x[i=4]\nparam w[i, j=32768, k=16384]\nloss = mean(x*sum(sum(w,j),k))\n":                    "2:7: w has more than 134217728 elements",
		"input x[i=32768, j=16384]\nparam w\nloss = mean((x*w)^2)\n":                                      "elements",
		"input x[i=4]\ninput a[j=65536]\ninput b[k=65536]\nparam w\nloss = mean(x*w*sum(sum(a*b,j),k))\n": "5:25: a*b has more than 2147483648 elements: reduce it earlier",
	} {
		path := written(t, text)
		for _, args := range [][]string{{"train"}, {"draw"}, {"tape"}, {"check"}, {"step", "--print"}, {"autopsy"}, {"precision"}, {"grad"}, {"compare", "attention-self"}} {
			code, out, errOut := tapestry(t, append(args, path)...)
			if code != 1 || out != "" || !strings.Contains(errOut, ".tapestry:") || !strings.Contains(errOut, want) {
				t.Errorf("%q: exit code %d, %.300s; want … %s", args, code, errOut, want)
			}
		}
	}
}
