package builders

import (
	"fmt"
	"maps"
	"slices"
)

// AsNotes is how the lecture notes have a model where its defaults differ from them. In the zero
// value nothing differs.
type AsNotes struct {
	Says     string   // what differs, as a phrase
	Settings Settings // of the model; see [Builder.ByNotes]

	// How the model is trained.

	Optimiser string // as train.Named reads it; "" for the default
	// Rate returns the learning rate of the optimiser, as train.ParseSchedule reads it, for the
	// settings and the number of steps. It is set if Optimiser is.
	Rate     func(s Settings, steps int) string
	OneBatch bool // the examples are one data set, the same in every step

	// How a clustering is trained.

	Batch  int    // rows of a step; 0 for the default
	Start  string // how its centres start, as lab.ParseStart reads it; "" for the default
	Steady bool   // the inverse temperature γ stays as it is
}

// Differs reports whether the notes have anything else than the defaults.
func (n AsNotes) Differs() bool { return n.Says != "" }

// ByNotes returns the builder with the settings of the notes as defaults, except for those that
// [Builder.With] has set. How the notes train the model is for those who train it: lab.Config has a
// field for that.
func (b Builder) ByNotes() Builder {
	if len(b.AsNotes.Settings) == 0 {
		return b
	}
	b.Hyperparameters = slices.Clone(b.Hyperparameters)
	for i := range b.Hyperparameters {
		z := &b.Hyperparameters[i]
		v, differs := b.AsNotes.Settings[z.Name]
		if _, fixed := b.Fixed[z.Name]; differs && !fixed {
			z.Default = v
		}
	}
	return b
}

// constant returns the same rate for all settings and numbers of steps.
func constant(rate string) func(Settings, int) string {
	return func(Settings, int) string { return rate }
}

// ofSettings returns a rate that depends on the settings alone.
func ofSettings(rate func(s Settings) float64) func(Settings, int) string {
	return func(s Settings, _ int) string { return fmt.Sprint(rate(s)) }
}

// withNotes adds what the notes have to the builders of the registry.
func withNotes(all []Builder) []Builder {
	out := slices.Clone(all)
	for i := range out {
		n := notes[out[i].Name]
		n.Settings = maps.Clone(n.Settings)
		out[i].AsNotes = n
	}
	return out
}
