package main

import (
	"strings"
	"testing"
)

// TestDrawInLanes: a drawing in lanes has the rows of a lane, and the loss, each gradient and what
// the model assigns itself are summed over the lanes.
func TestDrawInLanes(t *testing.T) {
	text := ok(t, "draw", "test-perceptron", "--grad", "--lanes", "4", "--format", "text")
	whole := ok(t, "draw", "test-perceptron", "--grad", "--format", "text")
	want := 1 + strings.Count(text, "\ngradient ") + strings.Count(text, "\nupdate ") // of the loss, too
	if n := strings.Count(text, " = SumRanks "); want < 3 || n != want {
		t.Errorf("%d sums over lanes, want %d:\n%s", n, want, text)
	}
	if strings.Contains(whole, "SumRanks") || strings.Contains(text, "draw_lanes.go") {
		t.Errorf("a step on a whole batch has sums over lanes, or sums have places of this program:\n%s", text)
	}
	if svg := ok(t, "draw", "kmeans-softmax", "--grad", "--lanes", "8"); !strings.Contains(svg, "i=19 d=4") || !strings.Contains(svg, "∂loss/∂r_{jd} = Σ_{lanes} ∂lane-loss/∂r_{jd}") || !strings.Contains(svg, "weight = 0.1267") {
		t.Error("the drawing has not 19 of 150 rows, or no sum over lanes")
	}
	if own := ok(t, "draw", "kmeans-softmax", "--wrt", "x", "--lanes", "8", "--format", "text"); strings.Count(own, " = SumRanks ") != 1 {
		t.Errorf("the derivative by the rows of a lane is summed over lanes:\n%s", own)
	}
	for _, c := range [][]string{{"kmeans-lloyd", "--lanes", "4"}, {"graph-gcn", "--lanes", "4"}, {"kmeans-softmax", "--lanes", "0"}} {
		if code, _, errOut := tapestry(t, append([]string{"draw"}, c...)...); code == 0 || !strings.Contains(errOut, "lanes") {
			t.Errorf("%v: exit code %d, %s", c, code, errOut)
		}
	}
}

// TestDrawStep: with an optimiser the updates are drawn; in lanes the sums stand between the gradients and
// what is done to them, as in the step that training makes.
func TestDrawStep(t *testing.T) {
	step := strings.Fields("draw norm-layer --optimiser momentum --clip-norm 1 --rate 0.2")
	whole, lanes := ok(t, append(step, "--format", "dot")...), ok(t, append(step, "--format", "dot", "--lanes", "8")...)
	for _, want := range []string{"rate = 0.2", "clip-norm = 1", " = 0.9·v/norm/gain_c + shrink·", "‖∂loss/∂gain‖²", "gain ← gain − rate·"} {
		if !strings.Contains(whole, want) || !strings.Contains(lanes, want) {
			t.Errorf("no %q in the drawing of a step, or in that of one in lanes", want)
		}
	}
	for _, want := range []string{"weight = 0.125", "loss = Σₗₐₙₑₛ lane-loss", "∂loss/∂gain = Σₗₐₙₑₛ ∂lane-loss/∂gain"} {
		if strings.Contains(whole, want) || !strings.Contains(lanes, want) {
			t.Errorf("%q is in the drawing of a step, or not in that of one in lanes", want)
		}
	}
	text := ok(t, append(step, "--format", "text", "--lanes", "8")...)
	if sums, updates := strings.Count(text, " = SumRanks "), strings.Count(text, "\nupdate "); sums != 6 || updates != 10 || strings.Contains(text, "@cmd/") {
		t.Errorf("%d sums and %d updates, want 6 and 10, or a node has a line of this program:\n%s", sums, updates, text)
	}
	for line, want := range map[string]string{
		"norm-layer --rate 1":                       "--rate: want --optimiser, too",
		"norm-layer --clip-norm 1":                  "--clip-norm: want --optimiser, too",
		"norm-layer --optimiser sgd --grad":         "--grad: a step has the derivatives by all trained parameters in it: want no --optimiser",
		"norm-layer --optimiser sgd --figure":       "--optimiser: --figure has arrows for derivatives, and none for updates: want no --figure",
		"norm-layer --optimiser sgd --rate 0":       "--rate 0: want a positive number",
		"norm-layer --optimiser sgd --clip-norm -1": "--clip-norm -1: want a positive number",
		"norm-layer --optimiser lbfgs":              "--optimiser lbfgs: it finds the length of a step by computing the loss again and again, which is no graph",
		"kmeans-lloyd --optimiser sgd":              "--optimiser: kmeans-lloyd takes steps of its own, without an optimiser",
	} {
		if code, _, errOut := tapestry(t, append([]string{"draw"}, strings.Fields(line)...)...); code != 2 || errOut != "tapestry: "+want+"\n" {
			t.Errorf("%s: exit code %d, %s", line, code, errOut)
		}
	}
	if code, _, errOut := tapestry(t, "draw", "norm-layer", "--optimiser", "lbfgs", "--lanes", "8"); code != 1 || errOut != "tapestry: norm-layer: train: lbfgs searches along a line, and takes no steps in lanes: train it without ranks\n" {
		t.Errorf("exit code %d, %s", code, errOut)
	}
}
