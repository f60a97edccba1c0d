package fit

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/train/data/columns"
	"gorgonia.org/tensor"
)

// errNothingFed is wrapped by the error for a model without inputs to feed.
var errNothingFed = errors.New("no input that data could feed")

// rowOf returns the type of an input without its first axis.
func rowOf(in *graph.Node) (graph.Type, error) {
	if in.Rank() == 0 {
		return graph.Type{}, fmt.Errorf("%v has no axis for rows: give it a default, or an axis", in)
	}
	s, err := graph.NewShape(in.Shape().Axes()[1:]...)
	return graph.Type{DType: in.DType(), Shape: s}, err
}

// feeds reports whether the output depends on an input, as it does not on labels, which only the
// loss reads.
func feeds(m *builders.Model, in *graph.Node) bool {
	return m.Output == nil || slices.Contains(graph.Reachable(m.Output), in)
}

// matching finds the columns for inputs.
type matching struct {
	m      *builders.Model
	c      *columns.Columns
	inputs []*graph.Node
	bound  map[string]Binding
	used   map[string]bool
}

// bindAll binds every input of a model: as given, then to the column of its name, then the label to
// the only input that the loss alone reads, and at last the remaining columns to the only remaining
// input.
func bindAll(m *builders.Model, c *columns.Columns, given []Binding) ([]Binding, error) {
	x := &matching{m: m, c: c, inputs: m.Inputs(), bound: map[string]Binding{}, used: map[string]bool{}}
	if len(x.inputs) == 0 {
		return nil, fmt.Errorf("%s has %w", m.Builder.Name, errNothingFed)
	}
	for _, b := range given {
		if err := x.give(b); err != nil {
			return nil, err
		}
	}
	for _, in := range x.inputs {
		if k, err := c.Column(in.Path()); err == nil && !x.used[in.Path()] && !x.isBound(in) && alike(k, in) {
			x.bind(in, in.Path())
		}
	}
	x.network()
	x.label()
	x.rest()
	var out []Binding
	for _, in := range x.inputs {
		b, ok := x.bound[in.Path()]
		if !ok {
			return nil, x.errorf("which column does %v read? Bind it", in)
		}
		out = append(out, b)
	}
	return out, nil
}

// alike reports whether a column can be all that an input reads: one number a row for one number,
// an array for an array, whole numbers for indices.
func alike(k columns.Column, in *graph.Node) bool {
	rank := in.Rank() - 1
	switch {
	case k.Windowed:
		return in.DType().IsInt() && rank == 1
	case k.Classes != nil:
		return rank == 0 || rank == 1 && in.DType().IsFloat()
	case in.DType().IsInt():
		v, err := k.Float64s()
		if err != nil || slices.ContainsFunc(v, func(x float64) bool { return x != math.Trunc(x) }) {
			return false
		}
	}
	own := len(k.Row())
	return rank == own || rank == own+1 && own > 0 && in.Dim(rank) == 1
}

func (x *matching) isBound(in *graph.Node) bool { _, ok := x.bound[in.Path()]; return ok }

func (x *matching) bind(in *graph.Node, columns ...string) {
	x.bound[in.Path()] = Binding{Input: in.Path(), Columns: columns}
	for _, name := range columns {
		x.used[name] = true
	}
}

func (x *matching) give(b Binding) error {
	i := slices.IndexFunc(x.inputs, func(in *graph.Node) bool { return in.Path() == b.Input })
	switch {
	case i < 0:
		return x.errorf("there is no input %q that data feed", b.Input)
	case x.isBound(x.inputs[i]):
		return x.errorf("%s is bound twice", b.Input)
	case len(b.Columns) == 0:
		return x.errorf("%s is bound to no column", b.Input)
	}
	for _, name := range b.Columns {
		if _, err := x.c.Column(name); err != nil {
			return x.errorf("%v", err)
		}
	}
	x.bind(x.inputs[i], b.Columns...)
	return nil
}

