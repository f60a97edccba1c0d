package builders

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/spelling"
)

// Builder is an entry of the registry: a model and its settings.
type Builder struct {
	Name            string // kmeans-softmax
	Title           string
	Notes           string // where in the lecture notes it stands
	Formula         string // one line, in the notes' symbols
	Hyperparameters []Hyperparameter
	Fixed           Settings // those that [Builder.With] has set
	// Descent returns the rate of plain gradient descent for the model's own examples, where what
	// the model shows is what that optimiser does; nil for the others, which any optimiser trains.
	Descent func(s Settings) float64
	AsNotes AsNotes // what the notes have where the defaults differ
	make    func(s Settings, dt graph.DType, m *Model)
}

// Batched reports whether the model is trained on batches of rows rather than on all of them: whether
// one of its settings is the size of a batch.
func (b Builder) Batched() bool {
	return slices.ContainsFunc(b.Hyperparameters, func(h Hyperparameter) bool { return h.Batch })
}

// Hyperparameter is a setting of a builder.
type Hyperparameter struct {
	Name    string
	Default float64
	Doc     string
	Kind    Kind
	Choices []string // of a Choice: the names of the numbers from 0 on

	Batch    bool    // the number of rows of a batch, where training takes batches rather than all rows
	Training bool    // for training only, as the strength of noise is
	Eval     float64 // its value in evaluation, if Training is set
}

// Kind is the set of values that a setting takes.
type Kind uint8

// The kinds of settings.
const (
	Real    Kind = iota // a finite number
	Count               // a whole number of at least 1
	Natural             // a whole number of at least 0
	Flag                // 0 or 1
	Choice              // one of the choices, by its place in the list
)

// refuses returns what to give in place of v, "" if v is fine.
func (z Hyperparameter) refuses(v float64) string {
	const most = min(1<<31, math.MaxInt)
	whole := v == math.Trunc(v) && math.Abs(v) <= most
	switch {
	case (z.Kind == Count || z.Kind == Natural) && v > most:
		return fmt.Sprintf("a whole number of at most %d", most)
	case z.Kind == Count && !(whole && v >= 1):
		return "a whole number of at least 1"
	case z.Kind == Natural && !(whole && v >= 0):
		return "a whole number of at least 0"
	case z.Kind == Flag && v != 0 && v != 1:
		return "0 or 1"
	case z.Kind == Choice && !(whole && v >= 0 && int(v) < len(z.Choices)):
		return "one of " + strings.Join(z.Choices, ", ")
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "a finite number"
	}
	return ""
}

// Parse reads a value: a number, or the name of a choice. A value that the kind refuses is an
// error.
func (z Hyperparameter) Parse(text string) (float64, error) {
	if i := slices.Index(z.Choices, text); i >= 0 {
		return float64(i), nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		want := "a number"
		if z.Kind == Choice {
			want = "one of " + strings.Join(z.Choices, ", ")
		}
		return 0, fmt.Errorf("%s = %q: want %s", z.Name, text, want)
	}
	return v, nil
}

// Format returns the text that Parse reads back.
func (z Hyperparameter) Format(v float64) string {
	if z.Kind == Choice && z.refuses(v) == "" {
		return z.Choices[int(v)]
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// Settings holds sizes and other numbers by name; a missing one has its default.
type Settings map[string]float64

// Int returns a setting that is a whole number, or the place of a choice.
func (s Settings) Int(name string) int { return int(s[name]) }

// Evaluated returns the settings of the same model in evaluation: without noise, and with the
// running statistics. It returns false if they do not differ from s.
func (b Builder) Evaluated(s Settings) (Settings, bool) {
	out, quiet := maps.Clone(s), false
	for _, z := range b.Hyperparameters {
		if z.Training {
			out[z.Name], quiet = z.Eval, true
		}
	}
	return out, quiet
}

// Is reports whether a flag is set.
func (s Settings) Is(name string) bool { return s[name] != 0 }

// Family is a topic of the registry.
type Family struct {
	Name     string
	Builders []Builder
}

// Families lists the registry by the topics of the notes.
func Families() []Family {
	families := []Family{
		{"clustering", clustering},
		{"attention", attentionModels},
		{"position", position},
		{"transformer", transformers},
		{"recurrent", recurrent},
		{"convolution", convolution},
		{"normalisation", normalisation},
		{"regularisation", regularisation},
		{"initialisation", initialisation},
		{"graph networks", graphNetworks},
		{"self-supervision", selfSupervision},
		{"regression", regression},
		{"losses", losses},
	}
	for i := range families {
		families[i].Builders = withNotes(families[i].Builders)
	}
	return families
}

// All lists all builders, family by family.
func All() []Builder {
	var out []Builder
	for _, f := range Families() {
		out = append(out, f.Builders...)
	}
	return out
}

// Names lists the names of the registry.
func Names() []string {
	var out []string
	for _, b := range All() {
		out = append(out, b.Name)
	}
	return out
}

// ErrUnknown is in the chain of an error about a name that is not in the registry.
var ErrUnknown = errors.New("unknown model")

// Lookup returns the builder called name. The error of an unknown name suggests the nearest.
func Lookup(name string) (Builder, error) {
	for _, b := range All() {
		if b.Name == name {
			return b, nil
		}
	}
	return Builder{}, fmt.Errorf("%w %q: did you mean %q? (tapestry list shows all)", ErrUnknown, name, spelling.Nearest(name, Names()))
}
