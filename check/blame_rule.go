package check

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
)

// rule is one operation in a graph of its own, whose operands are inputs with
// the values that they have in the model. Operands that are one node there are
// several here, since each has a rule.
type rule struct {
	*checker
	node *graph.Node
	in   []*graph.Node
	w    []float64     // the loss is this combination of the elements: random, 0 where they are not finite
	grad []*graph.Node // by operand; nil for integers and masks
}

// blame checks the rule of a node by all of its float operands, and lists those of
// which it is wrong.
func (c *checker) blame(n *graph.Node, value graph.Values) (b Blamed, wrong []int) {
	b = Blamed{Node: n}
	r, err := c.rule(n, value)
	if err != nil {
		b.State, b.Note = RuleWrong, err.Error()
		for i := range n.NumIn() {
			wrong = append(wrong, i)
		}
		return b, wrong
	}
	for i, d := range r.grad {
		if d == nil {
			continue
		}
		diff, place, err := r.operand(i)
		switch {
		case errors.Is(err, errUnsettled):
			if b.State == RuleRight {
				b.State, b.Note = Undecided, fmt.Sprintf("operand %d: %v", i, err)
			}
		case err != nil:
			b.State, b.Note = RuleWrong, fmt.Sprintf("operand %d: %v", i, err)
			wrong = append(wrong, i)
		case place != nil:
			if wrong == nil || diff > b.Diff {
				b.Operand, b.Index, b.Want, b.Got = i, nil, place.want, place.got
				if place.at >= 0 {
					b.Index = unravel(n.In(i).Shape(), place.at)
				}
			}
			b.State, b.Note, wrong = RuleWrong, "", append(wrong, i)
		}
		b.Diff = max(b.Diff, diff)
	}
	return b, wrong
}

// rule puts a node into a graph of its own and differentiates it.
func (c *checker) rule(n *graph.Node, value graph.Values) (r *rule, err error) {
	g := graph.New("rule")
	r = &rule{checker: &checker{graph: g, env: c.env, rng: rand.New(rand.NewPCG(c.seed, uint64(n.ID()))), at: graph.Values{}}}
	err = safely(func() error {
		for i, x := range n.Inputs() {
			in := g.Input(fmt.Sprintf("x%d", i), x.DType(), x.Shape().Axes()...)
			r.in, r.at[in] = append(r.in, in), value[x]
		}
		r.node = g.Copy(n, r.in)
		r.w = make([]float64, n.Shape().Len())
		for p, y := range value[n].Data {
			if !math.IsNaN(y) && !math.IsInf(y, 0) {
				r.w[p] = n.DType().Round(r.rng.NormFloat64())
			}
		}
		loss := ops.Sum(ops.Mul(r.node, g.Constant(n.DType(), r.w, n.Shape().Axes()...)))
		r.grad = make([]*graph.Node, len(r.in))
		for i, x := range r.in {
			if x.DType().IsFloat() {
				r.grad[i] = grad.OrZero(loss, x)[0]
			}
		}
		return g.Err()
	})
	if mistakes := (graph.Errors)(nil); errors.As(err, &mistakes) {
		err = mistakes[0].Err // its position is that of the check
	}
	return r, err
}

// misplaced is the element by which a rule is wrong, -1 where only a direction tells.
type misplaced struct {
	at        int
	want, got float64
}

// operand holds the rule by one operand to difference quotients: at the point in a
// direction of any size, in one of the size of the values (an element may lie close to
// the edge of its domain), at points nearby (it may lie at a kink), and without the
// elements that are 0.
func (r *rule) operand(i int) (diff float64, place *misplaced, err error) {
	err = errUnsettled
	again := 0
	for attempt := range 5 {
		at := r.at[r.in[i]].Data
		if attempt == 2 || attempt == 3 {
			at = r.nearby(at)
		}
		u := make([]float64, len(at))
		for k, x := range at {
			switch size := math.Abs(x); {
			case math.IsInf(size, 0):
			case attempt == 0:
				u[k] = r.rng.NormFloat64()
			case size > 0:
				u[k] = size * r.rng.NormFloat64()
			case attempt < 4:
				u[k] = r.rng.NormFloat64()
			}
		}
		var got, want float64
		var d []float64
		ruleErr := safely(func() error {
			d, err = r.slopes(i, at)
			return err
		})
		if ruleErr != nil {
			return 0, nil, ruleErr
		}
		if diff, got, want, err = r.compare(i, at, d, u); err != nil {
			if !errors.Is(err, errUnsettled) {
				return 0, nil, err
			}
			continue
		}
		if diff <= limitFirst {
			return diff, nil, nil
		}
		if place, err = r.locate(i, at, d, u); err == nil {
			return diff, place, nil
		}
		if again++; again > 1 { // one direction may have crossed a kink unnoticed
			return diff, &misplaced{-1, want, got}, nil
		}
	}
	return 0, nil, err
}

