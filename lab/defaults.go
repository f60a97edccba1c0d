package lab

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// The default numbers of steps of a training: on a model's own examples, and of a clustering on a
// table, which converges within them.
const (
	OwnSteps        = 200
	ClusteringSteps = 1000
)

// DefaultK returns the default number of clusters for a table: that of the classes of its labels,
// or 3 if there are fewer than two.
func DefaultK(t *data.Table) int {
	if t != nil {
		if classes := len(t.Classes()); classes > 1 {
			return classes
		}
	}
	return 3
}

// InRange returns an error if the squared distances between rows of a table overflow or vanish. No
// clustering can be trained on such a table, and it has no [DefaultRate]. A table without rows is
// in range.
func InRange(t *data.Table) error {
	if t == nil || t.Rows() == 0 {
		return nil
	}
	if s := Scale(t); math.IsInf(s, 0) || math.IsNaN(s) {
		return fmt.Errorf("%s: squared distances overflow: rescale numbers as large as %.3g", t.Name, largest(t.X))
	}
	if most := largest(t.X); most < 1e-140 && distinct(t, 2) > 1 {
		return fmt.Errorf("%s: squared distances vanish: rescale numbers as small as %.3g", t.Name, most)
	}
	return nil
}

// setDefault sets a number that is 0.
func setDefault(v *int, to int) {
	if *v == 0 {
		*v = to
	}
}

// DefaultRate returns the default rate of Adam for the centres of a table of d columns: 0.05·s/√d
// with s its [Scale], which is a twentieth of the scale per feature. It is 0 for a table without
// rows.
func DefaultRate(t *data.Table) float64 {
	if t.Rows() == 0 {
		return 0
	}
	return 0.05 * Scale(t) / math.Sqrt(float64(len(t.Columns)))
}

// Falling returns the default schedule of the learning rate of clusterings: it keeps the rate for a
// quarter of the steps and then lets it fall to 0 along half a cosine. At a constant rate Adam does
// not come to rest where a loss is steep.
func Falling(rate float64, steps int) train.Schedule {
	hold := steps / 4
	return train.Hold(hold, train.Cosine(rate, steps-hold))
}

// rate returns the schedule of the rate of a step that the optimiser added to a graph: Rate, or
// [Falling] from the rate of the optimiser; the zero value where the rate is constant, the step has
// none, or the optimiser finds the length of its steps itself.
func (c Config) rate(g *graph.Graph, o train.Optimiser, steps int) train.Schedule {
	rate := o.Rate(g)
	switch {
	case rate == nil || c.Rate.IsZero() && !c.Falling:
		return train.Schedule{}
	case !c.Rate.IsZero():
		return c.Rate
	case o.Searches():
		return train.Schedule{}
	}
	v, _ := rate.Default()
	return Falling(v, steps)
}

// DefaultGamma returns the default schedule of the inverse temperature γ for k clusters of a table:
// it rises geometrically from 0.5·k/s² to 100·k/s², with s the [Scale] of the table, so that units
// of measurement do not matter. At first every point belongs to all centres almost alike, at the
// end almost wholly to the nearest. Training goes through the schedule in the first quarter of its
// steps, so that the objective does not change in the others.
func DefaultGamma(t *data.Table, k int) train.Schedule {
	s := Scale(t)
	unit := float64(k) / (s * s)
	return train.Geometric(0.5*unit, 100*unit)
}

// Annealing returns the default schedule of γ in a training of so many steps: that of [DefaultGamma] in
// the first quarter of them.
func Annealing(t *data.Table, k, steps int) train.Schedule {
	return train.Within(steps/4, DefaultGamma(t, k))
}

// SteadyGamma returns the inverse temperature γ for k clusters of a table where it does not change:
// 5·k/s², with s the [Scale] of the table. At it most points belong to one centre, and those half
// way between two belong to both.
func SteadyGamma(t *data.Table, k int) float64 {
	s := Scale(t)
	return 5 * float64(k) / (s * s)
}

// distinct counts the different rows of a table, up to enough.
func distinct(t *data.Table, enough int) int {
	seen := map[string]bool{}
	var key []byte
	for i := 0; i < t.Rows() && len(seen) < enough; i++ {
		key = key[:0]
		for _, v := range row(t, i) {
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v+0)) // −0 is 0
		}
		seen[string(key)] = true
	}
	return len(seen)
}

// largest returns the largest absolute value.
func largest(v []float64) (most float64) {
	for _, x := range v {
		most = math.Max(most, math.Abs(x))
	}
	return most
}
