package geometry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/table"
)

// SurfaceConfig says which plane of the parameters a surface is over. Zero values stand
// for the defaults.
type SurfaceConfig struct {
	// Paths are trainings, such as Trajectory.Path: of the first site, of the second, and so
	// on; nil for a site without one. They are projected on the plane. A step at which a
	// value is not finite is left out.
	Paths [][][]float64
	// Random takes two random directions, in place of the principal ones of the paths;
	// without paths they are random anyway. As Li et al. (2018) do it by filters, each
	// parameter's part of a direction is as long as the parameter; parameters of one number
	// count together as one, and a parameter that is zero keeps still.
	Random  bool
	Seed    uint64  // of random directions
	Cells   int     // along each direction; default 41
	Reach   float64 // of the plane, to either side; default: 1 for random directions, or what holds all paths with a fifth to spare
	Workers int     // default: as many as Go uses cores; the values are the same for any number
}

// Landscape are the losses of several objectives over one plane of their parameters: at
// Origin + A[i]·Directions[0] + B[j]·Directions[1].
type Landscape struct {
	Origin     []float64    // the parameters in the middle, one parameter after the other
	Directions [2][]float64 // orthogonal for paths, and of length 1 then
	Share      [2]float64   // of what the paths' points lie apart, along each direction; NaN for random ones
	A, B       []float64
	Surfaces   []LossSurface
}

// LossSurface is one objective's loss over the plane.
type LossSurface struct {
	Name string
	Loss [][]float64  // Loss[j][i] at A[i], B[j]; NaN and infinities as they came
	Path [][2]float64 // the training, projected on the plane; nil without one
}

// Surface evaluates the losses of sites with equal parameters, by path and type, over a
// common plane. Without paths the parameters of the first site are in the middle, and with
// paths the end of the first of them, so that it lies in the plane. Each objective is
// compiled once, and its cells are computed in parallel.
func Surface(ctx context.Context, c SurfaceConfig, sites ...Site) (*Landscape, error) {
	grounds, err := commonGround(sites)
	if err != nil {
		return nil, err
	}
	c.Cells = cmp.Or(c.Cells, 41)
	if c.Cells < 2 || c.Reach < 0 || math.IsNaN(c.Reach) || math.IsInf(c.Reach, 0) {
		return nil, fmt.Errorf("surface: %d cells and a reach of %v: want 2 or more, and a finite reach", c.Cells, c.Reach)
	}
	l, err := c.plane(grounds)
	if err != nil {
		return nil, err
	}
	work := sites[0].work(c.Cells*c.Cells*len(grounds), "surface")
	for i, g := range grounds {
		s := LossSurface{Name: g.site.name(), Loss: make([][]float64, c.Cells)}
		if i < len(c.Paths) {
			s.Path = l.project(c.Paths[i])
		}
		for j := range s.Loss {
			s.Loss[j] = make([]float64, c.Cells)
		}
		p, err := g.compile(ctx, g.loss)
		if err != nil {
			return nil, err
		}
		err = g.each(p, c.Workers, c.Cells*c.Cells, work, func(r *runner, cell int) error {
			row, column := cell/c.Cells, cell%c.Cells
			if err := r.run(ctx, l.at(l.A[column], l.B[row])); err != nil {
				return err
			}
			var err error
			s.Loss[row][column], err = r.vm.Float(g.loss)
			return err
		})
		if err != nil {
			return nil, err
		}
		l.Surfaces = append(l.Surfaces, s)
	}
	return l, nil
}

// commonGround makes the ground of each site, which must all have the same parameters.
func commonGround(sites []Site) ([]*ground, error) {
	if len(sites) == 0 {
		return nil, errors.New("there is no site to look at")
	}
	var out []*ground
	for _, s := range sites {
		g, err := s.ground()
		if err != nil {
			return nil, err
		}
		out = append(out, g)
		if !s.SameParameters(sites[0]) {
			return nil, fmt.Errorf("%s has the parameters %s, and %s has %s: want the same, by name and type", sites[0].name(), parameterTypes(out[0].params), s.name(), parameterTypes(g.params))
		}
	}
	return out, nil
}

