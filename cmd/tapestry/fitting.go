package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/fit"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/greek"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/data/columns"
	"github.com/tapestry-ml/tapestry/viz/report"
)

// fitting holds the flags that give a model its data and cut them into batches. Without --data, a
// model that is not a clustering has examples of its own.
type fitting struct {
	source
	bind        []string
	batch       int
	validation  float64
	standardise bool

	// Of a clustering: the rows to train on, those held out, and the binding of its points, where one is stated or
	// they are standardised.
	table  *data.Table // nil until read
	held   *data.Table
	points *fit.Binding

	cmd     *cobra.Command
	several bool                   // several models; a binding need not apply to all of them
	met     map[string]bool        // bound inputs that at least one of several models has
	columns *columns.Columns       // nil until read
	fitted  map[string]*fit.Fitted // by model
}

// dataUsage is the help of --data, which all commands share.
const dataUsage = "a table (CSV), arrays (.npy, .npz, IDX), a text (.txt) or an edge list (.edges), several of the same rows parted by commas, " +
	"or one of the embedded data sets iris, digits, wine, clusters, karate and constitution"

// dataFlags are the flags that have no effect without --data.
var dataFlags = []string{"bind", "batch", "validation", "standardise", "label", "ignore", "missing"}

// flags adds the flags of a command that takes any model with data. usual is the default of --data
// for clusterings.
func (f *fitting) flags(cmd *cobra.Command, usual string) {
	f.cmd = cmd
	cmd.Flags().StringVar(&f.name, "data", usual, dataUsage)
	f.csvFlags(cmd)
	cmd.Flags().StringArrayVar(&f.bind, "bind", nil, "which columns an input reads, as x=age,income or y=species; may be given several times (default: what fits by name and shape)")
}

// cutFlags adds the flags that say how data are cut into batches.
func (f *fitting) cutFlags(cmd *cobra.Command) {
	cmd.Flags().IntVar(&f.batch, "batch", 0, fmt.Sprintf("rows in a batch of the data (default: all up to %d, otherwise %d; of clusterings all, of kmeans-sgd 16)", fit.AllRows, fit.UsualBatch))
	cmd.Flags().Float64Var(&f.validation, "validation", 0, "share of the rows of the data to hold out, on which what was trained is measured: 0.2")
	cmd.Flags().BoolVar(&f.standardise, "standardise", false, "bring what the model predicts from, or clusters, to mean 0 and deviation 1, by the rows to train on")
}

// hasData reports whether --data was given.
func (f *fitting) hasData() bool {
	return f != nil && f.cmd != nil && f.cmd.Flags().Changed("data")
}

// alone returns an error for flags that have no effect without --data.
func (f *fitting) alone() error {
	if f.hasData() {
		return nil
	}
	return idle(f.cmd, "want --data, too", dataFlags...)
}

// read reads the columns of the data.
func (f *fitting) read() (*columns.Columns, error) {
	if f.columns != nil {
		return f.columns, nil
	}
	c, err := f.source.byColumn()
	if err == nil {
		f.columns = c
	}
	return c, err
}

// byColumn reads a source column by column: an embedded data set, or files.
func (s *source) byColumn() (*columns.Columns, error) {
	switch {
	case s.name == "":
		return nil, usagef("--data \"\": want a file, or one of %s", orList(columns.BuiltinNames()))
	case s.missing != "" && !slices.Contains(s.ways, s.missing):
		return nil, usagef("--missing %s: want %s", s.missing, orList(s.ways))
	case slices.Contains(columns.BuiltinNames(), s.name):
		if s.asksCSV() {
			return nil, usagef("--label, --ignore and --missing are for files; %s is embedded and has its labels", s.name)
		}
		return columns.Builtin(s.name)
	}
	names := []string{s.name}
	if _, err := os.Stat(s.name); errors.Is(err, fs.ErrNotExist) && strings.Contains(s.name, ",") {
		names = commas(s.name)
	}
	var parts []*columns.Columns
	for _, name := range names {
		if name == "" {
			return nil, usagef("--data %s: want a file before and after each comma", s.name)
		}
		c, err := columns.Open(name, s.csvOptions()...)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) && filepath.Base(name) == name && filepath.Ext(name) == "" { // probably the name of a data set
				err = fmt.Errorf("%w: want a file, or one of %s", err, orList(columns.BuiltinNames()))
			}
			return nil, flagged(err, fmt.Sprintf("; --missing %s allows for missing values", orList(s.ways)))
		}
		parts = append(parts, c)
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return columns.Beside(parts...)
}

