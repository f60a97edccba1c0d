package viz_test

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/viz"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// chained is h ← tanh(h·w + x) over 12 steps, with a loss, and a checkpoint every so many steps.
func chained(checkpoint int) (loss, w *graph.Node) {
	g := graph.New("chained")
	x := g.Input("x", graph.F32, graph.Ax("t", 12), graph.Ax("i", 3))
	w = g.Param("w", graph.F32, graph.Ax("i", 3))
	h := g.Input("h0", graph.F32, graph.Ax("i", 3))
	r := ops.Scan(ops.Loop{Carry: []*graph.Node{h}, Over: []*graph.Node{x}, Axis: "t", With: []*graph.Node{w}, Checkpoint: checkpoint},
		func(c, x, w []*graph.Node) (next, out []*graph.Node) {
			a := ops.Add(ops.Mul(c[0], w[0]), x[0]).As("a")
			return []*graph.Node{ops.Tanh(a).As("h")}, nil
		})
	return ops.Sum(ops.Square(r.Final[0])).As("loss"), w
}

// nested is a loop in the step of another.
func nested() (loss, w *graph.Node) {
	g := graph.New("nested")
	w = g.Param("w", graph.F32, graph.Ax("i", 3))
	h := g.Input("h0", graph.F32, graph.Ax("i", 3))
	r := ops.Scan(ops.Loop{Carry: []*graph.Node{h}, With: []*graph.Node{w}, Steps: 4}, func(c, _, w []*graph.Node) (next, out []*graph.Node) {
		inner := ops.Scan(ops.Loop{Carry: c, With: w, Steps: 5}, func(c, _, w []*graph.Node) (next, out []*graph.Node) {
			return []*graph.Node{ops.Mul(ops.Tanh(c[0]), w[0]).As("z")}, nil
		})
		return []*graph.Node{ops.Sin(inner.Final[0]).As("h")}, nil
	})
	return ops.Sum(ops.Square(r.Final[0])).As("loss"), w
}

func titles(f *figure.Figure) string {
	var out []string
	for _, m := range f.Modules {
		out = append(out, m.Title)
	}
	return strings.Join(out, "; ")
}

// TestLoopsOfAllKinds: loops with checkpoints and loops in loops are drawn at every level, with
// their derivatives, and no box names the operation.
func TestLoopsOfAllKinds(t *testing.T) {
	for name, build := range map[string]func() (loss, w *graph.Node){
		"plain":      func() (loss, w *graph.Node) { return chained(0) },
		"checkpoint": func() (loss, w *graph.Node) { return chained(4) },
		"nested":     nested,
	} {
		loss, w := build()
		roots := append([]*graph.Node{loss}, grad.Of(loss, w)...)
		for _, l := range []viz.Level{viz.Notes, viz.Ops} {
			f, err := viz.Draw(roots, viz.At(l))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if _, err := f.Layout(t.Context()); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			carry := 0
			for _, e := range f.Edges {
				if e.Kind == figure.Carry {
					carry++
				}
			}
			if got := titles(f); !strings.Contains(got, "loop over t, ") || !strings.Contains(got, "∂ loop over") || carry < 2 {
				t.Errorf("%s at level %v: modules %s, %d edges to the next step", name, l, got, carry)
			}
			for _, n := range f.Nodes {
				if strings.Contains(n.Main+n.Sub, "loop×") || strings.Contains(n.Main+n.Sub, "scan") {
					t.Errorf("%s at level %v: a box says %q, %q", name, l, n.Main, n.Sub)
				}
			}
		}
	}
}

