package fit

import (
	"maps"
	"slices"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
)

// Build makes the model for so many rows, for training or for evaluation: see train.Build. In
// evaluation settings that are for training alone, such as the strength of noise, have their value
// for evaluation.
func (f *Fitted) Build(rows int, mode train.Mode) *train.Net {
	if f == nil || len(f.values) == 0 {
		return nil
	}
	return net(f.b, f.settings, f.dt, f.rows, rows, mode)
}

// Nets makes nets of a model that is trained on examples of its own, for any number of rows where
// it has a setting for them, as a train.Trainer wants them.
//
// A model whose output depends on more than its rows in evaluation, too, by chance or by what a
// step keeps, predicts nothing: what masked reconstruction learns of a row it hides at random, and
// principal component regression takes the mean of the batch at hand from each row.
func Nets(m *builders.Model) train.Build {
	setting := RowSetting(m)
	return func(rows int, mode train.Mode) *train.Net {
		if m == nil || m.Loss == nil {
			return nil
		}
		return net(m.Builder, m.Settings, m.Loss.DType(), setting, rows, mode)
	}
}

func net(b builders.Builder, s builders.Settings, dt graph.DType, setting string, rows int, mode train.Mode) *train.Net {
	settings, quiet := maps.Clone(s), false
	if mode == train.Evaluating {
		settings, quiet = b.Evaluated(settings)
	}
	if setting != "" {
		settings[setting] = float64(rows)
	}
	made, err := b.Build(settings, dt)
	if err != nil && made == nil {
		g := graph.New(b.Title)
		return &train.Net{Loss: g.Fail(b.Name, err)}
	}
	n := &train.Net{Loss: made.Loss, Step: made.Step, Params: lab.Trained(made)}
	chance := func(n *graph.Node) bool { return match.Is(n, match.Random) }
	if made.Output != nil && len(made.Step) == 0 && (quiet || !slices.ContainsFunc(graph.Reachable(made.Output), chance)) {
		n.Output = made.Output
	}
	return n
}

// RowSetting is the setting that says how many rows a model is for, called like the first axis of
// its output or, as the observations of a regression, n; "" where there is none.
func RowSetting(m *builders.Model) string {
	if m == nil || m.Output == nil || m.Output.Rank() == 0 {
		return ""
	}
	for _, name := range []string{m.Output.Shape().Axis(0).Name, "n"} {
		if v, ok := m.Settings[name]; ok && v == float64(lab.RowsOf(m)) {
			return name
		}
	}
	return ""
}