// csvOptions returns the options of reading a table that the flags ask for.
func (s *source) csvOptions() []data.Option {
	var options []data.Option
	if len(s.ignore) > 0 {
		options = append(options, data.Ignore(s.ignore...))
	}
	if s.label != "" {
		options = append(options, data.Label(s.label))
	}
	if s.missing != "" {
		options = append(options, data.Missing())
	}
	return options
}

// bindings reads --bind; an input may be called by the name of its letter.
func (f *fitting) bindings() ([]fit.Binding, error) {
	var out []fit.Binding
	for _, text := range f.bind {
		b, err := fit.ParseBinding(text)
		if err != nil {
			return nil, usagef("--bind: %w", err)
		}
		b.Input = greek.Symbol(b.Input)
		out = append(out, b)
	}
	return out, nil
}

// to joins a model to the data, and prints once which columns its inputs read.
func (f *fitting) to(b builders.Builder, settings builders.Settings, dt graph.DType, seed uint64) (*fit.Fitted, error) {
	key := fmt.Sprint(b.Name, dt, settings)
	if known := f.fitted[key]; known != nil {
		return known, nil
	}
	if !(f.validation >= 0 && f.validation < 1) {
		return nil, usagef("--validation %v: want a share from 0 to below 1", f.validation)
	}
	if f.batch < 0 || f.batch == 0 && f.cmd.Flags().Changed("batch") {
		return nil, usagef("--batch %d: want at least 1", f.batch)
	}
	c, err := f.read()
	if err != nil {
		return nil, err
	}
	bind, err := f.bindings()
	if err != nil {
		return nil, err
	}
	if f.several {
		if bind, err = f.own(b, dt, bind); err != nil {
			return nil, err
		}
	}
	x, err := fit.To(b, settings, dt, c, fit.Options{Bind: bind, Batch: f.batch, Validation: f.validation, Standardise: f.standardise, Missing: f.missing, Seed: seed})
	if mismatch := (*fit.Mismatch)(nil); errors.As(err, &mismatch) {
		return nil, fmt.Errorf("%w\n--bind INPUT=COLUMN,COLUMN says what an input reads", err)
	}
	if err != nil {
		return nil, err
	}
	if f.fitted == nil {
		f.fitted = map[string]*fit.Fitted{}
	}
	f.fitted[key] = x
	if filled := x.Filled(); filled > 0 {
		fmt.Fprintf(f.cmd.ErrOrStderr(), "tapestry: %s: %s filled with the %s of the column\n", c.Name, plural.Count(filled, "missing value"), f.missing)
	}
	fmt.Fprintf(f.cmd.ErrOrStderr(), "tapestry: %s reads %s", b.Name, x)
	return x, nil
}

// own returns those bindings whose inputs the model has.
func (f *fitting) own(b builders.Builder, dt graph.DType, bind []fit.Binding) ([]fit.Binding, error) {
	m, err := b.Build(nil, dt)
	if err != nil {
		return nil, err
	}
	if f.met == nil {
		f.met = map[string]bool{}
	}
	return slices.DeleteFunc(bind, func(x fit.Binding) bool {
		n := m.Graph.Lookup(x.Input)
		is := n != nil && n.Role() == graph.RoleInput
		f.met[x.Input] = f.met[x.Input] || is
		return !is
	}), nil
}

// allMet returns an error for a binding of an input that none of several models has.
func (f *fitting) allMet() error {
	bind, err := f.bindings()
	if err != nil || !f.several || !f.hasData() {
		return err
	}
	for _, b := range bind {
		if !f.met[b.Input] {
			return usagef("--bind %s: none of the models has the input %s", b, b.Input)
		}
	}
	return nil
}

// pointsInput is the input of a clustering.
const pointsInput = "x"

