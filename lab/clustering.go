package lab

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
)

// Variant returns the named clustering, sized for the Table, for [Compare] and [Config.Task].
func (c Config) Variant(name string) Variant {
	return Variant{name, func(dt graph.DType) (*builders.Model, error) {
		c, err := c.clustering()
		if err != nil {
			return nil, err
		}
		return c.build(name, c.K, dt)
	}}
}

// build makes a clustering sized for the Table.
func (c Config) build(name string, k int, dt graph.DType) (*builders.Model, error) {
	b, err := c.Find(name)
	if err != nil {
		return nil, err
	}
	if c.AsNotes {
		b = b.ByNotes()
	}
	n := c.Table.Rows()
	settings, err := ClusteringSettings(b, n, len(c.Table.Columns), k)
	if err != nil {
		return nil, err
	}
	m, err := b.Build(settings, dt)
	if batch := c.BatchOf(b); err == nil && batch < n && !m.OwnStep() {
		points, _, _ := SizeNames(m)
		settings[points] = float64(batch)
		return b.Build(settings, dt)
	}
	return m, err
}

// pointBatch is the default number of rows of a step of SGD on the nearest centre.
const pointBatch = 16

// BatchOf returns how many rows of the Table a step of a clustering takes: Batch, or what AsNotes says
// of it, or the default of Batch. It is 0 without a Table.
func (c Config) BatchOf(b builders.Builder) int {
	n := c.Table.Rows()
	switch {
	case n == 0:
		return 0
	case c.Batch > 0:
		return min(c.Batch, n)
	case c.AsNotes && b.AsNotes.Batch > 0:
		return min(b.AsNotes.Batch, n)
	case b.Batched():
		return min(pointBatch, n)
	}
	return n
}

// ClusteringSettings returns the settings that give a clustering n points of d features and k
// centres; see [SizeNames]. A model that is no clustering is an error, whatever its settings are
// called.
func ClusteringSettings(b builders.Builder, n, d, k int) (builders.Settings, error) {
	m, err := b.Build(nil, graph.F64)
	if err != nil {
		return nil, err
	}
	if m.Centres() == nil {
		return nil, fmt.Errorf("%s is no clustering: it has no centres", b.Name)
	}
	points, features, centres := SizeNames(m)
	return builders.Settings{points: float64(n), features: float64(d), centres: float64(k)}, nil
}

// SizeNames returns the names of the settings for the numbers of points, features and centres of a
// clustering: n, d and k where its builder has these, and otherwise the names of the axes. They are
// "" for a model that is no clustering.
func SizeNames(m *builders.Model) (points, features, centres string) {
	if m == nil || m.Centres() == nil {
		return "", "", ""
	}
	name := func(usual string, axis graph.Axis) string {
		if slices.ContainsFunc(m.Builder.Hyperparameters, func(z builders.Hyperparameter) bool { return z.Name == usual }) {
			return usual
		}
		return axis.Name
	}
	x, r := m.Points().Shape(), m.Centres().Shape()
	return name("n", x.Axis(0)), name("d", x.Axis(1)), name("k", r.Axis(0))
}

// start returns the centres that training from a seed begins with, row-major [k d].
func (c Config) start(k int, seed uint64) []float64 {
	if c.Start == StartGiven && len(c.Given) == k*len(c.Table.Columns) {
		return c.Given
	}
	return Centres(c.Table, k, c.Start, seed)
}

// centresOf returns what a model learns that starts at rows of d features, or nil.
func centresOf(m *builders.Model, d int) *graph.Node {
	for _, n := range m.Graph.Leaves(graph.RoleParam, graph.RoleState) {
		if _, starts := n.Initialiser().Input(); starts && n.Rank() == 2 && n.Dim(1) == d {
			return n
		}
	}
	return nil
}

// centres returns the centres that training a model from a seed begins with, by path.
func (c Config) centres(m *builders.Model, seed uint64) map[string]graph.Value {
	r := centresOf(m, len(c.Table.Columns))
	if r == nil {
		return nil
	}
	return map[string]graph.Value{r.Path(): {Type: r.Type(), Data: c.start(r.Dim(0), seed)}}
}

// mostSilhouette is the largest number of rows for which silhouettes are measured. Their time is
// quadratic.
const mostSilhouette = 2000

// probes returns the probes that measure centres on the Table and on Held.
func (c Config) probes() []Probe {
	d := len(c.Table.Columns)
	measured := func(name string, on *data.Table, higher bool, measure func(nearest []int, inertia float64) (float64, error)) Probe {
		p := ProbeFunc(name, func(m *builders.Model, final *tape.Store) (float64, error) {
			r := centresOf(m, d)
			if r == nil {
				return math.NaN(), nil
			}
			t, err := final.Get(r.Path())
			if err != nil {
				return math.NaN(), err
			}
			nearest, inertia, err := Assign(context.Background(), on.X, float64s(t), d)
			if err != nil {
				return math.NaN(), err
			}
			return measure(nearest, inertia)
		})
		p.Higher, p.needs = higher, "centres"
		return p
	}
	inertia := func(_ []int, inertia float64) (float64, error) { return inertia, nil }
	out := []Probe{measured("inertia", c.Table, false, inertia)}
	if c.Held != nil {
		out = append(out, measured("held inertia", c.Held, false, inertia))
	}
	if len(c.Table.Labels) > 0 {
		codes, _ := data.Codes(c.Table.Labels)
		out = append(out, measured("ARI", c.Table, true, func(nearest []int, _ float64) (float64, error) { return metric.AdjustedRand(codes, nearest) }))
	}
	if c.Table.Rows() <= mostSilhouette {
		out = append(out, measured("silhouette", c.Table, true, func(nearest []int, _ float64) (float64, error) { return Silhouette(c.Table, nearest) }))
	}
	return out
}
