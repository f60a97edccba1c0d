package train_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// TestLanesOfGlobalNorms: in lanes, norms of the statistics of all of them train a net as ordinary norms do
// without lanes, but for rounding, running statistics included; ordinary norms in lanes train another.
func TestLanesOfGlobalNorms(t *testing.T) {
	set := points(t, graph.F64, 160)
	normed := func(inputs, global bool) laned {
		build := func(rows int, mode train.Mode) *train.Net {
			g := graph.New("normed", graph.F64)
			n, c := graph.Ax("n", rows), graph.Ax("c", 6)
			input, norm := nn.NewInputNorm(g, "input", graph.F64, graph.Ax("d", 64)), nn.NewBatchNorm(g, "norm", graph.F64, c)
			input.Global, norm.Global = inputs, global
			x := g.Input("x", graph.F64, n, graph.Ax("d", 64))
			var steps, more graph.Step
			if mode == train.Training {
				x, steps = input.OfTrain(x)
			} else {
				x = input.Of(x)
			}
			x = ops.Split(x, 1, graph.Ax("h", 8), graph.Ax("w", 8), graph.Ax("i", 1))
			v := nn.NewConv2D(g, "conv", graph.F64, graph.Ax("i", 1), c, ops.Size(3), ops.Same()).Of(x)
			if mode == train.Training {
				v, more = norm.OfTrain(v)
			} else {
				v = norm.Of(v)
			}
			v = ops.Merge(ops.MaxPool2D(ops.Tanh(v), ops.Size(2)), "f", "h", "w", "c")
			z := nn.NewLinear(g, "fc", graph.F64, graph.Ax("f", 96), graph.Ax("k", 10)).Of(v)
			return &train.Net{Loss: nn.CrossEntropy(z, g.Input("y", graph.I32, n)), Output: z, Step: append(steps, more...)}
		}
		return laned{build, func(batch int) data.Source { return data.Shuffled(set, batch, 7) }}
	}
	const batch, steps = 13, 6
	sgd := train.SGD(0.05, train.ClipNorm(0.5))
	want := normed(false, false).fit(t, sgd, batch, steps, 1, nil)
	off := func(global bool, lanes, workers int) (worst float64) {
		worst, _ = apart(t, normed(true, global).fit(t, sgd, batch, steps, workers, alone(t, lanes)), want)
		return worst
	}
	for _, lanes := range []int{1, 4, 8} {
		if d := off(true, lanes, 1+lanes%3); !(d <= 1e-11) {
			t.Errorf("global norms in %d lanes are off by %v", lanes, d)
		}
	}
	if d := off(false, 4, 1); d < 1e-6 {
		t.Errorf("ordinary norms in 4 lanes are off by %v alone: the test says nothing", d)
	}
}

// TestLanesOfUnequalSums: of a single row the mean is the sum, so that lanes of one row have a sum over
// lanes less than those of two. That is an error before a step is taken, on ranks that have lanes of one
// kind alone too.
func TestLanesOfUnequalSums(t *testing.T) {
	set := points(t, graph.F64, 160)
	build := func(rows int, _ train.Mode) *train.Net {
		g := graph.New("unequal", graph.F64)
		x := g.Input("x", graph.F64, graph.Ax("n", rows), graph.Ax("d", 64))
		mean, sum := ops.SumRanks(ops.Mean(x, "n")), ops.SumRanks(ops.Sum(x, "n"))
		v := ops.Sub(x, ops.Add(ops.CopyRanks(mean), ops.CopyRanks(sum)))
		z := nn.NewLinear(g, "fc", graph.F64, graph.Ax("d", 64), graph.Ax("k", 10)).Of(v)
		return &train.Net{Loss: nn.CrossEntropy(z, g.Input("y", graph.I32, graph.Ax("n", rows))), Output: z}
	}
	step := func(batch int, ranks *parallel.Ranks) error {
		tr := &train.Trainer{Build: build, Optimiser: train.SGD(0.1), Ranks: ranks, LaneLosses: true}
		defer tr.Close()
		return takes(tr, data.Shuffled(set, batch, 7), 1)
	}
	if err := step(8, alone(t, 4)); err != nil {
		t.Errorf("lanes of two rows: %v", err)
	}
	want := "lanes of 2 and of 1 rows: the sums over lanes inside of the loss of unequal differ"
	if err := step(6, alone(t, 4)); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("lanes of two rows and of one: %v, want %s", err, want)
	}
	var wait sync.WaitGroup
	for i, transport := range parallel.Local(2) {
		wait.Go(func() {
			defer transport.Close()
			ranks, err := parallel.Join(context.Background(), transport, parallel.Config{Lanes: 4})
			if err != nil {
				t.Error(err)
			} else if err := step(6, ranks); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("rank %d: %v, want %s", i, err, want)
			}
		})
	}
	wait.Wait()
}

