package geometry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/table"
	"github.com/tapestry-ml/tapestry/lab/linear"
	"github.com/tapestry-ml/tapestry/train/data"
)

// FieldConfig configures [Field]. Zero values stand for the defaults.
type FieldConfig struct {
	Prototype int // the one that is moved, from 0
	Cells     int // along each axis, 2 or more; default 37
	Workers   int // goroutines; default GOMAXPROCS. The values are the same for any number
}

// GradientField has the gradients of objectives by one prototype, which is moved over a grid in a
// plane while the other prototypes stay. With points of two features the plane is that of the
// features. With more it is that of the points' first two principal components, and the prototype
// keeps its offset from the plane.
type GradientField struct {
	Prototype int
	Plane     *linear.Plane
	Principal bool         // the axes are principal components, not features
	A, B      []float64    // [cells]: coordinates of the cells along the two axes
	Points    [][2]float64 // of the first site, in the plane
	Fields    []ObjectiveField
}

// ObjectiveField is the field of one objective.
type ObjectiveField struct {
	Name    string
	Centres [][2]float64   // [j]: all prototypes of the site, in the plane
	Loss    [][]float64    // Loss[j][i] with the prototype at A[i], B[j]
	Down    [][][2]float64 // [j][i]: the negative gradient by the prototype, in the plane
}

