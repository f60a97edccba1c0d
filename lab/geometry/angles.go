package geometry

import (
	"context"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/table"
)

// GradientAngles are the angles between the gradients of several objectives at the same
// parameters: 0 where they go the same way, 180 where they work against each other.
type GradientAngles struct {
	Names  []string // of the objectives
	Params []string // paths
	Steps  []AngleStep
}

// AngleStep is one place of the path. Angles are in degrees, symmetric in the two
// objectives, NaN where a gradient is zero or not finite.
type AngleStep struct {
	Overall     [][]float64   // of the whole gradients, by two objectives
	ByParameter [][][]float64 // of the parts by each parameter, then by two objectives
	Norms       []float64     // of the gradients, by objective
}

// Angles compares the gradients of sites with equal parameters, by path and type, at every
// place of a path, such as Trajectory.Path; without one, where the first site is.
func Angles(ctx context.Context, path [][]float64, sites ...Site) (*GradientAngles, error) {
	grounds, err := commonGround(sites)
	if err != nil {
		return nil, err
	}
	if path == nil {
		here, err := grounds[0].here()
		if err != nil {
			return nil, err
		}
		path = [][]float64{here}
	}
	out := &GradientAngles{}
	for _, p := range grounds[0].params {
		out.Params = append(out.Params, p.Path())
	}
	gradients := make([][][]float64, len(path)) // by step and objective
	for i, at := range path {
		if len(at) != grounds[0].size {
			return nil, fmt.Errorf("angles: step %d of the path has %d values, and the parameters have %d", i, len(at), grounds[0].size)
		}
		gradients[i] = make([][]float64, len(grounds))
	}
	work := sites[0].work(len(path)*len(grounds), "angles")
	for k, g := range grounds {
		out.Names = append(out.Names, g.site.name())
		d := grad.OrZero(g.loss, g.at...)
		p, err := g.compile(ctx, d...)
		if err != nil {
			return nil, err
		}
		err = g.each(p, 0, len(path), work, func(r *runner, i int) (err error) {
			if err = r.run(ctx, path[i]); err == nil {
				gradients[i][k], err = r.values(d...)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	for _, of := range gradients {
		out.Steps = append(out.Steps, angleStep(of, grounds[0].params))
	}
	return out, nil
}

// angleStep compares gradients at one place.
func angleStep(of [][]float64, params []*graph.Node) AngleStep {
	s := AngleStep{Overall: angleMatrix(of)}
	for _, d := range of {
		s.Norms = append(s.Norms, math.Sqrt(dot(d, d)))
	}
	from := 0
	for _, p := range params {
		to := from + p.Shape().Len()
		parts := make([][]float64, len(of))
		for k, d := range of {
			parts[k] = d[from:to]
		}
		s.ByParameter = append(s.ByParameter, angleMatrix(parts))
		from = to
	}
	return s
}

func angleMatrix(of [][]float64) [][]float64 {
	out := make([][]float64, len(of))
	for a := range of {
		out[a] = make([]float64, len(of))
		for b := range of {
			if b < a {
				out[a][b] = out[b][a]
			} else {
				out[a][b] = angle(of[a], of[b])
			}
		}
	}
	return out
}

// String is a table: a pair of objectives a line, with the angle along the path, and those
// of each parameter at its end if there are several.
func (t *GradientAngles) String() string {
	at := milestones(len(t.Steps))
	head := []string{"gradients, angle in degrees"}
	for _, i := range at {
		head = append(head, fmt.Sprintf("  step %d", i))
	}
	several := len(t.Params) > 1
	if several {
		for _, p := range t.Params {
			head = append(head, "  "+p)
		}
	}
	rows := [][]string{head}
	for a := range t.Names {
		for b := a + 1; b < len(t.Names); b++ {
			row := []string{t.Names[a] + ", " + t.Names[b]}
			for _, i := range at {
				row = append(row, degrees(t.Steps[i].Overall[a][b]))
			}
			if several {
				for p := range t.Params {
					row = append(row, degrees(t.Steps[len(t.Steps)-1].ByParameter[p][a][b]))
				}
			}
			rows = append(rows, row)
		}
	}
	for a, name := range t.Names {
		row := []string{name + ", length"}
		for _, i := range at {
			row = append(row, numberText(t.Steps[i].Norms[a]))
		}
		rows = append(rows, row)
	}
	return table.Lines("  ", rows)
}

func degrees(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return fmt.Sprintf("%.2f", v)
}

// milestones are the steps of a path that a table shows: at most five, evenly, with both
// ends.
func milestones(n int) []int {
	var out []int
	for k := range min(n, 5) {
		out = append(out, k*(n-1)/max(1, min(n, 5)-1))
	}
	return out
}