// open returns the inputs that are not bound yet: of those that the output depends on, or of the
// others.
func (x *matching) open(feeding bool) []*graph.Node {
	var out []*graph.Node
	for _, in := range x.inputs {
		if !x.isBound(in) && feeds(x.m, in) == feeding {
			out = append(out, in)
		}
	}
	return out
}

// network binds the inputs of graph networks: A to the adjacency matrix, and the only remaining
// input to the number of the node, which is all that is known of it.
func (x *matching) network() {
	if _, err := x.c.Column("adjacency"); err != nil || x.used["adjacency"] {
		return
	}
	for _, in := range x.inputs {
		if in.Path() == "A" && !x.isBound(in) {
			x.bind(in, "adjacency")
		}
	}
	if open := x.open(true); len(open) == 1 && open[0].DType().IsFloat() && open[0].Rank() == 2 && !x.used["node"] && x.used["adjacency"] {
		x.bind(open[0], "node")
	}
}

// label binds the label, or the next tokens, to the only input that the loss alone reads.
func (x *matching) label() {
	open := x.open(false)
	if len(open) != 1 {
		return
	}
	in := open[0]
	if name := x.c.Label(); name != "" && !x.used[name] && in.Rank() <= 2 {
		x.bind(in, name)
		return
	}
	for _, k := range x.c.Columns() {
		if k.Next && !x.used[k.Name] && in.DType().IsInt() && in.Rank() == 2 {
			x.bind(in, k.Name)
			return
		}
	}
}

// rest binds the remaining columns to the only remaining input.
func (x *matching) rest() {
	open := x.open(true)
	if len(open) != 1 || len(x.open(false)) > 0 {
		return
	}
	in := open[0]
	var numbers, fits []string
	for _, k := range x.c.Columns() {
		switch {
		case x.used[k.Name] || k.Name == x.c.Label() && k.Classes != nil:
		case k.Windowed:
			if in.DType().IsInt() && in.Rank() == 2 && !k.Next {
				x.bind(in, k.Name)
				return
			}
		case k.Classes == nil && k.Values.Dtype() != tensor.Bool && in.DType().IsFloat():
			numbers = append(numbers, k.Name)
			if len(k.Row()) == in.Rank()-1 && in.Rank() > 1 {
				fits = append(fits, k.Name)
			}
		}
	}
	switch {
	case len(fits) == 1:
		x.bind(in, fits[0])
	case len(numbers) == 1, len(numbers) > 0 && in.Rank() > 1:
		x.bind(in, numbers...)
	}
}

// errorf returns a mistake with a table of the inputs and the columns.
func (x *matching) errorf(format string, args ...any) error {
	return &Mismatch{Model: x.m.Builder.Name, Problem: fmt.Sprintf(format, args...), Table: x.table()}
}

func (x *matching) table() string {
	var b strings.Builder
	width := 0
	for _, in := range x.inputs {
		width = max(width, len([]rune(in.String())))
	}
	for _, in := range x.inputs {
		reads := "–"
		if bound, ok := x.bound[in.Path()]; ok {
			reads = listed(bound.Columns)
		}
		what := in.DType().String()
		if in.DType().IsInt() {
			what = "indices"
		}
		fmt.Fprintf(&b, "  %-*s  %-7s  reads  %s\n", width, in, what, reads)
	}
	b.WriteString(x.c.String())
	return b.String()
}

// Mismatch is the error for a model that does not fit the data.
type Mismatch struct {
	Model   string // the name of the model
	Problem string // in one line
	Table   string // one line for each input, with the columns that it reads, and one for each column
}

// Error returns the model and the problem in one line, and the table below it.
func (e *Mismatch) Error() string {
	return fmt.Sprintf("%s: %s\n%s", e.Model, e.Problem, strings.TrimRight(e.Table, "\n"))
}

// listed joins names for a line, which shows at most eight.
func listed(names []string) string {
	const most = 8
	if len(names) > most {
		return fmt.Sprintf("%s, … (%d columns)", strings.Join(names[:most-1], ", "), len(names))
	}
	return strings.Join(names, ", ")
}
