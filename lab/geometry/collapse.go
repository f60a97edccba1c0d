package geometry

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/table"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train/data"
)

// Collapse tells how far the prototypes of an objective have become one along a training.
type Collapse struct {
	Name  string
	K     int     // prototypes
	Scale float64 // of the data: the root mean squared distance of a point from the mean
	Steps []CollapseStep
}

// CollapseStep is one place of the path. Distances are in units of the data's scale.
type CollapseStep struct {
	Closest  float64 // the least distance of two prototypes; NaN for a single one
	Distance float64 // the mean over all pairs
	Distinct int     // groups of prototypes, those nearer than a hundredth of the scale being one
	// Directions is the effective number of directions in which the prototypes differ: the
	// exponential of the entropy of their squared singular values, less their mean. Of k
	// prototypes it is at most k−1, and 0 where all are one.
	Directions float64
	// Used is the effective number of prototypes in use, the exponential of the entropy of the
	// mean assignment α over the points; NaN without α. UsedHard is the same for each point's
	// nearest prototype.
	Used, UsedHard float64
	Dead           int // prototypes that are nearest to no point
}

// prototypes are what the objective is about.
type prototypes struct {
	points, centres, assignment *graph.Node
	offset                      int // of the centres among all parameters
}

// prototypes finds points x[i d] and prototypes r[j d]: those of a clustering, or an input
// and a parameter of two axes of which they share the second. An assignment is the node
// named α or alpha, if it is [i j].
func (s Site) prototypes() (p prototypes, err error) {
	params, err := s.parameters()
	if err != nil {
		return p, err
	}
	if k := s.Model.KMeans; k != nil {
		p = prototypes{points: k.Points, centres: k.Centres, assignment: k.Alpha}
	} else if p, err = s.alike(params); err != nil {
		return p, err
	}
	for _, name := range []string{"α", "alpha"} {
		n := s.Model.Graph.Lookup(name)
		if p.assignment == nil && n != nil && n.Rank() == 2 && n.Dim(0) == p.points.Dim(0) && n.Dim(1) == p.centres.Dim(0) && s.Model.Loss.DependsOn(n) {
			p.assignment = n
		}
	}
	return p, nil
}

// alike finds an input and a parameter of two axes that share the second.
func (s Site) alike(params []*graph.Node) (p prototypes, err error) {
	offset := 0
	for _, r := range params {
		for _, x := range graph.Reachable(s.Model.Loss) {
			if x.Role() != graph.RoleInput || x.Rank() != 2 || r.Rank() != 2 || !x.DType().IsFloat() {
				continue
			}
			if a, b := x.Shape().Axis(1), r.Shape().Axis(1); a != b || a.Name == "" || x.Shape().Axis(0) == r.Shape().Axis(0) {
				continue
			}
			if p.centres != nil {
				return p, fmt.Errorf("%s: %s and %s could both be prototypes", s.name(), p.centres.Path(), r.Path())
			}
			p = prototypes{points: x, centres: r, offset: offset}
		}
		offset += r.Shape().Len()
	}
	if p.centres == nil {
		return p, fmt.Errorf("%s has no prototypes: no input [i d] and parameter [j d]", s.name())
	}
	return p, nil
}

// table is the data as fed.
func (p prototypes) table(g *ground) (*data.Table, error) {
	x, err := g.valueOf(p.points)
	if err != nil {
		return nil, err
	}
	if !allWithin(x, 1e150) {
		return nil, fmt.Errorf("%s: the points are not finite, or too large to be squared", g.site.name())
	}
	return &data.Table{Columns: make([]string, p.points.Dim(1)), X: x}, nil
}

// HasPrototypes reports whether [Site.Collapse] and [Field] can be asked.
func (s Site) HasPrototypes() bool {
	_, err := s.prototypes()
	return err == nil
}