// TestLanesOfFunctions: a sum over lanes in a function ([ops.Call]), which is written out where it stands, is
// one as well; in an update it is refused.
func TestLanesOfFunctions(t *testing.T) {
	set := points(t, graph.F64, 160)
	model := func(update bool) laned {
		build := func(rows int, _ train.Mode) *train.Net {
			g := graph.New("functions", graph.F64)
			x := g.Input("x", graph.F64, graph.Ax("n", rows), graph.Ax("d", 64))
			centre := func(x []*graph.Node) []*graph.Node {
				return []*graph.Node{ops.Sub(x[0], ops.CopyRanks(ops.Scale(ops.SumRanks(ops.Sum(x[0], "n")), 1./13)))}
			}
			v := ops.Tanh(nn.NewLinear(g, "fc1", graph.F64, graph.Ax("d", 64), graph.Ax("h", 32)).Of(x))
			v = ops.Call("centre", centre, v)[0]
			z := nn.NewLinear(g, "fc2", graph.F64, graph.Ax("h", 32), graph.Ax("k", 10)).Of(v)
			net := &train.Net{Loss: nn.CrossEntropy(z, g.Input("y", graph.I32, graph.Ax("n", rows))), Output: z}
			if update {
				s := g.State("s", graph.F64)
				net.Step = graph.Step{g.Assign(s, ops.Call("sum", func(x []*graph.Node) []*graph.Node { return []*graph.Node{ops.SumRanks(x[0])} }, s)[0])}
			}
			return net
		}
		return laned{build, func(batch int) data.Source { return data.Shuffled(set, batch, 7) }}
	}
	m := model(false)
	nearStore(t, "4 lanes", m.fit(t, train.SGD(0.1), 13, 5, 1, alone(t, 4)), m.fit(t, train.SGD(0.1), 13, 5, 1, nil), 1e-12)
	tr := &train.Trainer{Build: model(true).build, Optimiser: train.SGD(0.1), Ranks: alone(t, 4)}
	defer tr.Close()
	if err := takes(tr, data.Shuffled(set, 12, 7), 1); err == nil || !strings.Contains(err.Error(), "sum outside of it") {
		t.Errorf("a sum in the function of an update gives %v", err)
	}
}

// TestLanesWithoutCopies: a loss that uses a sum over lanes beside a lane's own values, without a copy, would
// have wrong derivatives, and is refused.
func TestLanesWithoutCopies(t *testing.T) {
	set := points(t, graph.F64, 160)
	build := func(rows int, _ train.Mode) *train.Net {
		g := graph.New("uncopied", graph.F64)
		x := g.Input("x", graph.F64, graph.Ax("n", rows), graph.Ax("d", 64))
		v := ops.Sub(x, ops.SumRanks(ops.Sum(x, "n")))
		z := nn.NewLinear(g, "fc", graph.F64, graph.Ax("d", 64), graph.Ax("k", 10)).Of(v)
		return &train.Net{Loss: nn.CrossEntropy(z, g.Input("y", graph.I32, graph.Ax("n", rows))), Output: z}
	}
	tr := &train.Trainer{Build: build, Optimiser: train.SGD(0.1), Ranks: alone(t, 4)}
	defer tr.Close()
	err := takes(tr, data.Shuffled(set, 12, 7), 1)
	if err == nil || !strings.Contains(err.Error(), "lanes_norm_test.go:") || !strings.Contains(err.Error(), "want ops.CopyRanks of it") {
		t.Errorf("a sum that is not copied gives %v", err)
	}
}
