package lab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/train/data"
)

// reading says what the inputs of a model are fed of the rows of a table.
type reading struct {
	rows   []*graph.Node // are fed the rows, each a row for every place of the output
	memory []*graph.Node // are fed the rows at which centres start, the same for every query; none in most models
	n      int           // rows of a step
	k      int           // rows of the memory
}

// queries returns the axes of the places of a model's output: all but the last, which has the
// features.
func queries(m *builders.Model) []graph.Axis {
	if m.Output == nil || m.Output.Rank() < 2 {
		return nil
	}
	axes := m.Output.Shape().Axes()
	return axes[:len(axes)-1]
}

// asAttention reads the rows of a table into a model of several inputs, as a clustering reads them:
// queries are the rows, what is to be found is the row itself, and the memory that is looked up, with
// keys and values, has the rows at which centres start. All inputs must be floats as wide as the
// table. One with the places of the output alone is fed the rows; one with another axis is memory.
func asAttention(m *builders.Model, width int) (reading, bool) {
	var r reading
	places := queries(m)
	if len(places) == 0 || m.Loss == nil {
		return r, false
	}
	r.n = 1
	for _, a := range places {
		r.n *= a.Size
	}
	for _, n := range m.Inputs() {
		if !n.DType().IsFloat() || n.Rank() < 2 || n.Dim(n.Rank()-1) != width {
			return r, false
		}
		axes := n.Shape().Axes()
		axes = axes[:len(axes)-1]
		if slices.Equal(axes, places) {
			r.rows = append(r.rows, n)
			continue
		}
		k := axes[len(axes)-1]
		before := axes[:len(axes)-1]
		if slices.ContainsFunc(before, func(a graph.Axis) bool { return !slices.Contains(places, a) }) || slices.Contains(places, k) || r.k != 0 && r.k != k.Size {
			return r, false
		}
		r.memory, r.k = append(r.memory, n), k.Size
	}
	return r, len(r.rows) >= 2
}

// readingOf returns what a model is fed of a table: rows to one input ([rowsInput]), or several read
// as attention. A model that does not take them is an error.
func readingOf(name string, m *builders.Model, table *data.Table) (reading, error) {
	if table != nil && len(m.Inputs()) > 1 {
		if r, reads := asAttention(m, len(table.Columns)); reads {
			if most := table.Rows(); r.n > most || r.k > most {
				return r, fmt.Errorf("%s reads %s, and looks up %d: %s has only %s", name, plural.Count(r.n, "row"), r.k, table.Name, plural.Count(most, "row"))
			}
			return r, nil
		}
	}
	x, err := rowsInput(name, m, table)
	if err != nil {
		return reading{}, err
	}
	return reading{rows: []*graph.Node{x}, n: x.Dim(0)}, nil
}

// AttentionSettings returns the settings at which a model of several inputs reads a table of n rows
// of d features, and looks up k of them: as attention over a memory whose keys are centres. The rows
// are its queries and what it is to find. ok is false for a model that cannot read a table so.
func AttentionSettings(b builders.Builder, given builders.Settings, n, d, k int, dt graph.DType) (s builders.Settings, ok bool) {
	m, err := b.Build(given, dt)
	if err != nil || len(m.Inputs()) < 2 || len(queries(m)) == 0 {
		return nil, false
	}
	s = builders.Settings{}
	set := func(name string, v int) {
		if _, fixed := given[name]; !fixed && slices.ContainsFunc(b.Hyperparameters, func(z builders.Hyperparameter) bool { return z.Name == name }) {
			s[name] = float64(v)
		}
	}
	places := queries(m)
	for i, a := range places {
		if set(a.Name, 1); i == len(places)-1 {
			set(a.Name, n)
		}
	}
	for _, in := range m.Inputs() {
		if in.Rank() < 2 {
			return nil, false
		}
		axes := in.Shape().Axes()
		set(axes[len(axes)-1].Name, d)
		if last := axes[len(axes)-2]; !slices.Contains(places, last) {
			set(last.Name, k)
		}
	}
	for name, v := range given {
		s[name] = v
	}
	if m, err = b.Build(s, dt); err != nil {
		return nil, false
	}
	r, reads := asAttention(m, d)
	return s, reads && r.n <= n && r.k <= n
}

// memoryRows returns the rows that a model looks up in a training from a seed, [k d], or nil.
func (f rowFeeder) memoryRows(seed uint64) []float64 {
	if len(f.reads.memory) == 0 {
		return nil
	}
	return f.start(f.reads.k, seed)
}

// repeated returns the rows of a memory as often as an input of a memory has them.
func repeated(n *graph.Node, rows []float64) graph.Value {
	v := graph.NewValue(n.Type())
	for at := 0; at < len(v.Data); at += len(rows) {
		copy(v.Data[at:], rows)
	}
	return v
}

// text says in words what the inputs are fed.
func (r reading) text() string {
	paths := func(nodes []*graph.Node) string {
		var out []string
		for _, n := range nodes {
			out = append(out, n.Path())
		}
		return strings.Join(out, ", ")
	}
	if len(r.memory) == 0 {
		return fmt.Sprintf("%s are the rows", paths(r.rows))
	}
	return fmt.Sprintf("%s are the rows, %s the %d rows at which centres start", paths(r.rows), paths(r.memory), r.k)
}
