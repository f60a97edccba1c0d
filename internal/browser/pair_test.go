package browser

import (
	"slices"
	"strings"
	"testing"
)

// TestTallPair: two tall models on one drawing are both seen at first, from their beginnings on, at
// one scale: all of them, or at least half as wide as the window. Which is which, and what their
// modules are, is said in words that can be read.
func TestTallPair(t *testing.T) {
	type word struct {
		Text string
		Size float64
		X, Y float64
	}
	for _, x := range []struct {
		name   string
		models []string
		whole  bool
		titles [2]string
		module string
	}{
		{"resnets", []string{"resnet", "resnet-plain"}, true, [2]string{"A · residual net", "B · plain convolutional net, as deep as a residual net"}, "block2"},
		{"gpts", []string{"transformer-gpt{layers=12}", "transformer-gpt{layers=8}"}, false, [2]string{"A · GPT (layers=12)", "B · GPT (layers=8)"}, "block3"},
	} {
		t.Run(x.name, func(t *testing.T) {
			p := open(t, 1440, 900, x.models...)
			p.still()
			p.until("words", `document.querySelectorAll(".word.scope").length > 4`)
			p.picture("pair-" + x.name)
			words := eval[[]word](p, `[...document.querySelectorAll(".word")].map((e) => {
				const r = e.getBoundingClientRect();
				return { text: [...e.children].map((s) => s.textContent).join("\n"), size: Math.min(...[...e.children].map((s) => parseFloat(getComputedStyle(s).fontSize))), x: r.x, y: r.y };
			})`)
			middle := eval[float64](p, `(() => { const r = document.querySelector("#panes .pane").getBoundingClientRect(); return r.x + r.width / 2; })()`)
			for _, w := range words {
				if w.Size < 9 {
					t.Errorf("%q is written at %g px", w.Text, w.Size)
				}
			}
			for side, right := range []bool{false, true} {
				has := func(want string) bool {
					return slices.ContainsFunc(words, func(w word) bool { return (w.X >= middle-4) == right && strings.HasPrefix(w.Text, want) })
				}
				for _, want := range []string{x.titles[side], "block1", x.module, "∂ block1"} {
					if !has(want) {
						t.Errorf("of model %d %q is not seen", side+1, want)
					}
				}
				if x.whole && !slices.ContainsFunc(words, func(w word) bool { return (w.X >= middle) == right && strings.Contains(w.Text, "loss = mean") }) {
					t.Errorf("of model %d the loss is not seen", side+1)
				}
			}
			wide := eval[float64](p, `(() => { const r = document.querySelector("#panes svg.items").getBoundingClientRect(); return r.width / document.querySelector("#panes .pane").clientWidth; })()`)
			if wide < 0.49 || wide > 1 {
				t.Errorf("the drawing is %.2f of the window wide", wide)
			}
		})
	}
}
