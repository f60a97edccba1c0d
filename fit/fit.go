package fit

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/data/columns"
	"gorgonia.org/tensor"
)

// Options say how data are bound and divided. The zero value matches inputs and columns by itself,
// and trains on all rows.
type Options struct {
	Bind       []Binding // inputs to bind to columns; the other inputs are matched
	Batch      int       // rows in a batch; 0 for the usual number, see [AllRows]
	Validation float64   // the share of the rows to hold out, from 0 to below 1, rounded to at least one row
	// Standardise shifts and scales each number of the inputs of floats that the output depends on
	// to mean 0 and standard deviation 1 over the rows to train on. Classes stay as they are.
	Standardise bool
	Missing     string // for missing values: "mean" or "median" fills them, "drop" leaves their rows out, "" is an error
	Seed        uint64 // of the choice of the rows to hold out
}

// AllRows is the largest number of rows to train on that are one batch if neither [Options] nor a
// setting of the model says otherwise; of more rows, a batch has UsualBatch.
const (
	AllRows    = 1024
	UsualBatch = 128
)

// Fitted is a model joined to data. It is safe for concurrent use.
type Fitted struct {
	name     string // of the data
	b        builders.Builder
	settings builders.Settings
	dt       graph.DType
	rows     string // the setting that counts the rows; "" if their number is fixed
	whole    bool   // whether the rows cannot be divided, as those of an adjacency matrix
	bindings []Binding
	values   []*values // by binding
	train    []int
	held     []int
	batch    int
	filled   int      // missing values
	classes  []string // that the output scores; nil if they are unknown

	mu   sync.Mutex
	sets map[graph.DType]*data.Set
}

// To joins a model to data: it binds the model's inputs to columns, finds the settings that depend
// on the data, and divides the rows. Settings that are given stay as they are. A model that does
// not fit the data is a [*Mismatch].
func To(b builders.Builder, settings builders.Settings, dt graph.DType, c *columns.Columns, o Options) (*Fitted, error) {
	switch {
	case c == nil || len(c.Columns()) == 0:
		return nil, errors.New("fit: there are no data")
	case !(o.Validation >= 0 && o.Validation < 1):
		return nil, fmt.Errorf("fit: validation on a share of %v: want from 0 to below 1", o.Validation)
	case o.Batch < 0:
		return nil, fmt.Errorf("fit: batches of %d rows: want at least 1", o.Batch)
	case !slices.Contains([]string{"", "mean", "median", "drop"}, o.Missing):
		return nil, fmt.Errorf("fit: missing values by %q: want mean, median or drop", o.Missing)
	}
	m, err := b.Build(settings, dt)
	if err != nil {
		return nil, err
	}
	f := &Fitted{name: c.Name, b: b, dt: dt, sets: map[graph.DType]*data.Set{}}
	if f.bindings, err = bindAll(m, c, o.Bind); err != nil {
		return nil, err
	}
	if o.Missing == "drop" {
		var read []string
		for _, bound := range f.bindings {
			read = append(read, bound.Columns...)
		}
		if c, err = c.WithoutMissing(read...); err != nil {
			return nil, err
		}
	}
	z := &sizing{b: b, dt: dt, s: maps.Clone(m.Settings), given: settings, fixed: map[string]bool{}}
	f.rows, f.whole = z.rows(m)
	if m, err = f.resize(z, m, c, o); err != nil {
		x := &matching{m: m, c: c, inputs: m.Inputs(), bound: map[string]Binding{}}
		for _, bound := range f.bindings {
			x.bound[bound.Input] = bound
		}
		return nil, x.errorf("%v", err)
	}
	f.settings = m.Settings
	if err := f.prepare(m, o); err != nil {
		return nil, err
	}
	f.outputClasses(m)
	return f, nil
}

