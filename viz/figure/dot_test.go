package figure

import (
	"bytes"
	"fmt"
	"html"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/awalterschulze/gographviz"
)

func dotText(t testing.TB, f *Figure, opts ...Option) string {
	t.Helper()
	var b bytes.Buffer
	if err := f.DOT(&b, opts...); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestDOTReadsBack(t *testing.T) {
	for name, f := range samples() {
		text := dotText(t, f)
		g, err := gographviz.Read([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if g.String() != text {
			t.Errorf("%s: read and written again it differs", name)
		}
		seen := 0
		for _, e := range g.Edges.Edges {
			if e.Attrs["style"] != "invis" { // one may keep the columns apart
				seen++
			}
		}
		if len(g.Nodes.Nodes) != len(f.Nodes) || seen != len(f.Edges) {
			t.Errorf("%s: %d nodes and %d edges, want %d and %d", name, len(g.Nodes.Nodes), seen, len(f.Nodes), len(f.Edges))
		}
	}
}

// Names are numbered: nothing that a user wrote is ever a name.
func TestDOTNames(t *testing.T) {
	f := training()
	g, err := gographviz.Read([]byte(dotText(t, f)))
	if err != nil {
		t.Fatal(err)
	}
	node := regexp.MustCompile(`^n\d\d$`)
	if g.Name != "G" {
		t.Errorf("graph %q", g.Name)
	}
	for i, n := range g.Nodes.Sorted() {
		if !node.MatchString(n.Name) {
			t.Errorf("node %q", n.Name)
		}
		if id := n.Attrs["id"]; id != `"n-`+f.Nodes[i].ID+`"` {
			t.Errorf("node %q has id %s", n.Name, id)
		}
		cluster := ""
		for parent := range g.Relations.ChildToParents[n.Name] {
			if strings.HasPrefix(parent, "cluster_") && parent > "cluster_01" { // the first two are the columns
				cluster = parent
			}
		}
		if (cluster == "") != (f.Nodes[i].Module == "") {
			t.Errorf("node of module %q is in cluster %q", f.Nodes[i].Module, cluster)
		}
	}
	for name := range g.SubGraphs.SubGraphs {
		if !regexp.MustCompile(`^(cluster|row)_\d\d$`).MatchString(name) {
			t.Errorf("subgraph %q", name)
		}
	}
}

func TestDOTOfOnePanel(t *testing.T) {
	a, b := dotText(t, kmeans(), OnlyPanel(1)), dotText(t, kmeans(), OnlyPanel(2))
	if !strings.Contains(a, "objective.SoftKMeans") || strings.Contains(a, "objective.Goofy") || strings.Contains(a, "goofy: ") {
		t.Error("panel A shows B")
	}
	if !strings.Contains(b, "objective.Goofy") || strings.Contains(b, "objective.SoftKMeans") {
		t.Error("panel B shows A")
	}
}

func TestDOTQuoting(t *testing.T) {
	for _, s := range []string{`plain`, `a"b`, `back\slash`, `trail\`, `\N`, "two\nlines", "<b>", "]", "node", " ", "γ ‖x‖²", "😀", "&lt;", "a&b", "שלום"} {
		f := &Figure{Nodes: []Node{{ID: "a", Main: "x", Title: s}}}
		g, err := gographviz.Read([]byte(dotText(t, f)))
		if err != nil {
			t.Errorf("%q: %v", s, err)
			continue
		}
		if got := g.Nodes.Nodes[0].Attrs["tooltip"]; got != quote(s+" · input") {
			t.Errorf("%q became %s", s, got)
		}
	}
	for s, want := range map[string]string{`a"b\`: `"a\"b\\"`, "a\nb": `"a\nb"`, "&lt;": `"&amp;lt;"`, "a & b": `"a & b"`, "\x00": `"&#xFFFD;"`} {
		if got := quote(s); got != want {
			t.Errorf("quote(%q) = %s, want %s", s, got, want)
		}
	}
}

// Graphviz itself accepts the text, silently, and finds the same graph in it.
func TestDOTInGraphviz(t *testing.T) {
	dot, err := exec.LookPath("dot")
	if err != nil {
		t.Skip("no dot on PATH")
	}
	run := func(text string, args ...string) (out, complaints string) {
		cmd := exec.Command(dot, args...)
		cmd.Stdin = strings.NewReader(text)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil {
			t.Errorf("dot %v: %v", args, err)
		}
		return stdout.String(), stderr.String()
	}
	for name, f := range samples() {
		text := dotText(t, f)
		if _, complaints := run(text, "-Tcanon"); complaints != "" {
			t.Errorf("%s: dot says %q", name, complaints)
		}
		plain, _ := run(text, "-Tplain")
		var nodes int
		var edges []string
		for l := range strings.Lines(plain) {
			switch w := strings.Fields(l); w[0] {
			case "node":
				nodes++
			case "edge":
				if slices.Contains(w, "invis") {
					continue
				}
				edges = append(edges, fmt.Sprint(min(w[1], w[2]), max(w[1], w[2])))
			}
		}
		var want []string
		index := f.index()
		for _, e := range f.Edges {
			a, b := index[e.From], index[e.To]
			width := len(fmt.Sprint(len(f.Nodes)))
			want = append(want, fmt.Sprintf("n%0*dn%0*d", width, min(a, b), width, max(a, b)))
		}
		slices.Sort(edges)
		slices.Sort(want)
		if nodes != len(f.Nodes) || !slices.Equal(edges, want) {
			t.Errorf("%s: dot lists %d nodes and %v, want %d and %v", name, nodes, edges, len(f.Nodes), want)
		}
	}
}

// Graphviz draws what the SVG does: the gradients on the right, each in the row of its value, and
// curves around the boxes.
func TestDOTHasColumns(t *testing.T) {
	dot, err := exec.LookPath("dot")
	if err != nil {
		t.Skip("no dot on PATH")
	}
	for name, f := range map[string]*Figure{"training": training(), "kmeans": kmeans(), "network": network(60, 3)} {
		text := dotText(t, f)
		if !strings.Contains(text, "splines=true") {
			t.Errorf("%s: straight edges", name)
		}
		cmd := exec.Command(dot, "-Tplain")
		cmd.Stdin = strings.NewReader(text)
		plain, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		x, y := make([]string, len(f.Nodes)), make([]string, len(f.Nodes))
		for l := range strings.Lines(string(plain)) {
			if w := strings.Fields(l); w[0] == "node" {
				i, err := strconv.Atoi(w[1][1:])
				if err != nil {
					t.Fatal(err)
				}
				x[i], y[i] = w[2], w[3]
			}
		}
		number := func(s string) float64 {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		index, rows := f.index(), 0
		for i, n := range f.Nodes {
			for k, m := range f.Nodes {
				if n.Backward && !m.Backward && number(x[i]) <= number(x[k]) {
					t.Errorf("%s: gradient %s is left of %s", name, n.ID, m.ID)
				}
			}
			if n.Row != "" {
				if rows++; y[i] != y[index[n.Row]] {
					t.Errorf("%s: %s is not in the row of %s", name, n.ID, n.Row)
				}
			}
		}
		if rows == 0 {
			t.Errorf("%s: no row is shared", name)
		}
	}
}

// The labels have formulas with subscripts, the heading the subtitle and the legend.
func TestDOTLabels(t *testing.T) {
	f := &Figure{
		Title: "sums", Subtitle: "y = x" + Sub("i"), Signs: []string{"elements are f32"},
		Nodes: []Node{{ID: "x", Main: "x"}, {ID: "y", Main: "y = x" + Sub("ij") + " < e" + Sup("−x"), Sub: "i=3", Role: Reduce}}, Edges: []Edge{{From: "x", To: "y"}},
	}
	text := html.UnescapeString(dotText(t, f))
	for _, want := range []string{
		`y = x<SUB><FONT POINT-SIZE="8.3">ij` + "\u200A" + `</FONT></SUB>` + "\u2060 < e", `<SUP><FONT POINT-SIZE="8.3">−x`, "i=3",
		"y = x<SUB>", "input", roleTitles[Reduce], kindLegends[Forward], "elements are f32",
	} {
		if !strings.Contains(text, strings.ReplaceAll(want, " ", "\u00A0")) && !strings.Contains(strings.ReplaceAll(text, "\u00A0", " "), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(html.UnescapeString(dotText(t, f, WithoutLegend())), "elements\u00A0are") {
		t.Error("a legend that nobody wants")
	}
}

// checkDOT checks that text is DOT of two nodes whose tooltips begin with tip.
func checkDOT(t *testing.T, text, tip string) {
	t.Helper()
	g, err := gographviz.Read([]byte(text))
	if err != nil {
		t.Fatalf("not DOT: %v", err)
	}
	if len(g.Nodes.Nodes) != 2 {
		t.Fatalf("%d nodes", len(g.Nodes.Nodes))
	}
	for _, n := range g.Nodes.Nodes {
		if got, want := n.Attrs["tooltip"], strings.TrimSuffix(quote(tip), `"`); !strings.HasPrefix(got, want) {
			t.Errorf("tooltip %s, want it to begin with %s", got, want)
		}
	}
}
