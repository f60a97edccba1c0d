package viz

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
)

var (
	legendText = regexp.MustCompile(`<text x="([\d.]+)" y="([\d.]+)"[^>]* textLength="([\d.]+)"`)
	legendBox  = regexp.MustCompile(`viewBox="0 0 ([\d.]+) ([\d.]+)"`)
)

// TestLegendFits holds that no word of a legend lies outside its drawing, however narrow that is.
func TestLegendFits(t *testing.T) {
	var seen int
	for _, b := range builders.All() {
		for _, level := range []Level{Notes, Ops} {
			var w bytes.Buffer
			if err := SVG(&w, modelRoots(t, b)[:1], At(level), Parameters(ParamsInside)); err != nil { // the narrowest
				t.Fatal(err)
			}
			var wide, high float64
			if _, err := fmt.Sscan(strings.Join(legendBox.FindStringSubmatch(w.String())[1:], " "), &wide, &high); err != nil {
				t.Fatal(err)
			}
			_, legend, _ := strings.Cut(w.String(), `<g class="legend">`)
			for _, m := range legendText.FindAllStringSubmatch(legend, -1) {
				x, _ := strconv.ParseFloat(m[1], 64)
				y, _ := strconv.ParseFloat(m[2], 64)
				long, _ := strconv.ParseFloat(m[3], 64)
				if seen++; x+long > wide || y > high {
					t.Errorf("%s, %v: a text ends at %g, %g in a drawing of %g × %g: %s", b.Name, level, x+long, y, wide, high, m[0])
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("%d texts seen", seen)
	}
}
