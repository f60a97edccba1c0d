package train

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// Schedule gives a quantity, such as a learning rate or a temperature, in step t of n, where t is
// from 0 to n−1.
type Schedule struct {
	text string
	at   func(t, n int) float64
	node func(t *graph.Node, n int) *graph.Node // at, in a graph
}

// At returns the value in step t of n. Only [Geometric], and schedules made of it other than by
// [Within], depend on n. The zero value has no values: At returns NaN.
func (s Schedule) At(t, n int) float64 {
	if s.at == nil {
		return math.NaN()
	}
	return s.at(t, n)
}

// Node returns the value in step t of n as a node, where t is a scalar of the graph: for a step that
// counts itself, as one that is exported to be run elsewhere does. The element type is that of t,
// which is to be f64: f32 loses digits of an exponential in the thousandth step. The node of the
// zero value is NaN.
func (s Schedule) Node(t *graph.Node, n int) *graph.Node {
	switch {
	case !t.IsValid():
		return graph.Of(t).Fail("Node", errors.New("no step: want a scalar of type f64"), t)
	case t.Rank() != 0 || !t.DType().IsFloat():
		return graph.Of(t).Fail("Node", fmt.Errorf("a step of type %v: want a scalar of type f64", t.Type()), t)
	case s.node == nil:
		return ops.Lit(t, math.NaN())
	}
	return s.node(t, n)
}

// String returns the text that [ParseSchedule] reads: 1, 0.1..10, cosine(0.1,200).
func (s Schedule) String() string { return s.text }

// IsZero reports whether the schedule is the zero value, which has no values.
func (s Schedule) IsZero() bool { return s.at == nil }

// called returns a schedule of t alone, printed as a call.
func called(at func(t float64) float64, node func(t *graph.Node) *graph.Node, name string, args ...float64) Schedule {
	text := name + "("
	for i, v := range args {
		if i > 0 {
			text += ","
		}
		text += digits(v)
	}
	return Schedule{text + ")", func(t, _ int) float64 { return at(float64(t)) }, func(t *graph.Node, _ int) *graph.Node { return node(t) }}
}