// Field moves one prototype of each site over a common grid, which covers the points of the first
// site and all prototypes. The sites must have parameters that agree in path and type, prototypes
// (see [Site.HasPrototypes]) and points of two features or more; it is an error if they do not, if
// the configuration is out of range, if points or prototypes are not finite, and if all of them
// coincide. Losses and gradients that are not finite are kept as they come.
func Field(ctx context.Context, c FieldConfig, sites ...Site) (*GradientField, error) {
	all, err := objectives(sites)
	if err != nil {
		return nil, err
	}
	c.Cells = cmp.Or(c.Cells, 37)
	out := &GradientField{Prototype: c.Prototype}
	var found []prototypes
	var vectors [][]float64
	for i, o := range all {
		p, err := o.site.prototypes()
		if err != nil {
			return nil, err
		}
		here, err := o.here()
		if err != nil {
			return nil, err
		}
		k, d := p.centres.Dim(0), p.centres.Dim(1)
		switch {
		case c.Cells < 2 || c.Prototype < 0 || c.Prototype >= k:
			return nil, fmt.Errorf("field: prototype %d of %d, %d cells: want one that is there, and 2 or more", c.Prototype, k, c.Cells)
		case d < 2:
			return nil, fmt.Errorf("field: %s has points of one feature: want two or more", o.site.name())
		}
		if i == 0 {
			t, err := p.table(o)
			if err != nil {
				return nil, err
			}
			if out.Plane, out.Principal, err = fieldPlane(t); err != nil {
				return nil, err
			}
			out.Points = out.Plane.Points(t.X)
		}
		centres := p.of(here)
		if !allWithin(centres, squarable) {
			return nil, fmt.Errorf("%s: the prototypes are not finite", o.site.name())
		}
		found, vectors = append(found, p), append(vectors, here)
		out.Fields = append(out.Fields, ObjectiveField{Name: o.site.name(), Centres: out.Plane.Points(centres)})
	}
	x, y := interval{math.Inf(1), math.Inf(-1)}, interval{math.Inf(1), math.Inf(-1)}
	for _, f := range out.Fields {
		for _, p := range append(out.Points[:len(out.Points):len(out.Points)], f.Centres...) {
			x, y = x.with(p[0]), y.with(p[1])
		}
	}
	if !(x.hi > x.lo || y.hi > y.lo) {
		return nil, errors.New("field: all points and prototypes are at one place")
	}
	out.A, out.B = x.cells(y, c.Cells), y.cells(x, c.Cells)
	progress := sites[0].progress(c.Cells*c.Cells*len(all), "field")
	for i, o := range all {
		if err := out.fill(ctx, &out.Fields[i], o, found[i], vectors[i], c.Workers, progress); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// fieldPlane returns the plane of the two features, or the principal plane of more.
func fieldPlane(t *data.Table) (p *linear.Plane, principal bool, err error) {
	if len(t.Columns) == 2 {
		return &linear.Plane{Mean: []float64{0, 0}, Axes: [2][]float64{{1, 0}, {0, 1}}, Share: [2]float64{math.NaN(), math.NaN()}}, false, nil
	}
	p, err = linear.NewPlane(t)
	return p, true, err
}

// fill evaluates the loss and its gradient by the prototype at every cell.
func (f *GradientField) fill(ctx context.Context, field *ObjectiveField, o *objective, p prototypes, here []float64, workers int, progress *progress) error {
	down := grad.OrZero(o.loss, o.copies[p.centres])[0]
	prog, err := o.compile(ctx, o.loss, down)
	if err != nil {
		return err
	}
	n, d := len(f.A), p.centres.Dim(1)
	for range n {
		field.Loss, field.Down = append(field.Loss, make([]float64, n)), append(field.Down, make([][2]float64, n))
	}
	from := field.Centres[f.Prototype]
	row := p.offset + f.Prototype*d
	return o.each(prog, workers, n*n, progress, func(e *evaluator, cell int) error {
		i, j := cell%n, cell/n
		at := append([]float64{}, here...)
		for k := range d {
			at[row+k] += (f.A[i]-from[0])*f.Plane.Axes[0][k] + (f.B[j]-from[1])*f.Plane.Axes[1][k]
		}
		v, err := e.at(ctx, at, o.loss, down)
		if err != nil {
			return err
		}
		field.Loss[j][i] = v[0]
		part := v[1+f.Prototype*d : 1+(f.Prototype+1)*d]
		field.Down[j][i] = [2]float64{-dot(part, f.Plane.Axes[0]), -dot(part, f.Plane.Axes[1])}
		return nil
	})
}

// interval is a range of coordinates.
type interval struct{ lo, hi float64 }

func (s interval) with(v float64) interval { return interval{min(s.lo, v), max(s.hi, v)} }

// cells returns n evenly spaced coordinates over the interval, with a tenth of its width to spare
// on either side. The width is at least a fifth of the other interval's.
func (s interval) cells(other interval, n int) []float64 {
	mid, half := s.lo+(s.hi-s.lo)/2, 0.6*max(s.hi-s.lo, (other.hi-other.lo)/5)
	out := make([]float64, n)
	for i := range out {
		out[i] = mid - half + 2*half*float64(i)/float64(n-1)
	}
	return out
}

// Joining returns the share of cells at which an objective pulls the prototype towards the nearest
// other one, from 0 to 1. Cells without a finite gradient do not count. It is NaN for a single
// prototype and for an index out of range.
func (f *GradientField) Joining(objective int) float64 {
	if objective < 0 || objective >= len(f.Fields) {
		return math.NaN()
	}
	field := f.Fields[objective]
	joining, cells := 0.0, 0.0
	for j, row := range field.Down {
		for i, v := range row {
			_, to := f.nearestOther(field, f.A[i], f.B[j])
			if pull := v[0]*to[0] + v[1]*to[1]; !math.IsNaN(pull) && !math.IsInf(pull, 0) {
				cells++
				if pull > 0 {
					joining++
				}
			}
		}
	}
	return joining / cells
}

// nearestOther returns the distance and the direction from (a, b) to the nearest prototype that is
// not moved; NaN if there is none.
func (f *GradientField) nearestOther(field ObjectiveField, a, b float64) (distance float64, to [2]float64) {
	distance, to = math.NaN(), [2]float64{math.NaN(), math.NaN()}
	for k, c := range field.Centres {
		if k != f.Prototype {
			if l := math.Hypot(c[0]-a, c[1]-b); !(l >= distance) {
				distance, to = l, [2]float64{c[0] - a, c[1] - b}
			}
		}
	}
	return distance, to
}

// Lowest returns the cell with the least finite loss of an objective, by its coordinates. It
// reports false if no loss is finite, and for an index out of range.
func (f *GradientField) Lowest(objective int) (a, b, loss float64, ok bool) {
	if objective < 0 || objective >= len(f.Fields) {
		return 0, 0, 0, false
	}
	return lowest(f.A, f.B, f.Fields[objective].Loss)
}

// String returns a table with one line per objective: where the prototype is, and where its loss
// would be least.
func (f *GradientField) String() string {
	n := len(f.A)
	s := fmt.Sprintf("prototype %d moved over %d × %d places of the plane of ", f.Prototype+1, n, n)
	if f.Principal {
		s += fmt.Sprintf("the data's principal components (%.0f %% of the variance)\n", 100*(f.Plane.Share[0]+f.Plane.Share[1]))
	} else {
		s += "the two features\n"
	}
	rows := [][]string{{"", "it is at", " lowest loss", "there at", " to the nearest other", "pulled to it"}}
	for i, o := range f.Fields {
		c := o.Centres[f.Prototype]
		row := []string{o.Name, pairText(c[0], c[1]), "-", "", "-", "-"}
		if a, b, v, ok := f.Lowest(i); ok {
			distance, _ := f.nearestOther(o, a, b)
			row[2], row[3], row[4] = numberText(v), pairText(a, b), numberText(distance)
		}
		if part := f.Joining(i); !math.IsNaN(part) {
			row[5] = fmt.Sprintf("from %.0f %% of the places", 100*part)
		}
		rows = append(rows, row)
	}
	return s + table.Lines("  ", rows)
}
