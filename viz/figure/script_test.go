package figure

import (
	"strings"
	"testing"
)

func TestLinear(t *testing.T) {
	for s, want := range map[string]string{
		"x" + Sub("ij"): "xᵢⱼ", "x" + Sub("id"): "x_{id}", "x" + Sub("d") + " + 1": "x_d + 1", "Σ" + Sub("t′"): "Σ_{t′}",
		"x" + Sup("2"): "x²", "e" + Sup("−γ·D"+Sub("ij")): "e^(−γ·Dᵢⱼ)", "x" + Sub(" i j "): "xᵢⱼ", "x" + Sub(""): "x", "": "",
		"x" + string(subMark) + "i": "xᵢ", "x" + string(endMark) + "i": "xi",
	} {
		if got := Linear(s); got != want {
			t.Errorf("%q is %q, want %q", s, got, want)
		}
	}
}

// A subscript is a span that is lower and smaller, what follows is back on the line, and the width
// of the whole is that of the parts.
func TestScriptsAreSpans(t *testing.T) {
	main := "y = Σ" + Sub("d") + " x" + Sub("id") + " < e" + Sup("a"+Sub("i"))
	f := &Figure{Title: "spans", Nodes: []Node{{ID: "y", Main: main, Role: Op}}}
	svg := string(draw(t, f))
	const want = `xml:space="preserve" class="f-ink" fill="#1B2733" textLength="108.9" lengthAdjust="spacingAndGlyphs">y = Σ<tspan dy="3.2" font-size="10.4">d</tspan><tspan dy="-3.2"> x</tspan>` +
		`<tspan dy="3.2" font-size="10.4">id</tspan><tspan dy="-3.2"> &lt; e</tspan><tspan dy="-5.2" font-size="10.4">a</tspan><tspan dy="1.9" font-size="10.4">i</tspan></text>`
	if !strings.Contains(svg, want) {
		t.Errorf("no\n%s\nin\n%s", want, svg)
	}
	if strings.ContainsFunc(svg, isMark) {
		t.Error("a mark is left")
	}
	if got, want := TextWidth("x"+Sub("ij"), 20), TextWidth("x", 20)+TextWidth("ij", 14.4); got != want {
		t.Errorf("the width is %g, want %g", got, want)
	}
	if got, want := TextWidth("x"+Sub("i"), 10), TextWidth("x", 10)+TextWidth("i", labelSize); got != want { // no text is too small
		t.Errorf("the width is %g, want %g", got, want)
	}
	if got := line(strings.Repeat("a", 9)+"x"+Sub(strings.Repeat("i", 9))+"b", 8); Linear(got) != "aaaa…i_{ii}b" && Unmarked(got) != "aaaa…iib" {
		t.Errorf("cut: %q", got)
	}
}
