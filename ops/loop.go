package ops

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
)

// Loop describes a recurrence c_{t+1}, o_t = step(c_t, x_t, w) for [Scan] and [Unroll].
type Loop struct {
	Carry []*graph.Node // c_0, the initial values, of any types
	Over  []*graph.Node // the sequences x, of equal length along Axis
	Axis  any           // the time axis of the sequences, by name or number; nil is the first
	With  []*graph.Node // w: what every step sees whole, for a step that gets its weights as arguments
	Steps int           // the number of steps, where there is no sequence

	// Reverse runs the steps from the last time to the first.
	Reverse bool
	// Checkpoint, if it is not 0, keeps the carries of every k-th step only, for k = Checkpoint.
	// The derivative computes those between again: it takes the memory of T/k + k carries instead
	// of T, least at k = √T. The compiler leaves such loops as they are, where of others it computes
	// for all steps at once what no step carries (package graph/rewrite), so that values and
	// derivatives may differ from theirs in the order of sums. Forward mode (grad.JVP) takes the
	// same memory where a tangent depends on the carries. A negative number is a mistake.
	Checkpoint int
}

// StepFunc is one step of a [Loop]. From the carries before the step, the elements of the sequences
// at its time, and the nodes of [Loop.With], it makes the carries after the step, as many and of
// the same types, and any number of outs. They have any types: counters and masks beside floats,
// through which derivatives flow. Where they have several, each is kept exactly in floats of one
// type, f64 if one of them is or none is a float and else f32: an i64 in two f64 or three f32, an
// i32 in one f64 or two f32, a bool in one. A step is called
// once, with a checkpoint twice, whatever the number of steps, with nodes of a graph of its own. It
// may use any node of the graph around the loop, and the layers made there: such a node becomes an
// operand of the loop, like those of With, and every step sees it whole. What a step computes from
// such nodes alone is computed once, before the loop. A parameter, state or input that a step makes
// is a mistake: make it before the loop.
type StepFunc func(carry, x, with []*graph.Node) (next, out []*graph.Node)

// Scanned holds the results of a loop. Time is the first axis of Trace and Out.
type Scanned struct {
	Final []*graph.Node // the carries after the last step
	Trace []*graph.Node // the carries after each step, [t=T …]; with a Checkpoint, a mistake to use
	Out   []*graph.Node // the outs of each step, [t=T …]
}

// Scan adds a loop as one node, whatever the number of steps. The step is built once, as the node's
// body, and differentiated like any other node.
//
//	r := ops.Scan(ops.Loop{Carry: []*graph.Node{h0}, Over: []*graph.Node{x}, Axis: "t"},
//		func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
//			h := ops.Tanh(ops.Add(ops.MatMul(c[0], w), x[0])).As("h")
//			return []*graph.Node{h}, nil
//		})
//	h := r.Trace[0] // [t …]
//
// Carries and outs are kept for the derivative; it computes other values of a step again. Return a
// value that is expensive, such as the product of a large layer, as an out to compute it only once.
// What depends on no carry is computed for all steps at once when the graph is compiled: there is no
// need to multiply a sequence by weights before the loop, or to compute outs after it.
//
// Random draws in the step, those of layers such as dropout among them, are drawn anew at each time;
// the derivative, and a checkpoint that computes steps again, see the same numbers.
//
// Where the sequences have no elements there are no steps: Final are the carries as they start, and
// Trace and Out have t=0.
//
// A step that returns another number or type of carries, and sequences of different lengths, are
// mistakes. [Unroll] makes the same values as a flat graph, but for draws.
func Scan(l Loop, step StepFunc) Scanned {
	u := l.laid("Scan", step)
	if u.bad != nil {
		return u.refused(step)
	}
	if l.Checkpoint == 0 {
		return u.scan(step)
	}
	var r Scanned
	if l.Checkpoint < u.steps {
		r = u.chunked(l.Checkpoint, step)
	} else {
		r = u.scan(step)
	}
	r.Trace = u.untraced()
	return r
}

// untraced stands for the traces that checkpoints do not keep: nodes of a graph of
// their own, whose mistake becomes that of the graph in which one is used.
func (u laidOut) untraced() []*graph.Node {
	none := graph.New(u.g.Name()).Fail(u.what, &graph.Mistake{Problem: "a loop with a checkpoint keeps no trace", Fix: "let the step give what is wanted of each time as an out"})
	return slices.Repeat([]*graph.Node{none}, len(u.carry))
}

