package ops

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
)

// Stopped holds the results of a loop that ends by a condition.
type Stopped struct {
	Final []*graph.Node // the carries after the last step that was run
	Out   []*graph.Node // the outs of each step, [t=T …] for a bound T; 0 for steps that were not run
	Steps *graph.Node   // how many steps were run, an i32 scalar
	Done  *graph.Node   // whether the condition ended the loop, a bool scalar; false: the bound did
}

// While runs the steps of a loop as long as going is true, but no more than [Loop.Steps] of them,
// or than its sequences have. The condition is a bool scalar, made of the carries and of
// [Loop.With]; it is asked before each step, also before the first.
//
//	r := ops.While(ops.Loop{Carry: []*graph.Node{x}, With: []*graph.Node{a}, Steps: 100},
//		func(c, a []*graph.Node) *graph.Node {
//			return ops.Greater(ops.Abs(ops.Sub(ops.Square(c[0]), a[0])), ops.Lit(c[0], 1e-12))
//		},
//		func(c, _, a []*graph.Node) (next, out []*graph.Node) {
//			return []*graph.Node{ops.Scale(ops.Add(c[0], ops.Div(a[0], c[0])), 0.5)}, nil
//		})
//
// A run takes the time of the steps that it runs. Reverse mode keeps the carries of all steps up to
// the bound, or, with [Loop.Checkpoint], of every k-th step; the steps that were not run contribute
// nothing and are passed over. If no derivative wants them, two carries are kept whatever the
// bound. The derivative is that of the steps that were run: the number of steps is constant to it.
// [FixedPoint] differentiates what such a loop converges to instead, in the memory of one step.
//
// Mapped over examples ([graph/vmap]), the loop runs until all are done; those that are done keep
// their carries.
//
// The carries have any types, as those of [Scan]: counters and flags beside floats. A condition that
// is no bool scalar is a mistake. A bound is needed.
func While(l Loop, going func(carry, with []*graph.Node) *graph.Node, step StepFunc) Stopped {
	return while("While", l, going, step)
}

// The carries that a loop with a condition has before those of its user: whether it goes on, and
// how many steps it has run.
const ownCarries = 2

func while(what string, l Loop, going func(carry, with []*graph.Node) *graph.Node, step StepFunc) Stopped {
	var inner StepFunc
	if step != nil && going != nil {
		inner = func(c, x, with []*graph.Node) (next, out []*graph.Node) {
			next, out = step(c[ownCarries:], x, with)
			if len(next) != len(c)-ownCarries {
				bad := graph.Of(c...).Fail(what, fmt.Errorf("the step gives %d carries: want %d", len(next), len(c)-ownCarries))
				return slices.Repeat([]*graph.Node{bad}, len(c)), out
			}
			more := asked(what, going(next, with), c[0])
			return append([]*graph.Node{more.As("going"), Shift(c[1], 1).As("steps")}, next...), out
		}
	}
	u := l.laid(what, inner)
	stopped := func(r Scanned) Stopped {
		done := Equal(r.Final[0], Lit(r.Final[0], 0))
		return Stopped{Final: r.Final[ownCarries:], Out: r.Out, Steps: Cast(r.Final[1], graph.I32), Done: done}
	}
	refused := func() Stopped {
		u.carry = append(make([]*graph.Node, ownCarries), l.Carry...)
		r := u.refused(inner)
		return Stopped{Final: r.Final[ownCarries:], Out: r.Out, Steps: u.bad, Done: u.bad}
	}
	if u.bad != nil {
		return refused()
	}
	if len(l.Carry) == 0 {
		u.bad = u.g.Fail(what, fmt.Errorf("no carries: the condition would never change"))
		return refused()
	}
	float := common(u.carry)
	count := float
	if odd := float64(u.steps | 1); float.Round(odd) != odd {
		count = graph.I32
	}
	zero := u.g.Constant(count, []float64{0})
	start := asked(what, going(u.carry, u.with), u.g.Constant(float, []float64{0}))
	if u.bad = start; start.IsValid() {
		u.bad = nil
	} else {
		return refused()
	}
	u.carry, u.name, u.gate = append([]*graph.Node{start, zero}, u.carry...), "while", 1
	if 0 < l.Checkpoint && l.Checkpoint < u.steps {
		return stopped(u.chunked(l.Checkpoint, inner))
	}
	return stopped(u.scan(inner))
}

// asked returns a condition as a number of the type of x.
func asked(what string, more, x *graph.Node) *graph.Node {
	switch g := x.Graph(); {
	case more == nil:
		return g.Fail(what, fmt.Errorf("the condition is nil"))
	case more.IsValid() && (more.DType() != graph.Bool || more.Rank() > 0):
		return g.Fail(what, fmt.Errorf("a condition of type %v: want a bool scalar", more.Type()), more)
	}
	return Cast(more, x.DType())
}
