package viz

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// A model without names is drawn by its operations unless a level is asked for.
func TestLevelWithoutNames(t *testing.T) {
	g := graph.New("no names")
	x := g.Input("x", graph.F32, graph.Ax("i", 3))
	loss := ops.Mean(ops.Square(ops.Tanh(x)), "i").As("loss")
	roots := []*graph.Node{loss}
	for _, c := range []struct {
		opts  []Option
		boxes int
	}{{nil, 4}, {[]Option{At(Notes)}, 2}} {
		f, err := Draw(roots, c.opts...)
		if err != nil || len(f.Nodes) != c.boxes {
			t.Errorf("%d boxes, want %d: %v", len(f.Nodes), c.boxes, err)
		}
	}
	ops.Tanh(x).As("h")
	if f, err := Draw(roots); err != nil || len(f.Nodes) != 3 {
		t.Errorf("with a name, %d boxes, want 3: %v", len(f.Nodes), err)
	}
	if d, err := Diff(roots, soft(t).cone()); err != nil || d.a.options.level != d.b.options.level {
		t.Errorf("a comparison at two levels: %v", err)
	}
}

func (o *objective) cone() []*graph.Node { return []*graph.Node{o.loss, o.dr} }
