package lab

import (
	"context"
	"fmt"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
)

// Held measures centres of a clustering on rows that were held out of its training. It may be used
// by one goroutine at a time.
type Held struct {
	model *builders.Model
	store *tape.Store
	vm    *tape.VM
	feed  tape.Feed
	rows  *data.Table
}

// Held returns what measures the named clustering on a table with the columns of the one that it is
// trained on. Close it when it is done.
func (c Config) Held(ctx context.Context, name string, rows *data.Table) (*Held, error) {
	c.Objectives = []string{name}
	c, err := c.forCluster()
	if err != nil {
		return nil, err
	}
	if rows.Rows() == 0 || len(rows.Columns) != len(c.Table.Columns) {
		return nil, fmt.Errorf("%s: want rows of %d features to measure on", name, len(c.Table.Columns))
	}
	b, err := c.Find(name)
	if err != nil {
		return nil, err
	}
	settings, err := ClusteringSettings(b, rows.Rows(), len(rows.Columns), c.K)
	if err != nil {
		return nil, err
	}
	m, err := b.Build(settings, c.DType)
	if err != nil {
		return nil, err
	}
	x, err := rows.Dense(dtype(c.DType))
	if err != nil {
		return nil, err
	}
	h := &Held{model: m, store: tape.NewStore(m.Graph), feed: tape.Feed{m.Points(): x}, rows: rows}
	if γ := m.Temperature(); γ != nil {
		h.feed[γ] = tape.Scalar(γ.DType(), c.gamma().At(c.Steps-1, c.Steps))
	}
	prog, err := tape.CompileContext(ctx, m.Graph, tape.Fetch(m.Loss))
	if err != nil {
		return nil, err
	}
	h.vm, err = prog.NewVM(h.store)
	return h, err
}

// Close frees the memory of the measuring.
func (h *Held) Close() {
	if h != nil && h.vm != nil {
		h.vm.Close()
	}
}

// Measure returns the loss of centres, row-major [k d], at the temperature with which training ends,
// and the inertia of the hard assignment: the sum of the squared distances from the nearest centres.
func (h *Held) Measure(ctx context.Context, centres []float64) (metric.Scores, error) {
	if h == nil || h.vm == nil {
		return nil, errNilHeld
	}
	r := h.model.Centres()
	if err := h.store.Set(r.Path(), tape.Tensor(graph.Value{Type: r.Type(), Data: centres})); err != nil {
		return nil, err
	}
	if err := h.vm.Run(ctx, h.feed); err != nil {
		return nil, err
	}
	v, err := h.vm.Value(h.model.Loss)
	if err != nil {
		return nil, err
	}
	_, inertia, err := Assign(ctx, h.rows.X, centres, len(h.rows.Columns))
	return metric.Scores{{Name: "loss", Value: float64s(v)[0]}, {Name: "inertia", Value: inertia}}, err
}

// Stored measures the centres of a store.
func (h *Held) Stored(ctx context.Context, s *tape.Store) (metric.Scores, error) {
	if h == nil || h.vm == nil {
		return nil, errNilHeld
	}
	v, err := s.Get(h.model.Centres().Path())
	if err != nil {
		return nil, err
	}
	return h.Measure(ctx, float64s(v))
}