// pointsBinding returns the binding of a clustering's points, or nil for all features of a table.
func (f *fitting) pointsBinding() (*fit.Binding, error) {
	bind, err := f.bindings()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(bind, func(b fit.Binding) bool { return b.Input == pointsInput })
	switch {
	case i >= 0:
		return &bind[i], nil
	case len(bind) > 0:
		return nil, usagef("--bind %s: a clustering reads its points alone, as in %s=%s", bind[0], pointsInput, strings.Join(bind[0].Columns, ","))
	case !f.arrays():
		return nil, nil
	}
	c, err := f.read()
	if err != nil {
		return nil, err
	}
	b := &fit.Binding{Input: pointsInput, Columns: c.Features()}
	if len(b.Columns) == 0 {
		return nil, fmt.Errorf("%s: no column of numbers", c.Name)
	}
	return b, nil
}

// rows returns the data as a table of points to train on, which is read once: the columns bound to x, or all features,
// of the rows that are not held out. Missing values are filled, and columns standardised, by the
// rows to train on.
func (f *fitting) rows(seed uint64) (t *data.Table, err error) {
	if f.table != nil {
		return f.table, nil
	}
	if !(f.validation >= 0 && f.validation < 1) {
		return nil, usagef("--validation %v: want a share from 0 to below 1", f.validation)
	}
	if f.points, err = f.pointsBinding(); err != nil {
		return nil, err
	}
	if f.points == nil {
		t, err = f.unsettled()
	} else {
		if f.met == nil {
			f.met = map[string]bool{}
		}
		f.met[pointsInput] = true
		var c *columns.Columns
		if c, err = f.read(); err == nil {
			t, err = c.Table(f.points.Columns...)
		}
	}
	if err == nil && f.missing == "drop" {
		t, err = f.settle(t)
	}
	if err != nil {
		return nil, err
	}
	if f.validation > 0 {
		if t.Rows() < 2 {
			return nil, fmt.Errorf("%s: --validation: there is only one row", t.Name)
		}
		rows, held := fit.Deal(t.Rows(), f.validation, seed)
		if f.held, err = t.Subset(held); err != nil {
			return nil, err
		}
		if t, err = t.Subset(rows); err != nil {
			return nil, err
		}
	}
	if t, err = f.settle(t); err != nil {
		return nil, err
	}
	if f.held != nil {
		if f.held, err = f.settle(f.held); err != nil {
			return nil, err
		}
	}
	if f.standardise {
		if f.points == nil {
			f.points = &fit.Binding{Input: pointsInput, Columns: t.Columns}
		}
		f.points.Mean, f.points.Std = data.Standardise(t)
		if err := f.scale(f.held); err != nil {
			return nil, err
		}
	}
	f.table = t
	return t, nil
}

// scale brings other rows of a clustering to the scale of those that it is trained on.
func (f *fitting) scale(t *data.Table) error {
	if t == nil || f.points == nil || f.points.Mean == nil {
		return nil
	}
	return data.Scale(t, f.points.Mean, f.points.Std)
}

// prepared tells the page what was done to the points of a clustering before training.
func (f *fitting) prepared(d *report.Data) {
	if d.Held = f.held.Rows(); f.standardise {
		d.Prepared = "columns standardised; the table of centres is in the columns' units"
	}
}

// preparedText says the same in a header; "" where nothing was done.
func (f *fitting) preparedText() string {
	var d report.Data
	f.prepared(&d)
	said := []string{}
	if d.Held > 0 {
		said = append(said, plural.Count(d.Held, "row")+" held out")
	}
	if f.standardise {
		said = append(said, "columns standardised")
	}
	if len(said) == 0 {
		return ""
	}
	return " (" + strings.Join(said, ", ") + ")"
}

// unscaled returns centres, row-major [k d], in the units of the columns.
func (f *fitting) unscaled(centres []float64) []float64 {
	if f.points == nil || f.points.Mean == nil {
		return centres
	}
	out := slices.Clone(centres)
	for i := range out {
		j := i % len(f.points.Mean)
		out[i] = out[i]*f.points.Std[j] + f.points.Mean[j]
	}
	return out
}

// arrays reports whether the data are anything but a table.
func (s *source) arrays() bool {
	if s.name == "karate" || s.name == "constitution" || strings.Contains(s.name, ",") {
		return true
	}
	name := strings.TrimSuffix(strings.ToLower(s.name), ".gz")
	return strings.HasSuffix(name, "-ubyte") || slices.Contains([]string{".npy", ".npz", ".idx", ".txt", ".edges", ".edgelist"}, filepath.Ext(name))
}
