package geometry

import (
	"context"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/tape"
)

// Stop is a place on the way of a training.
type Stop struct {
	At []float64 // the parameter vector
	// Scalars are the values of scalar inputs there, by path, such as that of an inverse temperature
	// that is annealed. What is not named, or not there in a model, stays as the site has it.
	Scalars map[string]float64
}

// Decomposition compares an objective with the terms that it is said to be the sum of, and its
// gradient with theirs.
type Decomposition struct {
	Whole  string
	Terms  []string
	Params []string // paths of the parameters
	Stops  []Parts
}

// Parts are the loss and the gradient of the whole and of its terms at one place.
type Parts struct {
	Loss     float64
	Losses   []float64 // of the terms
	Gradient []float64
	Terms    [][]float64 // gradients
}

// Decompose evaluates a whole and its terms, sites whose parameters agree in path and type, at the
// same places. Parameters that differ, and a vector that does not fit them, are errors.
func Decompose(ctx context.Context, stops []Stop, whole Site, terms ...Site) (*Decomposition, error) {
	all, err := objectives(append([]Site{whole}, terms...))
	if err != nil {
		return nil, err
	}
	var path [][]float64
	for _, s := range stops {
		path = append(path, s.At)
	}
	if _, err := all[0].path(path); err != nil {
		return nil, err
	}
	out := &Decomposition{Whole: whole.name(), Stops: make([]Parts, len(stops))}
	for _, p := range all[0].params {
		out.Params = append(out.Params, p.Path())
	}
	progress := whole.progress(len(stops)*len(all), "decomposition")
	for k, o := range all {
		d := append([]*graph.Node{o.loss}, grad.OrZero(o.loss, o.inputs...)...)
		p, err := o.compile(ctx, d...)
		if err != nil {
			return nil, err
		}
		e, err := o.evaluator(p)
		if err != nil {
			return nil, err
		}
		defer e.close()
		for i, s := range stops {
			e.scalars(s.Scalars)
			v, err := e.at(ctx, s.At, d...)
			if err != nil {
				return nil, err
			}
			if k == 0 {
				out.Stops[i].Loss, out.Stops[i].Gradient = v[0], v[1:]
			} else {
				out.Stops[i].Losses, out.Stops[i].Terms = append(out.Stops[i].Losses, v[0]), append(out.Stops[i].Terms, v[1:])
			}
			progress.step()
		}
		if k > 0 {
			out.Terms = append(out.Terms, o.site.name())
		}
	}
	return out, nil
}

// scalars feeds scalar inputs of the model by path.
func (e *evaluator) scalars(values map[string]float64) {
	for n, c := range e.objective.copies {
		if v, named := values[n.Path()]; named && c.Role() == graph.RoleInput && c.Rank() == 0 {
			e.feed[c] = tape.Scalar(c.DType(), v)
		}
	}
}

// Deviation returns by how much an element of the gradient differs at most from the sum of the
// terms', relative to the largest magnitude of any of them; 0 where all vanish, and NaN where one
// is NaN.
func (p Parts) Deviation() float64 {
	apart, size := 0.0, 0.0
	for i, g := range p.Gradient {
		sum := 0.0
		size = max(size, math.Abs(g))
		for _, t := range p.Terms {
			sum += t[i]
			size = max(size, math.Abs(t[i]))
		}
		apart = max(apart, math.Abs(g-sum))
	}
	if size == 0 {
		return 0
	}
	return apart / size
}

// LossDeviation returns by how much the loss differs from the sum of the terms', relative to the
// largest magnitude of any of them; 0 where all vanish.
func (p Parts) LossDeviation() float64 {
	sum, size := 0.0, math.Abs(p.Loss)
	for _, l := range p.Losses {
		sum += l
		size = max(size, math.Abs(l))
	}
	if size == 0 {
		return 0
	}
	return math.Abs(p.Loss-sum) / size
}

// Deviation returns the largest [Parts.Deviation] of the gradients at all places.
func (d *Decomposition) Deviation() float64 {
	out := 0.0
	for _, p := range d.Stops {
		out = max(out, p.Deviation())
	}
	return out
}

// exact is the relative deviation up to which losses and gradients in float64 count as equal.
const exact = 1e-9

// Holds reports whether the whole and its gradient are the sums of the terms and their gradients at
// all places, up to rounding in float64.
func (d *Decomposition) Holds() bool {
	for _, p := range d.Stops {
		if !(p.Deviation() <= exact && p.LossDeviation() <= exact) {
			return false
		}
	}
	return true
}

// String returns a table with one line for the whole and one for each term: the lengths of the
// gradients at up to five of the places. The largest deviation of the sum follows.
func (d *Decomposition) String() string {
	out := newPathTable("gradients, length", len(d.Stops))
	out.add(d.Whole, func(i int) string { return numberText(norm(d.Stops[i].Gradient)) })
	for k, name := range d.Terms {
		out.add(name, func(i int) string { return numberText(norm(d.Stops[i].Terms[k])) })
	}
	return out.String() + fmt.Sprintf("  the sum of the terms deviates by at most %.1e of the largest element\n", d.Deviation())
}

func norm(v []float64) float64 { return math.Sqrt(dot(v, v)) }
