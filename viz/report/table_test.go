package report

import (
	"strings"
	"testing"
)

// TestOnce: tables that would be printed alike are printed once, with all the methods that they are
// of, wherever they stand; those that differ in one cell are not.
func TestOnce(t *testing.T) {
	p := fake() // four methods, whose points fall alike
	text := sectionOf(t, p, "agreement")
	all := "soft k-means (seed 0), goofy alternative (seed 0), Lloyd's algorithm (seed 0) and hard SGD (seed 0)"
	if got := strings.Count(text, "The shade is the share of the class."); got != 1 {
		t.Errorf("%d tables, want 1", got)
	}
	for _, want := range []string{"Points by class and nearest centre, " + all, "are the same for " + all + ": Table "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	p.Variants[1].Counts = [][]int{{10, 0, 0}, {0, 9, 1}, {0, 2, 8}}
	p.Baselines[1].Counts = p.Variants[1].Counts
	text = sectionOf(t, p, "agreement")
	for _, names := range []string{"soft k-means (seed 0) and Lloyd's algorithm (seed 0)", "goofy alternative (seed 0) and hard SGD (seed 0)"} {
		if strings.Count(text, names) != 2 || strings.Count(text, "The shade is") != 2 {
			t.Errorf("%s in %s", names, text)
		}
	}
	p.Variants[0].Counts = [][]int{{9, 1, 0}, {0, 9, 1}, {0, 2, 8}}
	p.Baselines[0].Counts = [][]int{{8, 2, 0}, {0, 9, 1}, {0, 2, 8}}
	p.Baselines[1].Counts = [][]int{{7, 3, 0}, {0, 9, 1}, {0, 2, 8}}
	if text = sectionOf(t, p, "agreement"); strings.Contains(text, "are the same for") || strings.Count(text, "The shade is") != 4 {
		t.Errorf("four different tables: %s", text)
	}
}
