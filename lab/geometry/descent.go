package geometry

import (
	"context"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
)

// descent is a minimisation of an objective by the method of Broyden, Fletcher, Goldfarb and Shanno
// with limited memory (Liu and Nocedal, 1989).
type descent struct {
	e        *evaluator
	slopes   []*graph.Node
	now      place
	steepest float64   // the length of the longest gradient met
	pairs    [][2]step // the last steps with the change of the gradient along them
}

// place is an evaluation of loss and gradient.
type place struct {
	at    []float64
	loss  float64
	slope []float64
}

type step []float64

func (p place) gradient() float64 { return math.Sqrt(dot(p.slope, p.slope)) }

func (p place) finite() bool {
	return allWithin(p.slope, math.MaxFloat64) && allWithin([]float64{p.loss}, math.MaxFloat64)
}

// look evaluates loss and gradient.
func (d *descent) look(ctx context.Context, at []float64) (place, error) {
	v, err := d.e.at(ctx, at, append([]*graph.Node{d.e.objective.loss}, d.slopes...)...)
	if err != nil {
		return place{}, err
	}
	p := place{at, v[0], v[1:]}
	if p.finite() {
		d.steepest = max(d.steepest, p.gradient())
	}
	return p, nil
}

// memory is the number of steps that a descent remembers.
const memory = 20

// from descends from a start for at most so many steps, until the gradient is shorter than a part
// of the longest that was met. It also ends where rounding hides any way down, and where a loss is
// not finite.
func (d *descent) from(ctx context.Context, start []float64, part float64, steps int) (err error) {
	if d.now, err = d.look(ctx, start); err != nil {
		return err
	}
	for range steps {
		if !d.now.finite() || d.now.gradient() <= part*d.steepest {
			return nil
		}
		way := d.direction()
		next, err := d.search(ctx, way)
		if err != nil {
			return err
		}
		if next.at == nil && d.pairs != nil { // what is remembered misleads
			d.pairs = nil
			continue
		}
		if next.at == nil {
			return nil
		}
		moved, bent := difference(next.at, d.now.at), difference(next.slope, d.now.slope)
		if dot(moved, bent) > 0 {
			d.pairs = append(d.pairs, [2]step{moved, bent})
			d.pairs = d.pairs[max(0, len(d.pairs)-memory):]
		}
		d.now = next
	}
	return nil
}

// direction returns −H·gradient, where H approximates the inverse of the Hessian by what the last
// steps have shown.
func (d *descent) direction() []float64 {
	way := make([]float64, len(d.now.slope))
	axpy(way, -1, d.now.slope)
	along := make([]float64, len(d.pairs))
	for i := len(d.pairs) - 1; i >= 0; i-- {
		s, y := d.pairs[i][0], d.pairs[i][1]
		along[i] = dot(s, way) / dot(s, y)
		axpy(way, -along[i], y)
	}
	if last := len(d.pairs) - 1; last >= 0 {
		s, y := d.pairs[last][0], d.pairs[last][1]
		f := dot(s, y) / dot(y, y)
		for i := range way {
			way[i] *= f
		}
	}
	for i, p := range d.pairs {
		axpy(way, along[i]-dot(p[1], way)/dot(p[0], p[1]), p[0])
	}
	return way
}

// search goes along a direction, as far as the loss falls enough and the slope has become flatter
// (the weak conditions of Wolfe, by bisection). A place without coordinates means that there is
// no way down.
func (d *descent) search(ctx context.Context, way []float64) (place, error) {
	const enough, flatter = 1e-4, .9
	slope := dot(d.now.slope, way)
	if !(slope < 0) {
		return place{}, nil
	}
	low, high, by := 0.0, math.Inf(1), 1.0
	if d.pairs == nil { // at first nothing is known of the scale
		by = min(1, 1/d.now.gradient())
	}
	best := place{}
	for range 60 {
		at := slices.Clone(d.now.at)
		axpy(at, by, way)
		if slices.Equal(at, d.now.at) {
			break
		}
		p, err := d.look(ctx, at)
		if err != nil {
			return place{}, err
		}
		switch {
		case !p.finite() || !(p.loss <= d.now.loss+enough*by*slope):
			high = by
		case dot(p.slope, way) < flatter*slope:
			low, best = by, p
		default:
			return p, nil
		}
		if by = 2 * low; !math.IsInf(high, 1) {
			by = (low + high) / 2
		}
	}
	return best, nil
}