// nearby moves a point by about a hundredth of its values.
func (r *rule) nearby(at []float64) []float64 {
	typical := 0.0
	for _, x := range at {
		if !math.IsInf(x, 0) {
			typical += math.Abs(x) / float64(len(at))
		}
	}
	if typical == 0 {
		typical = 1
	}
	out := make([]float64, len(at))
	for k, x := range at {
		size := math.Abs(x)
		switch {
		case math.IsInf(size, 0):
			size = 0
		case size == 0:
			size = typical
		}
		out[k] = x + 0.01*size*r.rng.NormFloat64()
	}
	return out
}

// slopes is the derivative by operand i at a point, by the rule.
func (r *rule) slopes(i int, at []float64) ([]float64, error) {
	v, err := ref.Eval(r.env, r.with(i, at), r.grad[i])
	if err != nil {
		return nil, err
	}
	return v[0].Data, nil
}

// with is the point with another value of operand i.
func (r *rule) with(i int, at []float64) graph.Values {
	feed := graph.Values{}
	for n, v := range r.at {
		feed[n] = v
	}
	feed[r.in[i]] = graph.Value{Type: r.in[i].Type(), Data: at}
	return feed
}

// compare takes the slope along u at a point by the rule, whose derivative is d, and
// by difference quotient.
func (r *rule) compare(i int, at, d, u []float64) (diff, got, want float64, err error) {
	norm := 0.0
	for k, v := range d {
		if u[k] != 0 {
			got += v * u[k]
			norm += v * u[k] * v * u[k]
		}
	}
	if math.IsNaN(got) || math.IsInf(got, 0) {
		return 0, 0, 0, fmt.Errorf("%w (the derivative is %v)", errUnsettled, got)
	}
	x := make([]float64, len(at))
	along := func(h float64) (float64, error) {
		for k, v := range at {
			x[k] = v + h*u[k]
		}
		v, err := ref.Eval(r.env, r.with(i, x), r.node)
		if err != nil {
			return 0, err
		}
		sum := 0.0
		for p, w := range r.w {
			if w != 0 {
				sum += w * v[0].Data[p]
			}
		}
		return sum, nil
	}
	centre, err := along(0)
	if err != nil {
		return 0, 0, 0, err
	}
	least := max(math.Sqrt(norm), 1e-6*math.Abs(centre))
	q, err := quotient(along, least, limitFirst)
	if err != nil {
		return 0, 0, 0, err
	}
	if scale := max(math.Abs(q.slope), least, q.floor/limitFirst); scale > 0 {
		diff = math.Abs(got-q.slope) / scale
	}
	return diff, got, q.slope, nil
}

// locate finds the element by which a rule that is wrong along u is the furthest
// off: in the half of them with the larger difference, again and again.
func (r *rule) locate(i int, at, d, u []float64) (*misplaced, error) {
	lo, hi := 0, len(u)
	part := func(lo, hi int) []float64 {
		v := make([]float64, len(u))
		copy(v[lo:hi], u[lo:hi])
		return v
	}
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		_, g1, w1, err := r.compare(i, at, d, part(lo, mid))
		if err != nil {
			return nil, err
		}
		_, g2, w2, err := r.compare(i, at, d, part(mid, hi))
		if err != nil {
			return nil, err
		}
		if math.Abs(g1-w1) >= math.Abs(g2-w2) {
			hi = mid
		} else {
			lo = mid
		}
	}
	one := make([]float64, len(u))
	if one[lo] = 1; math.Abs(at[lo]) > 0 && u[lo] != 0 {
		one[lo] = u[lo]
	}
	diff, got, want, err := r.compare(i, at, d, one)
	if err != nil {
		return nil, err
	}
	if diff <= limitFirst {
		return nil, fmt.Errorf("%w (off in a direction, not by an element)", errUnsettled)
	}
	return &misplaced{lo, want / one[lo], got / one[lo]}, nil
}

// unravel gives the index of an element in row-major order.
func unravel(s graph.Shape, p int) []int {
	index := make([]int, s.Rank())
	for a := s.Rank() - 1; a >= 0; a-- {
		index[a] = p % s.Dim(a)
		p /= s.Dim(a)
	}
	return index
}
