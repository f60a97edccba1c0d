package gorgonia

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Here gorgonia is on its own: its functions, differentiated by its Grad, once and twice, and
// evaluated operation by operation, since a panic in its machine's goroutine would end the process.

// verdict says what gorgonia makes of one thing.
type verdict string

const (
	right   verdict = "right"
	refuses verdict = "refuses"
	panics  verdict = "panics"
	zero    verdict = "zero" // there is nothing to find
)

// alone is the outcome for the value, for gradient and second derivative of a
// weighted sum, and for the second derivative of a weighted sum of squares.
type alone struct{ value, first, second, square verdict }

// setting is one operation with numbers for its operands and weights.
type setting struct {
	own
	data    [][]float64
	weights []float64   // of the result's elements, whose sum is the loss
	squared bool        // of their squares instead
	along   [][]float64 // the direction of the second derivative
}

func newSetting(o own) setting {
	s := setting{own: o}
	r := rand.New(rand.NewPCG(7, 7))
	fill := func(n int, lo, hi float64, distinct bool) []float64 {
		v, places := make([]float64, n), r.Perm(n)
		for i := range v {
			at := r.Float64()
			if distinct {
				at = (float64(places[i]) + 0.3) / float64(n)
			}
			v[i] = lo + (hi-lo)*at
		}
		return v
	}
	for _, size := range o.sizes {
		n := product(size)
		s.data = append(s.data, fill(n, o.domain.Lo, o.domain.Hi, o.domain.Distinct))
		s.along = append(s.along, fill(n, -1, 1, false))
	}
	s.weights = append(fill(64, -1, 1, false), fill(960, -1, 1, false)...)
	return s
}

// ours gives the result, the gradients and the second derivatives along a direction
// by the reference.
func (s setting) mine(t *testing.T) (y, first, second []float64) {
	t.Helper()
	g := graph.New(s.op)
	feed := graph.Values{}
	var x []*graph.Node
	for i, size := range s.sizes {
		x = append(x, g.Input(fmt.Sprint("x", i), graph.F64, graph.Dims(size...)...))
		feed[x[i]] = graph.Value{Type: x[i].Type(), Data: s.data[i]}
	}
	out := s.ours(x)
	each := ops.Mul(out, g.Constant(graph.F64, s.weights[:out.Shape().Len()], out.Shape().Axes()...))
	if s.squared {
		each = ops.Mul(each, out)
	}
	loss := ops.Sum(each)
	d1 := grad.OrZero(loss, x...)
	slope := ops.Lit(loss, 0)
	for i := range x {
		slope = ops.Add(slope, ops.Sum(ops.Mul(d1[i], g.Constant(graph.F64, s.along[i], x[i].Shape().Axes()...))))
	}
	d2 := grad.OrZero(slope, x...)
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	join := func(nodes ...*graph.Node) (all []float64) {
		values, err := ref.Eval(trait.Env{}, feed, nodes...)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			all = append(all, v.Data...)
		}
		return all
	}
	return join(out), join(d1...), join(d2...)
}

var errPanic = errors.New("panic")

// guard makes panics errors.
func guard(f func() ([]float64, error)) (v []float64, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errPanic, p)
		}
	}()
	return f()
}

// theirGraph is gorgonia's graph of the function, as far as it gets.
type theirGraph struct {
	g    *G.ExprGraph
	x    G.Nodes
	y    *G.Node
	loss *G.Node
}

func (s setting) build() (h theirGraph, err error) {
	h.g = G.NewGraph()
	for i, size := range s.sizes {
		h.x = append(h.x, fixed(h.g, fmt.Sprint("x", i), s.data[i], size))
	}
	if h.y, err = s.theirs(h.x); err != nil {
		return h, err
	}
	sizes := h.y.Shape()
	w := G.NewConstant(s.weights[0])
	if !h.y.IsScalar() {
		w = fixed(h.g, "weights", s.weights[:product(sizes)], sizes)
	}
	if s.squared {
		if w, err = G.HadamardProd(w, h.y); err != nil {
			return h, err
		}
	}
	h.loss, err = weighted(h.y, w)
	return h, err
}

