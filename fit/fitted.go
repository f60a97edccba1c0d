package fit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/infer"
	"github.com/tapestry-ml/tapestry/internal/plural"
)

// Bindings returns the columns that each input reads, and how they are prepared.
func (f *Fitted) Bindings() []Binding {
	if f == nil {
		return nil
	}
	return slices.Clone(f.bindings)
}

// Settings returns the settings of the model for one batch.
func (f *Fitted) Settings() builders.Settings {
	if f == nil {
		return nil
	}
	return maps.Clone(f.settings)
}

// Rows returns the number of rows to train on and of those held out.
func (f *Fitted) Rows() (train, held int) {
	if f == nil {
		return 0, 0
	}
	return len(f.train), len(f.held)
}

// Name returns the name of the data.
func (f *Fitted) Name() string {
	if f == nil {
		return ""
	}
	return f.name
}

// Batch returns the number of rows in a batch.
func (f *Fitted) Batch() int {
	if f == nil {
		return 0
	}
	return f.batch
}

// Filled returns the number of missing values that were filled.
func (f *Fitted) Filled() int {
	if f == nil {
		return 0
	}
	return f.filled
}

// Classes returns the names of the classes that the output scores, along its last axis; nil if they
// are unknown.
func (f *Fitted) Classes() []string {
	if f == nil {
		return nil
	}
	return slices.Clone(f.classes)
}

// Meta returns the texts for a checkpoint that say how its inputs read columns and which classes
// its output scores. [Parse] and infer.Classes read them.
func (f *Fitted) Meta() map[string]string {
	if f == nil {
		return nil
	}
	meta := Meta(f.bindings...)
	if f.classes != nil {
		meta[infer.MetaClasses] = infer.NamesMeta(f.classes)
	}
	return meta
}

// String returns the text form that the package's doc shows: a line on the rows, and one for each
// input.
func (f *Fitted) String() string {
	if f == nil || len(f.values) == 0 {
		return "nothing is fitted\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", f.name, plural.Count(f.values[0].rows, "row"))
	if f.batch < len(f.train) {
		fmt.Fprintf(&b, ", %d to train on in batches of %d", len(f.train), f.batch)
	} else if len(f.held) > 0 {
		fmt.Fprintf(&b, ", %d to train on", len(f.train))
	}
	if len(f.held) > 0 {
		fmt.Fprintf(&b, ", %d held out", len(f.held))
	}
	b.WriteByte('\n')
	m, err := f.b.Build(f.settings, f.dt)
	if err != nil {
		return b.String()
	}
	width := 0
	for _, bound := range f.bindings {
		width = max(width, len([]rune(m.Graph.Lookup(bound.Input).String())))
	}
	for _, bound := range f.bindings {
		fmt.Fprintf(&b, "  %-*s  reads  %s", width, m.Graph.Lookup(bound.Input), listed(bound.Columns))
		for _, name := range bound.Columns {
			if classes := bound.Classes[name]; classes != nil && len(bound.Columns) == 1 {
				fmt.Fprintf(&b, " (%s)", plural.Count(len(classes), "class"))
			}
		}
		if bound.Missing != nil {
			b.WriteString(", missing values filled")
		}
		if bound.Mean != nil {
			b.WriteString(", standardised")
		}
		b.WriteByte('\n')
	}
	return b.String()
}
