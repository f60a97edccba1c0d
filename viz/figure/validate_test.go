package figure

import (
	"context"
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	two := func(change func(*Figure)) *Figure {
		f := &Figure{Nodes: []Node{{ID: "a"}, {ID: "b"}, {ID: "c"}}, Edges: []Edge{{From: "a", To: "b"}, {From: "b", To: "c"}}}
		change(f)
		return f
	}
	for _, c := range []struct {
		want   string // complaints, a line each
		change func(*Figure)
	}{
		{"", func(*Figure) {}},
		{`figure: node 1 "B": an id is one or more of a-z, 0-9, '_' and '-'`, func(f *Figure) { f.Nodes[1].ID = "B"; f.Edges = nil }},
		{`figure: node 1 "": an id is one or more of a-z, 0-9, '_' and '-'`, func(f *Figure) { f.Nodes[1].ID = ""; f.Edges = nil }},
		{`figure: node 2 "a": duplicate id, first used by node 0`, func(f *Figure) { f.Nodes[2].ID = "a"; f.Edges = nil }},
		{"figure: edge 0 \"a\" → \"z\": to unknown node\nfigure: edge 1 \"y\" → \"c\": from unknown node", func(f *Figure) { f.Edges[0].To, f.Edges[1].From = "z", "y" }},
		{`figure: edge 0 "a" → "a": joins a node with itself`, func(f *Figure) { f.Edges[0].To = "a" }},
		{`figure: forward edges form a cycle: a → b → c → a`, func(f *Figure) { f.Edges = append(f.Edges, Edge{From: "c", To: "a"}) }},
		{"", func(f *Figure) { f.Edges = append(f.Edges, Edge{From: "c", To: "a", Kind: Assign}) }},
		{`figure: node 0 "a": row of unknown node "z"`, func(f *Figure) { f.Nodes[0].Row = "z" }},
		{`figure: node 0 "a": row of itself`, func(f *Figure) { f.Nodes[0].Row = "a" }},
		{`figure: rows contradict the forward edges: the row of "a" would be above itself`, func(f *Figure) { f.Nodes[2].Row = "a" }},
		{`figure: node 0 "a": unknown role 99`, func(f *Figure) { f.Nodes[0].Role = 99 }},
		{`figure: node 0 "a": unknown status 99`, func(f *Figure) { f.Nodes[0].Status[1] = 99 }},
		{`figure: edge 0 "a" → "b": unknown kind 99`, func(f *Figure) { f.Edges[0].Kind = 99 }},
		{`figure: node 0 "a": panel 2 of a figure with 1`, func(f *Figure) { f.Nodes[0].Panel = 2 }},
		{`figure: edge 0 "a" → "b": its ends and it are in different panels`, func(f *Figure) {
			f.Panels = make([]Panel, 2)
			f.Nodes[0].Panel, f.Nodes[1].Panel, f.Edges = 1, 2, f.Edges[:1]
		}},
		{`figure: 3 panels: at most 2 can be compared`, func(f *Figure) { f.Panels = make([]Panel, 3) }},
		{`figure: node 0 "a": module path "x//y" has an empty part`, func(f *Figure) { f.Nodes[0].Module = "x//y" }},
		{`figure: node 0 "a": module path "/" has an empty part`, func(f *Figure) { f.Nodes[0].Module = "/" }},
		{`figure: module 0 "": empty path`, func(f *Figure) { f.Modules = []Module{{}} }},
		{`figure: module 1 "m": duplicate of module 0`, func(f *Figure) { f.Modules = []Module{{Path: "m"}, {Path: "m"}} }},
	} {
		f := two(c.change)
		got := ""
		if err := f.Validate(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
		var b strings.Builder
		if err := f.SVG(&b); (err != nil) != (c.want != "") {
			t.Errorf("%s: SVG gives %v", c.want, err)
		}
		if err := f.DOT(&b); (err != nil) != (c.want != "") {
			t.Errorf("%s: DOT gives %v", c.want, err)
		}
	}
}

// Rows that contradict gradient edges are kept: the edges give way.
func TestRowsWinOverGradientEdges(t *testing.T) {
	f := chain(3)
	f.Nodes = append(f.Nodes,
		Node{ID: "g0", Role: Gradient, Row: "n0", Backward: true},
		Node{ID: "g2", Role: Gradient, Row: "n2", Backward: true},
		Node{ID: "g", Role: Gradient, Backward: true})
	f.Edges = append(f.Edges, Edge{From: "g0", To: "g", Kind: Grad}, Edge{From: "g", To: "g2", Kind: Grad})
	l, err := f.Layout(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	n := l.Panels[0].Nodes
	if n[3].Row != n[0].Row || n[4].Row != n[2].Row {
		t.Errorf("gradients are in rows %d and %d", n[3].Row, n[4].Row)
	}
}
