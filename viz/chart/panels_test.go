package chart

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// written is a chart written by hand.
type written string

func (s written) SVG(w io.Writer) error {
	_, err := io.WriteString(w, string(s))
	return err
}

// TestPanels stand beside each other, whole and in a file of their own.
func TestPanels(t *testing.T) {
	all := heatmaps()
	var b strings.Builder
	if err := Panels(&b, 2, all["surface"], all["arrows"], all["surface-flat"]); err != nil {
		t.Fatal(err)
	}
	svg := b.String()
	if strings.Count(svg, "<svg") != 7 || !strings.HasPrefix(svg, `<svg xmlns="http://www.w3.org/2000/svg" width="880"`) || !strings.Contains(svg, "prefers-color-scheme:dark") {
		t.Errorf("panels begin with %.200s", svg)
	}
	for _, id := range []string{"surface", "arrows", "surface-flat"} {
		one, _ := render(t, all[id])
		if !strings.Contains(svg, one) {
			t.Errorf("%s is not in it", id)
		}
	}
	if err := Panels(&b, 0, all["surface"]); err == nil {
		t.Error("no columns")
	}
	if err := Panels(&b, 2, Heatmap{}); err == nil {
		t.Error("a chart that cannot be drawn")
	}
	b.Reset()
	for chart, want := range map[written]string{
		`<svg width="3" height="4"><path class="ch-text ch-text-s"/></svg>`: "",
		`<svg width="3" height="4"><g class="ch-0 ch-9"/></svg>`:            `panels: chart 0: the style has no class "ch-9": it would stay light in the dark`,
		`<svg width="3" height="4"><g></svg>`:                               `panels: chart 0: not well-formed: XML syntax error on line 1: element <g> closed by </svg>`,
		`<svg width="3"></svg>`:                                             `panels: chart 0: it has no size`,
		`text`:                                                              `panels: chart 0: not an element`,
		``:                                                                  `panels: chart 0: not well-formed: EOF`,
	} {
		err := Panels(&b, 1, chart)
		if said := fmt.Sprint(err); said != want && (err != nil || want != "") {
			t.Errorf("%s: %s, want %s", string(chart), said, want)
		}
		if err != nil && strings.Contains(b.String(), "ch-9") {
			t.Errorf("%s was written", string(chart))
		}
	}
}