func parameterTypes(params []*graph.Node) string {
	var out []string
	for _, p := range params {
		out = append(out, fmt.Sprintf("%s %v", p.Path(), p.Type()))
	}
	return strings.Join(out, ", ")
}

// at is the place of a cell.
func (l *Landscape) at(a, b float64) []float64 {
	out := make([]float64, len(l.Origin))
	for i, v := range l.Origin {
		out[i] = v + (a*l.Directions[0][i] + b*l.Directions[1][i])
	}
	return out
}

// project finds the nearest places of the plane.
func (l *Landscape) project(path [][]float64) [][2]float64 {
	u, v := l.Directions[0], l.Directions[1]
	uu, uv, vv := dot(u, u), dot(u, v), dot(v, v)
	det := uu*vv - uv*uv
	var out [][2]float64
	for _, p := range path {
		if !allWithin(p, math.MaxFloat64) {
			continue
		}
		from := difference(p, l.Origin)
		a, b := dot(u, from), dot(v, from)
		out = append(out, [2]float64{(a*vv - b*uv) / det, (b*uu - a*uv) / det})
	}
	return out
}

// Lowest is the least finite loss of the surface, and where; ok is false if there is none.
func (l *Landscape) Lowest(surface int) (a, b, loss float64, ok bool) {
	if surface < 0 || surface >= len(l.Surfaces) {
		return 0, 0, 0, false
	}
	return lowest(l.A, l.B, l.Surfaces[surface].Loss)
}

func lowest(as, bs []float64, values [][]float64) (a, b, least float64, ok bool) {
	least = math.Inf(1)
	for j, row := range values {
		for i, v := range row {
			if v < least && !math.IsInf(v, 0) {
				a, b, least, ok = as[i], bs[j], v, true
			}
		}
	}
	return a, b, least, ok
}

// String is a table: an objective a line, with its lowest cell, its range, and where its
// path ends.
func (l *Landscape) String() string {
	n := len(l.A)
	if n == 0 || len(l.B) < n {
		return "no surface\n"
	}
	s := fmt.Sprintf("loss over a plane of %d numbers, %d × %d cells from %s to %s and from %s to %s, ", len(l.Origin), n, n,
		numberText(l.A[0]), numberText(l.A[n-1]), numberText(l.B[0]), numberText(l.B[n-1]))
	if math.IsNaN(l.Share[0]) {
		cos := dot(l.Directions[0], l.Directions[1]) / math.Sqrt(dot(l.Directions[0], l.Directions[0])*dot(l.Directions[1], l.Directions[1]))
		s += fmt.Sprintf("in two random directions at %.0f°\n", math.Acos(min(1, max(-1, cos)))*180/math.Pi)
	} else {
		s += fmt.Sprintf("in the paths' principal directions, with %.0f %% and %.0f %% of what they span\n", 100*l.Share[0], 100*l.Share[1])
	}
	rows := [][]string{{"", " lowest", "at", " highest", " not finite", "path ends at"}}
	for i, f := range l.Surfaces {
		row := []string{f.Name, "-", "", "-", "", ""}
		if a, b, v, ok := l.Lowest(i); ok {
			row[1], row[2] = numberText(v), placeText(a, b)
		}
		most, bad := math.Inf(-1), 0
		for _, r := range f.Loss {
			for _, v := range r {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					bad++
				} else {
					most = max(most, v)
				}
			}
		}
		if bad < n*n {
			row[3] = numberText(most)
		}
		row[4] = fmt.Sprint(bad)
		if len(f.Path) > 0 {
			end := f.Path[len(f.Path)-1]
			row[5] = placeText(end[0], end[1])
		}
		rows = append(rows, row)
	}
	return s + table.Lines("  ", rows)
}

func placeText(a, b float64) string { return fmt.Sprintf("(%s, %s)", numberText(a), numberText(b)) }
