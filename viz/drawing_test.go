package viz

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

func draw(t testing.TB, roots []*graph.Node, opts ...Option) *figure.Figure {
	t.Helper()
	f, err := Draw(roots, opts...)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Validate(); err != nil {
		t.Fatal(err)
	}
	return inLine(f)
}

// inLine writes the subscripts of all texts on the line, for tests to read.
func inLine(f *figure.Figure) *figure.Figure {
	f.Subtitle = figure.Linear(f.Subtitle)
	for i := range f.Panels {
		f.Panels[i].Title = figure.Linear(f.Panels[i].Title)
	}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		for _, s := range []*string{&n.Main, &n.Sub, &n.PanelMain[0], &n.PanelMain[1], &n.PanelSub[0], &n.PanelSub[1]} {
			*s = figure.Linear(*s)
		}
	}
	return f
}

// opOf returns the operation that a box names in its second line.
func opOf(n figure.Node) string {
	op, _, _ := strings.Cut(n.Sub, "  ")
	return op
}

func (o *objective) roots() []*graph.Node { return []*graph.Node{o.loss, o.dr} }

func box1(t testing.TB, f *figure.Figure, main string) figure.Node {
	t.Helper()
	for _, n := range f.Nodes {
		if n.Main == main {
			return n
		}
	}
	var all []string
	for _, n := range f.Nodes {
		all = append(all, n.Main)
	}
	t.Fatalf("no box %q among %q", main, all)
	return figure.Node{}
}

// edgesOf lists the edges as "from → to label" by the boxes' first lines.
func edgesOf(f *figure.Figure, k figure.Kind) []string {
	main := map[string]string{}
	for _, n := range f.Nodes {
		main[n.ID] = n.Main
	}
	var out []string
	for _, e := range f.Edges {
		if e.Kind == k {
			out = append(out, strings.TrimSpace(main[e.From]+" → "+main[e.To]+" "+e.Label))
		}
	}
	slices.Sort(out)
	return out
}

