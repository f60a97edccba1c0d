package lab

import (
	"context"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
)

// HeldOut measures the centres of a clustering on rows that were held out of its training. One
// goroutine may use it at a time.
type HeldOut struct {
	model *builders.Model
	store *tape.Store
	vm    *tape.VM
	feed  tape.Feed
	rows  *data.Table
}

// HeldOut returns a HeldOut that measures the named clustering on Held. Call Close when it is no
// longer needed. A configuration without rows in Held is an error.
func (c Config) HeldOut(ctx context.Context, name string) (*HeldOut, error) {
	c.Objectives = []string{name}
	c, err := c.forCluster()
	if err != nil {
		return nil, err
	}
	rows := c.Held
	if rows.Rows() == 0 {
		return nil, fmt.Errorf("%s: there are no rows in Held to measure it on", name)
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
	h := &HeldOut{model: m, store: tape.NewStore(m.Graph), feed: tape.Feed{m.Points(): x}, rows: rows}
	if γ := m.Gamma(); γ != nil {
		h.feed[γ] = tape.Scalar(γ.DType(), c.gammaOf(m).At(c.Steps-1, c.Steps))
	}
	prog, err := tape.CompileContext(ctx, m.Graph, tape.Fetch(m.Loss))
	if err != nil {
		return nil, err
	}
	h.vm, err = prog.NewVM(h.store)
	return h, err
}

// Close frees the memory that measuring takes.
func (h *HeldOut) Close() {
	if h != nil && h.vm != nil {
		h.vm.Close()
	}
}

// Measure returns the loss of the centres, row-major [k d], at the last γ of training, and their
// inertia: the sum of the squared distances of the rows from the nearest centres.
func (h *HeldOut) Measure(ctx context.Context, centres []float64) (metric.Scores, error) {
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

// Stored measures the centres in a store, under the path that they have in the model, as
// [HeldOut.Measure] does.
func (h *HeldOut) Stored(ctx context.Context, s *tape.Store) (metric.Scores, error) {
	if h == nil || h.vm == nil {
		return nil, errNilHeld
	}
	v, err := s.Get(h.model.Centres().Path())
	if err != nil {
		return nil, err
	}
	return h.Measure(ctx, float64s(v))
}

// heldOut measures the final centres of every run on Held. It returns nil without such rows.
func (c Config) heldOut(ctx context.Context, v Clustering) ([]metric.Scores, error) {
	if c.Held == nil {
		return nil, nil
	}
	c.K = v.Model.Centres().Dim(0)
	h, err := c.HeldOut(ctx, v.Name)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	var out []metric.Scores
	for _, r := range v.Runs {
		if r.Diverged > 0 {
			out = append(out, metric.Scores{{Name: "loss", Value: math.NaN()}, {Name: "inertia", Value: math.Inf(1)}})
			continue
		}
		s, err := h.Measure(ctx, r.Centres())
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}
