package figure

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// An element is a parsed SVG element.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []element  `xml:",any"`
}

func (e *element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (e *element) is(class string) bool {
	for _, c := range strings.Fields(e.attr("class")) {
		if c == class {
			return true
		}
	}
	return false
}

// each calls visit for e and all elements in it.
func (e *element) each(visit func(*element)) {
	visit(e)
	for i := range e.Children {
		e.Children[i].each(visit)
	}
}

// all returns the elements of a class in e.
func (e *element) all(class string) (found []*element) {
	e.each(func(x *element) {
		if x.is(class) {
			found = append(found, x)
		}
	})
	return found
}

func (e *element) number(t *testing.T, name string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(e.attr(name), 64)
	if err != nil {
		t.Errorf("%s %s: %v", e.XMLName.Local, name, err)
	}
	return v
}

func (e *element) title() string {
	for _, c := range e.Children {
		if c.XMLName.Local == "title" {
			return c.Text
		}
	}
	return ""
}

func draw(t testing.TB, f *Figure, opts ...Option) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.SVG(&b, opts...); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func parse(t testing.TB, svg []byte) *element {
	t.Helper()
	var root element
	d := xml.NewDecoder(bytes.NewReader(svg))
	if err := d.Decode(&root); err != nil {
		t.Fatalf("not well-formed: %v", err)
	}
	if rest, err := d.Token(); err != nil && err != io.EOF {
		t.Fatalf("after the svg element: %v", err)
	} else if text, ok := rest.(xml.CharData); ok && strings.TrimSpace(string(text)) != "" {
		t.Fatalf("after the svg element: %q", text)
	}
	return &root
}

func TestSVGIsSelfContained(t *testing.T) {
	foreign := regexp.MustCompile(`(?i)<script|href|url\(|var\(|@import|NaN|Inf\b|e[+-]\d\d`)
	for name, f := range samples() {
		for _, theme := range []Theme{Auto, Light, Dark} {
			svg := draw(t, f, WithTheme(theme))
			if m := foreign.Find(svg); m != nil {
				t.Errorf("%s: contains %q", name, m)
			}
			if styled := bytes.Contains(svg, []byte("prefers-color-scheme: dark")); styled != (theme == Auto) {
				t.Errorf("%s: theme %d has a style sheet: %v", name, theme, styled)
			}
			root := parse(t, svg)
			var w, h float64
			if n, _ := fmt.Sscanf(root.attr("viewBox"), "0 0 %f %f", &w, &h); n != 2 || w <= 0 || h <= 0 {
				t.Errorf("%s: viewBox %q", name, root.attr("viewBox"))
			}
			if root.attr("role") != "group" || root.title() == "" {
				t.Errorf("%s: role %q, title %q", name, root.attr("role"), root.title())
			}
		}
	}
}

func TestSVGHoldsEverythingOnce(t *testing.T) {
	for name, f := range samples() {
		root := parse(t, draw(t, f, IDPrefix("fig7-")))
		ids := map[string]bool{}
		root.each(func(e *element) {
			if id := e.attr("id"); id != "" {
				if ids[id] || !strings.HasPrefix(id, "fig7-") {
					t.Errorf("%s: id %q is not unique or lacks the prefix", name, id)
				}
				ids[id] = true
			}
		})
		wantNodes, wantEdges := 0, 0
		index := f.index()
		for p := range f.panels() {
			for i := range f.Nodes {
				if seenIn(f.Nodes[i].Panel).has(p) {
					wantNodes++
					if id := fmt.Sprintf("fig7-p%d-n-%s", p+1, f.Nodes[i].ID); !ids[id] {
						t.Errorf("%s: no element %q", name, id)
					}
				}
			}
			for i := range f.Edges {
				e := &f.Edges[i]
				if f.seen(e, index[e.From], index[e.To]).has(p) {
					wantEdges++
				}
			}
		}
		nodes, edges := root.all("node"), root.all("edge")
		if len(nodes) != wantNodes || len(edges) != wantEdges {
			t.Errorf("%s: %d nodes and %d edges, want %d and %d", name, len(nodes), len(edges), wantNodes, wantEdges)
		}
		for _, n := range nodes {
			if n.title() == "" || n.attr("aria-label") != n.title() || n.attr("role") != "img" {
				t.Errorf("%s: node %s: title %q, label %q", name, n.attr("id"), n.title(), n.attr("aria-label"))
			}
		}
		for _, e := range edges {
			var p, i int
			fmt.Sscanf(e.attr("id"), "fig7-p%d-e%d", &p, &i)
			for _, end := range []string{f.Edges[i].From, f.Edges[i].To} {
				if n := &f.Nodes[index[end]]; !strings.Contains(e.title(), n.main(p-1)) {
					t.Errorf("%s: title %q of edge %d does not name %q", name, e.title(), i, n.main(p-1))
				}
			}
		}
	}
}

// Values come before their users, top to bottom, then gradients bottom to top: read aloud, the
// drawing is the computation.
func TestSVGIsInReadingOrder(t *testing.T) {
	f := training()
	place := map[string]int{}
	for i, n := range parse(t, draw(t, f)).all("node") {
		place[strings.TrimPrefix(n.attr("id"), "p1-n-")] = i
	}
	for _, e := range f.Edges {
		if e.Kind != Assign && e.From != "m" && place[e.From] > place[e.To] {
			t.Errorf("%q comes after %q, which it feeds", e.From, e.To)
		}
	}
}

func TestShapesByRole(t *testing.T) {
	want := map[string]string{
		"role-input": "rect", "role-hyper": "polygon8", "role-param": "rect rect", "role-state": "rect rect 3 2", "role-const": "polygon5", "role-op": "rect", "role-reduce": "polygon4",
		"role-grad": "polygon6 6 3", "role-loss": "rect rect", "role-output": "rect rect 2 3", "role-update": "polygon4",
	}
	f := training()
	for i := range f.Nodes {
		f.Nodes[i].Badge = "" // its plate would count
	}
	root := parse(t, draw(t, f))
	for role, shape := range want {
		nodes := root.all(role)
		if len(nodes) == 0 {
			t.Errorf("no %s", role)
		}
		for _, n := range nodes {
			var got []string
			for _, c := range n.Children {
				if name := c.XMLName.Local; name == "rect" {
					got = append(got, name)
				} else if name == "polygon" {
					got = append(got, name+strconv.Itoa(len(strings.Fields(c.attr("points")))))
				}
				if d := c.attr("stroke-dasharray"); d != "" {
					got = append(got, d)
				}
			}
			if s := strings.Join(got, " "); s != shape {
				t.Errorf("%s is %q, want %q", role, s, shape)
			}
			if back := f.Nodes[f.index()[strings.TrimPrefix(n.attr("id"), "p1-n-")]].Backward; n.is("bwd") != back || n.is("fwd") == back {
				t.Errorf("%s: class %q", n.attr("id"), n.attr("class"))
			}
		}
	}
}

func TestEveryTextFits(t *testing.T) {
	for name, f := range samples() {
		root := parse(t, draw(t, f))
		pageWidth := root.number(t, "width")
		root.each(func(e *element) {
			if e.XMLName.Local != "text" {
				return
			}
			if size := e.number(t, "font-size"); size < 9.5 {
				t.Errorf("%s: %q has size %v", name, e.Text, size)
			}
			if w := e.number(t, "textLength"); w <= 0 || w > pageWidth-2*border+1 {
				t.Errorf("%s: %q is %v wide on a page of %v", name, e.Text, w, pageWidth)
			}
		})
		for p, l := range mustLayout(t, f).Panels {
			for _, n := range l.Nodes {
				g := root.find(fmt.Sprintf("p%d-n-%s", p+1, f.Nodes[n.Node].ID))
				for _, c := range g.Children {
					if c.XMLName.Local == "text" && c.attr("font-size") != num(labelSize) && c.number(t, "textLength") > n.W-8 {
						t.Errorf("%s: %q is wider than its box of %v", name, c.Text, n.W)
					}
				}
			}
			for i, e := range l.Edges {
				g := root.find(fmt.Sprintf("p%d-l%d", p+1, l.Edges[i].Edge))
				if (g == nil) != (f.Edges[e.Edge].Label == "") {
					t.Errorf("%s: edge %d with label %q has a label element: %v", name, e.Edge, f.Edges[e.Edge].Label, g != nil)
				}
				if g == nil {
					continue
				}
				for _, c := range g.Children {
					if c.XMLName.Local == "text" && c.number(t, "textLength") > e.Label.W-4 {
						t.Errorf("%s: %q is wider than its plate of %v", name, c.Text, e.Label.W)
					}
				}
			}
		}
	}
}

// TestParametersInsideAreSeen: the parameters inside a box are written there, whether or not it says
// its axes, and stay within it.
func TestParametersInsideAreSeen(t *testing.T) {
	for _, sub := range []string{"", "i=150"} {
		f := &Figure{Nodes: []Node{{ID: "a", Main: "y", Sub: sub, Params: "w 3×4 · b 4"}}}
		box := mustLayout(t, f).Panels[0].Nodes[0]
		seen := false
		for _, c := range parse(t, draw(t, f)).find("p1-n-a").Children {
			if c.XMLName.Local != "text" || c.Text != "w 3×4 · b 4" {
				continue
			}
			seen = true
			if x, half := c.number(t, "x"), c.number(t, "textLength")/2; x-half < box.X || x+half > box.X+box.W {
				t.Errorf("%q leaves its box", c.Text)
			}
		}
		if !seen {
			t.Errorf("beside %q the parameters are not written", sub)
		}
	}
}

func (e *element) find(id string) (found *element) {
	e.each(func(x *element) {
		if x.attr("id") == id {
			found = x
		}
	})
	return found
}

func TestLegendSaysWhatIsThere(t *testing.T) {
	texts := func(f *Figure, opts ...Option) string {
		var all []string
		for _, g := range parse(t, draw(t, f, opts...)).all("legend") {
			g.each(func(e *element) { all = append(all, strings.TrimSpace(e.Text)) })
		}
		return strings.Join(all, "|")
	}
	if s := texts(chain(3)); !strings.Contains(s, "element by element") || !strings.Contains(s, "forward value") || strings.Contains(s, "gradient") || strings.Contains(s, "input") {
		t.Errorf("chain: %q", s)
	}
	s := texts(kmeans())
	for _, want := range []string{"only in A · soft k-means", "only in B · goofy", "the same in both", "what flows in differs", "one more term in B · goofy", "saved", "loss"} {
		if !strings.Contains(s, want) {
			t.Errorf("kmeans: no %q in %q", want, s)
		}
	}
	if strings.Contains(s, "update") || strings.Contains(s, "state") {
		t.Errorf("kmeans: absent roles in %q", s)
	}
	if s := texts(kmeans(), OnlyPanel(1)); strings.Contains(s, "only in B") {
		t.Errorf("panel A: %q", s)
	}
	if s := texts(chain(3), WithoutLegend()); s != "" {
		t.Errorf("without: %q", s)
	}
}

func TestMarks(t *testing.T) {
	f := kmeans()
	root := parse(t, draw(t, f))
	for status, want := range map[Status]int{Shared: 14, Only: 13, Upstream: 8, Term: 2} {
		if got := len(root.all("status-" + status.String())); got != want {
			t.Errorf("%d nodes are %s, want %d", got, status, want)
		}
	}
	for i := range f.Nodes {
		f.Nodes[i].Status = [2]Status{Shared, Shared}
	}
	if svg := draw(t, f, WithTheme(Light)); bytes.Contains(svg, []byte("<circle")) {
		t.Error("a figure compared with itself has marks")
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for want, opt := range map[string]Option{
		`figure: unknown theme 9`: WithTheme(9),
		`figure: id prefix "7up" is not a letter followed by a-z, 0-9, '_' and '-'`:    IDPrefix("7up"),
		`figure: id prefix "a\"><b" is not a letter followed by a-z, 0-9, '_' and '-'`: IDPrefix(`a"><b`),
		`figure: panel 2 of a figure with 1`:                                           OnlyPanel(2),
	} {
		var b bytes.Buffer
		if err := chain(2).SVG(&b, opt); err == nil || err.Error() != want || b.Len() > 0 {
			t.Errorf("got %v and %d bytes, want %s", err, b.Len(), want)
		}
		if err := chain(2).DOT(&b, opt); err == nil || err.Error() != want || b.Len() > 0 {
			t.Errorf("DOT: got %v, want %s", err, want)
		}
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteErrorsAreReturned(t *testing.T) {
	if err := chain(2).SVG(failing{}); err == nil || err.Error() != "disk full" {
		t.Errorf("SVG: %v", err)
	}
	if err := chain(2).DOT(failing{}); err == nil || err.Error() != "disk full" {
		t.Errorf("DOT: %v", err)
	}
}

func BenchmarkSVG(b *testing.B) {
	f := network(2000, 2)
	for b.Loop() {
		if err := f.SVG(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