func fixed(g *G.ExprGraph, name string, data []float64, sizes []int) *G.Node {
	v := tensor.New(tensor.WithShape(sizes...), tensor.WithBacking(append([]float64(nil), data...)))
	return G.NewTensor(g, tensor.Float64, len(sizes), G.WithShape(sizes...), G.WithName(name), G.WithValue(v))
}

func weighted(x, w *G.Node) (*G.Node, error) {
	p, err := G.HadamardProd(x, w)
	if err != nil {
		return nil, err
	}
	if p.IsScalar() { // of which there is no sum
		return p, nil
	}
	return G.Sum(p)
}

// their gives gorgonia's value (0), gradients (1) or second derivatives (2).
func (s setting) their(order int) ([]float64, error) {
	return guard(func() ([]float64, error) {
		h, err := s.build()
		if err != nil || order == 0 {
			return valuesOf(h.g, err, h.y)
		}
		d, err := G.Grad(h.loss, h.x...)
		if err != nil || order == 1 {
			return valuesOf(h.g, err, d...)
		}
		var slope *G.Node
		for i := range d {
			part, err := weighted(d[i], fixed(h.g, fmt.Sprint("along", i), s.along[i], s.sizes[i]))
			if err != nil {
				return nil, err
			}
			if slope == nil {
				slope = part
			} else if slope, err = G.Add(slope, part); err != nil {
				return nil, err
			}
		}
		d, err = G.Grad(slope, h.x...)
		return valuesOf(h.g, err, d...)
	})
}

// valuesOf evaluates nodes, each operation once and on copies.
func valuesOf(g *G.ExprGraph, err error, nodes ...*G.Node) (all []float64, _ error) {
	if err != nil {
		return nil, err
	}
	done := map[*G.Node]G.Value{}
	var eval func(n *G.Node) (G.Value, error)
	eval = func(n *G.Node) (v G.Value, err error) {
		if v, ok := done[n]; ok {
			return v, nil
		}
		if n.Op() == nil || g.From(n.ID()).Len() == 0 {
			if v = n.Value(); v == nil {
				return nil, fmt.Errorf("%v has no value", n)
			}
		} else {
			var in []G.Value
			for it := g.From(n.ID()); it.Next(); {
				x, err := eval(it.Node().(*G.Node))
				if err != nil {
					return nil, err
				}
				if x, err = G.CloneValue(x); err != nil {
					return nil, err
				}
				in = append(in, x)
			}
			if v, err = n.Op().Do(in...); err != nil {
				return nil, err
			}
		}
		done[n] = v
		return v, nil
	}
	for _, n := range nodes {
		v, err := eval(n)
		if err != nil {
			return nil, err
		}
		d, err := numbers(v)
		if err != nil {
			return nil, err
		}
		all = append(all, d...)
	}
	return all, nil
}

// numbers are a value's, row by row.
func numbers(v G.Value) ([]float64, error) {
	switch d := v.Data().(type) {
	case []float64:
		if t, ok := v.(*tensor.Dense); ok && t.RequiresIterator() {
			d = t.Materialize().(*tensor.Dense).Float64s()
		}
		return d, nil
	case float64:
		return []float64{d}, nil
	default:
		return nil, fmt.Errorf("a value of type %T", d)
	}
}

// judge compares with what is right.
func judge(got []float64, err error, want []float64) verdict {
	switch {
	case errors.Is(err, errPanic):
		return panics
	case err != nil:
		return refuses
	case len(got) != len(want):
		return verdict(fmt.Sprintf("wrong: %d elements for %d", len(got), len(want)))
	}
	scale, worst, at := 0.0, 0.0, 0
	for _, w := range want {
		scale = max(scale, math.Abs(w))
	}
	for i, w := range want {
		if d := math.Abs(got[i] - w); !(d <= worst) {
			worst, at = d, i
		}
	}
	if worst <= 1e-9*max(scale, 1e-3) {
		return right
	}
	if math.Abs(want[at]) < 1e-9*max(scale, 1e-3) {
		want[at] = 0 // but for rounding
	}
	return verdict(fmt.Sprintf("wrong: %.3g for %.3g", got[at]+0, want[at]))
}

