package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestDrawFigure(t *testing.T) {
	lloyd, err := filepath.Abs("../../examples/notation/kmeans-softmax.tapestry")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		has  []string
	}{
		{[]string{"kmeans-softmax"}, []string{">r₁<", ">α₃<", `role-hyper`, ">hyperparameter<", "Drawn for one i of 150."}},
		{[]string{"kmeans-softmax", "--set", "k=2"}, []string{">r₂<", "j=2 d=4"}},
		{[]string{"kmeans-softmax", "--grad"}, []string{">∂r₁<", `class="arrow grad"`, "from right to left"}},
		{[]string{"kmeans-softmax", "--apart", "i"}, []string{">x₁₅₀<", ">⋮<"}},
		{[]string{"kmeans-softmax", "--theme", "dark"}, []string{`fill="#14191F"`}},
		{[]string{"rnn-lstm"}, []string{`class="sign cell"`, ">t → t+1<"}},
		{[]string{"rnn-lstm", "--loop", "1"}, []string{">c̃<"}},
		{[]string{"kmeans-lloyd"}, []string{`class="arrow fold"`, ">r₁ ←<"}},
		{[]string{lloyd}, []string{">r₁<", `role-hyper`}},
		{[]string{"kmeans-goofy", "--format", "dot"}, []string{"rankdir=LR", `shape=octagon`, `"r₃"`}},
		{[]string{"unet", "--json"}, []string{`8×8`, `"format":"svg"`}},
	} {
		out := ok(t, append([]string{"draw", "--figure"}, c.args...)...)
		for _, want := range c.has {
			if !strings.Contains(out, want) {
				t.Errorf("%q: no %q", c.args, want)
			}
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--figure", "--apart", "k"}, `viz: no array has an axis "k" to draw apart: want one of ["d" "i" "j"]`},
		{[]string{"--apart", "j"}, "--apart: want --figure"},
		{[]string{"--figure", "--level", "ops"}, "--level: --figure has a layout and a level of its own, for one model"},
		{[]string{"--figure", "--against", "kmeans-goofy"}, "--against: --figure has a layout and a level of its own, for one model"},
		{[]string{"--figure", "--format", "text"}, "--format text: --figure is a drawing: want --format svg or dot"},
	} {
		code, _, got := tapestry(t, append([]string{"draw", "kmeans-softmax"}, c.args...)...)
		if code == 0 || strings.TrimSpace(got) != "tapestry: "+c.want {
			t.Errorf("%q: %q, want %q", c.args, got, c.want)
		}
	}
}
