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

// Bindings says what every input reads, and how it is prepared.
func (f *Fitted) Bindings() []Binding {
	if f == nil {
		return nil
	}
	return slices.Clone(f.bindings)
}

// Settings are those of the model, at the size of a batch.
func (f *Fitted) Settings() builders.Settings {
	if f == nil {
		return nil
	}
	return maps.Clone(f.settings)
}

// Rows says how many rows there are to train on, and how many are held out.
func (f *Fitted) Rows() (train, held int) {
	if f == nil {
		return 0, 0
	}
	return len(f.train), len(f.held)
}

// Name is that of the data.
func (f *Fitted) Name() string {
	if f == nil {
		return ""
	}
	return f.name
}

// Batch is the number of rows of a batch.
func (f *Fitted) Batch() int {
	if f == nil {
		return 0
	}
	return f.batch
}

// Filled is the number of missing values that were filled.
func (f *Fitted) Filled() int {
	if f == nil {
		return 0
	}
	return f.filled
}

// Classes are the names of the classes that the output scores; nil where that is not known.
func (f *Fitted) Classes() []string {
	if f == nil {
		return nil
	}
	return slices.Clone(f.classes)
}

// Meta are the texts of a checkpoint that say how its inputs read columns, and what classes its
// output scores: see [Parse] and infer.Classes.
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

// String says what every input reads: see the package's text form.
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
