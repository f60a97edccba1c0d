package look

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/tape"
	"gonum.org/v1/gonum/mat"
)

// Quadratic is a loss that is quadratic in the parameters, as that of a linear model is:
//
//	loss(w) = ‖X·w − y‖² = wᵀAw − 2cᵀw + …,  A = XᵀX, c = Xᵀy
//
// The eigenvectors of A are the right singular directions of X, and its eigenvalues the σ².
type Quadratic struct {
	Sigma  []float64   // the singular values σ > 0, the largest first
	Axes   [][]float64 // their directions, [len(Sigma)][d]
	Length []float64   // of the least squares solution along each direction: vᵀc/σ²
	run    *Run
	params []*graph.Node
}

// mostQuadratic is the largest number of parameters of which all singular directions are found.
const mostQuadratic = 256

// Quadratic returns the singular directions of a model whose loss is quadratic in its parameters, by
// the first batch; nil for any other model, and for one of more than 256 parameters.
func (r *Run) Quadratic(ctx context.Context) (*Quadratic, error) {
	if ok, err := r.measurable(); !ok {
		return nil, err
	}
	q := &Quadratic{run: r, params: lab.Trained(r.Model)}
	d := q.size()
	if d == 0 || d > mostQuadratic {
		return nil, nil
	}
	m, inputs, gradient := q.gradient()
	defer m.close()
	if !q.constant(m, inputs, gradient) {
		return nil, nil
	}
	if err := m.compile(ctx, r.End(), gradient...); err != nil {
		return nil, err
	}
	at := func(w []float64) ([]float64, error) {
		feed := m.feed(r.Feeds[0])
		q.set(feed, inputs, w)
		parts, err := m.values(ctx, feed, gradient...)
		return joined(parts), err
	}
	w := make([]float64, d)
	origin, err := at(w)
	if err != nil {
		return nil, err
	}
	a := mat.NewSymDense(d, nil)
	for i := range d {
		w[i] = 1
		column, err := at(w)
		if err != nil {
			return nil, err
		}
		w[i] = 0
		for j := range i + 1 {
			a.SetSym(i, j, (column[j]-origin[j])/2)
		}
	}
	for i := range w { // a penalty on |w| has a second derivative of 0, and is not quadratic
		w[i] = .3 * float64(1+i%3) * float64(1-2*(i%2))
	}
	there, err := at(w)
	if err != nil {
		return nil, err
	}
	for i := range d {
		change := 0.0
		for j := range d {
			change += 2 * a.At(i, j) * w[j]
		}
		if math.Abs(there[i]-origin[i]-change) > 1e-4*(math.Abs(there[i])+math.Abs(origin[i])+math.Abs(change)) {
			return nil, nil
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(a, true) {
		return nil, fmt.Errorf("%s: the eigenvalues of the second derivative do not converge", r.name())
	}
	values := eigen.Values(nil)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	for k := d - 1; k >= 0; k-- {
		if !(values[k] > 1e-10*values[d-1]) {
			break // the data do not determine the length
		}
		axis, along := make([]float64, d), 0.0
		for i := range axis {
			axis[i] = vectors.At(i, k)
			along -= axis[i] * origin[i] / 2
		}
		if along < 0 { // the sign of a direction is free: let the solution lie ahead
			along = -along
			for i := range axis {
				axis[i] = -axis[i]
			}
		}
		q.Sigma, q.Axes, q.Length = append(q.Sigma, math.Sqrt(values[k])), append(q.Axes, axis), append(q.Length, along/values[k])
	}
	if len(q.Sigma) == 0 {
		return nil, nil
	}
	return q, nil
}

// Rate returns a rate at which gradient descent is stable: it takes the direction of the largest σ
// half of the way in a step.
func (q *Quadratic) Rate() float64 {
	if q == nil || len(q.Sigma) == 0 {
		return 0
	}
	return .25 / (q.Sigma[0] * q.Sigma[0])
}

func (q *Quadratic) size() (d int) {
	for _, p := range q.params {
		d += p.Shape().Len()
	}
	return d
}

// gradient returns a copy of the loss in which the parameters are inputs, with its gradient.
func (q *Quadratic) gradient() (m *measured, inputs, gradient []*graph.Node) {
	m = q.run.copied(q.params, q.run.Model.Loss)
	for _, p := range q.params {
		inputs = append(inputs, m.copies[p])
	}
	return m, inputs, grad.OrZero(m.copies[q.run.Model.Loss], inputs...)
}

// constant reports whether the derivatives of the gradient depend neither on the parameters nor on
// random draws.
func (q *Quadratic) constant(m *measured, inputs, gradient []*graph.Node) bool {
	var v []*graph.Node
	for i, w := range inputs {
		v = append(v, m.graph.Input("direction "+itoa(i), w.DType(), w.Shape().Axes()...))
	}
	for _, n := range graph.Reachable(grad.JVP(gradient, inputs, v)...) {
		if match.Draws(n) {
			return false
		}
		for _, w := range inputs {
			if n == w {
				return false
			}
		}
	}
	return true
}

// set feeds the parameters.
func (q *Quadratic) set(feed tape.Feed, inputs []*graph.Node, w []float64) {
	for _, n := range inputs {
		size := n.Shape().Len()
		feed[n] = tape.Tensor(graph.Value{Type: n.Type(), Data: w[:size]})
		w = w[size:]
	}
}

func joined(parts [][]float64) []float64 {
	var out []float64
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// errNotQuadratic is the error of measuring without singular directions.
var errNotQuadratic = errors.New("look: want the directions that Run.Quadratic finds")

// Learned says how far a training came along each singular direction.
type Learned struct {
	Steps []int
	// Part, by moment and direction, is how much of the length of the least squares solution the
	// training has gone: 0 at the start, 1 at the solution.
	Part [][]float64
	// Predicted is what gradient descent at a constant rate leaves: 1 − (1 − 2·rate·σ²)ᵗ.
	Predicted [][]float64
	Held      []float64 // the loss on rows that are not trained on, by moment; nil without any
	Rate      float64
}

// Learned measures the moments of the run along the singular directions, and compares them with
// plain gradient descent at a rate.
func (q *Quadratic) Learned(ctx context.Context, rate float64) (*Learned, error) {
	if q == nil || q.run == nil {
		return nil, errNotQuadratic
	}
	out := &Learned{Rate: rate}
	var start []float64
	held, err := q.held(ctx)
	if err != nil {
		return nil, err
	}
	defer held.close()
	for _, at := range q.run.Moments {
		var w []float64
		for _, p := range q.params {
			v, err := at.stored(p)
			if err != nil {
				return nil, err
			}
			w = append(w, v...)
		}
		if start == nil {
			start = w
		}
		part, predicted := make([]float64, len(q.Sigma)), make([]float64, len(q.Sigma))
		for k, axis := range q.Axes {
			from := dot(axis, start)
			part[k] = (dot(axis, w) - from) / (q.Length[k] - from)
			predicted[k] = 1 - math.Pow(1-2*rate*q.Sigma[k]*q.Sigma[k], float64(at.Step))
		}
		out.Steps, out.Part, out.Predicted = append(out.Steps, at.Step), append(out.Part, part), append(out.Predicted, predicted)
		if held != nil {
			loss, err := held.loss(ctx, w)
			if err != nil {
				return nil, err
			}
			out.Held = append(out.Held, loss)
		}
	}
	return out, nil
}

// Best returns the moment of least loss on the rows held out; −1 without any.
func (l *Learned) Best() int {
	if l == nil {
		return -1
	}
	return least(l.Held)
}

// Ridge is ridge regression at several strengths λ.
type Ridge struct {
	Lambda []float64
	Part   [][]float64 // by strength and direction: σ²/(σ² + λ)
	Held   []float64   // the loss on rows that are not trained on, by strength; nil without any
}

// Ridge returns what ridge regression makes of the least squares solution at several strengths of
// its penalty λ‖w‖².
func (q *Quadratic) Ridge(ctx context.Context, lambda []float64) (*Ridge, error) {
	if q == nil || q.run == nil {
		return nil, errNotQuadratic
	}
	out := &Ridge{Lambda: lambda}
	held, err := q.held(ctx)
	if err != nil {
		return nil, err
	}
	defer held.close()
	for _, λ := range lambda {
		part, w := make([]float64, len(q.Sigma)), make([]float64, q.size())
		for k, s := range q.Sigma {
			part[k] = s * s / (s*s + λ)
			for i, v := range q.Axes[k] {
				w[i] += part[k] * q.Length[k] * v
			}
		}
		out.Part = append(out.Part, part)
		if held != nil {
			loss, err := held.loss(ctx, w)
			if err != nil {
				return nil, err
			}
			out.Held = append(out.Held, loss)
		}
	}
	return out, nil
}

// Best returns the strength of least loss on the rows held out; −1 without any.
func (r *Ridge) Best() int {
	if r == nil {
		return -1
	}
	return least(r.Held)
}

func least(v []float64) int {
	best := -1
	for i, x := range v {
		if best < 0 || x < v[best] {
			best = i
		}
	}
	return best
}

// heldOut evaluates the loss on rows that are not trained on.
type heldOut struct {
	*measured
	q      *Quadratic
	inputs []*graph.Node
	feed   tape.Feed
}

// held returns rows that are not trained on: those that the data hold out or, for a model that draws
// examples of its own, another batch. It is nil where there are none.
func (q *Quadratic) held(ctx context.Context) (*heldOut, error) {
	feed, err := q.run.heldFeed()
	if err != nil || feed == nil {
		return nil, err
	}
	h := &heldOut{q: q}
	h.measured, h.inputs, _ = q.gradient()
	h.feed = h.measured.feed(feed)
	return h, h.compile(ctx, q.run.End(), h.copies[q.run.Model.Loss])
}

func (h *heldOut) close() {
	if h != nil {
		h.measured.close()
	}
}

func (h *heldOut) loss(ctx context.Context, w []float64) (float64, error) {
	h.q.set(h.feed, h.inputs, w)
	v, err := h.values(ctx, h.feed, h.copies[h.q.run.Model.Loss])
	if err != nil {
		return 0, err
	}
	return v[0][0], nil
}

// heldFeed returns a batch that the run was not trained on: rows that are held out, or other examples
// of the model's own. It is nil where these are the ones to train on.
func (r *Run) heldFeed() (tape.Feed, error) {
	f, err := lab.Examples(r.Model, r.seed, measuredBatches)
	if rows := r.Model.Rows; rows != nil && err == nil {
		var values graph.Values
		values, err = rows.Held(0)
		f = tape.Tensors(values)
	}
	if err != nil {
		return nil, err
	}
	for n, t := range f {
		if !reflect.DeepEqual(t.Data(), r.Feeds[0][n].Data()) {
			return f, nil
		}
	}
	return nil, nil
}

func dot(a, b []float64) (s float64) {
	for i := range a {
		s += a[i] * b[i]
	}
	return s
}
