package fit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

var errNotFitted = errors.New("fit: nothing is fitted (fit.To makes one)")

// Builder returns the model as a builder whose defaults are the settings found, and whose models
// have batches of the data for their examples. A setting with which an input no longer fits the
// data is a mistake recorded in the graph.
func (f *Fitted) Builder() builders.Builder {
	if f == nil {
		return builders.Builder{}
	}
	b := f.b
	b.Hyperparameters = append([]builders.Hyperparameter(nil), f.b.Hyperparameters...)
	for i := range b.Hyperparameters {
		b.Hyperparameters[i].Default = f.settings[b.Hyperparameters[i].Name]
	}
	return builders.Define(b, func(s builders.Settings, dt graph.DType, m *builders.Model) {
		own, err := f.b.Build(s, dt)
		if own == nil {
			m.Graph.Fail(f.b.Name, err)
			return
		}
		own.Builder, own.Settings = m.Builder, m.Settings
		*m = *own
		if err == nil {
			f.feed(m, dt)
		}
	})
}

// Model returns the model for a batch, with the data as its examples.
func (f *Fitted) Model() (*builders.Model, error) {
	if f == nil || len(f.values) == 0 {
		return nil, errNotFitted
	}
	return f.Builder().Build(nil, f.dt)
}

// feed gives a model the data as its examples.
func (f *Fitted) feed(m *builders.Model, dt graph.DType) {
	set, err := f.set(dt)
	if err != nil {
		m.Graph.Fail("data", err)
		return
	}
	r := &rows{f: f, set: set}
	for i, b := range f.bindings {
		in := m.Graph.Lookup(b.Input)
		row, err := rowOf(in)
		if err != nil || row.Shape.Len() != f.values[i].width {
			m.Graph.Fail("data", fmt.Errorf("%v reads %s, which has %d numbers a row", in, listed(b.Columns), f.values[i].width))
			return
		}
		r.inputs, r.size = append(r.inputs, in), in.Dim(0)
	}
	if r.size > len(f.train) {
		m.Graph.Fail("data", fmt.Errorf("batches of %d rows: there are %d to train on", r.size, len(f.train)))
		return
	}
	m.Rows = r
	m.Examples = func(rng *rand.Rand) graph.Values {
		feed, _ := r.gather(r.pick(rng.Perm(len(f.train))[:r.size], f.train))
		return feed
	}
}

// rows are the data of one model, for batches of one size.
type rows struct {
	f      *Fitted
	set    *data.Set
	inputs []*graph.Node
	size   int

	mu     sync.Mutex
	orders map[uint64]func(t int) []int // data.Cut.Orders of the last trainings, by seed
}

// mostOrders bounds the number of trainings whose order of rows is kept.
const mostOrders = 16

// cut returns the division of a list of rows into batches.
func (r *rows) cut(of []int) data.Cut { return data.Cut{Rows: len(of), Size: r.size} }

// step returns the places of a step's rows.
func (r *rows) step(seed uint64, step int) []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.orders[seed] == nil {
		if r.orders == nil || len(r.orders) >= mostOrders {
			r.orders = map[uint64]func(t int) []int{}
		}
		r.orders[seed] = r.cut(r.f.train).Orders(seed)
	}
	return r.orders[seed](step)
}

// pick returns the rows at some places of a list.
func (r *rows) pick(places, of []int) []int {
	out := make([]int, len(places))
	for i, p := range places {
		out[i] = of[p]
	}
	return out
}

// gather returns the values of some rows for the inputs.
func (r *rows) gather(at []int) (graph.Values, error) {
	b := r.set.NewBatch(len(at))
	if err := r.set.Gather(context.Background(), b, at); err != nil {
		return nil, err
	}
	feed := graph.Values{}
	for _, in := range r.inputs {
		feed[in] = graph.Value{Type: in.Type(), Data: numbers(b.Values[in.Path()])}
	}
	return feed, nil
}

