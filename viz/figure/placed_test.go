package figure

import (
	"reflect"
	"testing"
)

// TestPlaced: a layout that was computed once serves every drawing of a figure, whatever its marks,
// and is refused for another figure.
func TestPlaced(t *testing.T) {
	for name, f := range samples() {
		l, err := f.Layout(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		marked := *f
		marked.Nodes = nil
		for i, n := range f.Nodes {
			n.Heat, n.Group, n.Badge, n.Alarm, n.PanelMark = 1+i%HeatSteps, 0, "a badge", Lossy, [2]*Mark{}
			marked.Nodes = append(marked.Nodes, n)
		}
		if got, want := sheet(t, &marked, Placed(l)), sheet(t, &marked); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: placed, it is drawn otherwise", name)
		}
		less := Figure{Panels: f.Panels}
		if _, err := less.Sheet(t.Context(), Placed(l)); (err != nil) != (len(f.Nodes) > 0) {
			t.Errorf("%s: the layout is of %d nodes, the figure has none, and the error is %v", name, len(f.Nodes), err)
		}
	}
}
