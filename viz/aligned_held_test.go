package viz_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/viz"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// sideBySide returns the figure of the difference of two models with their derivatives.
func sideBySide(t *testing.T, a, b string, opts ...viz.Option) *figure.Figure {
	t.Helper()
	var roots [2][]*graph.Node
	for i, name := range []string{a, b} {
		m, err := builders.Build(name, nil, graph.F32)
		if err != nil {
			t.Fatal(err)
		}
		roots[i] = append([]*graph.Node{m.Loss}, grad.Of(m.Loss, m.Params()...)...)
	}
	d, err := viz.Diff(roots[0], roots[1], append(opts, viz.At(viz.Notes))...)
	if err != nil {
		t.Fatal(err)
	}
	return d.Figure()
}

// inPanel returns how many nodes a panel has, and how many parameters and derivatives by them stand
// inside of these.
func inPanel(f *figure.Figure, panel int) (nodes, inside int) {
	for _, n := range f.Nodes {
		if n.Panel == 0 || n.Panel == panel+1 {
			nodes++
			if n.Params != "" {
				inside += strings.Count(n.Params, " · ") + 1
			}
		}
	}
	return nodes, inside
}

// TestAlignedParametersInside: where a comparison has many boxes, parameters stand inside of what
// uses them, on both sides alike; nothing is lost, every edge has its ends, and the footer says what
// is counted.
func TestAlignedParametersInside(t *testing.T) {
	for _, c := range []struct {
		a, b string
		own  string // parameters that keep boxes of their own, with the sizes in both panels
	}{
		{"resnet-plain", "resnet", ""},
		{"transformer-encoder", "transformer-gpt", "w m=8 o=8/m=8 w=5; b o=8/w=5"},
	} {
		in, apart := sideBySide(t, c.a, c.b), sideBySide(t, c.a, c.b, viz.Parameters(viz.ParamsApart))
		known := map[string]bool{}
		var own []string
		for _, n := range in.Nodes {
			known[n.ID] = true
			if n.Role == figure.Param {
				own = append(own, fmt.Sprintf("%s %s/%s", n.Main, n.PanelSub[0], n.PanelSub[1]))
			}
		}
		if got := strings.Join(own, "; "); got != c.own {
			t.Errorf("%s and %s: %q have boxes of their own, want %q", c.a, c.b, got, c.own)
		}
		for panel := range 2 {
			nodes, inside := inPanel(in, panel)
			want, none := inPanel(apart, panel)
			if nodes+inside != want || inside < 8 || none != 0 {
				t.Errorf("%s and %s, panel %d: %d boxes with %d inside, and %d apart", c.a, c.b, panel, nodes, inside, want)
			}
		}
		for _, e := range in.Edges {
			if !known[e.From] || !known[e.To] || e.From == e.To {
				t.Errorf("an edge from %q to %q", e.From, e.To)
			}
		}
		for _, n := range in.Nodes {
			if n.Row != "" && !known[n.Row] {
				t.Errorf("%q is in the row of %q", n.ID, n.Row)
			}
		}
		if _, err := in.Layout(t.Context()); err != nil {
			t.Error(err)
		}
		if !strings.Contains(in.Footer[0], "A parameter inside a box counts as one.") || strings.Contains(apart.Footer[0], "inside") {
			t.Errorf("%q, and apart %q", in.Footer[0], apart.Footer[0])
		}
	}
}

// TestAlignedParametersApart: few boxes show parameters as boxes unless they are asked to be inside,
// and so do boxes with marks, which are of nodes.
func TestAlignedParametersApart(t *testing.T) {
	if _, inside := inPanel(sideBySide(t, "kmeans-softmax", "kmeans-goofy"), 0); inside != 0 {
		t.Errorf("%d parameters are inside of few boxes", inside)
	}
	if _, inside := inPanel(sideBySide(t, "regression-ols", "regression-ols", viz.Parameters(viz.ParamsInside)), 0); inside == 0 {
		t.Error("no parameter is inside, though it was asked for")
	}
	if _, inside := inPanel(sideBySide(t, "resnet-plain", "resnet", viz.Overlay(map[*graph.Node]viz.Mark{})), 0); inside != 0 {
		t.Errorf("%d parameters are inside of boxes with marks", inside)
	}
}