// Unroll is [Scan] written out: the nodes of every step stand in the graph itself, in a scope of
// their own, as the notes draw a recurrence. Checkpoint has no effect.
func Unroll(l Loop, step StepFunc) Scanned {
	u := l.laid("Unroll", step)
	if u.bad != nil {
		return u.refused(step)
	}
	if u.steps == 0 {
		return u.scan(step)
	}
	carry, trace, outs := u.carry, make([][]*graph.Node, len(u.carry)), [][]*graph.Node(nil)
	at := trait.Loop{Steps: u.steps, Reverse: u.reverse}
	for k := range u.steps {
		now, _, _ := at.At(k)
		x := make([]*graph.Node, len(u.over))
		for i, s := range u.over {
			x[i] = Squeeze(Slice(s, 0, now, now+1), 0)
		}
		end := u.g.Scope(fmt.Sprint("step ", now))
		next, out := step(carry, x, u.with)
		end()
		if err := u.check(next); err != nil {
			u.bad = u.g.Fail("Unroll", err)
			return u.refused(step)
		}
		carry = next
		for i, c := range next {
			trace[i] = append(trace[i], Expand(c, 0, u.axis))
		}
		if outs == nil {
			outs = make([][]*graph.Node, len(out))
		}
		if len(out) != len(outs) {
			u.bad = u.g.Fail("Unroll", fmt.Errorf("a step gives %d outs, another %d", len(out), len(outs)))
			return u.refused(step)
		}
		for i := range outs {
			outs[i] = append(outs[i], Expand(out[i], 0, u.axis))
		}
	}
	join := func(steps [][]*graph.Node) (joined []*graph.Node) {
		for _, s := range steps {
			if u.reverse {
				slices.Reverse(s)
			}
			joined = append(joined, Concat(0, s...))
		}
		return joined
	}
	return Scanned{Final: carry, Trace: join(trace), Out: join(outs)}
}

// laidOut is a loop whose sequences have time as their first axis.
type laidOut struct {
	g                 *graph.Graph
	what              string
	carry, over, with []*graph.Node
	called            []*graph.Node // the sequences as they were given
	steps             int
	axis              string // the name of the time axis
	reverse           bool
	name              string             // of the body; "" for "step"
	gate              int                // see [trait.Loop]
	closed            bool               // see [scan]
	spare             bool               // the one operand is not wanted if others are captured
	time              func() *graph.Node // makes the times of the steps, a sequence; see [laidOut.scan]
	bad               *graph.Node        // an invalid node, after a mistake
}

// laid checks a loop and lays its sequences out. A mistake is recorded and leaves
// an invalid node in bad.
func (l Loop) laid(what string, step StepFunc) laidOut {
	all := slices.Concat(l.Carry, l.Over, l.With)
	g := graph.Of(all...).Open() // a loop in a step may use all of the step
	for i, n := range all {
		all[i] = g.Within(n)
	}
	l.Carry, l.Over, l.With = all[:len(l.Carry):len(l.Carry)], all[len(l.Carry):len(all)-len(l.With)], all[len(all)-len(l.With):]
	u := laidOut{g: g, what: what, carry: l.Carry, with: l.With, steps: l.Steps, reverse: l.Reverse}
	u.time = func() *graph.Node { return times(g, u.steps) }
	fail := func(format string, args ...any) laidOut {
		u.bad, u.over = g.Fail(what, fmt.Errorf(format, args...)), l.Over
		return u
	}
	for i, n := range all {
		switch {
		case n == nil:
			return fail("operand %d is nil", i)
		case !n.IsValid() || n.Graph() != g:
			u.bad, u.over = g.Apply(scan{}, all...), l.Over // records what is wrong, or stays silent
			return u
		}
	}
	switch {
	case len(all) == 0:
		return fail("no operands: want carries or sequences")
	case step == nil:
		return fail("the step is nil")
	case l.Checkpoint < 0:
		return fail("a checkpoint every %d steps: want 0 for none, or more", l.Checkpoint)
	}
	axis := l.Axis
	if axis == nil {
		axis = 0
	}
	if name, ok := axis.(string); ok {
		u.axis = name
	}
	for i, x := range l.Over {
		list, err := x.Shape().Resolve(axis)
		if err != nil {
			return fail("sequence %d: %w", i, err)
		}
		a := list[0]
		if u.axis == "" {
			u.axis = x.Shape().Axis(a).Name
		}
		if n := x.Dim(a); u.steps != 0 && n != u.steps {
			return fail("sequence %d has %d steps: want %d", i, n, u.steps)
		}
		u.steps = x.Dim(a)
		order := []int{a}
		for k := range x.Rank() {
			if k != a {
				order = append(order, k)
			}
		}
		if a != 0 {
			x = transposeTo(x, order)
		}
		u.over, u.called = append(u.over, x), append(u.called, l.Over[i])
	}
	if u.steps < 0 || u.steps == 0 && len(l.Over) == 0 {
		return fail("%d steps: want sequences, or a number of steps", u.steps)
	}
	return u
}

