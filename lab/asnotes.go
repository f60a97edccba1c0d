package lab

import (
	"fmt"
	"strconv"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/train"
)

// Own returns the optimiser that a model has of its own, and the schedule of its rate if that is
// not constant: with AsNotes that of the notes, and otherwise plain gradient descent for a model
// that shows what this does ([builders.Builder.Descent]), on examples of its own. A model that any
// optimiser trains has none: the result is the zero value. The options are those of
// [train.Named].
func (c Config) Own(m *builders.Model, options ...train.Option) (train.Optimiser, train.Schedule, error) {
	none := train.Optimiser{}
	if m == nil || m.Graph == nil {
		return none, train.Schedule{}, errNilModel
	}
	notes := m.Builder.AsNotes
	switch {
	case c.AsNotes && notes.Optimiser != "":
		steps := c.Steps
		setDefault(&steps, c.usualSteps(m))
		text := notes.Rate(m.Settings, steps)
		rate, err := train.ParseSchedule(text)
		if err != nil {
			return none, train.Schedule{}, fmt.Errorf("%s: %w", m.Builder.Name, err)
		}
		o, err := train.Named(notes.Optimiser, rate.At(0, steps), options...)
		if _, constant := strconv.ParseFloat(text, 64); constant == nil {
			rate = train.Schedule{}
		}
		return o, rate, err
	case m.Builder.Descent != nil && c.Table == nil && c.Examples == nil && m.Rows == nil:
		o, err := train.Named("sgd", m.Builder.Descent(m.Settings), options...)
		return o, train.Schedule{}, err
	}
	return none, train.Schedule{}, nil
}

// usualSteps returns the default number of steps of a model's training.
func (c Config) usualSteps(m *builders.Model) int {
	if c.size(m) > 0 {
		return ClusteringSteps
	}
	return OwnSteps
}

// For returns the configuration with which one model is trained: what is left to the model is filled
// in, which is its optimiser, if it has one of its own ([Config.Own]), and with AsNotes whether its
// examples are one data set.
func (c Config) For(m *builders.Model) (Config, error) {
	if len(c.Optimisers) == 0 || c.unnamed {
		o, rate, err := c.Own(m)
		if err != nil {
			return c, err
		}
		if !o.IsZero() {
			c.Optimisers, c.unnamed = []train.Optimiser{o}, false
			if c.Rate.IsZero() && !c.Falling {
				c.Rate = rate
			}
		}
	}
	c.OneBatch = c.OneBatch || c.oneDataSet(m)
	return c, nil
}

// oneDataSet reports whether the notes train a model on one data set, where it has examples.
func (c Config) oneDataSet(m *builders.Model) bool {
	return c.AsNotes && c.Table == nil && m.Rows == nil && m.Builder.AsNotes.OneBatch
}

// startOf returns how the centres of clusterings start: as Start says, or by default as the first of
// the notes has it, if AsNotes is set, or by k-means++.
func (c Config) startOf(clusterings []builders.Builder) (Start, error) {
	if c.Start != StartDefault {
		return c.Start, nil
	}
	for _, b := range clusterings {
		if b.AsNotes.Start != "" && c.AsNotes {
			return ParseStart(b.AsNotes.Start)
		}
	}
	return PlusPlus, nil
}

// steady reports whether γ stays as it is, because one of the clusterings has it so in the notes.
func (c Config) steady(clusterings []builders.Builder) bool {
	for _, b := range clusterings {
		if c.AsNotes && b.AsNotes.Steady {
			return true
		}
	}
	return false
}

// Taken lists what of a model, and of its training by the configuration, is as the lecture notes have
// it and not by default: settings, the optimiser, and how a clustering is trained. It is empty, and
// not nil, where nothing differs.
func (c Config) Taken(m *builders.Model) []string {
	out := []string{}
	if m == nil || m.Graph == nil {
		return out
	}
	notes := m.Builder.AsNotes
	for _, z := range m.Builder.Hyperparameters {
		if v, differs := notes.Settings[z.Name]; differs && m.Settings[z.Name] == v {
			out = append(out, z.Name+"="+z.Format(v))
		}
	}
	if len(c.Optimisers) == 1 && c.Optimisers[0].Name() == notes.Optimiser {
		out = append(out, c.Optimisers[0].Under(c.Rate))
	}
	if notes.OneBatch && c.OneBatch {
		out = append(out, "one data set")
	}
	r := m.Centres()
	if c.Table == nil || r == nil {
		return out
	}
	if notes.Batch > 0 && c.Batch == 0 {
		out = append(out, fmt.Sprintf("batch %d", notes.Batch))
	}
	if notes.Start != "" && (c.Start == StartDefault || c.Start.String() == notes.Start) {
		out = append(out, "start "+notes.Start)
	}
	if _, fixed := m.Builder.Fixed["gamma"]; notes.Steady && !fixed {
		steady := SteadyGamma(c.Table, r.Dim(0))
		if γ := c.gamma(); γ.IsZero() || γ.String() == train.Constant(steady).String() {
			out = append(out, fmt.Sprintf("γ fixed at %.3g", steady))
		}
	}
	return out
}
