package train

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// LBFGS returns the limited-memory quasi-Newton method of Nocedal (1980; Nocedal & Wright, 2006,
// Algorithms 7.4 and 7.5), which moves by −Hg. H is an inverse Hessian as the last m steps s and
// changes of the gradient y let it appear, with m = 10 ([History]).
//
// A [Run], and so a [Trainer] and package lab, finds the length of each step by a line search for
// the strong conditions of Wolfe (Algorithms 3.5 and 3.6, with c₁ = 10⁻⁴ and c₂ = 0.9): it
// evaluates loss and gradient several times on the batch of the step, with the same random draws,
// and commits once. The length that it tries first is the rate, with its schedule: 1, that of a
// quasi-Newton method, unless [Optimiser.WithRate] or a schedule says otherwise. Where no length lowers the loss beyond its
// rounding errors, nothing moves, and the next step starts from the plain gradient. A graph that
// is run without a Run, such as one compiled with tape.Do, moves by the rate, without a search.
//
// It minimises one function: every step is to have the whole objective, so data of several batches
// an epoch are refused, and examples that are generated should be the same in every step. What
// changes the gradient or the move is refused for the same reason: weight decay and L1 (add
// nn.SquaredNorm to the loss), clipping, [Accumulate].
//
// Its states are "lbfgs/s/PATH" and "lbfgs/y/PATH", with m rows each, "lbfgs/at/PATH" and
// "lbfgs/gradient/PATH" of the step before, and the scalars of the pairs.
func LBFGS(options ...Option) Optimiser {
	o := newOptimiser(Optimiser{name: "lbfgs", rate: 1, set: settings{history: 10}, all: (*run).quasiNewton, search: newSearch}, options, takesHistory)
	for _, c := range []struct {
		refused bool
		what    string
	}{
		{o.set.decays, "weight decay: add nn.SquaredNorm to the loss"},
		{o.set.thins, "L1: its line search wants a smooth loss"},
		{len(o.set.clips) > 0, "clipping: its line search bounds the step"},
		{o.set.runs > 1, "accumulation: it wants the whole objective in one batch"},
	} {
		if c.refused && o.err == nil {
			o.err = fmt.Errorf("lbfgs has no %s", c.what)
		}
	}
	return o
}

// History sets the number of steps that [LBFGS] remembers, from 1 to 100; 10 unless set.
func History(m int) Option {
	var err error
	if m < 1 || m > 100 {
		err = fmt.Errorf("history %d: want a number of steps from 1 to 100", m)
	}
	return Option{takesHistory, fmt.Sprintf("history %d", m), err, func(s *settings) { s.history = m }}
}

// dot returns Σ aᵢ·bᵢ over all elements of all arrays, in the loss's element type.
func (r *run) dot(a, b []*graph.Node) *graph.Node {
	var sum *graph.Node
	for i := range a {
		s := ops.Cast(ops.Sum(ops.Mul(a[i], b[i])), r.rate.DType())
		if i > 0 {
			s = ops.Add(sum, s)
		}
		sum = s
	}
	return sum
}

// plus returns a + c·b for each array.
func plus(a []*graph.Node, c *graph.Node, b []*graph.Node) []*graph.Node {
	out := make([]*graph.Node, len(a))
	for i := range a {
		out[i] = ops.Add(a[i], ops.Mul(ops.Cast(c, b[i].DType()), b[i]))
	}
	return out
}

// row returns element i along the first axis.
func row(x *graph.Node, i int) *graph.Node { return ops.Squeeze(ops.Slice(x, 0, i, i+1), 0) }

// pushed returns the rows of x but the first, and then last.
func pushed(x, last *graph.Node) *graph.Node {
	last = ops.Expand(last, 0, "")
	if n := x.Dim(0); n > 1 {
		return ops.Concat(0, ops.Slice(x, 0, 1, n), last)
	}
	return last
}

// quasiNewton returns Hg, after the step before has been added to the pairs. A pair is left out
// where the loss is not convex along its step. A step of length 0 forgets all pairs.
func (r *run) quasiNewton(params, grads []*graph.Node) []*graph.Node {
	m, least := r.set.history, 1e-12
	if r.rate.DType() != graph.F64 {
		least = 1e-6
	}
	zero, one := ops.Lit(r.rate, 0), ops.Lit(r.rate, 1)
	set := func(state, next *graph.Node) *graph.Node {
		u := r.assign(state, next)
		r.step = append(r.step, u)
		return u.Value
	}
	s, y := make([]*graph.Node, len(params)), make([]*graph.Node, len(params))
	for i, p := range params {
		at, before := r.state("at", p), r.state("gradient", p)
		s[i], y[i] = ops.Sub(p, at), ops.Sub(grads[i], before)
		set(at, p)
		set(before, grads[i])
	}
	sy, ss, yy := r.dot(s, y), r.dot(s, s), r.dot(y, y)
	begun := r.g.State("begun", r.rate.DType())
	follows := ops.Greater(begun, zero)
	set(begun, one)
	good := ops.And(follows, ops.Greater(sy, ops.Scale(ops.Sqrt(ops.Mul(ss, yy)), least))).As("convex")
	still := ops.And(follows, ops.LessEqual(ss, zero)).As("still")
	bounded := func(x *graph.Node) *graph.Node { return ops.Select(good, x, one) }

	curvatures := r.g.State("inverse-curvature", r.rate.DType(), graph.Axis{Size: m}) // 1/sᵀy; 0 where there is no pair
	ρ := ops.Select(good, pushed(curvatures, ops.Div(one, bounded(sy))), curvatures)
	ρ = set(curvatures, ops.Select(still, ops.Lit(curvatures, 0), ρ))
	length := r.g.State("scale", r.rate.DType()) // of H before the pairs: sᵀy/yᵀy of the last one
	h := set(length, ops.Select(good, ops.Div(sy, bounded(yy)), length))
	var steps, changes [][]*graph.Node // by pair, then by parameter
	for range m {
		steps, changes = append(steps, nil), append(changes, nil)
	}
	var norm *graph.Node
	for i, p := range params {
		axes := append([]graph.Axis{{Size: m}}, p.Shape().Axes()...)
		S, Y := r.state("s", p, axes...), r.state("y", p, axes...)
		S, Y = set(S, ops.Select(good, pushed(S, s[i]), S)), set(Y, ops.Select(good, pushed(Y, y[i]), Y))
		for k := range m {
			steps[k], changes[k] = append(steps[k], row(S, k)), append(changes[k], row(Y, k))
		}
		size := ops.Cast(ops.Sum(ops.Abs(grads[i])), r.rate.DType())
		if i > 0 {
			size = ops.Add(norm, size)
		}
		norm = size
	}
	// The first step, and one without pairs, goes no farther than 1 in the 1-norm.
	h = ops.Select(ops.Greater(row(ρ, m-1), zero), h, ops.Minimum(one, ops.Div(one, norm)))

	by, a := grads, make([]*graph.Node, m)
	for k := m - 1; k >= 0; k-- {
		a[k] = ops.Mul(row(ρ, k), r.dot(steps[k], by))
		by = plus(by, ops.Neg(a[k]), changes[k])
	}
	for i, q := range by {
		by[i] = ops.Mul(ops.Cast(h, q.DType()), q)
	}
	for k := range m {
		b := ops.Mul(row(ρ, k), r.dot(changes[k], by))
		by = plus(by, ops.Sub(a[k], b), steps[k])
	}
	return by
}
