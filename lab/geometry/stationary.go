package geometry

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/internal/table"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/tape"
	"gonum.org/v1/gonum/mat"
)

// StationaryConfig configures [Site.Stationary]. Zero values stand for the defaults.
type StationaryConfig struct {
	// Tolerance is the length of the gradient, relative to the largest that was met from any start,
	// up to which a point counts as stationary. The default is 1e-7.
	Tolerance float64
	// MaxSteps bounds the steps of a descent. The default is 1000.
	MaxSteps int
	Workers  int // goroutines; default GOMAXPROCS. The values are the same for any number
}

// StationaryPoints are places at which the gradient of a loss vanishes.
type StationaryPoints struct {
	Name      string
	Starts    int               // number of descents
	Tolerance float64           // of the length of the gradient
	Points    []StationaryPoint // by increasing loss
	Moving    int               // number of descents that ended where the gradient does not vanish
}

// StationaryPoint is one of them. Where the model has prototypes, points that differ by the order
// of the prototypes are one.
type StationaryPoint struct {
	At       []float64 // the parameter vector
	Loss     float64
	Gradient float64 // the length of the gradient
	// Eigenvalues of the Hessian, ascending: all of them up to [MostEigenvalues] parameters, and
	// otherwise the smallest and the largest.
	Eigenvalues []float64
	Starts      []int // that led here, increasing
}

// MostEigenvalues is the number of parameters up to which all eigenvalues of a Hessian are
// computed. Each parameter costs about two gradients.
const MostEigenvalues = 200

// Bends tells apart stationary points by the eigenvalues of the Hessian there.
type Bends int

const (
	Unknown Bends = iota // the second derivatives are not finite
	Minimum              // all eigenvalues are positive
	Flat                 // none is negative, some vanish: a minimum, or not, by higher derivatives
	Saddle               // some are negative, some are not
	Maximum              // all are negative
)

// String returns "unknown", "minimum", "flat", "saddle" or "maximum".
func (b Bends) String() string {
	return [...]string{"unknown", "minimum", "flat", "saddle", "maximum"}[min(max(int(b), 0), 4)]
}

// vanishing is the part of the largest eigenvalue up to which another counts as zero.
const vanishing = 1e-6

// Bends says how the loss bends at the point. An eigenvalue of at most a millionth of the largest
// magnitude counts as zero.
func (p StationaryPoint) Bends() Bends {
	if len(p.Eigenvalues) == 0 {
		return Unknown
	}
	least, most := p.Eigenvalues[0], p.Eigenvalues[len(p.Eigenvalues)-1]
	switch zero := vanishing * max(math.Abs(least), math.Abs(most)); {
	case least > zero:
		return Minimum
	case least >= -zero:
		return Flat
	case most < -zero:
		return Maximum
	}
	return Saddle
}

