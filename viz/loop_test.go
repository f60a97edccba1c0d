package viz_test

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/viz"
)

// decaying is h ← c·tanh h over some steps, written at one of two places.
func decaying(c float64, elsewhere bool) (g *graph.Graph, r ops.Scanned) {
	g = graph.New("decay")
	h := g.Input("h0", graph.F32, graph.Ax("i", 3))
	l := ops.Loop{Carry: []*graph.Node{h}, Steps: 50, Axis: "t"}
	step := func(x, _, _ []*graph.Node) (next, out []*graph.Node) {
		h := ops.Scale(ops.Tanh(x[0]), c).As("h")
		return []*graph.Node{h}, []*graph.Node{ops.Square(h).As("o")}
	}
	if elsewhere { // on another line, and with a body before its own
		ops.Scan(l, func(x, _, _ []*graph.Node) (next, out []*graph.Node) { return x, nil })
		return g, ops.Scan(l, step)
	}
	return g, ops.Scan(l, step)
}

// TestLoopFormula checks that a result of a loop has its name in the step, and that the box of a
// loop describes the step.
func TestLoopFormula(t *testing.T) {
	_, r := decaying(0.5, false)
	for want, n := range map[string]*graph.Node{
		"traceₜᵢ = hₜᵢ": r.Trace[0].As("trace"), "finalᵢ = h_{49,i}": r.Final[0].As("final"), "outₜᵢ = hₜᵢ²": r.Out[0].As("out"),
	} {
		if got := viz.Formula(n); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	var got []string
	for _, e := range viz.Equations(r.Final[0]) {
		got = append(got, e.String())
	}
	if want := "hₜᵢ = 0.5·tanh(h_{t−1,i}); h_{−1,i} = h0ᵢ; finalᵢ = h_{49,i}"; strings.Join(got, "; ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, "; "), want)
	}
	var b bytes.Buffer
	if err := viz.SVG(&b, []*graph.Node{r.Trace[0]}, viz.At(viz.Ops)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">loop over t, 50 steps<", ">ht = 0.5·tanh(ht−1)<"} {
		if !strings.Contains(regexp.MustCompile("</?tspan[^>]*>").ReplaceAllString(b.String(), ""), want) {
			t.Errorf("the drawing lacks %s", want)
		}
	}
}

// TestLoopsMatch checks that a comparison matches loops by what their steps compute, whatever the
// handles and places of their bodies.
func TestLoopsMatch(t *testing.T) {
	_, a := decaying(0.5, false)
	_, b := decaying(0.5, true)
	_, c := decaying(0.25, true)
	for _, p := range []struct {
		b    ops.Scanned
		same bool
	}{{b, true}, {c, false}} {
		d, err := viz.Diff([]*graph.Node{a.Trace[0]}, []*graph.Node{p.b.Trace[0]}, viz.At(viz.Primitive))
		if err != nil {
			t.Fatal(err)
		}
		if shared := slices.ContainsFunc(d.Shared, func(p viz.Pair) bool { return p.A.Body() != nil }); shared != p.same {
			t.Errorf("the loops match: %v, want %v:\n%s", shared, p.same, d.Text())
		}
	}
}
