package viz

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

func diff(t testing.TB, a, b []*graph.Node, opts ...Option) *Difference {
	t.Helper()
	d, err := Diff(a, b, opts...)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Figure().Validate(); err != nil {
		t.Fatal(err)
	}
	return d
}

// names lists nodes by their names in formulas.
func (d *Difference) nodes(list []*graph.Node, v *view) string {
	var out []string
	for _, n := range list {
		out = append(out, v.names.of(n))
	}
	return strings.Join(out, " ")
}

func (d *Difference) pairs(list []Pair) string {
	var out []string
	for _, p := range list {
		if a, b := d.a.names.of(p.A), d.b.names.of(p.B); a == b {
			out = append(out, a)
		} else {
			out = append(out, a+"|"+b)
		}
	}
	return strings.Join(out, " ")
}

func TestDiffOfObjectives(t *testing.T) {
	a, b := soft(t), goofy(t)
	d := diff(t, a.roots(), b.roots())
	for _, c := range []struct{ what, got, want string }{
		{"only A", d.nodes(d.OnlyA, d.a), "loss"},
		{"only B", d.nodes(d.OnlyB, d.b), "r̂ loss ∂loss/∂r̂"},
		{"shared", d.pairs(d.Shared), "x r γ Δ D α ∂loss/∂loss"},
		{"upstream", d.pairs(d.Upstream), "∂loss/∂α ∂loss/∂Δ"},
		{"term A", d.pairs(d.TermA), "∂loss/∂D"},
		{"term B", d.pairs(d.TermB), "∂loss/∂r"},
		{"summary", d.Summary(), "B adds 3 boxes, drops 1, shares 7; 4 gradients change"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %s, want %s", c.what, c.got, c.want)
		}
	}
	// Of single operations more is shared: 2·Δ, which no derivative flows into.
	if got, want := diff(t, a.roots(), b.roots(), At(Ops)).Summary(), "B adds 6 boxes, drops 3, shares 11; 2 values inherit a change; 12 gradient boxes change"; got != want {
		t.Errorf("ops: got %s, want %s", got, want)
	}
	golden(t, "diff.txt", d.Text())
	var svg, dot strings.Builder
	if err := d.SVG(&svg); err != nil {
		t.Fatal(err)
	}
	if err := d.DOT(&dot); err != nil {
		t.Fatal(err)
	}
	golden(t, "diff.svg", svg.String())
	golden(t, "diff.dot", dot.String())
}

// At level Ops every node is either shared, one side's, or a derivative's, and
// the figure's sets are the difference's (acceptance 6).
func TestDiffSets(t *testing.T) {
	a, b := soft(t), goofy(t)
	for l := range Level(levels) {
		d := diff(t, a.roots(), b.roots(), At(l))
		pairs := len(d.Shared) + len(d.Upstream) + len(d.TermA) + len(d.TermB)
		if got, want := len(d.OnlyA)+pairs, len(d.a.shown); got != want {
			t.Errorf("%v: %d nodes of A, want %d", l, got, want)
		}
		if got, want := len(d.OnlyB)+pairs, len(d.b.shown); got != want {
			t.Errorf("%v: %d nodes of B, want %d", l, got, want)
		}
		count := map[int]int{}
		for _, n := range d.Figure().Nodes {
			count[n.Panel]++
			if n.Panel > 0 && n.Status[n.Panel-1] != figure.Only {
				t.Errorf("%v: %q is in one panel with status %v", l, n.Main, n.Status)
			}
		}
		if count[0] != pairs || count[1] != len(d.OnlyA) || count[2] != len(d.OnlyB) {
			t.Errorf("%v: the figure has %v nodes in both, A, B; want %d %d %d", l, count, pairs, len(d.OnlyA), len(d.OnlyB))
		}
		for _, p := range d.Shared {
			if graph.OpText(p.A.Op()) != graph.OpText(p.B.Op()) && p.A.Role() != graph.RoleConstant {
				t.Errorf("%v: %v is paired with %v", l, p.A, p.B)
			}
		}
	}
}

