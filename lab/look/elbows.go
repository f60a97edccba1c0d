package look

import (
	"context"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/tape"
)

// Elbows describes a layer of ReLUs of one number x: unit h is max(0, w·x + b), with a kink where its
// argument is 0.
type Elbows struct {
	Name  string
	Steps []int
	// At and Slope are by moment and unit: −b/w, which is infinite or NaN where w is 0, and w.
	At, Slope [][]float64
	// Dead, by moment and unit, reports that no input turns the unit on.
	Dead [][]bool
	// Range is that of the inputs.
	Range [2]float64

	x, pre *graph.Node
	units  int // the axis of pre along which the units are
}

// Elbows returns the elbows of the first layer of ReLUs of one number, at every moment; nil if the model
// has none. Such a layer is computed from a single input with one number for each example, and its
// argument is affine in it.
func (r *Run) Elbows(ctx context.Context) (*Elbows, error) {
	if ok, err := r.measurable(); !ok {
		return nil, err
	}
	e := r.elbows()
	if e == nil {
		return nil, nil
	}
	e.Range = [2]float64{math.Inf(1), math.Inf(-1)}
	for _, f := range r.Feeds {
		a, err := tape.ArrayOf(e.x.Type(), f[e.x])
		if err != nil {
			return nil, err
		}
		for i := range e.x.Shape().Len() {
			e.Range = [2]float64{min(e.Range[0], a.At(i)), max(e.Range[1], a.At(i))}
		}
	}
	l := r.line(e)
	defer l.close()
	for _, m := range r.Moments {
		if err := l.at(ctx, m); err != nil {
			return nil, err
		}
		var slope, at []float64
		dead := make([]bool, l.units)
		for i := range dead {
			dead[i] = true
		}
		for _, f := range r.Feeds {
			w, b, z, ok, err := l.read(ctx, f)
			if err != nil || !ok {
				return nil, err
			}
			for p, v := range z {
				if v > 0 {
					dead[p%l.units] = false
				}
			}
			slope, at = w, make([]float64, l.units)
			for h := range at {
				at[h] = -b[h] / w[h]
			}
		}
		e.Steps, e.At, e.Slope, e.Dead = append(e.Steps, m.Step), append(e.At, at), append(e.Slope, slope), append(e.Dead, dead)
	}
	return e, nil
}

// elbows finds the layer.
func (r *Run) elbows() *Elbows {
	for _, n := range r.nodes() {
		pre := rectified(n)
		if pre == nil || !pre.DType().IsFloat() || pre.Rank() != 2 {
			continue
		}
		var x *graph.Node
		inputs := 0
		for _, leaf := range graph.Reachable(pre) {
			if _, fixed := leaf.Default(); leaf.Role() == graph.RoleInput && !fixed {
				x, inputs = leaf, inputs+1
			}
		}
		if inputs == 1 && x.DType().IsFloat() && x.Rank() > 0 && x.Shape().Len() == x.Dim(0) && x.Dim(0) == pre.Dim(1-unitAxis(pre)) && r.Feeds[0][x] != nil {
			return &Elbows{Name: r.named(n), x: x, pre: pre, units: unitAxis(pre)}
		}
	}
	return nil
}

// line evaluates the arguments of a layer of elbows, and how they change with x.
type line struct {
	*measured
	x, z, slope *graph.Node
	units       int
	across      bool // the units are along the first axis
}

func (r *Run) line(e *Elbows) *line {
	l := &line{measured: r.copied(nil, e.pre), units: e.pre.Dim(e.units), across: e.units == 0}
	l.x, l.z = l.copies[e.x], l.copies[e.pre]
	ones := make([]float64, l.x.Shape().Len())
	for i := range ones {
		ones[i] = 1
	}
	l.slope = grad.JVP([]*graph.Node{l.z}, []*graph.Node{l.x}, []*graph.Node{l.graph.Constant(l.x.DType(), ones, l.x.Shape().Axes()...)})[0]
	return l
}

// at makes the program read the parameters of a moment.
func (l *line) at(ctx context.Context, m Moment) error {
	l.close()
	return l.compile(ctx, m, l.z, l.slope, l.x)
}

// read returns w and b of each unit, and the arguments z. It reports whether these are affine in x.
func (l *line) read(ctx context.Context, feed tape.Feed) (w, b, z []float64, ok bool, err error) {
	v, err := l.values(ctx, l.feed(feed), l.z, l.slope, l.x)
	if err != nil {
		return nil, nil, nil, false, err
	}
	z, slopes, x := l.byExample(v[0]), l.byExample(v[1]), v[2]
	w, b = slices.Clone(slopes[:l.units]), make([]float64, l.units)
	for p, s := range slopes {
		if h := p % l.units; math.Abs(s-w[h]) > 1e-4*(math.Abs(w[h])+1e-30) {
			return nil, nil, nil, false, nil
		}
	}
	nearest := 0 // the smallest |x| loses the fewest digits of b
	for i := range x {
		if math.Abs(x[i]) < math.Abs(x[nearest]) {
			nearest = i
		}
	}
	for h := range b {
		b[h] = z[nearest*l.units+h] - w[h]*x[nearest]
	}
	return w, b, z, true, nil
}

// byExample returns values example by example, each with one for every unit.
func (l *line) byExample(v []float64) []float64 {
	if !l.across {
		return v
	}
	out, n := make([]float64, len(v)), len(v)/l.units
	for h := range l.units {
		for i := range n {
			out[i*l.units+h] = v[h*n+i]
		}
	}
	return out
}
