package viz_test

import (
	"io"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/viz"
)

// A drawing without lines says of its nodes all but where they were written.
func TestWithoutLines(t *testing.T) {
	draw := func(opts ...viz.Option) string {
		g := graph.New("lines")
		y := ops.Tanh(g.Input("x", graph.F32, graph.Ax("i", 3))).As("y")
		var b strings.Builder
		if err := viz.SVG(&b, []*graph.Node{y}, opts...); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	with, without := draw(), draw(viz.WithoutLines())
	if !strings.Contains(with, "option_test.go:") || strings.Contains(without, ".go:") || !strings.Contains(without, "Tanh, f32[i=3]") {
		t.Errorf("with lines\n%s\nwithout\n%s", with, without)
	}
}

// TestNoOption: an option that is nil is none.
func TestNoOption(t *testing.T) {
	g := graph.New("none")
	x := g.Input("x", graph.F64)
	if got, want := viz.Formula(x, nil), viz.Formula(x); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	f, err := viz.Draw([]*graph.Node{x}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.SVG(io.Discard, nil); err != nil {
		t.Error(err)
	}
}

// TestFedFrom checks that a scalar that changes in training is drawn with the first and the last
// number it is fed, in its box and its description, a constant one with that number, and others
// unchanged; on both sides of a comparison.
func TestFedFrom(t *testing.T) {
	build := func() (loss, a, b, c *graph.Node) {
		g := graph.New("fed")
		x := g.Input("x", graph.F32, graph.Ax("i", 3))
		a, b, c = g.Scalar("a", 1), g.Scalar("b", 1), g.Scalar("c", 1)
		return ops.Sum(ops.Mul(ops.Mul(ops.Mul(x, a), b), c)).As("loss"), a, b, c
	}
	loss, a, b, _ := build()
	other, d, e, _ := build()
	fed := viz.FedFrom(map[*graph.Node][2]float64{a: {0.3312, 66.24}, b: {2, 2}, d: {-0.5, 1e-9}, e: {3, 3}})
	check := func(text string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(text, ">"+w+"</text>") || !strings.Contains(text, w+"&#10;input") {
				t.Errorf("the drawing has no box with %q, or what is said of it differs", w)
			}
		}
	}
	var one, two strings.Builder
	if err := viz.SVG(&one, []*graph.Node{loss}, fed); err != nil {
		t.Fatal(err)
	}
	check(one.String(), "a = 0.331 → 66.2", "b = 2", "c = 1")
	diff, err := viz.Diff([]*graph.Node{loss}, []*graph.Node{other}, fed)
	if err != nil {
		t.Fatal(err)
	}
	if err := diff.Figure().SVG(&two); err != nil {
		t.Fatal(err)
	}
	check(two.String(), "a = 0.331 → 66.2", "a = −0.5 → 1e−09", "b = 2", "b = 3", "c = 1")
}
