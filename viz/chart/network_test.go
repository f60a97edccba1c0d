package chart

import (
	"strings"
	"testing"
)

// TestNetwork: a network draws every node and link, and refuses links to nowhere.
func TestNetwork(t *testing.T) {
	n := Network{Frame: Frame{ID: "n", Title: "A triangle"}, Links: [][2]int{{0, 1}, {1, 2}, {2, 0}, {1, 1}}, Values: []float64{1, -1, 0}, Names: []string{"a", "b", "c"}, Order: []int{2, 0, 1}}
	var b strings.Builder
	if err := n.SVG(&b); err != nil {
		t.Fatal(err)
	}
	svg := b.String()
	if lines, circles := strings.Count(svg, "<path "), strings.Count(svg, "<circle "); lines != 3 || circles != 3 {
		t.Errorf("%d lines and %d circles in\n%s", lines, circles, svg)
	}
	if !strings.Contains(svg, "3 nodes, 4 links. a: 1. b: -1. c: 0.") {
		t.Errorf("the description is missing from\n%s", svg)
	}
	for _, c := range []struct {
		n    Network
		want string
	}{
		{Network{Links: [][2]int{{0, 3}}, Values: n.Values}, `chart "n": a link of the nodes 0 and 3 among 3`},
		{Network{Values: n.Values, Names: []string{"a"}}, `chart "n": 1 names for 3 nodes`},
		{Network{Values: n.Values, Order: []int{0, 0, 1}}, `chart "n": the order is not of the 3 nodes`},
		{Network{Values: n.Values, Order: []int{0}}, `chart "n": the order is not of the 3 nodes`},
	} {
		c.n.Frame = n.Frame
		if err := c.n.SVG(&b); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestSheet: a sheet has its line above the charts; without a line it is that of Panels.
func TestSheet(t *testing.T) {
	l := Lines{Frame: Frame{ID: "l", Title: "Loss"}, Series: []Series{{Name: "a", Y: []float64{1, 2}}}}
	var said, bare, panels strings.Builder
	if err := Sheet(&said, "iris, seed 0, not converged", 1, l); err != nil {
		t.Fatal(err)
	}
	if err := Sheet(&bare, "", 1, l); err != nil {
		t.Fatal(err)
	}
	if err := Panels(&panels, 1, l); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(said.String(), ">iris, seed 0, not converged</text>") || bare.String() != panels.String() {
		t.Errorf("%s", said.String())
	}
}
