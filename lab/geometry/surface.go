package geometry

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/internal/table"
)

// SurfaceConfig configures [Surface]. Zero values stand for the defaults.
type SurfaceConfig struct {
	// Paths are paths of parameter vectors, such as [Trajectory.Path]: of the first site, of the
	// second, and so on; nil for a site without one. They are projected on the plane. A vector that
	// is not finite is left out.
	Paths [][][]float64
	// Random asks for two random directions in place of the principal directions of the paths;
	// without paths the directions are random anyway. Each parameter's part of a random direction
	// is as long as the parameter, as Li et al. (2018) scale filters. Parameters with a single
	// element count together as one, and a parameter that is zero does not move.
	Random bool
	Seed   uint64 // of the random directions
	Cells  int    // along each direction, 2 or more; default 41
	// Reach is the extent of the plane to either side of the origin, in lengths of the directions.
	// The default is 1 for random directions; otherwise the plane holds all paths, with a fifth of
	// their width to spare on either side.
	Reach   float64
	Workers int // goroutines; default GOMAXPROCS. The values are the same for any number
}

// Landscape has the losses of several objectives over one plane of their parameters: at the
// parameter vectors Origin + A[i]·Directions[0] + B[j]·Directions[1].
type Landscape struct {
	Origin     []float64    // the parameter vector at (0, 0)
	Directions [2][]float64 // as Origin; principal directions are orthonormal
	Share      [2]float64   // of the paths' variance around Origin, along each direction; NaN for random directions
	A, B       []float64    // [cells]: coordinates of the cells
	Surfaces   []LossSurface
}

// LossSurface is the loss of one objective over the plane.
type LossSurface struct {
	Name string
	Loss [][]float64  // Loss[j][i] at A[i], B[j]; NaN and infinities as they come
	Path [][2]float64 // the path of the site, projected on the plane; nil without one
}

// Surface evaluates the losses of sites over a common plane of their parameters, which must agree
// in path and type. The plane goes through the parameters of the first site, or through the end of
// the first path (Li et al., Visualizing the Loss Landscape of Neural Nets, 2018). It is an error
// if the parameters differ or have fewer than two elements, if the configuration is out of range,
// if a path does not fit the parameters, and if paths never move or two directions are one.
func Surface(ctx context.Context, c SurfaceConfig, sites ...Site) (*Landscape, error) {
	all, err := objectives(sites)
	if err != nil {
		return nil, err
	}
	c.Cells = cmp.Or(c.Cells, 41)
	if c.Cells < 2 || c.Reach < 0 || math.IsNaN(c.Reach) || math.IsInf(c.Reach, 0) {
		return nil, fmt.Errorf("surface: %d cells and a reach of %v: want 2 or more, and a finite reach", c.Cells, c.Reach)
	}
	l, err := c.plane(all)
	if err != nil {
		return nil, err
	}
	progress := sites[0].progress(c.Cells*c.Cells*len(all), "surface")
	for i, o := range all {
		s := LossSurface{Name: o.site.name(), Loss: make([][]float64, c.Cells)}
		if i < len(c.Paths) {
			s.Path = l.project(c.Paths[i])
		}
		for j := range s.Loss {
			s.Loss[j] = make([]float64, c.Cells)
		}
		p, err := o.compile(ctx, o.loss)
		if err != nil {
			return nil, err
		}
		err = o.each(p, c.Workers, c.Cells*c.Cells, progress, func(e *evaluator, cell int) error {
			j, i := cell/c.Cells, cell%c.Cells
			v, err := e.at(ctx, l.at(l.A[i], l.B[j]), o.loss)
			if err == nil {
				s.Loss[j][i] = v[0]
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		l.Surfaces = append(l.Surfaces, s)
	}
	return l, nil
}

// at returns the parameter vector at coordinates of the plane.
func (l *Landscape) at(a, b float64) []float64 {
	out := make([]float64, len(l.Origin))
	for i, v := range l.Origin {
		out[i] = v + (a*l.Directions[0][i] + b*l.Directions[1][i])
	}
	return out
}

// project returns the coordinates of the points of the plane that are nearest to the finite vectors
// of a path.
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

// Lowest returns the least finite loss of a surface and its coordinates. It reports false if no
// loss is finite, and for an index out of range.
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

// String returns a table with one line per objective: its lowest cell, its highest finite loss, the
// number of cells that are not finite, and where its path ends.
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
			row[1], row[2] = numberText(v), pairText(a, b)
		}
		highest, bad := math.Inf(-1), 0
		for _, r := range f.Loss {
			for _, v := range r {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					bad++
				} else {
					highest = max(highest, v)
				}
			}
		}
		if bad < n*n {
			row[3] = numberText(highest)
		}
		row[4] = fmt.Sprint(bad)
		if len(f.Path) > 0 {
			end := f.Path[len(f.Path)-1]
			row[5] = pairText(end[0], end[1])
		}
		rows = append(rows, row)
	}
	return s + table.Lines("  ", rows)
}