// times returns the numbers 0, …, n − 1.
func times(g *graph.Graph, n int) *graph.Node {
	v := graph.Value{Type: graph.Type{DType: graph.I64}, Data: make([]float64, n)}
	for t := range v.Data {
		v.Data[t] = float64(t)
	}
	s, err := graph.NewShape(graph.Axis{Size: n})
	if err != nil {
		return g.Fail("Scan", err)
	}
	v.Type.Shape = s
	return g.ConstantValue(v)
}

// check holds that a step gives as many carries as it gets.
func (u laidOut) check(next []*graph.Node) error {
	if len(next) != len(u.carry) {
		return fmt.Errorf("the step gives %d carries: want %d", len(next), len(u.carry))
	}
	return nil
}

// refused are the results of a loop with a mistake: as many as there would be, all
// invalid. The step is asked for the number of outs.
func (u laidOut) refused(step StepFunc) Scanned {
	invalid := func(n int) []*graph.Node {
		list := make([]*graph.Node, n)
		for i := range list {
			list[i] = u.bad
		}
		return list
	}
	r := Scanned{Final: invalid(len(u.carry)), Trace: invalid(len(u.carry))}
	if step == nil {
		return r
	}
	_, out := step(invalid(len(u.carry)), invalid(len(u.over)), invalid(len(u.with)))
	r.Out = invalid(len(out))
	return r
}

// chunked is a loop over chunks of k steps, each a loop of its own: only the carries between chunks
// are kept. The remaining steps are a loop after the last chunk.
func (u laidOut) chunked(k int, step StepFunc) Scanned {
	n, again := u.steps/k, u.g.DrawsAgain()
	whole, rest := u, u
	whole.steps, rest.steps = n, u.steps-n*k
	whole.over, rest.over = nil, nil
	at, left := 0, n*k // the chunks, and what is left over, begin there
	if u.reverse {
		at, left = rest.steps, 0
	}
	for _, x := range u.over {
		axes := x.Shape().Axes()[1:]
		chunks := Slice(x, 0, at, at+n*k)
		s, err := graph.NewShape(append([]graph.Axis{{Size: n}, {Name: u.axis, Size: k}}, axes...)...)
		if err != nil {
			u.bad = u.g.Fail(u.what, err, x)
			return u.refused(step)
		}
		whole.over = append(whole.over, ReshapeTo(chunks, s))
		if rest.steps > 0 {
			rest.over = append(rest.over, Slice(x, 0, left, left+rest.steps))
		}
	}
	whole.axis = ""
	whole.time = func() *graph.Node { return Reshape(Slice(u.time(), 0, at, at+n*k), n, k) }
	rest.time = func() *graph.Node { return Slice(u.time(), 0, left, left+rest.steps) }
	chunk, _ := graph.NewShape(graph.Axis{Size: k})
	r := whole.scanTimed(graph.Type{DType: graph.I64, Shape: chunk}, func(carry, x, with []*graph.Node, time *graph.Node) (next, out []*graph.Node) {
		inner := laidOut{g: graph.Of(slices.Concat(carry, x, with)...), what: u.what,
			carry: carry, over: x, called: x, with: with, steps: k, axis: u.axis, reverse: u.reverse, name: u.name, gate: u.gate, time: func() *graph.Node { return time }}
		chunk := inner.scan(step)
		return chunk.Final, chunk.Out
	})
	for i, o := range r.Out {
		axes := o.Shape().Axes()
		if o.IsValid() {
			s, err := graph.NewShape(append([]graph.Axis{{Name: u.axis, Size: n * k}}, axes[2:]...)...)
			if err != nil {
				r.Out[i] = u.g.Fail(u.what, err, o)
				continue
			}
			r.Out[i] = ReshapeTo(o, s)
		}
	}
	if invalid := func(n *graph.Node) bool { return !n.IsValid() }; rest.steps == 0 || slices.ContainsFunc(slices.Concat(r.Final, r.Out), invalid) {
		return r
	}
	rest.carry = r.Final
	again()
	last := rest.scan(step)
	for i := range r.Out {
		a, b := r.Out[i], last.Out[i]
		if u.reverse {
			a, b = b, a
		}
		last.Out[i] = Concat(0, a, b)
	}
	return last
}