// numbers returns the elements of an array as float64.
func numbers(t *tensor.Dense) []float64 {
	out := make([]float64, t.Shape().TotalSize())
	switch t.Dtype() {
	case tensor.Float64:
		copy(out, t.Float64s())
	case tensor.Float32:
		for i, v := range t.Float32s() {
			out[i] = float64(v)
		}
	case tensor.Int32:
		for i, v := range t.Int32s() {
			out[i] = float64(v)
		}
	case tensor.Int64:
		for i, v := range t.Int64s() {
			out[i] = float64(v)
		}
	case tensor.Int8:
		for i, v := range t.Int8s() {
			out[i] = float64(v)
		}
	case tensor.Uint8:
		for i, v := range t.Uint8s() {
			out[i] = float64(v)
		}
	case tensor.Bool:
		for i, v := range t.Bools() {
			if v {
				out[i] = 1
			}
		}
	}
	return out
}

// Batch returns the rows of a step, the same as [Fitted.Source].
func (r *rows) Batch(seed uint64, step int) (graph.Values, error) {
	return r.gather(r.pick(r.step(seed, step), r.f.train))
}

// inOrder returns batch i of rows in their order, where the first row follows the last.
func (r *rows) inOrder(of []int, i int) (graph.Values, error) {
	c := r.cut(of)
	if n := c.Whole(); i < 0 || i >= n {
		return nil, fmt.Errorf("fit: batch %d of %d", i, n)
	}
	return r.gather(r.pick(c.InOrder(i), of))
}

// Trained returns a batch of the rows to train on, in their order.
func (r *rows) Trained(i int) (graph.Values, error) { return r.inOrder(r.f.train, i) }

// Held returns a batch of the rows that are measured on, in their order.
func (r *rows) Held(i int) (graph.Values, error) { return r.inOrder(r.f.measured(), i) }

// Batches returns the number of batches in an epoch, of Trained and of Held.
func (r *rows) Batches() (epoch, trained, held int) {
	return r.cut(r.f.train).Epoch(), r.cut(r.f.train).Whole(), r.cut(r.f.measured()).Whole()
}

// String returns one line on the data and their batches.
func (r *rows) String() string {
	text := plural.Count(len(r.f.train), "row") + " of " + r.f.name
	if r.size < len(r.f.train) {
		text += fmt.Sprintf(" in batches of %d", r.size)
	}
	if n := len(r.f.held); n > 0 {
		text += fmt.Sprintf(", measured on %d others", n)
	}
	return text
}

// measured returns the rows that a trained model is measured on: those held out, or those to train
// on if there are none.
func (f *Fitted) measured() []int {
	if len(f.held) > 0 {
		return f.held
	}
	return f.train
}

// Source returns the batches to train on, for a train.Plan. If one batch has all rows, they come in
// their own order. Otherwise each epoch has another order, which depends on the seed and the epoch
// alone, and the rows that are too few for a last batch come first in the next epoch; see data.Cut.
func (f *Fitted) Source(seed uint64) (data.Source, error) {
	part, err := f.part(func(f *Fitted) []int { return f.train })
	if err != nil {
		return nil, err
	}
	if f.batch == part.Rows() {
		return data.InOrder(part, f.batch), nil
	}
	return data.Shuffled(part, f.batch, seed, data.CarryOver()), nil
}

// Held returns the rows held out, in their order, for train.Trainer.Evaluate; those to train on if
// none are held out. If the model takes only a fixed number of rows, the rows that are too few for
// a last batch are left out.
func (f *Fitted) Held() (data.Source, error) {
	part, err := f.part((*Fitted).measured)
	if err != nil {
		return nil, err
	}
	if f.rows == "" { // the model takes no other number of rows
		return data.InOrder(part, f.batch, data.DropLast()), nil
	}
	return data.InOrder(part, max(f.batch, min(part.Rows(), AllRows))), nil
}

func (f *Fitted) part(rows func(f *Fitted) []int) (*data.Set, error) {
	if f == nil || len(f.values) == 0 {
		return nil, errNotFitted
	}
	set, err := f.set(f.dt)
	if err != nil {
		return nil, err
	}
	return set.Subset(rows(f))
}
