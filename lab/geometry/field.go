package geometry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/table"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train/data"
)

// FieldConfig says which prototype is moved, and where. Zero values stand for the
// defaults.
type FieldConfig struct {
	Prototype int // from 0
	Cells     int // along each axis; default 37
	Workers   int // default: as many as Go uses cores; the values are the same for any number
}

// GradientField is where objectives pull one prototype from every place of a plane, while
// the others stay. The plane is that of the data for points of two features, and else that
// of the data's first two principal components, in which the prototype is moved from where
// it is, keeping what lies outside.
type GradientField struct {
	Prototype int
	Plane     *lab.Plane
	Principal bool // the axes are principal components, not features
	A, B      []float64
	Points    [][2]float64 // of the first site, in the plane
	Fields    []ObjectiveField
}

// ObjectiveField is that of one objective.
type ObjectiveField struct {
	Name    string
	Centres [][2]float64   // all prototypes in the plane, where they are
	Loss    [][]float64    // Loss[j][i] with the prototype at A[i], B[j]
	Down    [][][2]float64 // the negative gradient by the prototype, in the plane
}

// Field moves one prototype of each site over a common grid around points and prototypes.
// The sites must have equal parameters and prototypes ([Site.Collapse] says what these
// are), and points of two features or more.
func Field(ctx context.Context, c FieldConfig, sites ...Site) (*GradientField, error) {
	grounds, err := commonGround(sites)
	if err != nil {
		return nil, err
	}
	c.Cells = cmp.Or(c.Cells, 37)
	out := &GradientField{Prototype: c.Prototype}
	x, y := span{math.Inf(1), math.Inf(-1)}, span{math.Inf(1), math.Inf(-1)}
	var all []prototypes
	var places [][]float64
	for i, g := range grounds {
		p, err := g.site.prototypes()
		if err != nil {
			return nil, err
		}
		here, err := g.here()
		if err != nil {
			return nil, err
		}
		k, d := p.centres.Dim(0), p.centres.Dim(1)
		switch {
		case c.Cells < 2 || c.Prototype < 0 || c.Prototype >= k:
			return nil, fmt.Errorf("field: prototype %d of %d, %d cells: want one that is there, and 2 or more", c.Prototype, k, c.Cells)
		case d < 2:
			return nil, fmt.Errorf("field: %s has points of one feature: want two or more", g.site.name())
		}
		if i == 0 {
			t, err := p.table(g)
			if err != nil {
				return nil, err
			}
			if out.Plane, out.Principal, err = fieldPlane(t); err != nil {
				return nil, err
			}
			out.Points = out.Plane.Points(t.X)
		}
		centres := here[p.offset : p.offset+k*d]
		if !allWithin(centres, 1e150) {
			return nil, fmt.Errorf("%s: the prototypes are not finite", g.site.name())
		}
		all, places = append(all, p), append(places, here)
		out.Fields = append(out.Fields, ObjectiveField{Name: g.site.name(), Centres: out.Plane.Points(centres)})
	}
	for _, f := range out.Fields {
		for _, p := range append(out.Points[:len(out.Points):len(out.Points)], f.Centres...) {
			x, y = x.with(p[0]), y.with(p[1])
		}
	}
	if !(x.hi > x.lo || y.hi > y.lo) {
		return nil, errors.New("field: all points and prototypes are at one place")
	}
	out.A, out.B = x.places(y, c.Cells), y.places(x, c.Cells)
	work := sites[0].work(c.Cells*c.Cells*len(grounds), "field")
	for i, g := range grounds {
		if err := out.fill(ctx, &out.Fields[i], g, all[i], places[i], c.Workers, work); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// fieldPlane is the plane of points of two features, or the principal one.
func fieldPlane(t *data.Table) (p *lab.Plane, principal bool, err error) {
	if len(t.Columns) == 2 {
		return &lab.Plane{Mean: []float64{0, 0}, Axes: [2][]float64{{1, 0}, {0, 1}}, Share: [2]float64{math.NaN(), math.NaN()}}, false, nil
	}
	p, err = lab.NewPlane(t)
	return p, true, err
}

// fill evaluates the loss and its gradient by the prototype at every cell.
func (f *GradientField) fill(ctx context.Context, o *ObjectiveField, g *ground, p prototypes, here []float64, workers int, w *work) error {
	loss := g.loss
	centres := g.copies[p.centres]
	down := grad.OrZero(loss, centres)[0]
	prog, err := g.compile(ctx, loss, down)
	if err != nil {
		return err
	}
	n, d := len(f.A), p.centres.Dim(1)
	for range n {
		o.Loss, o.Down = append(o.Loss, make([]float64, n)), append(o.Down, make([][2]float64, n))
	}
	from := o.Centres[f.Prototype]
	row := p.offset + f.Prototype*d
	return g.each(prog, workers, n*n, w, func(r *runner, cell int) error {
		i, j := cell%n, cell/n
		at := append([]float64{}, here...)
		for k := range d {
			at[row+k] += (f.A[i]-from[0])*f.Plane.Axes[0][k] + (f.B[j]-from[1])*f.Plane.Axes[1][k]
		}
		if err := r.run(ctx, at); err != nil {
			return err
		}
		v, err := r.values(loss, down)
		if err != nil {
			return err
		}
		o.Loss[j][i] = v[0]
		part := v[1+f.Prototype*d : 1+(f.Prototype+1)*d]
		o.Down[j][i] = [2]float64{-dot(part, f.Plane.Axes[0]), -dot(part, f.Plane.Axes[1])}
		return nil
	})
}

// span is an interval of coordinates.
type span struct{ lo, hi float64 }

func (s span) with(v float64) span { return span{min(s.lo, v), max(s.hi, v)} }

// places divides the span, with a tenth to spare on either side, and not narrower than a
// fifth of the other.
func (s span) places(other span, n int) []float64 {
	mid, half := s.lo+(s.hi-s.lo)/2, 0.6*max(s.hi-s.lo, (other.hi-other.lo)/5)
	out := make([]float64, n)
	for i := range out {
		out[i] = mid - half + 2*half*float64(i)/float64(n-1)
	}
	return out
}

// Joining is the part of the cells from which an objective pulls the prototype towards the
// nearest other one; NaN for a single prototype. Cells without a finite gradient do not
// count.
func (f *GradientField) Joining(objective int) float64 {
	if objective < 0 || objective >= len(f.Fields) {
		return math.NaN()
	}
	o := f.Fields[objective]
	joining, cells := 0.0, 0.0
	for j, row := range o.Down {
		for i, v := range row {
			_, to := f.nearestOther(o, f.A[i], f.B[j])
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

// nearestOther is the nearest prototype besides the one that is moved: how far it is, and
// the way there; NaN if there is none.
func (f *GradientField) nearestOther(o ObjectiveField, a, b float64) (far float64, way [2]float64) {
	far, way = math.NaN(), [2]float64{math.NaN(), math.NaN()}
	for k, c := range o.Centres {
		if k != f.Prototype {
			if l := math.Hypot(c[0]-a, c[1]-b); !(l >= far) {
				far, way = l, [2]float64{c[0] - a, c[1] - b}
			}
		}
	}
	return far, way
}

// Lowest is the cell of an objective with the least finite loss; ok is false if there is
// none.
func (f *GradientField) Lowest(objective int) (a, b, loss float64, ok bool) {
	if objective < 0 || objective >= len(f.Fields) {
		return 0, 0, 0, false
	}
	return lowest(f.A, f.B, f.Fields[objective].Loss)
}

// String is a table: an objective a line, with where the prototype is and where its loss
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
		row := []string{o.Name, placeText(c[0], c[1]), "-", "", "-", "-"}
		if a, b, v, ok := f.Lowest(i); ok {
			far, _ := f.nearestOther(o, a, b)
			row[2], row[3], row[4] = numberText(v), placeText(a, b), numberText(far)
		}
		if part := f.Joining(i); !math.IsNaN(part) {
			row[5] = fmt.Sprintf("from %.0f %% of the places", 100*part)
		}
		rows = append(rows, row)
	}
	return s + table.Lines("  ", rows)
}
