package figure

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func mustLayout(t *testing.T, f *Figure) *Layout {
	t.Helper()
	l, err := f.Layout(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestNodesAndModulesKeepApart(t *testing.T) {
	for name, f := range samples() {
		for p, l := range mustLayout(t, f).Panels {
			page := Rect{0, 0, l.Width, l.Height}
			for i, a := range l.Nodes {
				if !page.Contains(a.Rect) {
					t.Errorf("%s: panel %d: node %d lies outside", name, p, a.Node)
				}
				for _, b := range l.Nodes[i+1:] {
					if a.Overlaps(b.Rect) {
						t.Errorf("%s: panel %d: nodes %d and %d overlap: %v %v", name, p, a.Node, b.Node, a.Rect, b.Rect)
					}
				}
				n := &f.Nodes[a.Node]
				for _, m := range l.Modules {
					member := n.Backward == m.Backward && (n.Module == m.Path || strings.HasPrefix(n.Module, m.Path+"/"))
					if member && !m.Contains(a.Rect) {
						t.Errorf("%s: panel %d: node %q is not inside module %q", name, p, n.ID, m.Path)
					}
					if !member && m.Overlaps(a.Rect) {
						t.Errorf("%s: panel %d: node %q overlaps module %q", name, p, n.ID, m.Path)
					}
				}
			}
			for i, m := range l.Modules {
				if !page.Contains(m.Rect) || !m.Contains(m.Plate) {
					t.Errorf("%s: panel %d: module %q or its title lies outside", name, p, m.Path)
				}
				for _, o := range l.Modules[i+1:] {
					if m.Backward == o.Backward && strings.HasPrefix(o.Path, m.Path+"/") {
						if !m.Contains(o.Rect) {
							t.Errorf("%s: panel %d: module %q is not inside %q", name, p, o.Path, m.Path)
						}
					} else if !strings.HasPrefix(m.Path, o.Path+"/") && m.Overlaps(o.Rect) {
						t.Errorf("%s: panel %d: modules %q and %q overlap", name, p, m.Path, o.Path)
					}
				}
			}
		}
	}
}

func TestRowsAndDirections(t *testing.T) {
	for name, f := range samples() {
		index := f.index()
		for p, l := range mustLayout(t, f).Panels {
			at := map[int]NodeBox{}
			for _, n := range l.Nodes {
				at[n.Node] = n
			}
			for i, n := range f.Nodes {
				if a, ok := at[i]; ok && n.Row != "" {
					if b, ok := at[index[n.Row]]; ok && math.Abs(a.Centre().Y-b.Centre().Y) > 0.5 {
						t.Errorf("%s: panel %d: %q is not in the row of %q", name, p, n.ID, n.Row)
					}
				}
			}
			for _, e := range l.Edges {
				edge := &f.Edges[e.Edge]
				a, b := index[edge.From], index[edge.To]
				if f.Nodes[a].Backward != f.Nodes[b].Backward {
					continue
				}
				switch rise := at[a].Centre().Y - at[b].Centre().Y; {
				case edge.Kind == Forward && rise >= 0:
					t.Errorf("%s: panel %d: forward edge %q → %q does not go down", name, p, edge.From, edge.To)
				case edge.Kind == Grad && rise < 0 && edge.From != "m": // the moment flows back into its own update
					t.Errorf("%s: panel %d: gradient edge %q → %q goes down", name, p, edge.From, edge.To)
				}
			}
		}
	}
}

// onBorder reports whether p lies on the outline of n, drawn in r.
func onBorder(n *Node, r Rect, p Point) bool {
	const slop = 1
	dx, dy := p.X-r.Centre().X, p.Y-r.Centre().Y
	if math.Abs(math.Abs(dy)-r.H/2) < slop {
		top, bottom := shoulder(n.Role, r.H)
		return math.Abs(dx) <= r.W/2-min(top, bottom)+slop
	}
	dir := math.Copysign(1, dx)
	return math.Abs(dy) < r.H/2 && math.Abs(math.Abs(dx)-(r.W/2-inset(n.Role, r.H-2*ringOf(n.Role), dir, dy))) < slop
}

func TestEdgesMeetTheirNodes(t *testing.T) {
	for name, f := range samples() {
		index := f.index()
		for p, l := range mustLayout(t, f).Panels {
			at := map[int]Rect{}
			for _, n := range l.Nodes {
				at[n.Node] = n.Rect
			}
			for _, e := range l.Edges {
				a, b := index[f.Edges[e.Edge].From], index[f.Edges[e.Edge].To]
				if len(e.Path)%3 != 1 || len(e.Path) < 4 {
					t.Fatalf("%s: edge %d has %d points", name, e.Edge, len(e.Path))
				}
				if !onBorder(&f.Nodes[a], at[a], e.Path[0]) {
					t.Errorf("%s: panel %d: edge %q → %q starts at %v, off %v", name, p, f.Nodes[a].ID, f.Nodes[b].ID, e.Path[0], at[a])
				}
				if end := e.Path[len(e.Path)-1]; !onBorder(&f.Nodes[b], at[b], end) {
					t.Errorf("%s: panel %d: edge %q → %q ends at %v, off %v", name, p, f.Nodes[a].ID, f.Nodes[b].ID, end, at[b])
				}
				for _, m := range l.Modules {
					if e.Label.Overlaps(m.Plate) {
						t.Errorf("%s: panel %d: label of edge %d covers the title of %q", name, p, e.Edge, m.Path)
					}
				}
				for _, n := range l.Nodes {
					if e.Label.Overlaps(n.Rect) {
						t.Errorf("%s: panel %d: label of edge %d covers node %q", name, p, e.Edge, f.Nodes[n.Node].ID)
					}
					if n.Node != a && n.Node != b && through(e.Path, n.Rect) {
						t.Errorf("%s: panel %d: edge %q → %q runs through %q", name, p, f.Nodes[a].ID, f.Nodes[b].ID, f.Nodes[n.Node].ID)
					}
				}
			}
		}
	}
}

// through reports whether a path of cubic pieces enters r.
func through(path []Point, r Rect) bool {
	r = grow(r, -1)
	for i := 0; i+3 < len(path); i += 3 {
		a, b, c, d := path[i], path[i+1], path[i+2], path[i+3]
		for k := range 41 {
			t := float64(k) / 40
			u := 1 - t
			x := u*u*u*a.X + 3*u*u*t*b.X + 3*u*t*t*c.X + t*t*t*d.X
			y := u*u*u*a.Y + 3*u*u*t*b.Y + 3*u*t*t*c.Y + t*t*t*d.Y
			if r.X < x && x < r.X+r.W && r.Y < y && y < r.Y+r.H {
				return true
			}
		}
	}
	return false
}

func TestSharedNodesHaveOnePlace(t *testing.T) {
	for _, name := range []string{"kmeans", "compared", "compared 2"} {
		f := samples()[name]
		l := mustLayout(t, f)
		where := [2]map[int]Rect{{}, {}}
		for p, panel := range l.Panels {
			for _, n := range panel.Nodes {
				where[p][n.Node] = n.Rect
			}
		}
		for i, n := range f.Nodes {
			a, inA := where[0][i]
			b, inB := where[1][i]
			if inA != (n.Panel != 2) || inB != (n.Panel != 1) {
				t.Errorf("%s: node %q of panel %d is in panels %v %v", name, n.ID, n.Panel, inA, inB)
			}
			if n.Panel == 0 && a != b {
				t.Errorf("%s: node %q moved from %v to %v", name, n.ID, a, b)
			}
		}
	}
}

// Swapping A and B must swap the panels and change nothing else.
func TestSwapOfPanels(t *testing.T) {
	f, g := kmeans(), kmeans()
	swap := func(p int) int { return [...]int{0, 2, 1}[p] }
	for i := range g.Nodes {
		n := &g.Nodes[i]
		n.Panel = swap(n.Panel)
		n.PanelSub[0], n.PanelSub[1] = n.PanelSub[1], n.PanelSub[0]
		n.Status[0], n.Status[1] = n.Status[1], n.Status[0]
	}
	for i := range g.Edges {
		g.Edges[i].Panel = swap(g.Edges[i].Panel)
	}
	a, b := mustLayout(t, f), mustLayout(t, g)
	for p := range 2 {
		x, y := a.Panels[p], b.Panels[1-p]
		if len(x.Nodes) != len(y.Nodes) {
			t.Fatalf("%d and %d nodes", len(x.Nodes), len(y.Nodes))
		}
		for i := range x.Nodes {
			if x.Nodes[i] != y.Nodes[i] {
				t.Errorf("node %q: %v and %v", f.Nodes[x.Nodes[i].Node].ID, x.Nodes[i], y.Nodes[i])
			}
		}
	}
}

func TestChainsAreStraight(t *testing.T) {
	straight := func(name string, f *Figure, ids ...string) {
		index := f.index()
		for p, l := range mustLayout(t, f).Panels {
			x := math.NaN()
			for _, n := range l.Nodes {
				for _, id := range ids {
					if n.Node != index[id] {
						continue
					}
					if c := n.Centre().X; math.IsNaN(x) {
						x = c
					} else if c != x {
						t.Errorf("%s: panel %d: %q is at %v, not %v", name, p, id, c, x)
					}
				}
			}
		}
	}
	straight("chain", chain(8), "n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7")
	straight("kmeans", kmeans(), "diff", "d", "s", "alpha", "w", "sj", "la", "rh", "e", "q", "lb")
	straight("kmeans", kmeans(), "gla", "gsj", "gw", "galpha", "gs", "gd", "gdiff", "gr", "glb", "gq", "ge")
	// Modules in a row are a column, not a staircase.
	straight("network", network(80, 1), "f0-5", "f1-5", "f2-5", "f3-5", "f4-5")
}

// What stands beside the rest comes close to it, also where its parts push each
// other away: here an input between two boxes.
func TestNoEmptyStrips(t *testing.T) {
	f := &Figure{}
	for _, n := range []Node{{ID: "w", Module: "conv", Role: Param}, {ID: "x", Role: Input}, {ID: "h", Main: "h = conv(x, w) of a length", Module: "conv", Role: Reduce},
		{ID: "gain", Module: "norm", Role: Param}, {ID: "bias", Module: "norm", Role: Param}, {ID: "n", Main: "n = standardise(h)·gain + bias", Module: "norm"},
		{ID: "v", Main: "v = relu(n)"}, {ID: "m", Main: "m = mean v", Role: Reduce}, {ID: "u", Module: "head", Role: Param}, {ID: "b", Module: "head", Role: Param},
		{ID: "scores", Main: "scores = Σ m·u + b of a length", Module: "head"}, {ID: "label", Role: Input}, {ID: "l", Main: "l = −Σ [k = label]·log softmax(…)", Module: "entropy"},
		{ID: "loss", Main: "loss = mean l", Role: Loss, Module: "entropy"}} {
		if n.Sub = "f32 8×8×8×8"; n.Main == "" {
			n.Main = n.ID
		}
		f.Nodes = append(f.Nodes, n)
	}
	for _, e := range [][2]string{{"w", "h"}, {"x", "h"}, {"h", "n"}, {"gain", "n"}, {"bias", "n"}, {"n", "v"}, {"v", "m"}, {"m", "scores"}, {"u", "scores"}, {"b", "scores"},
		{"label", "l"}, {"scores", "l"}, {"l", "loss"}} {
		f.Edges = append(f.Edges, Edge{From: e[0], To: e[1], Label: "n×c"})
	}
	for _, m := range []string{"conv", "norm", "head", "entropy"} {
		f.Modules = append(f.Modules, Module{Path: m, Title: m})
	}
	noStrip(t, "head", f)
	noStrip(t, "kmeans", kmeans())
}

// noStrip reports where no node of the values stands for 120 pixels, although others
// do on both sides.
func noStrip(t *testing.T, name string, f *Figure) {
	t.Helper()
	for _, l := range mustLayout(t, f).Panels {
		var spans []Rect
		for _, n := range l.Nodes {
			if !f.Nodes[n.Node].Backward {
				spans = append(spans, n.Rect)
			}
		}
		slices.SortFunc(spans, func(a, b Rect) int { return cmp.Compare(a.X, b.X) })
		end := math.Inf(1)
		for _, r := range spans {
			if r.X-end > 120 {
				t.Errorf("%s: nothing stands between x = %v and %v", name, end, r.X)
			}
			if end = max(end, r.X+r.W); math.IsInf(end, 1) {
				end = r.X + r.W
			}
		}
	}
}

func TestLongEdgesRunPlumb(t *testing.T) {
	f := chain(9)
	f.Edges = append(f.Edges, Edge{From: "n0", To: "n8"})
	l := mustLayout(t, f).Panels[0]
	path := l.Edges[len(l.Edges)-1].Path
	plumb := 0.0
	for i := 0; i+3 < len(path); i += 3 {
		if path[i].X == path[i+3].X {
			plumb += path[i+3].Y - path[i].Y
		}
	}
	if all := path[len(path)-1].Y - path[0].Y; plumb < 0.75*all || len(path) != 10 {
		t.Errorf("%v of %v px are plumb, in %d pieces", plumb, all, len(path)/3)
	}
}

func TestConstantsSinkToTheirUse(t *testing.T) {
	rows := map[string]int{}
	f := kmeans()
	for _, n := range mustLayout(t, f).Panels[0].Nodes {
		rows[f.Nodes[n.Node].ID] = n.Row
	}
	if rows["gamma"] != rows["s"]-1 {
		t.Errorf("γ is in row %d, its use in row %d", rows["gamma"], rows["s"])
	}
	for id, r := range rows {
		if r > rows["la"] {
			t.Errorf("%q is below the loss", id)
		}
	}
}

// What feeds nothing but one use goes down to it as a whole.
func TestConesSinkToTheirUse(t *testing.T) {
	f := chain(8)
	for _, id := range []string{"a", "b", "c"} {
		f.Nodes = append(f.Nodes, Node{ID: id, Main: id})
	}
	f.Edges = append(f.Edges, Edge{From: "a", To: "b"}, Edge{From: "b", To: "c"}, Edge{From: "c", To: "n7"})
	n := mustLayout(t, f).Panels[0].Nodes
	if a, b, c := n[8].Row, n[9].Row, n[10].Row; a != 4 || b != 5 || c != 6 {
		t.Errorf("a → b → c is in rows %d, %d, %d, its use in row 7", a, b, c)
	}
}

// A loss that nothing follows stands on the last row of the values even if its
// inputs end early.
func TestLossIsLast(t *testing.T) {
	f := chain(6)
	f.Nodes = append(f.Nodes, Node{ID: "loss", Main: "ℓ", Role: Loss})
	f.Edges = append(f.Edges, Edge{From: "n1", To: "loss"})
	for _, n := range mustLayout(t, f).Panels[0].Nodes {
		if f.Nodes[n.Node].ID == "loss" && n.Row != 5 {
			t.Errorf("the loss is in row %d of 0 to 5", n.Row)
		}
	}
}

func TestLayoutStops(t *testing.T) {
	f := network(4000, 1)
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	_, err := f.Layout(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got error %v", err)
	}
	ctx, cancel = context.WithCancel(context.Background())
	cancel()
	var b strings.Builder
	if err := kmeans().SVGContext(ctx, &b); !errors.Is(err, context.Canceled) || b.Len() > 0 {
		t.Errorf("got error %v and %d bytes", err, b.Len())
	}
}

func BenchmarkLayout(b *testing.B) {
	for _, n := range []int{20, 200, 2000, 5000} {
		f := network(n, 2)
		b.Run(f.Title, func(b *testing.B) {
			for b.Loop() {
				if _, err := f.Layout(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A label stands where no other edge passes, as far as there is such a place: its
// plate would cut the edge in two.
func TestLabelsLeaveOtherEdgesWhole(t *testing.T) {
	f := &Figure{}
	for _, id := range []string{"x", "wq", "wk", "wv", "q", "k", "v", "e"} {
		f.Nodes = append(f.Nodes, Node{ID: id, Main: id + " of a length", Sub: "f32 4×5×8"})
	}
	for _, e := range [][2]string{{"x", "q"}, {"x", "k"}, {"x", "v"}, {"wq", "q"}, {"wk", "k"}, {"wv", "v"}, {"q", "e"}, {"k", "e"}, {"v", "e"}} {
		f.Edges = append(f.Edges, Edge{From: e[0], To: e[1], Label: "b×t×m"})
	}
	l := mustLayout(t, f).Panels[0]
	for _, e := range l.Edges {
		for _, o := range l.Edges {
			if e.Edge != o.Edge && through(o.Path, e.Label) {
				t.Errorf("the label of edge %v stands on edge %v", f.Edges[e.Edge], f.Edges[o.Edge])
			}
		}
	}
}
