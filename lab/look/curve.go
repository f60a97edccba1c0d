package look

import (
	"context"
	"errors"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// Curve is the output of a model of one number over its range.
type Curve struct {
	X     []float64 // ascending
	Steps []int     // start, middle and end
	Y     [][]float64
	// DataX and Data are inputs and targets; nil where the model has no other input to compare
	// with.
	DataX, Data []float64
}

// Curve returns the output of a model with [Elbows] over the range of its inputs; nil if the output is
// not one number for each.
func (r *Run) Curve(ctx context.Context, e *Elbows) (*Curve, error) {
	if ok, err := r.measurable(); !ok {
		return nil, err
	}
	if e == nil || e.x == nil {
		return nil, errors.New("look: want the elbows that Run.Elbows finds")
	}
	y := r.Model.Output
	if y == nil || y.Rank() == 0 || y.Shape().Len() != e.x.Shape().Len() {
		return nil, nil
	}
	const places = 241
	n := e.x.Shape().Len()
	c := &Curve{}
	for i := range places {
		c.X = append(c.X, e.Range[0]+(e.Range[1]-e.Range[0])*float64(i)/(places-1))
	}
	m := r.copied(nil, y)
	defer m.close()
	for _, at := range r.middle() {
		m.close()
		if err := m.compile(ctx, at, m.copies[y]); err != nil {
			return nil, err
		}
		feed, out := m.feed(r.Feeds[0]), []float64(nil)
		for from := 0; from < places; from += n {
			xs := make([]float64, n)
			for i := range xs {
				xs[i] = c.X[min(from+i, places-1)]
			}
			feed[m.copies[e.x]] = tape.Tensor(graph.Value{Type: e.x.Type(), Data: xs})
			v, err := m.values(ctx, feed, m.copies[y])
			if err != nil {
				return nil, err
			}
			out = append(out, v[0]...)
		}
		c.Steps, c.Y = append(c.Steps, at.Step), append(c.Y, out[:places])
	}
	for _, in := range r.Model.Inputs() {
		if in != e.x && in.DType().IsFloat() && in.Shape().Len() == n && r.Model.Loss != nil {
			v, err := r.take(ctx, r.End(), r.Feeds[0], e.x, in)
			if err != nil {
				return nil, err
			}
			c.DataX, c.Data = v[0], v[1]
			break
		}
	}
	return c, nil
}