// The first figure of the lecture: difference, squared norm, softmax with γ,
// objective; and the third, in which only the end differs.
func TestLectureFigures(t *testing.T) {
	s, g := soft(t), goofy(t)
	if got, want := edgesOf(draw(t, []*graph.Node{s.loss}), figure.Forward), []string{
		"D = ‖Δᵢⱼ‖² → loss = meanᵢ Σⱼ αᵢⱼ·Dᵢⱼ",
		"D = ‖Δᵢⱼ‖² → α = softmaxⱼ(−γ·Dᵢⱼ)",
		"r → Δ = xᵢ − rⱼ",
		"x → Δ = xᵢ − rⱼ",
		"Δ = xᵢ − rⱼ → D = ‖Δᵢⱼ‖²",
		"α = softmaxⱼ(−γ·Dᵢⱼ) → loss = meanᵢ Σⱼ αᵢⱼ·Dᵢⱼ",
		"γ = 0.7 → α = softmaxⱼ(−γ·Dᵢⱼ)",
	}; !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	if got, want := edgesOf(draw(t, []*graph.Node{g.loss}), figure.Forward), []string{
		"D = ‖Δᵢⱼ‖² → α = softmaxⱼ(−γ·Dᵢⱼ)",
		"r → r̂ = Σⱼ αᵢⱼ·rⱼ",
		"r → Δ = xᵢ − rⱼ",
		"r̂ = Σⱼ αᵢⱼ·rⱼ → loss = meanᵢ ‖r̂ᵢ − xᵢ‖²",
		"x → loss = meanᵢ ‖r̂ᵢ − xᵢ‖²",
		"x → Δ = xᵢ − rⱼ",
		"Δ = xᵢ − rⱼ → D = ‖Δᵢⱼ‖²",
		"α = softmaxⱼ(−γ·Dᵢⱼ) → r̂ = Σⱼ αᵢⱼ·rⱼ",
		"γ = 0.7 → α = softmaxⱼ(−γ·Dᵢⱼ)",
	}; !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

func TestLevels(t *testing.T) {
	o := goofy(t)
	count := func(l Level) int { return len(draw(t, o.roots(), At(l)).Nodes) }
	cone := graph.Reachable(o.roots()...)
	if got := count(Primitive); got != len(cone) {
		t.Errorf("primitive shows %d of %d nodes", got, len(cone))
	}
	if n, p := count(Notes), count(Ops); n != 14 || p <= n || p >= len(cone) {
		t.Errorf("notes show %d boxes, ops %d", n, p)
	}
	for _, n := range draw(t, o.roots(), At(Ops)).Nodes {
		if layout := opOf(n); (layout == "Reshape" || layout == "Broadcast" || layout == "Transpose") && !n.Backward {
			t.Errorf("ops show %s", n.Sub)
		}
	}
	res, err := rewrite.Run(o.g, o.roots(), rewrite.Passes()[:4]...) // the last passes leave no ∂loss/∂D
	if err != nil {
		t.Fatal(err)
	}
	f := draw(t, []*graph.Node{res.Node(o.loss), res.Node(o.dr)}, At(Compiled))
	d := box1(t, f, "D = ‖xᵢ − rⱼ‖²")
	if !strings.HasPrefix(d.Sub, "specialise: ") || !strings.Contains(d.Title, "rewritten by specialise: ") {
		t.Errorf("%q, %q: want the rule", d.Sub, d.Title)
	}
	if n := box1(t, f, "∂loss/∂D"); !n.Backward || n.Row != d.ID {
		t.Errorf("∂loss/∂D of the rewritten graph: %+v", n)
	}
}

func TestSavedEdges(t *testing.T) {
	o := soft(t)
	if got := edgesOf(draw(t, o.roots()), figure.Saved); len(got) != 4 || !slices.Contains(got, "α = softmaxⱼ(−γ·Dᵢⱼ) → ∂loss/∂D") {
		t.Errorf("got %q", got)
	}
	if got := edgesOf(draw(t, o.roots(), WithoutSaved()), figure.Saved); len(got) != 0 {
		t.Errorf("got %q", got)
	}
	if got, want := edgesOf(draw(t, o.roots()), figure.Grad), []string{
		"∂loss/∂D → ∂loss/∂Δ", "∂loss/∂loss = 1 → ∂loss/∂D", "∂loss/∂loss = 1 → ∂loss/∂α", "∂loss/∂Δ → ∂loss/∂r", "∂loss/∂α → ∂loss/∂D",
	}; !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

// The number 1 starts the derivative and also stands in 1 − tanh²: only the
// former is drawn as an edge from ∂loss/∂loss.
func TestNumbersAreNotTheSeed(t *testing.T) {
	g := graph.New("seed")
	x := g.Param("x", graph.F64, graph.Ax("i", 3))
	loss := ops.Sum(ops.Tanh(x), "i").As("loss")
	f := draw(t, []*graph.Node{loss, grad.Of(loss, x)[0]}, At(Ops))
	for _, e := range edgesOf(f, figure.Grad) {
		if strings.HasPrefix(e, "∂loss/∂loss = 1 → 1 − ") {
			t.Errorf("got %s", e)
		}
	}
}

// TestSeedNeedsItsLoss: where derivatives do not depend on the value of the loss, which so is not drawn,
// neither is its own derivative, 1, which would stand alone.
func TestSeedNeedsItsLoss(t *testing.T) {
	g := graph.New("seed")
	x, w := g.Param("x", graph.F64, graph.Ax("i", 3)), g.Input("w", graph.F64)
	loss := ops.Mul(w, ops.Sum(ops.Tanh(x).As("y"), "i")).As("loss")
	dx := grad.Of(loss, x)[0]
	for _, l := range []Level{Notes, Ops} {
		for _, roots := range [][]*graph.Node{{dx}, {loss, dx}} {
			f := draw(t, roots, At(l))
			edges := map[string]bool{}
			for _, e := range f.Edges {
				edges[e.From], edges[e.To] = true, true
			}
			for _, b := range f.Nodes {
				if !edges[b.ID] {
					t.Errorf("at level %v, from %v: %q stands alone", l, roots, b.Main)
				}
			}
		}
	}
}

func TestUpdate(t *testing.T) {
	o := soft(t)
	η := o.g.Scalar("η", 0.1)
	o.g.Assign(o.r, ops.Sub(o.r, ops.Mul(η, o.dr)))
	f := draw(t, Roots(o.g))
	u := box1(t, f, "r ← rⱼ − η·∂rⱼ")
	if u.Role != figure.Update || !u.Backward {
		t.Errorf("got %+v", u)
	}
	if got := edgesOf(f, figure.Assign); !slices.Equal(got, []string{"r ← rⱼ − η·∂rⱼ → r"}) {
		t.Errorf("got %q", got)
	}
	if n := len(Roots(o.g)); n != 2 {
		t.Errorf("%d roots, want the loss and the update", n)
	}
}

func TestDrawErrors(t *testing.T) {
	g := graph.New("wrong")
	x := g.Input("x", graph.F32, graph.Dims(2)...)
	bad := ops.Add(x, g.Input("y", graph.F32, graph.Dims(3)...))
	other := graph.New("other").Input("x", graph.F32)
	for _, c := range []struct {
		roots []*graph.Node
		opts  []Option
		want  string
	}{
		{nil, nil, "viz: nothing to draw: no node is given"},
		{[]*graph.Node{x, nil}, nil, "viz: node 1 to draw is nil"},
		{[]*graph.Node{bad}, nil, "viz: node 0 to draw is invalid: viz/drawing_test.go:"},
		{[]*graph.Node{x, other}, nil, `viz: node 1 to draw belongs to graph "other", not to "wrong": compare graphs with viz.Diff`},
		{[]*graph.Node{x}, []Option{At(9)}, "viz: unknown level 9"},
		{[]*graph.Node{x}, []Option{Expand("enc")}, `viz: no scope "enc" to expand: there are []`},
	} {
		_, err := Draw(c.roots, c.opts...)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
		for _, f := range []func(io.Writer, []*graph.Node, ...Option) error{SVG, DOT} {
			if err := f(io.Discard, c.roots, c.opts...); err == nil {
				t.Errorf("no error, want %s", c.want)
			}
		}
	}
	_, err := Draw([]*graph.Node{bad})
	var mistakes graph.Errors
	if !errors.As(err, &mistakes) {
		t.Errorf("%v does not wrap the graph's errors", err)
	}
}

// Names may hold anything, scopes be empty.
func TestOddNames(t *testing.T) {
	g := graph.New("<graph>\x00\xff")
	end := g.Scope("")
	end2 := g.Scope("a\"]&<b>\n")
	x := g.Input("]]>\x00", graph.F32, graph.Dims(2)...)
	y := ops.Tanh(x).As("\" $ \\ \xff \u202e")
	end2()
	end()
	for _, l := range []Level{Notes, Primitive} {
		var svg, dot bytes.Buffer
		if err := SVG(&svg, []*graph.Node{y}, At(l)); err != nil {
			t.Error(err)
		}
		if err := DOT(&dot, []*graph.Node{y}, At(l)); err != nil {
			t.Error(err)
		}
		if err := xml.Unmarshal(svg.Bytes(), new(struct{})); err != nil {
			t.Error(err)
		}
	}
}

// Every shown node is drawn once with a title, every edge once (acceptance 2),
// and gradients stand in the row of their values (acceptance 3).
func TestEveryNodeOnce(t *testing.T) {
	for _, o := range []*objective{soft(t), goofy(t)} {
		for l := range Level(levels) {
			f := draw(t, o.roots(), At(l))
			var svg bytes.Buffer
			if err := SVG(&svg, o.roots(), At(l)); err != nil {
				t.Fatal(err)
			}
			nodes, edges := classes(t, svg.Bytes())
			if nodes != len(f.Nodes) || edges != len(f.Edges) {
				t.Errorf("%v: %d nodes and %d edges drawn, want %d and %d", l, nodes, edges, len(f.Nodes), len(f.Edges))
			}
			layout, err := f.Layout(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			y := map[string]float64{}
			for _, b := range layout.Panels[0].Nodes {
				y[f.Nodes[b.Node].ID] = b.Centre().Y
			}
			for _, n := range f.Nodes {
				if n.Title == "" || n.Role == figure.Gradient && n.Row == "" {
					t.Errorf("%v: %q has title %q and row %q", l, n.Main, n.Title, n.Row)
				}
				if n.Row != "" && math.Abs(y[n.ID]-y[n.Row]) > 0.5 {
					t.Errorf("%v: %q is not in its value's row", l, n.Main)
				}
			}
		}
	}
}

// classes counts the groups of class node and edge.
func classes(t *testing.T, svg []byte) (nodes, edges int) {
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		tok, err := d.Token()
		if err == io.EOF {
			return nodes, edges
		}
		if err != nil {
			t.Fatal(err)
		}
		e, ok := tok.(xml.StartElement)
		if !ok || e.Name.Local != "g" {
			continue
		}
		for _, a := range e.Attr {
			if fields := strings.Fields(a.Value); a.Name.Local == "class" && len(fields) > 0 {
				switch fields[0] {
				case "node":
					nodes++
				case "edge":
					edges++
				}
			}
		}
	}
}

// Scopes are clusters, and nothing of a scope is outside of its cluster
// (acceptance 15).
func TestScopesAreModules(t *testing.T) {
	o := goofy(t)
	f := draw(t, o.roots(), At(Ops))
	want := map[bool][]string{}
	for _, n := range f.Nodes {
		if n.Module != "assign" && n.Module != "objective" {
			t.Errorf("%q is in module %q", n.Main, n.Module)
		}
		if !slices.Contains(want[n.Backward], n.Module) {
			want[n.Backward] = append(want[n.Backward], n.Module)
		}
	}
	for _, m := range f.Modules {
		if !slices.Contains(want[m.Backward], m.Path) || m.Backward != strings.HasPrefix(m.Title, "∂ ") {
			t.Errorf("module %+v", m)
		}
	}
	var dot bytes.Buffer
	if err := DOT(&dot, o.roots(), At(Ops)); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(dot.String(), "subgraph cluster_"); got != 4+2 || len(f.Modules) != 4 { // two are the columns
		t.Errorf("%d clusters and %d modules, want 6 and 4", got, len(f.Modules))
	}
}

func TestDrawingGolden(t *testing.T) {
	for name, o := range map[string]*objective{"soft": soft(t), "goofy": goofy(t)} {
		var svg, dot bytes.Buffer
		if err := SVG(&svg, o.roots()); err != nil {
			t.Fatal(err)
		}
		if err := DOT(&dot, o.roots(), At(Ops)); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".svg", svg.String())
		golden(t, name+".dot", dot.String())
	}
}

// The same graph gives the same bytes, built again and drawn by eight goroutines
// (acceptance 9).
func TestDeterminism(t *testing.T) {
	all := func(a, b *objective) string {
		var s strings.Builder
		for l := range Level(levels) {
			if err := errors.Join(SVG(&s, a.roots(), At(l)), DOT(&s, a.roots(), At(l))); err != nil {
				t.Error(err)
			}
		}
		d, err := Diff(a.roots(), b.roots(), At(Ops))
		if err != nil {
			t.Error(err)
			return ""
		}
		tree, err := Tree(a.dr)
		if err := errors.Join(err, d.SVG(&s), d.DOT(&s)); err != nil {
			t.Error(err)
		}
		fmt.Fprintln(&s, tree, d.Text(), Formula(a.dr), LaTeX(a.dr), lines(Equations(a.dr)))
		return s.String()
	}
	a, b := soft(t), goofy(t)
	want := all(a, b)
	if got := all(soft(t), goofy(t)); got != want {
		t.Error("a graph built again is drawn differently")
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := all(a, b); got != want {
				t.Error("a goroutine drew differently")
			}
		})
	}
	wg.Wait()
}
