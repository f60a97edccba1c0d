package train_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/infer"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// TestCheckpointsPredict: a predictor of a checkpoint predicts the same as the trainer that wrote
// it. A model that is another one for a single row, or cannot be built for it, is kept for the
// batch alone; one whose output has no axis of rows is not kept.
func TestCheckpointsPredict(t *testing.T) {
	linear := func(g *graph.Graph, rows int) *graph.Node {
		n, d := graph.Ax("n", rows), graph.Ax("d", 4)
		x, w := g.Input("x", graph.F32, n, d), g.Param("w", graph.F32, d).Init(initial.Normal(0, 1))
		return ops.Sum(ops.Mul(x, w), "d").As("y")
	}
	for name, c := range map[string]struct {
		net  func(g *graph.Graph, rows int, mode train.Mode) *graph.Node
		keys []string
	}{
		"rows": {func(g *graph.Graph, rows int, _ train.Mode) *graph.Node { return linear(g, rows) }, []string{"predict", "predict.1"}},
		"another while it is trained": {func(g *graph.Graph, rows int, mode train.Mode) *graph.Node {
			y := linear(g, rows)
			if mode == train.Training {
				return ops.Mul(y, ops.RandomUniform(g, "u", graph.F32))
			}
			return y
		}, []string{"predict", "predict.1"}},
		"not for one row": {func(g *graph.Graph, rows int, _ train.Mode) *graph.Node {
			if rows == 1 {
				return g.Fail("net", errors.New("want more rows"))
			}
			return linear(g, rows)
		}, []string{"predict"}},
		"another output for one row": {func(g *graph.Graph, rows int, _ train.Mode) *graph.Node {
			y := linear(g, rows)
			return ops.Mul(ops.Expand(y, -1, ""), g.Constant(graph.F32, make([]float64, rows), graph.Ax("m", rows)))
		}, []string{"predict"}},
		"a number": {func(g *graph.Graph, rows int, _ train.Mode) *graph.Node { return ops.Mean(linear(g, rows)) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			tr := &train.Trainer{Optimiser: train.SGD(0.01), Seed: 2, Build: func(rows int, mode train.Mode) *train.Net {
				g := graph.New("net")
				y := c.net(g, rows, mode)
				return &train.Net{Loss: ops.Mean(ops.Square(y)), Output: y}
			}}
			defer tr.Close()
			dir := t.TempDir()
			plan := train.Plan{Data: data.InOrder(iris(t), 75), Epochs: 1, Checkpoints: train.Checkpoints{Dir: dir, Meta: map[string]string{"notes": "mine"}}}
			if err := tr.Fit(t.Context(), plan); err != nil {
				t.Fatal(err)
			}
			s, _, err := checkpoint.Folder{Dir: dir}.Latest()
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Keys(); !slices.Equal(got, append([]string{"notes"}, c.keys...)) {
				t.Fatalf("the checkpoint has the texts %q, want %q", got, c.keys)
			}
			p, err := infer.LoadPredictor(t.Context(), s, 0)
			if c.keys == nil {
				if !errors.Is(err, infer.ErrNoModel) {
					t.Errorf("a checkpoint without nets: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			got, err := p.Predict(t.Context(), iris(t))
			if err != nil {
				t.Fatal(err)
			}
			at := 0
			err = tr.Predict(t.Context(), data.InOrder(iris(t), 75), func(b data.Batch, want *tensor.Dense) error {
				w := want.Float32s()
				if !slices.Equal(got.Float32s()[at:at+len(w)], w) {
					t.Errorf("batch at %d: the checkpoint predicts otherwise", at)
				}
				at += len(w)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestParams: the optimiser updates only the parameters that the net names.
func TestParams(t *testing.T) {
	tr := &train.Trainer{Optimiser: train.AdamW(0.1), Seed: 2, Build: func(rows int, _ train.Mode) *train.Net {
		g := graph.New("frozen")
		x := g.Input("x", graph.F32, graph.Ax("n", rows), graph.Ax("d", 4))
		encoder, head := g.Param("encoder", graph.F32, graph.Ax("d", 4)).Init(initial.Fill(1)), g.Param("head", graph.F32).Init(initial.Fill(1))
		y := ops.Mul(head, ops.Sum(ops.Mul(x, encoder), "d"))
		return &train.Net{Loss: ops.Mean(ops.Square(y)), Params: []*graph.Node{head}}
	}}
	defer tr.Close()
	if err := tr.Fit(t.Context(), train.Plan{Data: data.InOrder(iris(t), 50), Epochs: 1}); err != nil {
		t.Fatal(err)
	}
	if v, err := tr.Store().Get("encoder"); err != nil || !slices.Equal(v.Float32s(), []float32{1, 1, 1, 1}) {
		t.Errorf("the encoder is %v, %v", v, err)
	}
	if v, err := tr.Store().Get("head"); err != nil || v.Float32s()[0] == 1 {
		t.Errorf("the head is %v, %v", v, err)
	}
	for _, p := range tr.Store().Paths() {
		if p == "adamw/m/encoder" {
			t.Error("the encoder has moments")
		}
	}
}
