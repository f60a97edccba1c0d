package figure

import (
	"bytes"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
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
		if len(g.Nodes.Nodes) != len(f.Nodes) || len(g.Edges.Edges) != len(f.Edges) {
			t.Errorf("%s: %d nodes and %d edges, want %d and %d", name, len(g.Nodes.Nodes), len(g.Edges.Edges), len(f.Nodes), len(f.Edges))
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
			if strings.HasPrefix(parent, "cluster_") {
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
