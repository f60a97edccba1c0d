package train_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// TestLossesThatAreNoMean: a loss that the mean of lanes does not give is refused before the first
// step, and trained where that is meant.
func TestLossesThatAreNoMean(t *testing.T) {
	loss := func(of func(g *graph.Graph, z *graph.Node, y *graph.Node) *graph.Node) train.Build {
		return func(rows int, mode train.Mode) *train.Net {
			g := graph.New("net")
			n, d := graph.Ax("n", rows), graph.Ax("d", 64)
			z := nn.NewLinear(g, "fc", graph.F32, d, graph.Ax("k", 10)).Of(g.Input("x", graph.F32, n, d))
			return &train.Net{Loss: of(g, z, g.Input("y", graph.I32, n)), Output: z}
		}
	}
	mean := func(_ *graph.Graph, z, y *graph.Node) *graph.Node { return nn.CrossEntropy(z, y) }
	penalised := func(g *graph.Graph, z, y *graph.Node) *graph.Node {
		return ops.Add(nn.CrossEntropy(z, y), ops.Sum(ops.Square(g.Lookup("fc/w"))))
	}
	sum := func(_ *graph.Graph, z, _ *graph.Node) *graph.Node { return ops.Sum(ops.Square(z)) }
	pairs := func(_ *graph.Graph, z, _ *graph.Node) *graph.Node {
		return ops.Mean(ops.LogSumExp(ops.MatMul(z, ops.Transpose(z)), 1))
	}
	noise := func(g *graph.Graph, z, y *graph.Node) *graph.Node {
		return nn.CrossEntropy(nn.Dropout(z, g.Scalar("drop", 0.2, graph.F32)), y)
	}
	for name, c := range map[string]struct {
		build   train.Build
		any     bool
		refused bool
	}{
		"mean": {build: loss(mean)}, "mean and a penalty": {build: loss(penalised)}, "noise in evaluation": {build: loss(noise)},
		"sum": {build: loss(sum), refused: true}, "pairs of rows": {build: loss(pairs), refused: true},
		"sum that is meant": {build: loss(sum), any: true},
	} {
		r := &train.Trainer{Build: c.build, Optimiser: train.SGD(1e-4), Seed: 1, Ranks: alone(t, 4), LaneLosses: c.any}
		err := r.Fit(context.Background(), train.Plan{Data: data.InOrder(points(t, graph.F32, 32), 16), Steps: 2})
		r.Close()
		switch {
		case errors.Is(err, context.Canceled):
			t.Fatal(err)
		case c.refused && (err == nil || !strings.Contains(err.Error(), "the loss is no mean over the rows of a batch: of 4 rows it is ")):
			t.Errorf("%s: %v: want it refused", name, err)
		case c.refused && r.Store().Step() != 0:
			t.Errorf("%s: refused after %d steps", name, r.Store().Step())
		case !c.refused && err != nil:
			t.Errorf("%s: %v", name, err)
		}
	}
}
