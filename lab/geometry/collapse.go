package geometry

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/lab/linear"
	"github.com/tapestry-ml/tapestry/train/data"
)

// Collapse tells how far the prototypes of an objective have merged along a path.
type Collapse struct {
	Name  string
	K     int     // prototypes
	Scale float64 // of the data, in units of the features; see [lab.Scale]
	Steps []CollapseStep
}

// CollapseStep measures the prototypes at one step of a path. Distances are in units of the data's
// scale.
type CollapseStep struct {
	Closest  float64 // the least distance between two prototypes; NaN for a single one
	Distance float64 // the mean distance over all pairs; NaN for a single prototype
	Distinct int     // groups of prototypes that coincide; see [lab.Coinciding]
	// Directions is the effective number of directions in which the prototypes differ: the
	// exponential of the entropy of their variances along their principal axes, after the effective
	// rank of Roy & Vetterli (2007). It is at most k−1 for k prototypes, and 0 where all coincide.
	Directions float64
	// Used is the effective number of prototypes in use: the exponential of the entropy of the mean
	// assignment α over the points; NaN without α. UsedHard is the same with every point assigned
	// to its nearest prototype.
	Used, UsedHard float64
	Dead           int // prototypes that are nearest to no point
}

// Collapse measures the prototypes at every parameter vector of a path, such as
// [Trajectory.Path]. A nil path stands for the parameters of the site. A model without prototypes
// (see [Site.HasPrototypes]), a vector that does not fit the parameters, and points or prototypes
// that are not finite are errors.
func (s Site) Collapse(ctx context.Context, path [][]float64) (*Collapse, error) {
	p, err := s.prototypes()
	if err != nil {
		return nil, err
	}
	var others []*graph.Node
	if p.assignment != nil {
		others = append(others, p.assignment)
	}
	o, err := s.objective(others...)
	if err != nil {
		return nil, err
	}
	if path, err = o.path(path); err != nil {
		return nil, err
	}
	t, err := p.table(o)
	if err != nil {
		return nil, err
	}
	out := &Collapse{Name: s.name(), K: p.centres.Dim(0), Scale: lab.Scale(t), Steps: make([]CollapseStep, len(path))}
	for i, at := range path {
		if out.Steps[i], err = collapseAt(t, p.of(at), out.Scale); err != nil {
			return nil, fmt.Errorf("%s, step %d: %w", s.name(), i, err)
		}
	}
	if p.assignment == nil {
		return out, nil
	}
	α := o.copies[p.assignment]
	prog, err := o.compile(ctx, α)
	if err != nil {
		return nil, err
	}
	return out, o.each(prog, 0, len(path), s.progress(len(path), s.name()+", collapse"), func(e *evaluator, i int) error {
		v, err := e.at(ctx, path[i], α)
		if err != nil {
			return err
		}
		shares := make([]float64, out.K)
		for k, a := range v {
			shares[k%out.K] += a
		}
		out.Steps[i].Used = effective(shares)
		return nil
	})
}

// collapseAt measures all but Used of prototypes, row-major [k d].
func collapseAt(t *data.Table, centres []float64, scale float64) (CollapseStep, error) {
	d := len(t.Columns)
	k := len(centres) / d
	s := CollapseStep{Closest: math.NaN(), Distance: math.NaN(), Used: math.NaN()}
	if !allWithin(centres, squarable) {
		return s, errors.New("the prototypes are not finite, or too large to be squared")
	}
	at := func(j int) []float64 { return centres[j*d : (j+1)*d] }
	sum, pairs := 0.0, 0
	for a := range k {
		for b := range a {
			far := math.Sqrt(squaredDistance(at(a), at(b))) / scale
			if pairs == 0 || far < s.Closest {
				s.Closest = far
			}
			sum, pairs = sum+far, pairs+1
		}
	}
	if pairs > 0 {
		s.Distance = sum / float64(pairs)
	}
	groups := map[int]bool{}
	for _, g := range lab.Coinciding(centres, k, scale) {
		groups[g] = true
	}
	s.Distinct = len(groups)
	pca, err := linear.NewPCA(&data.Table{Columns: t.Columns, X: centres})
	if err != nil {
		return s, err
	}
	if pca.Residual(0) > 1e-10*scale*scale { // otherwise rounding would have directions
		s.Directions = effective(pca.Variance)
	}
	counts := make([]float64, k)
	for i := range t.Rows() {
		x, nearest := t.X[i*d:(i+1)*d], 0
		for j := range k {
			if squaredDistance(x, at(j)) < squaredDistance(x, at(nearest)) {
				nearest = j
			}
		}
		counts[nearest]++
	}
	for _, n := range counts {
		if n == 0 {
			s.Dead++
		}
	}
	s.UsedHard = effective(counts)
	return s, nil
}

// effective returns the exponential of the entropy of shares: n for n equal shares, 1 where a
// single one is not zero, and NaN where all are zero.
func effective(shares []float64) float64 {
	total, entropy := 0.0, 0.0
	for _, v := range shares {
		total += v
	}
	for _, v := range shares {
		if p := v / total; p > 0 {
			entropy -= p * math.Log(p)
		}
	}
	if !(total > 0) {
		return math.NaN()
	}
	return math.Exp(entropy)
}

// String returns a table with one line per measure and up to five steps.
func (c *Collapse) String() string {
	out := newPathTable(fmt.Sprintf("%s, %d prototypes", c.Name, c.K), len(c.Steps))
	add := func(name string, value func(s CollapseStep) string) {
		out.add(name, func(step int) string { return value(c.Steps[step]) })
	}
	add("closest two / scale", func(s CollapseStep) string { return numberText(s.Closest) })
	add("mean distance / scale", func(s CollapseStep) string { return numberText(s.Distance) })
	add("distinct", func(s CollapseStep) string { return fmt.Sprint(s.Distinct) })
	add("directions", func(s CollapseStep) string { return numberText(s.Directions) })
	add("used, by α", func(s CollapseStep) string { return numberText(s.Used) })
	add("used, by nearest", func(s CollapseStep) string { return numberText(s.UsedHard) })
	add("dead", func(s CollapseStep) string { return fmt.Sprint(s.Dead) })
	return out.String()
}
