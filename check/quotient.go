package check

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/ref"
)

// Limits of derivatives against difference quotients, relative to the root of
// the sum of squares of the contributions of the elements.
const (
	limitFirst  = 1e-6
	limitSecond = 1e-6
)

func (c *checker) gradient(context.Context) Verdict {
	return c.difference(c.loss, c.first, limitFirst)
}

func (c *checker) second(context.Context) Verdict {
	return c.difference(c.slope, c.further, limitSecond)
}

var errUnsettled = errors.New("no difference quotient settles: the point lies at a kink or a jump, or values there are not finite")

// difference compares ⟨derivatives of f, v⟩ with difference quotients of f along v.
func (c *checker) difference(f *graph.Node, derivatives []*graph.Node, limit float64) Verdict {
	if c.loss == nil {
		return skipped("", "no float result depends on a float leaf")
	}
	for _, n := range graph.Reachable(c.y) {
		if e, ok := n.Op().(Estimator); ok && n.Role() == graph.RoleOp {
			return skipped("", fmt.Sprintf("%s has a derivative of its own choosing: %T says which", n.Op().Name(), e))
		}
	}
	at, err := c.at, errUnsettled
	for attempt := range 4 {
		held := attempt == 3
		if attempt == 1 || attempt == 2 {
			at = c.moved(c.at, 0.01)
		} else if held {
			at = c.at
		}
		var v Verdict
		if v, err = c.differenceAt(at, f, derivatives, limit, held); err == nil {
			if held {
				v.Note = "inputs held: there is no derivative by them at this point"
			}
			return v
		} else if !errors.Is(err, errUnsettled) {
			break
		}
	}
	return Verdict{Err: err}
}

// differenceAt is difference at a point, with or without moving the inputs.
func (c *checker) differenceAt(at graph.Values, f *graph.Node, derivatives []*graph.Node, limit float64, held bool) (Verdict, error) {
	var stopped []*graph.Node
	for _, n := range graph.Reachable(f) {
		if match.Is(n, match.StopGradient) {
			stopped = append(stopped, n)
		}
	}
	values, err := ref.Eval(c.env, at, append(append([]*graph.Node{c.loss}, derivatives...), stopped...)...)
	if err != nil {
		return Verdict{}, err
	}
	loss, values := math.Abs(values[0].Data[0]), values[1:]
	direction := make([][]float64, len(c.wrt))
	slope, norm := 0.0, 0.0
	for i, x := range c.wrt {
		direction[i] = make([]float64, x.Shape().Len())
		if held && x.Role() == graph.RoleInput {
			continue
		}
		for k, d := range values[i].Data {
			u := c.rng.NormFloat64()
			direction[i][k] = u
			slope += d * u
			norm += d * u * d * u
		}
	}
	if math.IsNaN(slope) || math.IsInf(slope, 0) {
		return Verdict{}, fmt.Errorf("%w (the derivative is %v)", errUnsettled, slope)
	}
	along := func(h float64) (float64, error) {
		feed := graph.Values{}
		for n, v := range at {
			feed[n] = v
		}
		for i, x := range c.wrt {
			v := graph.NewValue(x.Type())
			for k, p := range at[x].Data {
				v.Data[k] = p + h*direction[i][k]
			}
			feed[x] = v
		}
		for i, n := range stopped {
			feed[n] = values[len(derivatives)+i]
		}
		out, err := ref.Eval(c.env, feed, f)
		if err != nil {
			return 0, err
		}
		return out[0].Data[0], nil
	}
	least := max(math.Sqrt(norm), 1e-6*loss) // what is smaller may be the rounding of what cancels
	q, err := quotient(along, least, limit)
	if err != nil {
		return Verdict{}, err
	}
	scale := max(math.Abs(q.slope), least, q.floor/limit)
	v := Verdict{Limit: limit}
	if scale > 0 {
		v.Diff = math.Abs(slope-q.slope) / scale
	}
	if !(v.Diff <= limit) {
		v.Err = fmt.Errorf("the derivative is %v, the difference quotient %v", slope, q.slope)
	}
	return v, nil
}

// estimate is a difference quotient that can be relied on.
type estimate struct {
	slope float64
	floor float64 // the rounding of the values makes it uncertain by as much
}

// quotient is the derivative at 0 of a function of one number by differences of
// fourth order, at the first step where half the step gives the same, to a tenth
// of the limit, and where the two sides agree. scale is the size of slope at which
// the limit is relative, at least.
func quotient(f func(h float64) (float64, error), scale, limit float64) (estimate, error) {
	const ε = 1e-15 // of a value that took some operations
	centre, err := f(0)
	if err != nil {
		return estimate{}, err
	}
	for _, h := range []float64{1e-4, 1e-3, 1e-5, 1e-6, 1e-2} { // what serves most comes first
		y := [7]float64{3: centre}
		for i, at := range [7]float64{-2 * h, -h, -h / 2, 0, h / 2, h, 2 * h} {
			if i == 3 {
				continue
			}
			if y[i], err = f(at); err != nil {
				return estimate{}, err
			}
		}
		size := 0.0
		for _, v := range y {
			size += math.Abs(v) / 7
		}
		if math.IsNaN(size) || math.IsInf(size, 0) {
			continue
		}
		wide := (8*(y[5]-y[1]) - (y[6] - y[0])) / (12 * h)
		near := (8*(y[4]-y[2]) - (y[5] - y[1])) / (6 * h)
		floor := 10 * ε * size / h
		allowed := limit/10*max(math.Abs(near), scale) + floor
		if !(math.Abs(wide-near) <= allowed) {
			continue
		}
		// The slopes to the right and to the left, of second order: their gap falls to a quarter
		// with half the step, or to nothing.
		gap := math.Abs((4*y[5]-y[6]-3*y[3])-(3*y[3]-4*y[1]+y[0])) / (2 * h)
		half := math.Abs((4*y[4]-y[5]-3*y[3])-(3*y[3]-4*y[2]+y[1])) / h
		if half > 0.6*gap && half > allowed {
			continue
		}
		return estimate{near, floor}, nil
	}
	return estimate{}, errUnsettled
}