// Collapse measures the prototypes at every place of a path, such as Trajectory.Path; without
// one, where the site is.
func (s Site) Collapse(ctx context.Context, path [][]float64) (*Collapse, error) {
	p, err := s.prototypes()
	if err != nil {
		return nil, err
	}
	var also []*graph.Node
	if p.assignment != nil {
		also = append(also, p.assignment)
	}
	g, err := s.ground(also...)
	if err != nil {
		return nil, err
	}
	if path == nil {
		here, err := g.here()
		if err != nil {
			return nil, err
		}
		path = [][]float64{here}
	}
	t, err := p.table(g)
	if err != nil {
		return nil, err
	}
	out := &Collapse{Name: s.name(), K: p.centres.Dim(0), Scale: lab.Scale(t), Steps: make([]CollapseStep, len(path))}
	for i, at := range path {
		if len(at) != g.size {
			return nil, fmt.Errorf("%s: step %d of the path has %d values, and the parameters have %d", s.name(), i, len(at), g.size)
		}
		centres := at[p.offset : p.offset+p.centres.Shape().Len()]
		if out.Steps[i], err = collapseAt(t, centres, out.Scale); err != nil {
			return nil, fmt.Errorf("%s, step %d: %w", s.name(), i, err)
		}
	}
	if p.assignment == nil {
		return out, nil
	}
	α := g.copies[p.assignment]
	prog, err := g.compile(ctx, α)
	if err != nil {
		return nil, err
	}
	return out, g.each(prog, 0, len(path), s.work(len(path), s.name()+", collapse"), func(r *runner, i int) error {
		if err := r.run(ctx, path[i]); err != nil {
			return err
		}
		v, err := r.values(α)
		if err != nil {
			return err
		}
		shares := make([]float64, out.K)
		for e, a := range v {
			shares[e%out.K] += a
		}
		out.Steps[i].Used = effective(shares)
		return nil
	})
}

// collapseAt measures prototypes, row-major [k d], without their assignment.
func collapseAt(t *data.Table, centres []float64, scale float64) (CollapseStep, error) {
	d := len(t.Columns)
	k := len(centres) / d
	s := CollapseStep{Closest: math.NaN(), Distance: math.NaN(), Used: math.NaN()}
	if !allWithin(centres, 1e150) {
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
	seen := map[int]bool{}
	for _, name := range lab.Coinciding(centres, k, scale) {
		seen[name] = true
	}
	s.Distinct = len(seen)
	pca, err := lab.NewPCA(&data.Table{Columns: t.Columns, X: centres})
	if err != nil {
		return s, err
	}
	if total := pca.Residual(0); total > 1e-10*scale*scale {
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

// effective is the exponential of the entropy of shares: n for n equal ones, 1 for a
// single one that is not zero.
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

// String is a table: up to five steps, a measure a line.
func (c *Collapse) String() string {
	at := milestones(len(c.Steps))
	head := []string{fmt.Sprintf("%s, %d prototypes", c.Name, c.K)}
	for _, i := range at {
		head = append(head, fmt.Sprintf("  step %d", i))
	}
	rows := [][]string{head}
	add := func(name string, of func(s CollapseStep) string) {
		line := []string{name}
		for _, i := range at {
			line = append(line, of(c.Steps[i]))
		}
		rows = append(rows, line)
	}
	add("closest two / scale", func(s CollapseStep) string { return numberText(s.Closest) })
	add("mean distance / scale", func(s CollapseStep) string { return numberText(s.Distance) })
	add("distinct", func(s CollapseStep) string { return fmt.Sprint(s.Distinct) })
	add("directions", func(s CollapseStep) string { return numberText(s.Directions) })
	add("used, by α", func(s CollapseStep) string { return numberText(s.Used) })
	add("used, by nearest", func(s CollapseStep) string { return numberText(s.UsedHard) })
	add("dead", func(s CollapseStep) string { return fmt.Sprint(s.Dead) })
	return table.Lines("  ", rows)
}