func digits(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// Constant returns the schedule that is v in every step.
func Constant(v float64) Schedule {
	return Schedule{digits(v), func(int, int) float64 { return v }, func(t *graph.Node, _ int) *graph.Node { return ops.Lit(t, v) }}
}

// Geometric goes from one positive value to another by equal factors, as a temperature is annealed:
// it is from in the first of the n steps, and to in the last.
func Geometric(from, to float64) Schedule {
	return Schedule{digits(from) + ".." + digits(to), func(t, n int) float64 {
		p := 1.0
		if n > 1 {
			p = float64(t) / float64(n-1)
		}
		return math.Exp((1-p)*math.Log(from) + p*math.Log(to))
	}, func(t *graph.Node, n int) *graph.Node {
		p := ops.Lit(t, 1)
		if n > 1 {
			p = ops.Div(t, ops.Lit(t, float64(n-1)))
		}
		return ops.Exp(ops.Add(ops.Scale(ops.OneMinus(p), math.Log(from)), ops.Scale(p, math.Log(to))))
	}}
}

// StepDecay multiplies v by a factor after every so many steps, at least 1: v·factor^⌊t/every⌋.
func StepDecay(v, factor float64, every int) Schedule {
	e := float64(max(1, every))
	return called(func(t float64) float64 { return v * math.Pow(factor, math.Floor(t/e)) },
		func(t *graph.Node) *graph.Node {
			return ops.Scale(ops.Pow(ops.Lit(t, factor), ops.Floor(ops.Div(t, ops.Lit(t, e)))), v)
		}, "step", v, factor, e)
}

// Exponential multiplies v by a factor after every step: v·factorᵗ.
func Exponential(v, factor float64) Schedule {
	return called(func(t float64) float64 { return v * math.Pow(factor, t) },
		func(t *graph.Node) *graph.Node { return ops.Scale(ops.Pow(ops.Lit(t, factor), t), v) }, "exp", v, factor)
}

// Cosine falls from v in step 0 along half a cosine wave to least (0 unless given) in step t =
// steps, and stays there (Loshchilov & Hutter, 2017, without restarts):
//
//	least + (v − least)·(1 + cos(π·t/steps))/2
func Cosine(v float64, steps int, least ...float64) Schedule {
	end, low := float64(max(1, steps)), 0.0
	args := []float64{v, end}
	if len(least) > 0 {
		low = least[0]
		args = append(args, low)
	}
	return called(func(t float64) float64 { return low + (v-low)*(1+math.Cos(math.Pi*min(1, t/end)))/2 },
		func(t *graph.Node) *graph.Node {
			part := ops.Minimum(ops.Div(t, ops.Lit(t, end)), ops.Lit(t, 1))
			return ops.Shift(ops.Scale(ops.Shift(ops.Cos(ops.Scale(part, math.Pi)), 1), (v-low)/2), low)
		}, "cosine", args...)
}

// InverseTime falls like 1/t, as v/(1 + t/half), where half is positive: v is halved at t = half.
// The sum of such rates diverges and that of their squares does not, which is the condition of
// Robbins & Monro (1951).
func InverseTime(v, half float64) Schedule {
	return called(func(t float64) float64 { return v / (1 + t/half) },
		func(t *graph.Node) *graph.Node {
			return ops.Div(ops.Lit(t, v), ops.Shift(ops.Div(t, ops.Lit(t, half)), 1))
		}, "1/t", v, half)
}

// Warmup rises linearly, for at least 1 step, to the value with which another schedule starts,
// which then follows:
//
//	s(0)·(t+1)/steps for t < steps,  s(t − steps) afterwards
func Warmup(steps int, s Schedule) Schedule {
	k := max(1, steps)
	if s.IsZero() {
		s = Constant(0)
	}
	return Schedule{fmt.Sprintf("warmup(%d,%s)", k, s), func(t, n int) float64 {
		if t < k {
			return s.at(0, n-k) * float64(t+1) / float64(k)
		}
		return s.at(t-k, n-k)
	}, func(t *graph.Node, n int) *graph.Node {
		rise := ops.Scale(ops.Shift(t, 1), s.at(0, n-k)/float64(k))
		return ops.Select(ops.Less(t, ops.Lit(t, float64(k))), rise, s.node(since(t, k), n-k))
	}}
}

// Hold keeps the value with which another schedule starts for some steps, after which that schedule
// follows:
//
//	s(0) for t < steps,  s(t − steps) afterwards
func Hold(steps int, s Schedule) Schedule {
	k := max(0, steps)
	if s.IsZero() {
		s = Constant(0)
	}
	return Schedule{fmt.Sprintf("hold(%d,%s)", k, s), func(t, n int) float64 { return s.at(max(0, t-k), max(1, n-k)) },
		func(t *graph.Node, n int) *graph.Node { return s.node(since(t, k), max(1, n-k)) }}
}

// since returns the number of steps after the first k, 0 in these.
func since(t *graph.Node, k int) *graph.Node {
	return ops.Maximum(ops.Shift(t, -float64(k)), ops.Lit(t, 0))
}

// Within runs through another schedule in the given number of steps, at least 1, whatever the
// number n of all steps, and then stays at its last value: Within(100, Geometric(0.1, 10)) is
// annealed in 100 steps and constant after them.
func Within(steps int, s Schedule) Schedule {
	k := max(1, steps)
	if s.IsZero() {
		s = Constant(0)
	}
	return Schedule{fmt.Sprintf("within(%d,%s)", k, s), func(t, _ int) float64 { return s.at(min(t, k-1), k) },
		func(t *graph.Node, _ int) *graph.Node { return s.node(ops.Minimum(t, ops.Lit(t, float64(k-1))), k) }}
}
