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
