package viz_test

import (
	"bytes"
	"math"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/viz"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// drawn returns the roots of a model as they are drawn by default: its result and its own updates.
func drawn(t testing.TB, name string, s builders.Settings) []*graph.Node {
	t.Helper()
	m, err := builders.Build(name, s, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	roots := []*graph.Node{m.Result()}
	for _, u := range m.Step {
		roots = append(roots, u.Value)
	}
	return roots
}

var (
	viewBox  = regexp.MustCompile(`viewBox="0 0 ([0-9.]+) ([0-9.]+)"`)
	fontSize = regexp.MustCompile(` font-size="([0-9.]+)"`)
)

// extent returns the size of an SVG and its smallest text.
func extent(t testing.TB, roots []*graph.Node, opts ...viz.Option) (width, height, text float64) {
	t.Helper()
	var b bytes.Buffer
	if err := viz.SVG(&b, roots, opts...); err != nil {
		t.Fatal(err)
	}
	number := func(s []byte) float64 {
		v, err := strconv.ParseFloat(string(s), 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	box := viewBox.FindSubmatch(b.Bytes())
	text = math.Inf(1)
	for _, m := range fontSize.FindAllSubmatch(b.Bytes(), -1) {
		text = min(text, number(m[1]))
	}
	return number(box[1]), number(box[2]), text
}

// TestDrawingsFitAPage: the drawing of every model has a bounded size and readable text.
func TestDrawingsFitAPage(t *testing.T) {
	for _, b := range builders.All() {
		wide, high := 2000.0, 2400.0
		switch b.Name {
		case "transformer-seq2seq":
			wide = 1600
		case "transformer-unet": // twice the blocks
			high = 3100
		}
		w, h, text := extent(t, drawn(t, b.Name, nil), viz.At(viz.Notes))
		if w > wide || h > high || text < 9 {
			t.Errorf("%s: %v × %v pixels with text of %v, want at most %v × %v with text of 9", b.Name, w, h, text, wide, high)
		}
	}
}

// TestTrunkIsVertical: the blocks of a residual net are one straight column, with parameters inside
// and apart.
func TestTrunkIsVertical(t *testing.T) {
	for _, p := range []viz.Params{viz.ParamsInside, viz.ParamsApart} {
		f, err := viz.Draw(drawn(t, "resnet", builders.Settings{"depth": 6}), viz.At(viz.Notes), viz.Parameters(p))
		if err != nil {
			t.Fatal(err)
		}
		l, err := f.Layout(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		left, right, n := math.Inf(1), math.Inf(-1), 0
		for _, b := range l.Panels[0].Nodes {
			if box := &f.Nodes[b.Node]; box.Role >= figure.Op && box.Role <= figure.Reduce {
				x := b.Centre().X
				left, right, n = min(left, x), max(right, x), n+1
			}
		}
		if n < 30 || right-left > 4 {
			t.Errorf("parameters %d: %d boxes of the trunk lie between %v and %v, want within 4 pixels", p, n, left, right)
		}
	}
}

// TestParametersInside: a parameter is written into the box of the one operation that uses it, and
// the derivative by it into that of the derivative that it comes of. Nothing is lost.
func TestParametersInside(t *testing.T) {
	m, err := builders.Build("resnet", nil, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	roots := append([]*graph.Node{m.Loss}, grad.Of(m.Loss, m.Params()...)...)
	in, err := viz.Draw(roots, viz.Parameters(viz.ParamsInside))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range in.Nodes {
		if n.Role == figure.Param {
			t.Errorf("%q has a box of its own", n.Main)
		}
	}
	apart, err := viz.Draw(roots, viz.Parameters(viz.ParamsApart))
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for _, n := range in.Nodes {
		if n.Params != "" {
			held += strings.Count(n.Params, " · ") + 1
		}
	}
	if len(in.Nodes)+held != len(apart.Nodes) || held < 4 {
		t.Errorf("%d boxes with %d parameters inside, %d with parameters apart", len(in.Nodes), held, len(apart.Nodes))
	}
	boxes, err := viz.Contents(roots, viz.Parameters(viz.ParamsInside))
	if err != nil {
		t.Fatal(err)
	}
	met := map[*graph.Node]bool{}
	for _, members := range boxes {
		for _, n := range members {
			if met[n] {
				t.Errorf("%v is in two boxes", n)
			}
			met[n] = true
		}
	}
	for _, n := range graph.Reachable(m.Loss) {
		if !met[n] {
			t.Errorf("%v is in no box", n)
		}
	}
}

// TestDenseDOT: Graphviz finds room in every box of a dense drawing, for the parameters too.
func TestDenseDOT(t *testing.T) {
	dot, err := exec.LookPath("dot")
	if err != nil {
		t.Skip("Graphviz is not installed")
	}
	m, err := builders.Build("rnn-lstm", nil, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	var text, complaint bytes.Buffer
	if err := viz.DOT(&text, append([]*graph.Node{m.Loss}, grad.Of(m.Loss, m.Params()...)...), viz.At(viz.Notes)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "w&#160;8&#215;32</FONT>>") {
		t.Error("no box has a parameter inside")
	}
	cmd := exec.Command(dot, "-Tplain")
	cmd.Stdin, cmd.Stderr = &text, &complaint
	if err := cmd.Run(); err != nil || complaint.Len() > 0 {
		t.Errorf("%v: %s", err, complaint.String())
	}
}

// TestLeavesKeepTheirSide: x is on the left of r in the drawings of both objectives, with gradients
// and without.
func TestLeavesKeepTheirSide(t *testing.T) {
	for _, name := range []string{"kmeans-softmax", "kmeans-goofy"} {
		m, err := builders.Build(name, nil, graph.F32)
		if err != nil {
			t.Fatal(err)
		}
		for _, roots := range [][]*graph.Node{{m.Loss}, append([]*graph.Node{m.Loss}, grad.Of(m.Loss, m.Params()...)...)} {
			f, err := viz.Draw(roots, viz.At(viz.Notes))
			if err != nil {
				t.Fatal(err)
			}
			l, err := f.Layout(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			at := map[string]float64{}
			for _, b := range l.Panels[0].Nodes {
				at[f.Nodes[b.Node].Main] = b.Centre().X
			}
			if at["x"] == 0 || at["x"] >= at["r"] {
				t.Errorf("%s, %d roots: x is at %v, r at %v", name, len(roots), at["x"], at["r"])
			}
		}
	}
}