func TestSharedHasOnePlace(t *testing.T) {
	d := diff(t, soft(t).roots(), goofy(t).roots(), At(Ops))
	f := d.Figure()
	layout, err := f.Layout(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	place := map[int]figure.Rect{}
	for _, b := range layout.Panels[0].Nodes {
		place[b.Node] = b.Rect
	}
	same := 0
	for _, b := range layout.Panels[1].Nodes {
		if r, ok := place[b.Node]; ok {
			if same++; r != b.Rect {
				t.Errorf("%q is at %v and %v", f.Nodes[b.Node].Main, r, b.Rect)
			}
		}
	}
	if want := len(d.Shared) + len(d.Upstream) + len(d.TermA) + len(d.TermB); same != want {
		t.Errorf("%d nodes in both panels, want %d", same, want)
	}
}

func TestDiffWithItself(t *testing.T) {
	a := soft(t)
	for _, b := range []*objective{a, soft(t)} {
		for l := range Level(levels) {
			d := diff(t, a.roots(), b.roots(), At(l))
			if len(d.OnlyA)+len(d.OnlyB)+len(d.Upstream)+len(d.TermA)+len(d.TermB) > 0 || len(d.Shared) != len(d.a.shown) {
				t.Errorf("%v: %s", l, d.Text())
			}
			var svg strings.Builder
			if err := d.SVG(&svg); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(svg.String(), `class="mark`) {
				t.Errorf("%v: something is marked", l)
			}
		}
	}
}

// Exchanging the sides exchanges the panels and nothing else.
func TestDiffSwapped(t *testing.T) {
	pairs := [][2][]*graph.Node{{soft(t).roots(), goofy(t).roots()}}
	for _, names := range [][2]string{{"kmeans-goofy", "attention-kernel"}, {"transformer-encoder", "transformer-gpt"}, {"resnet", "resnet-plain"}, {"rnn-lstm", "rnn-gru"}} {
		pairs = append(pairs, [2][]*graph.Node{modelRoots(t, builderNamed(t, names[0])), modelRoots(t, builderNamed(t, names[1]))})
	}
	for i := range 2 * len(pairs) {
		a, b, l := pairs[i/2][0], pairs[i/2][1], []Level{Notes, Ops}[i%2]
		ab, ba := diff(t, a, b, At(l)), diff(t, b, a, At(l))
		f, g := ab.Figure(), ba.Figure()
		for i := range g.Nodes {
			n := &g.Nodes[i]
			n.Status[0], n.Status[1] = n.Status[1], n.Status[0]
			n.PanelMain[0], n.PanelMain[1] = n.PanelMain[1], n.PanelMain[0]
			n.PanelSub[0], n.PanelSub[1] = n.PanelSub[1], n.PanelSub[0]
			n.PanelRole[0], n.PanelRole[1] = n.PanelRole[1], n.PanelRole[0]
			n.Panel = []int{0, 2, 1}[n.Panel]
		}
		for i := range g.Edges {
			g.Edges[i].Panel = []int{0, 2, 1}[g.Edges[i].Panel]
			g.Edges[i].PanelLabel[0], g.Edges[i].PanelLabel[1] = g.Edges[i].PanelLabel[1], g.Edges[i].PanelLabel[0]
		}
		for i := range g.Modules {
			g.Modules[i].Panel = []int{0, 2, 1}[g.Modules[i].Panel]
		}
		if !reflect.DeepEqual(f.Nodes, g.Nodes) || !reflect.DeepEqual(f.Edges, g.Edges) || !reflect.DeepEqual(f.Modules, g.Modules) {
			t.Errorf("%v: the figures differ in more than their panels", l)
		}
		if len(ab.OnlyA) != len(ba.OnlyB) || len(ab.TermA) != len(ba.TermB) || len(ab.Shared) != len(ba.Shared) {
			t.Errorf("%v: %s and %s", l, ab.Summary(), ba.Summary())
		}
	}
}

// Two sets of roots in one graph can be compared; so can graphs that differ in a
// default, and in names alone.
func TestDiffKinds(t *testing.T) {
	o := soft(t)
	other := ops.Sum(o.α).As("other")
	d := diff(t, []*graph.Node{o.loss}, []*graph.Node{other})
	if got, want := d.Summary(), "B adds 1 box, drops 1, shares 6"; got != want {
		t.Errorf("one graph: got %s, want %s", got, want)
	}
	build := func(name, path string, axis int) []*graph.Node {
		g := graph.New("g")
		y := ops.Exp(g.Input(path, graph.F32, graph.Ax("i", axis)))
		if name != "" {
			y.As(name)
		}
		return []*graph.Node{ops.Sum(y).As("s")}
	}
	for _, c := range []struct {
		a, b []*graph.Node
		want string
	}{
		{build("y", "x", 3), build("", "x", 3), "B adds 0 boxes, drops 0, shares 3"}, // named on one side only
		{build("y", "x", 3), build("z", "x", 3), "B adds 0 boxes, drops 0, shares 3"},
		{build("y", "x", 3), build("y", "z", 3), "B adds 0 boxes, drops 0, shares 3"},
		{build("y", "x", 3), build("y", "x", 4), "B adds 0 boxes, drops 0, shares 3"},
	} {
		if got := diff(t, c.a, c.b).Summary(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	step := func(o *objective) []*graph.Node {
		o.g.Assign(o.r, ops.Sub(o.r, ops.Scale(o.dr, 0.1)))
		return Roots(o.g)
	}
	if d := diff(t, step(soft(t)), step(goofy(t))); len(d.Upstream) != 3 || d.Upstream[2].A.Op().Name() != "Sub" {
		t.Errorf("the updates are not matched: %s", d.Text())
	}
	if _, err := Diff(nil, []*graph.Node{o.loss}); err == nil {
		t.Error("no error for a side without roots")
	}
	if _, err := Diff([]*graph.Node{o.loss}, []*graph.Node{nil}); err == nil {
		t.Error("no error for a nil root")
	}
}

// TestFooterOfWhatIsDrawn: who sees values only is told of no derivatives.
func TestFooterOfWhatIsDrawn(t *testing.T) {
	a, b := soft(t), goofy(t)
	const columns = "Right column: derivatives"
	foot := func(d *Difference) string { return strings.Join(d.Figure().Footer, "\n") }
	if s := foot(diff(t, a.roots(), b.roots())); !strings.Contains(s, columns) {
		t.Errorf("with derivatives: %s", s)
	}
	if s := foot(diff(t, []*graph.Node{a.loss}, []*graph.Node{b.loss})); strings.Contains(s, columns) || !strings.Contains(s, "drawn muted") {
		t.Errorf("without derivatives: %s", s)
	}
}