// Stationary descends from each of the start vectors until the gradient vanishes, and returns the
// different points that it comes to. The descent is by the method of Broyden, Fletcher, Goldfarb
// and Shanno; one of each group of ends that lie together is made more exact by Newton's method.
// Where a start is itself a stationary point it stays, so that saddles that are known can be given
// as starts. A model that draws random numbers has the draws of one step everywhere. A start that
// does not fit the parameters is an error. A descent that runs away is not; it counts as moving.
func (s Site) Stationary(ctx context.Context, c StationaryConfig, starts ...[]float64) (*StationaryPoints, error) {
	found, err := s.StationaryAlong(ctx, c, []map[string]float64{nil}, starts...)
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// StationaryAlong is [Site.Stationary] for each of several values of scalar inputs, which are named
// by path as in a [Stop].
func (s Site) StationaryAlong(ctx context.Context, c StationaryConfig, scalars []map[string]float64, starts ...[]float64) ([]*StationaryPoints, error) {
	o, err := s.objective()
	if err != nil {
		return nil, err
	}
	if len(starts) == 0 {
		return nil, fmt.Errorf("%s: there is no start to descend from", s.name())
	}
	if starts, err = o.path(starts); err != nil {
		return nil, err
	}
	c.Tolerance, c.MaxSteps = cmp.Or(c.Tolerance, 1e-7), cmp.Or(c.MaxSteps, 1000)
	if !(c.Tolerance > 0) || c.MaxSteps < 1 {
		return nil, fmt.Errorf("%s: stationary points want a positive tolerance and a positive number of steps", s.name())
	}
	d := descents{objective: o, config: c, starts: starts, same: o.sameness()}
	if err := d.compile(ctx); err != nil {
		return nil, err
	}
	progress := s.progress(len(starts)*len(scalars), s.name()+", stationary points")
	var out []*StationaryPoints
	for _, at := range scalars {
		found, err := d.at(ctx, at, progress)
		if err != nil {
			return nil, err
		}
		out = append(out, found)
	}
	return out, nil
}

// descents find the stationary points of one objective.
type descents struct {
	*objective
	config         StationaryConfig
	starts         [][]float64
	same           func(a, b []float64) bool // whether two vectors are one point
	slopes         []*graph.Node
	along, product []*graph.Node // a direction, and the product of the Hessian with it
	down, bends    *tape.Program // slopes; slopes and product
}

// compile compiles the programs. There is no product with the Hessian of many parameters.
func (d *descents) compile(ctx context.Context) (err error) {
	d.slopes = grad.OrZero(d.loss, d.inputs...)
	if d.down, err = d.objective.compile(ctx, append([]*graph.Node{d.loss}, d.slopes...)...); err != nil || d.size > MostEigenvalues {
		return err
	}
	for i, p := range d.inputs {
		d.along = append(d.along, d.graph.Input(fmt.Sprintf("direction %d", i), p.DType(), p.Shape().Axes()...))
	}
	d.product = grad.JVP(d.slopes, d.inputs, d.along)
	d.bends, err = d.objective.compile(ctx, slices.Concat([]*graph.Node{d.loss}, d.slopes, d.product)...)
	return err
}

// at finds the stationary points at some values of scalar inputs.
func (d *descents) at(ctx context.Context, scalars map[string]float64, progress *progress) (*StationaryPoints, error) {
	ends := make([]descent, len(d.starts))
	err := d.each(d.down, d.config.Workers, len(d.starts), progress, func(e *evaluator, i int) error {
		e.scalars(scalars)
		ends[i].e, ends[i].slopes = e, d.slopes
		return ends[i].from(ctx, d.starts[i], d.config.Tolerance/100, d.config.MaxSteps)
	})
	if err != nil {
		return nil, err
	}
	out := &StationaryPoints{Name: d.site.name(), Starts: len(d.starts)}
	for _, end := range ends {
		out.Tolerance = max(out.Tolerance, d.config.Tolerance*end.steepest)
	}
	for i, end := range ends {
		if !(end.now.gradient() <= out.Tolerance) {
			out.Moving++
			continue
		}
		out.add(d.same, StationaryPoint{At: end.now.at, Loss: end.now.loss, Gradient: end.now.gradient(), Starts: []int{i}})
	}
	if d.bends == nil {
		if err := out.extremes(ctx, d.objective, scalars); err != nil {
			return nil, err
		}
	} else {
		found := out.Points
		err := d.each(d.bends, d.config.Workers, len(found), d.site.progress(len(found), d.site.name()+", eigenvalues"), func(e *evaluator, i int) error {
			e.scalars(scalars)
			return found[i].sharpen(ctx, e, d)
		})
		if err != nil {
			return nil, err
		}
		out.Points = nil
		for _, p := range found {
			out.add(d.same, p)
		}
	}
	slices.SortStableFunc(out.Points, func(a, b StationaryPoint) int { return cmp.Compare(a.Loss, b.Loss) })
	return out, nil
}

// add adds a point, or its starts to those of the same point.
func (t *StationaryPoints) add(same func(a, b []float64) bool, p StationaryPoint) {
	for i := range t.Points {
		q := &t.Points[i]
		if same(q.At, p.At) {
			q.Starts = append(q.Starts, p.Starts...)
			slices.Sort(q.Starts)
			if p.Gradient < q.Gradient {
				q.At, q.Loss, q.Gradient = p.At, p.Loss, p.Gradient
			}
			return
		}
	}
	t.Points = append(t.Points, p)
}

// together is the distance, relative to the size of the vectors, up to which ends of descents are
// one point.
const together = 1e-3

// sameness returns whether two parameter vectors are the same point: nearer to each other than a
// thousandth of their size or, of prototypes, of the scale of the data, in the order that brings
// them nearest.
func (o *objective) sameness() func(a, b []float64) bool {
	p, err := o.site.prototypes()
	if err != nil {
		return func(a, b []float64) bool {
			return math.Sqrt(squaredDistance(a, b)) <= together*math.Sqrt(max(dot(a, a), dot(b, b), 1e-300))
		}
	}
	scale := 1.0
	if t, err := p.table(o); err == nil {
		scale = lab.Scale(t)
	}
	d := p.centres.Dim(1)
	return func(a, b []float64) bool {
		ordered, from, to := slices.Clone(b), p.of(a), p.of(b)
		for j, k := range lab.Match(from, to, d) {
			copy(ordered[p.offset+j*d:], to[k*d:(k+1)*d])
		}
		return math.Sqrt(squaredDistance(a, ordered)) <= together*scale*math.Sqrt(float64(p.centres.Dim(0)))
	}
}

// extremes computes the smallest and the largest eigenvalue at every point.
func (t *StationaryPoints) extremes(ctx context.Context, o *objective, scalars map[string]float64) error {
	for i := range t.Points {
		s := o.site
		s.Store, s.Feed = s.Store.Clone(), maps.Clone(s.Feed)
		for n := range o.copies {
			if v, named := scalars[n.Path()]; named && n.Role() == graph.RoleInput && n.Rank() == 0 {
				s.Feed[n] = tape.Scalar(n.DType(), v)
			}
		}
		if err := s.place(t.Points[i].At); err != nil {
			return err
		}
		c, err := s.Curvature(ctx, CurvatureConfig{})
		if err != nil {
			return err
		}
		t.Points[i].Eigenvalues = []float64{c.Smallest.Value, c.Largest.Value}
	}
	return nil
}

// sharpen takes steps of Newton's method while they make the gradient smaller, and computes the
// eigenvalues where that ends.
func (p *StationaryPoint) sharpen(ctx context.Context, e *evaluator, d *descents) error {
	n, fetched := len(p.At), slices.Concat([]*graph.Node{d.loss}, d.slopes, d.product)
	look := func(at []float64) (loss float64, slope []float64, hessian *mat.SymDense, err error) {
		hessian = mat.NewSymDense(n, nil)
		direction := make([]float64, n)
		for column := range n {
			direction[column] = 1
			e.set(d.along, direction)
			direction[column] = 0
			v, err := e.at(ctx, at, fetched...)
			if err != nil {
				return 0, nil, nil, err
			}
			loss, slope = v[0], v[1:1+n]
			for row := range column + 1 {
				hessian.SetSym(row, column, v[1+n+row])
			}
		}
		if !allWithin(hessian.RawSymmetric().Data, math.MaxFloat64) {
			hessian = nil
		}
		return loss, slope, hessian, nil
	}
	loss, slope, hessian, err := look(p.At)
	if err != nil || hessian == nil {
		return err
	}
	for range 5 {
		var eigen mat.EigenSym
		if !eigen.Factorize(hessian, true) {
			return fmt.Errorf("%s: the eigenvalues of the Hessian do not converge", e.objective.site.name())
		}
		p.Eigenvalues = eigen.Values(nil)
		p.Loss, p.Gradient = loss, math.Sqrt(dot(slope, slope))
		next := newton(&eigen, p.At, slope)
		if next == nil {
			return nil
		}
		if loss, slope, hessian, err = look(next); err != nil {
			return err
		}
		if after := math.Sqrt(dot(slope, slope)); hessian == nil || !(after < p.Gradient/2) {
			return nil
		}
		p.At = next
	}
	return nil
}

// newton returns at − H⁻¹·slope, where directions in which H vanishes are left alone; nil if
// nothing would move.
func newton(eigen *mat.EigenSym, at, slope []float64) []float64 {
	values := eigen.Values(nil)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	largest := max(math.Abs(values[0]), math.Abs(values[len(values)-1]))
	next, moved := slices.Clone(at), false
	for k, λ := range values {
		if !(math.Abs(λ) > vanishing*largest) {
			continue
		}
		v := mat.Col(nil, k, &vectors)
		if by := -dot(v, slope) / λ; by != 0 {
			axpy(next, by, v)
			moved = true
		}
	}
	if !moved {
		return nil
	}
	return next
}

// String returns a table with one line per point: its loss, how it bends, its extreme eigenvalues
// and the share of the starts that led there.
func (t *StationaryPoints) String() string {
	rows := [][]string{{t.Name, "loss", "gradient", "eigenvalues from", "to", "is a", "starts"}}
	for i, p := range t.Points {
		least, most := math.NaN(), math.NaN()
		if n := len(p.Eigenvalues); n > 0 {
			least, most = p.Eigenvalues[0], p.Eigenvalues[n-1]
		}
		rows = append(rows, []string{fmt.Sprint("  point ", i+1), table.Number(p.Loss, 7), table.Number(p.Gradient, 2),
			numberText(least), numberText(most), p.Bends().String(), fmt.Sprintf("%d of %d", len(p.Starts), t.Starts)})
	}
	out := table.Lines("  ", rows)
	if t.Moving > 0 {
		out += fmt.Sprintf("  from %s the descent ended where the gradient does not vanish\n", plural.Count(t.Moving, "start"))
	}
	return out
}
