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

// Build returns the net for so many rows, for training or for evaluating, as a [train.Build]. For
// evaluating, settings that are for training alone, such as the strength of noise, have their value
// for evaluation.
func (f *Fitted) Build(rows int, mode train.Mode) *train.Net {
	if f == nil || len(f.values) == 0 {
		return nil
	}
	return net(f.b, f.settings, f.dt, f.rows, rows, mode)
}

// Nets returns the nets of a model that is trained on examples of its own, as a [train.Build]: for
// any number of rows if [RowSetting] finds a setting for them.
//
// If in evaluation the output depends on more than the input's rows, on random draws or on values
// that a step updates, the net has no output to predict. So masked reconstruction, which hides
// parts of a row at random, and principal component regression, which subtracts the mean of the
// batch at hand, predict nothing.
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
	if made.Output != nil && len(made.Step) == 0 && (quiet || !slices.ContainsFunc(graph.Reachable(made.Output), match.Draws)) {
		n.Output = made.Output
	}
	return n
}

// RowSetting returns the setting that counts a model's rows, named like the first axis of its
// output or n, as the observations of a regression; "" if there is none.
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
