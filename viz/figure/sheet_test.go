package figure

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func sheet(t testing.TB, f *Figure, opts ...Option) *Sheet {
	t.Helper()
	s, err := f.Sheet(t.Context(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The items of a sheet are the elements of the document, in its order, at their
// places.
func TestSheetIsTheDocumentInParts(t *testing.T) {
	type part struct{ id, at, text string }
	parts := func(root *element) (all []part) {
		var walk func(e *element, at string)
		walk = func(e *element, at string) {
			if s := e.attr("transform"); s != "" && e.XMLName.Local == "g" {
				at = s
			}
			if id := e.attr("id"); strings.HasPrefix(id, "q-p") {
				e.Attrs = nil
				all = append(all, part{id, at, fmt.Sprint(*e)})
			}
			for i := range e.Children {
				walk(&e.Children[i], at)
			}
		}
		walk(root, "")
		return all
	}
	for name, f := range samples() {
		g := *f
		g.Title, g.Subtitle = "", "" // no headings: the panels are at the places they have on the sheet
		want := parts(parse(t, draw(t, &g, IDPrefix("q-"))))
		s := sheet(t, &g, IDPrefix("q-"))
		var b strings.Builder
		b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg">`)
		for _, it := range s.Items {
			b.WriteString(it.SVG)
		}
		got := parts(parse(t, []byte(b.String()+"</svg>")))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d parts of the sheet differ from %d of the document", name, len(got), len(want))
		}
	}
}

// All that an item draws lies in its box, and all boxes on the sheet.
func TestItemsLieInTheirBoxes(t *testing.T) {
	for name, f := range samples() {
		s := sheet(t, f)
		for _, it := range s.Items {
			if !(Rect{0, 0, s.Width, s.Height}).Contains(it.Box) {
				t.Errorf("%s: %s %s at %v is not on the sheet of %v × %v", name, it.Kind, it.ID, it.Box, s.Width, s.Height)
			}
			root := parse(t, []byte(it.SVG))
			var dx, dy float64
			fmt.Sscanf(root.attr("transform"), "translate(%f %f)", &dx, &dy)
			root.each(func(e *element) {
				var r Rect
				switch e.XMLName.Local {
				case "rect":
					r = Rect{e.number(t, "x"), e.number(t, "y"), e.number(t, "width"), e.number(t, "height")}
				case "circle":
					radius := e.number(t, "r")
					r = Rect{e.number(t, "cx") - radius, e.number(t, "cy") - radius, 2 * radius, 2 * radius}
				case "path":
					if e.attr("transform") != "" {
						return // the sign in a circle
					}
					points := strings.FieldsFunc(e.attr("d"), func(c rune) bool { return strings.ContainsRune("MLCz ", c) })
					for i, p := range points {
						var x, y float64
						if n, _ := fmt.Sscanf(p, "%f,%f", &x, &y); n != 2 {
							t.Fatalf("%s: path %q", name, e.attr("d"))
						}
						if i == 0 {
							r = Rect{x, y, 0, 0}
						}
						r = union(r, Rect{x, y, 0, 0})
					}
				default:
					return
				}
				r.X, r.Y = r.X+dx, r.Y+dy
				if !grow(it.Box, 0.2).Contains(r) {
					t.Errorf("%s: %s of %s %s at %v is not in its box %v", name, e.XMLName.Local, it.Kind, it.ID, r, it.Box)
				}
			})
		}
	}
}

func TestSheetNamesItsItems(t *testing.T) {
	f := kmeans()
	s := sheet(t, f)
	count := map[string]int{}
	index := f.index()
	for _, it := range s.Items {
		count[it.Kind+strconv.Itoa(it.Panel)]++
		if it.Kind != "node" {
			continue
		}
		n := f.Nodes[index[it.ID]]
		if it.Module != n.Module || it.Backward != n.Backward || it.Row != n.Row {
			t.Errorf("item %+v of node %+v", it, n)
		}
	}
	want := map[string]int{"heading1": 1, "heading2": 1, "rule0": 1}
	for p, l := range mustLayout(t, f).Panels {
		want["node"+strconv.Itoa(p+1)] = len(l.Nodes)
		want["edge"+strconv.Itoa(p+1)] = len(l.Edges)
		want["module"+strconv.Itoa(p+1)] = len(l.Modules)
		want["plate"+strconv.Itoa(p+1)] = len(l.Modules)
		for _, e := range l.Edges {
			if e.Label != (Rect{}) {
				want["label"+strconv.Itoa(p+1)]++
			}
		}
	}
	if !reflect.DeepEqual(count, want) {
		t.Errorf("items %v, want %v", count, want)
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back Sheet
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(&back, s) {
		t.Errorf("JSON does not carry a sheet: %v", err)
	}
	if !strings.Contains(s.Style, "."+darkClass+" .f-page{fill:"+palette[page].dark+"}") || !strings.Contains(s.Style, "prefers-color-scheme: dark") {
		t.Errorf("style %q", s.Style)
	}
	if d := sheet(t, f, WithTheme(Dark), WithoutLegend()); d.Style != "" || d.Legend != "" || d.Page != palette[page].dark {
		t.Errorf("dark sheet: style %q, legend %q, page %q", d.Style, d.Legend, d.Page)
	}
	if len(parse(t, []byte(s.Legend)).all("legend")) != 1 {
		t.Error("no legend")
	}
}

func TestModuleIDsDiffer(t *testing.T) {
	seen := map[string]string{}
	for _, path := range []string{"a", "a/b", "a-b", "a_b", "a_2db", "A", "a/B", "β", "a b", ""} {
		for _, back := range []bool{false, true} {
			id := ModuleID(path, back)
			if old, ok := seen[id]; ok || !safeID(id) {
				t.Errorf("%q has id %q, as %q", path, id, old)
			}
			seen[id] = path
		}
	}
}

// TestNodesAlone: sheets of figures that differ in their marks differ in their nodes and the legend
// alone, and the nodes are those of the sheet that has nothing else.
func TestNodesAlone(t *testing.T) {
	f := kmeans()
	f.Overlay = true
	l := mustLayout(t, f)
	marked := func(mark func(i int, n *Node)) (all, alone *Sheet) {
		g := *f
		g.Nodes = slices.Clone(f.Nodes)
		for i := range g.Nodes {
			mark(i, &g.Nodes[i])
		}
		return sheet(t, &g, Placed(l)), sheet(t, &g, Placed(l), NodesAlone())
	}
	still := func(s *Sheet) *Sheet {
		out := *s
		out.Items, out.Legend = slices.Clone(s.Items), ""
		for i, it := range s.Items {
			if it.Kind == "node" {
				out.Items[i].SVG, out.Items[i].Box = "", Rect{}
			}
		}
		return &out
	}
	plain, _ := marked(func(int, *Node) {})
	looks := map[string]bool{}
	for name, mark := range map[string]func(i int, n *Node){
		"none":  func(int, *Node) {},
		"heat":  func(i int, n *Node) { n.Heat, n.Badge, n.Title = 1+i%HeatSteps, strconv.Itoa(i), "largest" },
		"group": func(i int, n *Node) { n.Group = 1 + i%Groups },
		"alarm": func(i int, n *Node) { n.Alarm = Alarm(i % alarms) },
	} {
		all, alone := marked(mark)
		if !reflect.DeepEqual(still(all), still(plain)) {
			t.Errorf("%s: more than the nodes differs", name)
		}
		nodes := slices.DeleteFunc(slices.Clone(all.Items), func(it Item) bool { return it.Kind != "node" })
		if !reflect.DeepEqual(alone.Items, nodes) || alone.Legend != all.Legend {
			t.Errorf("%s: the nodes alone look otherwise", name)
		}
		text, _ := json.Marshal(nodes)
		looks[string(text)] = true
	}
	if len(looks) != 4 {
		t.Errorf("four ways to mark nodes have %d looks", len(looks))
	}
}