// resize reads the columns, and sets the settings that depend on their widths and classes. The
// model that it returns with an error is the one to show.
func (f *Fitted) resize(z *sizing, m *builders.Model, c *columns.Columns, o Options) (*builders.Model, error) {
	wants, err := f.read(m, c)
	if err != nil {
		return m, err
	}
	for k, bound := range f.bindings {
		if f.values[k].rows != f.values[0].rows {
			return m, fmt.Errorf("%s reads %d rows, %s reads %d", bound.Input, f.values[k].rows, f.bindings[0].Input, f.values[0].rows)
		}
	}
	if err := f.deal(m, z.given, o); err != nil {
		return m, err
	}
	// The rows come first, as sizes may depend on them, unless they depend on other sizes.
	fitting, first := m, true
	if f.rows != "" {
		was := z.s[f.rows]
		z.s[f.rows] = float64(f.batch)
		if larger, err := z.b.Build(z.s, z.dt); err == nil {
			fitting = larger
		} else {
			z.s[f.rows], first = was, false
		}
	}
	if fitting, err = z.fit(fitting, f.rows, wants); err != nil {
		return m, err
	}
	if !first {
		z.s[f.rows] = float64(f.batch)
		if fitting, err = z.b.Build(z.s, z.dt); err != nil {
			return m, err
		}
	}
	// Windows of a text are as long as the model reads now.
	if _, err = f.read(fitting, c); err != nil {
		return fitting, err
	}
	for k, bound := range f.bindings {
		row, err := rowOf(fitting.Graph.Lookup(bound.Input))
		if err != nil {
			return fitting, err
		}
		v := f.values[k]
		if row.Shape.Rank() == 0 && len(bound.Columns) == 1 && len(bound.Classes) == 1 && v.width > 1 {
			return fitting, fmt.Errorf("%s reads one number a row, and %s has %d classes whose names are not numbers", bound.Input, bound.Columns[0], v.width)
		}
		if row.Shape.Len() != v.width {
			return fitting, fmt.Errorf("%s has %d numbers a row, and %s gives %d", bound.Input, row.Shape.Len(), listed(bound.Columns), v.width)
		}
	}
	return fitting, nil
}

// read reads the columns of all inputs, and returns the sizes that they ask for.
func (f *Fitted) read(m *builders.Model, c *columns.Columns) ([]want, error) {
	f.values = nil
	var wants []want
	for i := range f.bindings {
		b := &f.bindings[i]
		in := m.Graph.Lookup(b.Input)
		row, err := rowOf(in)
		if err != nil {
			return nil, err
		}
		v, err := b.values(c, row)
		if err != nil {
			return nil, err
		}
		f.values = append(f.values, v)
		shape := []int{v.width}
		if len(b.Columns) == 1 {
			k, _ := c.Column(b.Columns[0])
			as, _ := readAs(k, row, 1)
			if b.Classes == nil && (as == asCodes || as == asOneHot) {
				b.Classes = map[string][]string{k.Name: k.Classes}
			}
			switch {
			case as == asWindows:
				shape = nil
				b.Classes = map[string][]string{k.Name: k.Vocabulary.Tokens()}
				wants = append(wants, want{input: b.Input, axis: -1, size: k.Vocabulary.Len(), why: fmt.Sprintf("%q has %d kinds of tokens", k.Name, k.Vocabulary.Len())})
			case as == asCodes:
				wants = append(wants, want{input: b.Input, axis: -1, size: len(k.Classes), why: fmt.Sprintf("%q has %d classes", k.Name, len(k.Classes))})
			case as == asNumbers && in.DType().IsInt():
				most := 0.0
				for _, x := range v.v {
					most = max(most, x)
				}
				if most < math.MaxInt32 {
					wants = append(wants, want{input: b.Input, axis: -1, size: int(most) + 1, least: true, why: fmt.Sprintf("%q goes to %v", k.Name, most)})
				}
			}
			if as == asNumbers && len(k.Row()) > 0 {
				shape = k.Row()
			}
		} else {
			for _, name := range b.Columns {
				k, _ := c.Column(name)
				if as, _ := readAs(k, row, len(b.Columns)); as == asCodes || as == asOneHot {
					if b.Classes == nil {
						b.Classes = map[string][]string{}
					}
					b.Classes[name] = k.Classes
				}
			}
		}
		rank := row.Shape.Rank()
		if rank == len(shape)+1 && row.Shape.Sizes()[rank-1] == 1 { // images of one channel
			shape = append(slices.Clone(shape), 1)
		}
		if len(shape) != rank {
			continue // the numbers of a row fill the input's axes in order, whatever its rank
		}
		for axis, size := range shape {
			wants = append(wants, want{input: b.Input, axis: axis, size: size, why: fmt.Sprintf("%s has %d", listed(b.Columns), size)})
		}
	}
	return wants, nil
}

