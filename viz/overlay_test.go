package viz

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

func TestOverlayOfNodes(t *testing.T) {
	g := graph.New("logs")
	x := g.Input("x", graph.F32, graph.Dims(3)...)
	h := ops.Log(x)
	y := ops.Exp(h).As("y")
	z := ops.Sum(ops.Mul(y, h), 0).As("z")
	marks := map[*graph.Node]Mark{
		x: {Heat: 7, Badge: "1e3", Note: "max |x| = 1000"},
		h: {Alarm: First, Badge: "NaN", Note: "x[2] = −1"},
		y: {Alarm: NotFinite, Badge: "NaN"},
		z: {Alarm: Checked, Heat: 2},
	}
	f := draw(t, []*graph.Node{z}, At(Ops), Overlay(marks), HeatScale("max |v|"))
	if b := box1(t, f, "x"); b.Heat != 7 || b.Badge != "1e3" || b.Alarm != NoAlarm || !strings.HasSuffix(b.Title, "max |x| = 1000") {
		t.Errorf("x is drawn as %+v", b)
	}
	if b := box1(t, f, "log(x)"); b.Heat != 0 || b.Alarm != First || !strings.Contains(b.Title, "x[2] = −1") {
		t.Errorf("log x is drawn as %+v", b)
	}
	if b := f.Nodes[len(f.Nodes)-1]; b.Heat != 2 || b.Alarm != Checked || b.Badge != "" {
		t.Errorf("z is drawn as %+v", b)
	}
	if f.Heat != "max |v|" {
		t.Errorf("the scale is %q", f.Heat)
	}
	// At level Notes the logarithm is part of two formulas: the first tells of it.
	f = draw(t, []*graph.Node{z}, At(Notes), Overlay(marks))
	firsts := 0
	for _, n := range f.Nodes {
		if n.Alarm == First {
			firsts++
			if !strings.HasPrefix(n.Main, "y") || n.Badge != "NaN" || !strings.Contains(n.Title, "x[2] = −1") {
				t.Errorf("the first NaN is drawn as %+v", n)
			}
		}
	}
	if firsts != 1 {
		t.Errorf("%d boxes are the first", firsts)
	}
}

func TestOverlayOfClosedScopes(t *testing.T) {
	roots := deep(t, 4, 10)
	marks := map[*graph.Node]Mark{}
	heat := 0
	var bad *graph.Node
	for _, n := range graph.Reachable(roots...) {
		switch path := n.Path(); {
		case strings.HasPrefix(path, "stage1/"):
			heat++
			marks[n] = Mark{Heat: 1 + heat%6, Badge: string(rune('a' + heat%6)), Alarm: Checked}
		case strings.HasPrefix(path, "stage2/"):
			marks[n] = Mark{Heat: 3, Badge: "mild"}
			if strings.HasPrefix(path, "stage2/block4/w") {
				bad = n
				marks[n] = Mark{Heat: 1, Badge: "bad", Alarm: Wrong, Note: "off by 2"}
			}
		}
	}
	f := draw(t, roots, At(Ops), Unfolded(), Overlay(marks))
	if b := box1(t, f, "stage0"); b.Heat != 0 || b.Alarm != NoAlarm || b.Badge != "" {
		t.Errorf("without marks: %+v", b)
	}
	if b := box1(t, f, "stage1"); b.Heat != 6 || b.Alarm != Checked || b.Badge != "f" {
		t.Errorf("the hottest is drawn as %+v", b)
	}
	if b := box1(t, f, "stage2"); bad == nil || b.Alarm != Wrong || b.Badge != "bad" || b.Heat != 3 || !strings.Contains(b.Title, "off by 2") || !strings.Contains(b.Title, "stage2.block4.w") {
		t.Errorf("the wrong one is drawn as %+v", b)
	}
}

// A comparison shows a shared box once: with the worse of its two marks.
func TestOverlayOfComparison(t *testing.T) {
	side := func(op func(*graph.Node) *graph.Node) (loss, h *graph.Node) {
		g := graph.New("g")
		h = ops.Exp(g.Input("x", graph.F32, graph.Dims(3)...)).As("h")
		return ops.Sum(op(h), 0).As("loss"), h
	}
	a, ha := side(ops.Tanh)
	b, hb := side(ops.Square)
	for _, swapped := range []bool{false, true} {
		marks := map[*graph.Node]Mark{ha: {Heat: 2, Badge: "two"}, hb: {Alarm: NotFinite, Badge: "NaN"}}
		if swapped {
			marks[ha], marks[hb] = marks[hb], marks[ha]
		}
		d, err := Diff([]*graph.Node{a}, []*graph.Node{b}, Overlay(marks))
		if err != nil {
			t.Fatal(err)
		}
		if n := box1(t, inLine(d.Figure()), "h = e^x"); n.Alarm != NotFinite || n.Badge != "NaN" {
			t.Errorf("swapped %v: %+v", swapped, n)
		}
	}
}
