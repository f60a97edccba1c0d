package geometry

import (
	"context"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
)

// GradientAngles holds the angles between the gradients of several objectives at the same
// parameters: 0° where the gradients point the same way, 180° where they oppose each other.
type GradientAngles struct {
	Names  []string // of the objectives
	Params []string // paths of the parameters
	Steps  []AngleStep
}

// AngleStep has the angles at one step of a path. Matrices are symmetric, indexed by two
// objectives, in degrees, and NaN where a gradient is zero or not finite.
type AngleStep struct {
	Overall     [][]float64   // between the whole gradients
	ByParameter [][][]float64 // [parameter]: between the parts of the gradients that belong to it
	Norms       []float64     // [objective]: the length of its gradient
}

// Angles compares the gradients of sites, whose parameters must agree in path and type, at every
// parameter vector of a path, such as [Trajectory.Path]. A nil path stands for the parameters of
// the first site. Parameters that differ, and a vector that does not fit them, are errors.
func Angles(ctx context.Context, path [][]float64, sites ...Site) (*GradientAngles, error) {
	all, err := objectives(sites)
	if err != nil {
		return nil, err
	}
	if path, err = all[0].path(path); err != nil {
		return nil, err
	}
	out := &GradientAngles{}
	for _, p := range all[0].params {
		out.Params = append(out.Params, p.Path())
	}
	gradients := make([][][]float64, len(path)) // by step and objective
	for i := range path {
		gradients[i] = make([][]float64, len(all))
	}
	progress := sites[0].progress(len(path)*len(all), "angles")
	for k, o := range all {
		out.Names = append(out.Names, o.site.name())
		d := grad.OrZero(o.loss, o.inputs...)
		p, err := o.compile(ctx, d...)
		if err != nil {
			return nil, err
		}
		err = o.each(p, 0, len(path), progress, func(e *evaluator, i int) (err error) {
			gradients[i][k], err = e.at(ctx, path[i], d...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	for _, g := range gradients {
		out.Steps = append(out.Steps, angleStep(g, all[0].params))
	}
	return out, nil
}

// angleStep compares gradients at one parameter vector.
func angleStep(gradients [][]float64, params []*graph.Node) AngleStep {
	s := AngleStep{Overall: angleMatrix(gradients)}
	for _, d := range gradients {
		s.Norms = append(s.Norms, math.Sqrt(dot(d, d)))
	}
	from := 0
	for _, p := range params {
		to := from + p.Shape().Len()
		parts := make([][]float64, len(gradients))
		for k, d := range gradients {
			parts[k] = d[from:to]
		}
		s.ByParameter = append(s.ByParameter, angleMatrix(parts))
		from = to
	}
	return s
}

func angleMatrix(vectors [][]float64) [][]float64 {
	out := make([][]float64, len(vectors))
	for a := range vectors {
		out[a] = make([]float64, len(vectors))
		for b := range vectors {
			if b < a {
				out[a][b] = out[b][a]
			} else {
				out[a][b] = angle(vectors[a], vectors[b])
			}
		}
	}
	return out
}

// String returns a table with one line per pair of objectives: the angle along the path and, where
// there are several parameters, that of each parameter at the end. The lengths of the gradients
// follow.
func (t *GradientAngles) String() string {
	out := newPathTable("gradients, angle in degrees", len(t.Steps))
	several := len(t.Params) > 1
	if several {
		for _, p := range t.Params {
			out.rows[0] = append(out.rows[0], "  "+p)
		}
	}
	for a := range t.Names {
		for b := a + 1; b < len(t.Names); b++ {
			out.add(t.Names[a]+", "+t.Names[b], func(step int) string { return degrees(t.Steps[step].Overall[a][b]) })
			if several {
				last := len(out.rows) - 1
				for p := range t.Params {
					out.rows[last] = append(out.rows[last], degrees(t.Steps[len(t.Steps)-1].ByParameter[p][a][b]))
				}
			}
		}
	}
	for a, name := range t.Names {
		out.add(name+", length", func(step int) string { return numberText(t.Steps[step].Norms[a]) })
	}
	return out.String()
}

func degrees(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return fmt.Sprintf("%.2f", v)
}