// deal decides which rows are held out, and how many are in a batch.
func (f *Fitted) deal(m *builders.Model, settings builders.Settings, o Options) error {
	n := f.values[0].rows
	fixed := m.Inputs()[0].Dim(0)
	if o.Validation > 0 && n < 2 {
		return errors.New("validation: there is only one row")
	}
	f.train, f.held = Deal(n, o.Validation, o.Seed)
	train, held := len(f.train), len(f.held)
	f.batch = o.Batch
	if f.batch == 0 {
		if f.batch = UsualBatch; train <= AllRows {
			f.batch = train
		}
	}
	given, isGiven := settings[f.rows]
	switch {
	case f.whole && held > 0:
		return fmt.Errorf("validation: the rows cannot be divided, as %s is also the size of another axis", f.rows)
	case f.whole && o.Batch != 0 && o.Batch != n:
		return fmt.Errorf("batches of %d rows: the %d rows cannot be divided, as %s is also the size of another axis", o.Batch, n, f.rows)
	case f.whole:
		f.batch = n
	case f.rows == "":
		for _, in := range m.Inputs() {
			if in.Dim(0) != fixed {
				return fmt.Errorf("%v and %v do not have the same number of rows, and no setting changes that", m.Inputs()[0], in)
			}
		}
		if o.Batch != 0 && o.Batch != fixed {
			return fmt.Errorf("batches of %d rows: the model takes %d, and no setting changes that", o.Batch, fixed)
		}
		f.batch = fixed
	case isGiven && o.Batch == 0:
		f.batch = int(given)
	}
	if f.batch > train {
		return fmt.Errorf("batches of %d rows: there are %d to train on", f.batch, train)
	}
	return nil
}

// Deal divides n rows into those to train on and those to hold out, both in order. The seed decides
// which rows are held out: the given share of them, rounded, but at least one and never all; none
// for a share of 0.
func Deal(n int, share float64, seed uint64) (train, held []int) {
	if n < 1 {
		return nil, nil
	}
	out := 0
	if share > 0 {
		out = min(n-1, max(1, int(math.Round(min(share, 1)*float64(n)))))
	}
	order := data.Order(seed, 0, n)
	return slices.Sorted(slices.Values(order[out:])), slices.Sorted(slices.Values(order[:out]))
}

// prepare fills missing values and standardises, by the rows to train on.
func (f *Fitted) prepare(m *builders.Model, o Options) error {
	for i := range f.bindings {
		b, v := &f.bindings[i], f.values[i]
		in := m.Graph.Lookup(b.Input)
		if gaps := v.gaps(); gaps > 0 && (o.Missing == "mean" || o.Missing == "median") {
			if !feeds(m, in) {
				return fmt.Errorf("%s: %s, which the model is to predict, lacks %d values: every row needs its own", f.name, b.Input, gaps)
			}
			var err error
			if b.Missing, err = v.typical(f.train, o.Missing == "median"); err != nil {
				return err
			}
			f.filled += gaps
			if err := v.prepare(Binding{Input: b.Input, Missing: b.Missing}); err != nil {
				return err
			}
		}
		if o.Standardise && in.DType().IsFloat() && feeds(m, in) && !f.whole {
			b.Mean, b.Std = v.moments(f.train)
			if err := v.prepare(Binding{Input: b.Input, Mean: b.Mean, Std: b.Std}); err != nil {
				return err
			}
		}
		row, err := rowOf(in)
		if err != nil {
			return err
		}
		if _, err := v.tensor(row); err != nil {
			return err
		}
	}
	if o.Standardise && f.whole {
		return fmt.Errorf("standardise: the rows of %s cannot be divided, and are read as they are: standardise the file", f.name)
	}
	if o.Standardise && !slices.ContainsFunc(f.bindings, func(b Binding) bool { return b.Mean != nil }) {
		return fmt.Errorf("standardise: the output of %s depends on no input of floats", f.b.Name)
	}
	return nil
}

// outputClasses finds the names of the classes that the output scores: those that an input of the
// loss alone reads, if the last axis of the output is as long.
func (f *Fitted) outputClasses(m *builders.Model) {
	if m.Output == nil || m.Output.Rank() < 2 {
		return
	}
	for _, b := range f.bindings {
		for _, classes := range b.Classes {
			if in := m.Graph.Lookup(b.Input); !feeds(m, in) && len(classes) == m.Output.Dim(m.Output.Rank()-1) {
				f.classes = classes
			}
		}
	}
}

// set returns all rows, in the types of the model of an element type.
func (f *Fitted) set(dt graph.DType) (*data.Set, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.sets[dt]; s != nil {
		return s, nil
	}
	m, err := f.b.Build(f.settings, dt)
	if err != nil {
		return nil, err
	}
	columns := map[string]*tensor.Dense{}
	for i, b := range f.bindings {
		row, err := rowOf(m.Graph.Lookup(b.Input))
		if err != nil {
			return nil, err
		}
		if columns[b.Input], err = f.values[i].tensor(row); err != nil {
			return nil, err
		}
	}
	s, err := data.NewSet(columns)
	if err == nil {
		f.sets[dt] = s
	}
	return s, err
}
