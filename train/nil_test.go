package train_test

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
	"testing"
)

// TestNil: nothing that the package exports panics on nil, zero values or closed receivers.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Accumulate": train.Accumulate, "Adagrad": train.Adagrad, "Adam": train.Adam, "LazyAdam": train.LazyAdam,
			"AdamW": train.AdamW, "Averaged": train.Averaged, "Betas": train.Betas,
			"ClipNorm": train.ClipNorm, "Custom": train.Custom, "DecoupledDecay": train.DecoupledDecay, "EpsilonInside": train.EpsilonInside,
			"History": train.History, "L1": train.L1, "LBFGS": train.LBFGS, "ClipValue": train.ClipValue, "Constant": train.Constant,
			"Cosine": train.Cosine, "EMA": train.EMA, "Epsilon": train.Epsilon,
			"Exponential": train.Exponential, "Geometric": train.Geometric, "Hold": train.Hold,
			"InverseTime": train.InverseTime, "Momentum": train.Momentum, "Named": train.Named,
			"Names": train.Names, "Nesterov": train.Nesterov, "NesterovPeek": train.NesterovPeek, "ParseSchedule": train.ParseSchedule,
			"RMSProp": train.RMSProp, "SGD": train.SGD, "SmoothedMomentum": train.SmoothedMomentum, "Smoothing": train.Smoothing,
			"StepDecay": train.StepDecay, "Warmup": train.Warmup, "WeightDecay": train.WeightDecay,
			"Within": train.Within,
		},
		Types: []any{
			train.Averages{}, train.Diverged{}, train.EarlyStop{}, train.EventKind(0), train.Lanes{}, train.LanesMemory{}, train.LanesProfile{}, train.Minimizing{}, train.Mode(0), train.ObserverFunc(nil), train.Optimiser{}, train.RankError{}, train.Run{}, train.Schedule{}, train.Trainer{}},
		Samples: func() []any {
			build := func(rows int, mode train.Mode) *train.Net {
				g := graph.New("sample")
				x := g.Input("x", graph.F32, graph.Ax("n", rows), graph.Ax("d", 4))
				y := ops.MatMul(x, g.Param("w", graph.F32, graph.Ax("d", 4), graph.Ax("h", 2)))
				return &train.Net{Output: y, Loss: ops.Mean(ops.Square(y))}
			}
			set, err := data.Iris().Set("x", "y", tensor.Float32)
			if err != nil {
				t.Fatal(err)
			}
			net := build(1, train.Training)
			trainer, closed := &train.Trainer{Build: build, Optimiser: train.SGD(.1)}, &train.Trainer{Build: build, Optimiser: train.SGD(.1)}
			closed.Close()
			return []any{trainer, closed, net, net.Loss, net.Loss.Graph(), tape.NewStore(net.Loss.Graph()), train.Adam(.1), train.Cosine(.1, 10), data.InOrder(set, 8), rewrite.Pass{}, "adam"}
		},
	})
}