// onItsOwn returns the verdict on gorgonia's own operation.
func onItsOwn(t *testing.T, o own) alone {
	t.Helper()
	s := newSetting(o)
	y, first, second := s.mine(t)
	a := alone{value: s.judged(t, 0, y), first: s.judged(t, 1, first), second: s.judged(t, 2, second)}
	s.squared = true
	_, _, second = s.mine(t)
	a.square = s.judged(t, 2, second)
	return a
}

// TestOwnDerivatives holds what makes us differentiate for ourselves: gorgonia has no LogSumExp
// along an axis of a matrix, its InverseSqrt has a wrong gradient, and its second derivatives are
// wrong, refused, or end in a panic. Ours are right in every case.
func TestOwnDerivatives(t *testing.T) {
	outcomes := map[string]alone{}
	for _, o := range owns() {
		outcomes[o.op] = onItsOwn(t, o)
		s := newSetting(o)
		for _, s.squared = range []bool{false, true} {
			if err := s.differences(t); err != nil {
				t.Errorf("%s, squared %v: %v", o.op, s.squared, err)
			}
		}
	}
	isWrong := func(v verdict) bool { return strings.HasPrefix(string(v), "wrong") }
	if a := outcomes["LogSumExp"]; a.value != refuses {
		t.Errorf("LogSumExp along an axis: %s", a.value)
	}
	if a := outcomes["1/√x"]; a.value != right || !isWrong(a.first) {
		t.Errorf("InverseSqrt: the value is %s, the gradient %s", a.value, a.first)
	}
	for _, op := range []string{"Exp", "Tanh", "Sigmoid", "x³"} {
		if a := outcomes[op]; a.first != right || !isWrong(a.second) {
			t.Errorf("%s: the gradient is %s, the second derivative %s", op, a.first, a.second)
		}
	}
	for _, op := range []string{"Softmax", "LogSoftmax"} {
		if a := outcomes[op]; a.first != right || a.second != panics {
			t.Errorf("%s: the gradient is %s, the second derivative %s", op, a.first, a.second)
		}
	}
	for op, a := range outcomes {
		if a.square == right {
			t.Errorf("%s: the second derivative of its square is right: the documentation says that none is", op)
		}
	}
}

// differences holds our derivatives to difference quotients of fourth order, to
// second order, element by element.
func (s setting) differences(t *testing.T) error {
	_, first, second := s.mine(t)
	const h = 1e-3
	at := 0
	for i := range s.data {
		for k, x := range s.data[i] {
			d := [4]float64{} // of loss, and of its slope along the direction, at h, −h, 2h, −2h
			e := [4]float64{}
			for j, step := range []float64{h, -h, 2 * h, -2 * h} {
				s.data[i][k] = x + step
				y, g, _ := s.mine(t)
				for p, v := range y {
					if s.squared {
						v *= v
					}
					d[j] += s.weights[p] * v
				}
				p := 0
				for _, v := range s.along {
					for _, u := range v {
						e[j] += g[p] * u
						p++
					}
				}
			}
			s.data[i][k] = x
			for _, c := range []struct {
				order int
				f     [4]float64
				got   float64
			}{{1, d, first[at]}, {2, e, second[at]}} {
				want := (8*(c.f[0]-c.f[1]) - (c.f[2] - c.f[3])) / (12 * h)
				if !(math.Abs(c.got-want) <= 1e-6*max(1, math.Abs(want))) {
					return fmt.Errorf("derivative %d by element %d of operand %d is %v, want %v", c.order, k, i, c.got, want)
				}
			}
			at++
		}
	}
	return nil
}