// TestCell: the module of a loop has the quantities of its cell, the carries as they enter and
// leave the step, and in the column of gradients the derivatives in the rows of their values.
func TestCell(t *testing.T) {
	m, err := builders.Build("rnn-lstm", nil, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	roots := append([]*graph.Node{m.Loss}, grad.Of(m.Loss, m.Params()...)...)
	f, err := viz.Draw(roots, viz.At(viz.Notes))
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]figure.Node{}
	in := map[string]figure.Node{}
	for _, n := range f.Nodes {
		n.Main = figure.Linear(n.Main)
		byID[n.ID] = n
		if n.Module == "recurrent/loop" {
			in[n.Main] = n
		}
	}
	for main, row := range map[string]string{
		"h_{t−1}": "", "c_{t−1}": "", "zₜ = Wxₜ + Σₕ h_{t−1}·w": "", "iₜ = σ(zₜ)": "", "fₜ = σ(z_{t,b,h+8})": "", "oₜ = σ(z_{t,b,h+24})": "",
		"c̃ₜ = tanh(z_{t,b,h+16})": "", "cₜ = fₜ·c_{t−1} + iₜ·c̃ₜ": "", "hₜ = oₜ·tanh(cₜ)": "",
		"∂loss/∂hₜ": "hₜ = oₜ·tanh(cₜ)", "∂loss/∂h_{t−1}": "h_{t−1}", "∂loss/∂c": "cₜ = fₜ·c_{t−1} + iₜ·c̃ₜ", "∂loss/∂i": "iₜ = σ(zₜ)", "λcₜ": "cₜ = fₜ·c_{t−1} + iₜ·c̃ₜ", "λc_{t−1}": "c_{t−1}",
	} {
		if n, ok := in[main]; !ok || byID[n.Row].Main != row || n.Backward != (row != "") {
			t.Errorf("the loop has no box %q in the row of %q: %+v", main, row, n)
		}
	}
	var carried []string
	for _, e := range f.Edges {
		if e.Kind == figure.Carry {
			carried = append(carried, byID[e.From].Main+" to "+byID[e.To].Main)
		}
	}
	if want := "hₜ = oₜ·tanh(cₜ) to h_{t−1}; cₜ = fₜ·c_{t−1} + iₜ·c̃ₜ to c_{t−1}; ∂loss/∂h_{t−1} to ∂loss/∂hₜ; λc_{t−1} to λcₜ"; strings.Join(carried, "; ") != want {
		t.Errorf("carried:\n%s, want\n%s", strings.Join(carried, "; "), want)
	}
}

// TestClosedLoop: a loop of many boxes is one box that names what it carries, and is opened by its
// path.
func TestClosedLoop(t *testing.T) {
	g := graph.New("long")
	h := g.Input("h0", graph.F32, graph.Ax("i", 3))
	r := ops.Scan(ops.Loop{Carry: []*graph.Node{h}, Steps: 7}, func(c, _, _ []*graph.Node) (next, out []*graph.Node) {
		y := c[0]
		for k := range 30 {
			y = ops.Tanh(y).As("y" + string(rune('a'+k)))
		}
		return []*graph.Node{ops.Sin(y).As("h")}, nil
	})
	loss := ops.Sum(r.Final[0]).As("loss")
	for _, c := range []struct {
		opts  []viz.Option
		boxes int
	}{{nil, 3}, {[]viz.Option{viz.Expand("loop")}, 34}, {[]viz.Option{viz.CollapseAbove(-1)}, 34}} {
		f, err := viz.Draw([]*graph.Node{loss}, append(c.opts, viz.At(viz.Notes))...)
		if err != nil {
			t.Fatal(err)
		}
		closed := 0
		for _, n := range f.Nodes {
			if n.Main == "loop ×7: h" && n.Closed == "loop" {
				closed++
			}
		}
		if len(f.Nodes) != c.boxes || closed == 1 != (c.opts == nil) {
			t.Errorf("%d boxes, want %d; %d closed loops", len(f.Nodes), c.boxes, closed)
		}
	}
	loops, err := viz.Loops([]*graph.Node{loss})
	if err != nil || len(loops) != 1 || len(loops["loop"]) != 1 || loops["loop"][0].Body() == nil {
		t.Errorf("loops %v: %v", loops, err)
	}
}

// TestLoopInComparison: a comparison, which does not open loops, says in which box one is.
func TestLoopInComparison(t *testing.T) {
	var roots [2][]*graph.Node
	for i, name := range []string{"rnn-lstm", "rnn-gru"} {
		m, err := builders.Build(name, nil, graph.F32)
		if err != nil {
			t.Fatal(err)
		}
		roots[i] = []*graph.Node{m.Loss}
	}
	for level, want := range map[viz.Level][2]string{
		viz.Notes: {"loop ×5: h, c  b=8 h=8", "loop ×5: h  b=8 h=8"},
		viz.Ops:   {"loop ×5: h, c", "loop ×5: h"},
	} {
		d, err := viz.Diff(roots[0], roots[1], viz.At(level))
		if err != nil {
			t.Fatal(err)
		}
		var got [2][]string
		for _, n := range d.Figure().Nodes {
			for _, text := range []string{n.Main, n.Sub} {
				if n.Panel > 0 && strings.HasPrefix(text, "loop") {
					got[n.Panel-1] = append(got[n.Panel-1], text)
				}
			}
		}
		if len(got[0]) != 1 || len(got[1]) != 1 || got[0][0] != want[0] || got[1][0] != want[1] {
			t.Errorf("level %v: the boxes of loops say %q, want %q", level, got, want)
		}
	}
}
