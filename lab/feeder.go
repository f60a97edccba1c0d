package lab

import (
	"fmt"
	"maps"
	"strings"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// feeder feeds a model during and after its trainings.
type feeder interface {
	// step returns the feed of step t of a training from a seed; steps may be asked for in any order.
	step(seed uint64) func(t int) (tape.Feed, error)
	// source returns the batches of a training from a seed.
	source(seed uint64) data.Source
	// held returns what a trained model is measured on. If examples are fresh in every step, it has
	// not been trained on these.
	held(seed uint64) Feeds
	// settled returns what the gradient at the end of a training is taken on: rows that were trained
	// on or, if examples are fresh in every step, what held returns.
	settled(seed uint64) Feeds
	// begin returns the rows that may become start values.
	begin(seed uint64) Feeds
}

// generated returns a source of the feed of each step, described for checkpoints.
func generated(name string, m *builders.Model, feed func(t int) (tape.Feed, error)) data.Source {
	return data.Generated(name, RowsOf(m), func(t int) (map[string]*tensor.Dense, error) {
		f, err := feed(t)
		if err != nil {
			return nil, err
		}
		values := make(map[string]*tensor.Dense, len(f))
		for n, v := range f {
			values[n.Path()] = v
		}
		return values, nil
	})
}

// Feeds are the feeds of consecutive runs of a program. Each is made when it is needed, because
// there may not be memory for all of them at a time.
type Feeds []func() (tape.Feed, error)

// with adds the same inputs to every feed.
func (f Feeds) with(more tape.Feed) Feeds {
	out := make(Feeds, len(f))
	for i, next := range f {
		out[i] = func() (tape.Feed, error) {
			feed, err := next()
			if err == nil {
				maps.Copy(feed, more)
			}
			return feed, err
		}
	}
	return out
}

// judged is the number of fresh batches that a trained model is measured on, and of those that
// start values are chosen from.
const judged = 8

// exampleFeeder feeds a model with examples or with data of its own.
type exampleFeeder struct {
	c    Config
	m    *builders.Model
	from *builders.Model // whose examples are drawn; nil for the model's own
	// inputs has the path of the input of from for each of the model's own.
	inputs map[string]string
}

// step draws the examples of a step.
func (f exampleFeeder) step(seed uint64) func(t int) (tape.Feed, error) {
	return func(t int) (tape.Feed, error) {
		if f.c.OneBatch {
			t = 0
		}
		values := map[string]graph.Value{}
		switch {
		case f.c.Examples != nil:
			values = f.c.Examples(examplesRand(seed, t))
		case f.from == nil:
			return Examples(f.m, seed, t)
		default:
			own, err := batch(f.from, seed, t)
			if err != nil {
				return nil, err
			}
			for path, its := range f.inputs {
				values[path] = own[f.from.Graph.Lookup(its)]
			}
		}
		feed := tape.Feed{}
		for _, n := range f.m.Inputs() {
			v, ok := values[n.Path()]
			if !ok {
				return nil, fmt.Errorf("%s: the examples have no %s", f.m.Builder.Name, n.Path())
			}
			feed[n] = tape.Tensor(v)
		}
		return feed, nil
	}
}

func (f exampleFeeder) source(seed uint64) data.Source {
	name := fmt.Sprintf("examples(seed %d)", seed)
	if f.c.OneBatch {
		name = "one batch of " + name
	}
	var batch tape.Feed
	step := f.step(seed)
	return generated(name, f.m, func(t int) (feed tape.Feed, err error) {
		if batch != nil {
			return batch, nil
		}
		if feed, err = step(t); f.c.OneBatch {
			batch = feed
		}
		return feed, err
	})
}

func (f exampleFeeder) held(seed uint64) Feeds {
	if rows := f.rows(); rows != nil {
		_, _, n := rows.Batches()
		return rowBatches(n, rows.Held)
	}
	if f.c.OneBatch {
		return f.fresh(seed, 0)[:1]
	}
	return f.fresh(seed, f.c.Steps)
}

// rows returns the data of the model, or nil if it is fed something else.
func (f exampleFeeder) rows() builders.Rows {
	if f.m == nil || f.c.Examples != nil || f.from != nil {
		return nil
	}
	return f.m.Rows
}

func (f exampleFeeder) settled(seed uint64) Feeds {
	if rows := f.rows(); rows != nil {
		_, n, _ := rows.Batches()
		return rowBatches(n, rows.Trained)
	}
	return f.held(seed)
}

func (f exampleFeeder) begin(seed uint64) Feeds {
	switch {
	case f.rows() != nil:
		return f.settled(seed)
	case f.c.OneBatch:
		return f.held(seed)
	}
	return f.fresh(seed, 0)
}

// fresh returns batches from a step on.
func (f exampleFeeder) fresh(seed uint64, first int) Feeds {
	var out Feeds
	step := f.step(seed)
	for t := first; t < first+judged; t++ {
		out = append(out, func() (tape.Feed, error) { return step(t) })
	}
	return out
}

// rowBatches returns n batches of data.
func rowBatches(n int, at func(i int) (graph.Values, error)) Feeds {
	out := make(Feeds, n)
	for i := range out {
		out[i] = func() (tape.Feed, error) {
			values, err := at(i)
			return tensors(values), err
		}
	}
	return out
}

// rowFeeder feeds a model with the rows of a table, all of them or in batches.
type rowFeeder struct {
	m     *builders.Model
	table *data.Table
	reads reading
	rows  *tensor.Dense
	start func(k int, seed uint64) []float64 // the rows at which k centres start
	out   *rowFeeder                         // of the rows held out; nil for none
}

// newRowFeeder returns a feeder of all rows of a table. A model that does not take them is an
// error.
func newRowFeeder(name string, m *builders.Model, table *data.Table) (rowFeeder, error) {
	f := rowFeeder{m: m, table: table}
	var err error
	if f.reads, err = readingOf(name, m, table); err != nil {
		return f, err
	}
	f.rows, err = table.Dense(dtype(f.reads.rows[0].DType()))
	return f, err
}

// rowsInput returns the input that takes the rows of a table: the one named x, or the only one of
// two axes that is as wide as the table.
func rowsInput(name string, m *builders.Model, table *data.Table) (*graph.Node, error) {
	if table == nil {
		return nil, fmt.Errorf("%s: there is no table", name)
	}
	width := len(table.Columns)
	var fit, texts []string
	var x *graph.Node
	inputs := m.Inputs()
	for _, n := range inputs {
		texts = append(texts, n.String())
		if n.DType().IsFloat() && n.Rank() == 2 && n.Dim(1) == width {
			fit, x = append(fit, n.Path()), n
		}
	}
	if n := m.Graph.Lookup("x"); n != nil && n.Role() == graph.RoleInput {
		x, fit = n, []string{"x"}
	}
	switch {
	case len(inputs) == 0:
		return nil, fmt.Errorf("%s has no input for the rows of %s", name, table.Name)
	case len(fit) > 1:
		return nil, fmt.Errorf("%s: which input takes the rows of %s, %s? Name it x", name, table.Name, strings.Join(fit, " or "))
	case len(fit) == 0 || !x.DType().IsFloat() || x.Rank() != 2 || x.Dim(1) != width:
		return nil, fmt.Errorf("%s has no input for rows of %d numbers, which %s has: its inputs are %s", name, width, table.Name, strings.Join(texts, ", "))
	case x.Dim(0) > table.Rows():
		return nil, fmt.Errorf("%s: %v wants %d rows, %s has %d", name, x, x.Dim(0), table.Name, table.Rows())
	case len(inputs) > 1:
		return nil, fmt.Errorf("%s: %s gives rows to %s alone, and the inputs are %s", name, table.Name, x.Path(), strings.Join(texts, ", "))
	}
	return x, nil
}

// TakesRows returns an error that says why a model cannot be trained on the rows of a table, or nil
// if it can. See Config.Table.
func TakesRows(m *builders.Model, table *data.Table) error {
	if m == nil || m.Graph == nil {
		return errNilModel
	}
	_, err := readingOf(m.Builder.Name, m, table)
	return err
}

// cut returns how the rows are cut into batches.
func (f rowFeeder) cut() data.Cut { return data.Cut{Rows: f.table.Rows(), Size: f.reads.n} }

// at feeds the given rows and, in a training from a seed, the memory. All rows in their own order are
// one array that is kept.
func (f rowFeeder) at(rows []int, seed uint64) tape.Feed {
	x, feed := f.gathered(rows), tape.Feed{}
	for _, n := range f.reads.rows {
		feed[n] = x
		if n.Rank() > 2 {
			feed[n] = reshaped(x, n)
		}
	}
	memory := f.memoryRows(seed)
	for _, n := range f.reads.memory {
		feed[n] = tape.Tensor(repeated(n, memory))
	}
	return feed
}

// reshaped returns rows with the shape of an input.
func reshaped(x *tensor.Dense, n *graph.Node) *tensor.Dense {
	sizes := make([]int, n.Rank())
	for i := range sizes {
		sizes[i] = n.Dim(i)
	}
	return tensor.New(tensor.WithShape(sizes...), tensor.WithBacking(x.Data()))
}

// gathered returns the given rows as an array.
func (f rowFeeder) gathered(rows []int) *tensor.Dense {
	if len(rows) == f.table.Rows() {
		return f.rows
	}
	d := len(f.table.Columns)
	out := tensor.New(tensor.WithShape(len(rows), d), tensor.Of(f.rows.Dtype()))
	for i, row := range rows {
		if f.rows.Dtype() == tensor.Float64 {
			copy(out.Float64s()[i*d:(i+1)*d], f.rows.Float64s()[row*d:])
		} else {
			copy(out.Float32s()[i*d:(i+1)*d], f.rows.Float32s()[row*d:])
		}
	}
	return out
}

// step feeds the rows of a step.
func (f rowFeeder) step(seed uint64) func(t int) (tape.Feed, error) {
	rows := f.cut().Orders(seed)
	return func(t int) (tape.Feed, error) { return f.at(rows(t), seed), nil }
}

func (f rowFeeder) source(seed uint64) data.Source {
	return generated(fmt.Sprintf("rows of %s(batches of %d, seed %d)", f.table.Name, f.reads.n, seed), f.m, f.step(seed))
}

// settled feeds every row equally often, in order.
func (f rowFeeder) settled(seed uint64) Feeds {
	c := f.cut()
	out := make(Feeds, c.Whole())
	for i := range out {
		out[i] = func() (tape.Feed, error) { return f.at(c.InOrder(i), seed), nil }
	}
	return out
}

func (f rowFeeder) held(seed uint64) Feeds {
	if f.out != nil {
		return f.out.settled(seed)
	}
	return f.settled(seed)
}

func (f rowFeeder) begin(seed uint64) Feeds { return f.settled(seed) }

// feeders returns the feeder of every model, and for each the index of the variant whose examples
// it is trained on. The first of the models are the variants, and the others are judges.
func (c Config) feeders(names []string, models []*builders.Model, variants int) ([]feeder, []int, error) {
	out, task := make([]feeder, len(models)), make([]int, len(models))
	if c.Table != nil {
		for i, m := range models {
			f, err := newRowFeeder(names[i], m, c.Table)
			f.start = c.start
			if err == nil && c.Held != nil {
				f.out = &rowFeeder{m: m, table: c.Held, reads: f.reads, start: f.start}
				f.out.rows, err = c.Held.Dense(dtype(f.reads.rows[0].DType()))
			}
			if err != nil {
				return nil, nil, err
			}
			out[i] = f
		}
		return out, task, nil
	}
	var inputs []map[string]string
	if c.Examples == nil {
		task, inputs = tasks(models, variants)
	}
	for i, m := range models {
		f := exampleFeeder{c: c, m: m}
		if from := models[task[i]]; c.Examples == nil && from != m && m.Rows == nil {
			f.from, f.inputs = from, inputs[i]
		}
		if m.Examples == nil && c.Examples == nil && f.from == nil {
			return nil, nil, fmt.Errorf("%s has no examples to be trained on, and no other variant has some for its inputs", names[i])
		}
		if err := m.Room(); err != nil {
			return nil, nil, err
		}
		out[i] = f
	}
	return out, task, nil
}
