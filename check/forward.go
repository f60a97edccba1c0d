package check

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/tape"
)

// tangents adds forward mode along the random direction: of the loss, and, where
// the second derivative is symmetric, of its derivatives.
func (c *checker) tangents() {
	if c.lacks(movable) != "" {
		return
	}
	c.tangent = grad.JVP([]*graph.Node{c.loss}, c.wrt, c.along)[0]
	if c.symmetric() {
		c.bend = grad.JVP(c.first, c.wrt, c.along)
	}
}

// movable reports whether an operation can be moved by forward mode.
func movable(op graph.Op) bool {
	_, forward := op.(trait.Forward)
	_, reverse := op.(trait.Differentiable)
	return forward || reverse
}

func mappable(op graph.Op) bool {
	_, ok := vmap.RuleOf(op)
	return ok
}

// lacks names an operation that has no rule, "" if all have.
func (c *checker) lacks(rule func(graph.Op) bool) string {
	for _, n := range graph.Reachable(append([]*graph.Node{c.y}, c.first...)...) {
		if n.Role() == graph.RoleOp && !rule(n.Op()) {
			return n.Op().Name()
		}
	}
	return ""
}

// symmetric reports whether the order of differentiation does not matter: not where
// derivatives are stopped, or chosen on purpose.
func (c *checker) symmetric() bool {
	return !slices.ContainsFunc(graph.Reachable(c.loss), func(n *graph.Node) bool {
		_, chosen := n.Op().(Estimator)
		return chosen || match.Is(n, match.StopGradient)
	})
}

// jvp holds forward mode to reverse mode: JVP·v = vᵀ·VJP, and the derivatives of
// derivatives both ways.
func (c *checker) jvp(context.Context) Verdict {
	if c.loss == nil {
		return skipped("jvp", "there is nothing to differentiate")
	}
	if op := c.lacks(movable); op != "" {
		return skipped("jvp", op+" has no rule for tangents")
	}
	values, err := ref.Eval(c.env, c.at, slices.Concat([]*graph.Node{c.loss, c.tangent}, c.first, c.bend)...)
	if err != nil {
		return Verdict{Err: err}
	}
	loss, tangent, first, bend := values[0].Data[0], values[1].Data[0], values[2:2+len(c.first)], values[2+len(c.first):]
	// Derivatives far below the loss are rounding errors of larger terms.
	want, size := 0.0, max(math.Abs(loss)/1000, math.SmallestNonzeroFloat64)
	for i, d := range first {
		v, _ := c.along[i].Constant()
		for k, x := range d.Data {
			want += x * v.Data[k]
			size += math.Abs(x * v.Data[k])
		}
	}
	v := Verdict{Diff: math.Abs(tangent-want) / size, Limit: c.rounding()}
	if !(v.Diff <= v.Limit) && !(math.IsNaN(tangent) && math.IsNaN(want)) {
		v.Err = fmt.Errorf("the tangent of the loss is %v, ⟨gradient, direction⟩ %v", tangent, want)
	}
	if v.Err != nil || c.bend == nil {
		return v
	}
	further, err := ref.Eval(c.env, c.at, c.further...)
	if err != nil {
		return Verdict{Err: err}
	}
	level := values[:1] // compared with itself, it says how large the numbers are
	w := compared("", append([]*graph.Node{c.loss}, c.further...), slices.Concat(level, bend), slices.Concat(level, further),
		func(graph.DType) float64 { return v.Limit })
	if v.Diff = max(v.Diff, w.Diff); w.Err != nil {
		v.Err = fmt.Errorf("the tangent of a derivative is not the derivative of the slope: %w", w.Err)
	}
	return v
}

// rounding is how far two ways to one number may be apart by definition: constants
// and conversions of a float32 graph are rounded to its type.
func (c *checker) rounding() float64 {
	digits := 1e-9
	for _, n := range graph.Reachable(c.loss) {
		switch n.DType() {
		case graph.F32:
			digits = max(digits, 1e-5)
		case graph.F16:
			digits = max(digits, 0x1p-9)
		case graph.BF16:
			digits = max(digits, 0x1p-6)
		}
	}
	return digits
}

// examples is how many the check of batching makes.
const examples = 2

// vmap holds the graph mapped over a batch to one example after the other: the
// result and its derivatives, where all leaves differ from example to example, and
// where parameters and states are shared.
func (c *checker) vmap(context.Context) Verdict {
	if op := c.lacks(mappable); op != "" {
		return skipped("vmap", op+" has no rule for batches")
	}
	outs := append([]*graph.Node{c.y}, c.first...)
	points := []graph.Values{c.at, c.moved(c.at, 0.01)}
	v := Verdict{}
	for _, shared := range []bool{false, true} {
		feeds := slices.Clone(points)
		feeds[1] = graph.Values{}
		var over []vmap.Over
		for _, x := range graph.Reachable(outs...) {
			at, given := c.at[x]
			if !given {
				continue
			}
			feeds[1][x] = at
			if shared && x.Role() != graph.RoleInput {
				continue
			}
			feeds[1][x] = points[1][x]
			batch := graph.NewValue(at.Type)
			batch.Data = slices.Concat(at.Data, points[1][x].Data)
			axes := append([]graph.Axis{c.axis()}, x.Shape().Axes()...)
			over = append(over, vmap.Over{X: x, Batch: c.graph.Constant(x.DType(), batch.Data, axes...)})
		}
		if len(over) == 0 && shared {
			break // there are only parameters
		} else if len(over) == 0 {
			return skipped("vmap", "there is nothing to make batches of")
		}
		mapped := vmap.MapSameDraws(outs, over...)
		if err := c.graph.Err(); err != nil {
			return Verdict{Err: err}
		}
		want := make([]graph.Value, len(outs))
		for _, feed := range feeds {
			one, err := ref.Eval(c.env, feed, outs...)
			if err != nil {
				return Verdict{Err: err}
			}
			for k, m := range mapped {
				want[k].Type, want[k].Data = m.Type(), append(want[k].Data, one[k].Data...)
			}
		}
		got, err := ref.Eval(c.env, c.at, mapped...)
		if err != nil {
			return Verdict{Err: err}
		}
		if w := compared("", mapped, got, want, within(1e-4, 1e-9)); w.Err != nil {
			return Verdict{Diff: w.Diff, Limit: w.Limit, Err: fmt.Errorf("by its definition, for %d examples: %w", examples, w.Err)}
		}
		if got, err = reftest.Tape(c.seed, c.at, mapped, tape.Passes()); err != nil {
			return Verdict{Err: err}
		}
		w := compared("", mapped, got, want, within(1e-3, 1e-9))
		if v.Diff, v.Limit = max(v.Diff, w.Diff), w.Limit; w.Err != nil {
			v.Err = fmt.Errorf("on the tape, for %d examples: %w", examples, w.Err)
			return v
		}
	}
	return v
}

// axis is that of the examples, called as no axis of the graph is.
func (c *checker) axis() graph.Axis {
	a := graph.Ax("example", examples)
	for slices.ContainsFunc(c.graph.Nodes(), func(n *graph.Node) bool { return n.Shape().Index(a.Name) >= 0 && n.ID() < c.grown }) {
		a.Name += "′"
	}
	return a
}
