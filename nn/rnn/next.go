package rnn

import (
	"errors"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// Next reads one input a run. For x[… d] it returns the hidden values h[… h] that [Recur.Of]
// returns at the time of that input, if earlier runs have read the inputs before it. The step
// stores the cell's state, in NAME/state/h and, for an LSTM, NAME/state/c. A scalar fresh other
// than 0 begins new sequences, from the state before the first step.
func (r Recur) Next(x, fresh *graph.Node) (h *graph.Node, step graph.Step) {
	defer build.Within(r.Name, x)()
	g := graph.Of(x, fresh)
	var problem error
	switch {
	case r.Cell == nil:
		problem = errors.New("want a cell")
	case r.Reverse:
		problem = errors.New("a layer that runs from the last time to the first cannot read as it goes")
	case !x.IsValid() || x.Rank() < 1:
		problem = errNoInput
	}
	if problem != nil {
		return g.Fail("Recur", problem, x), nil
	}
	axes := x.Shape().Axes()
	start := r.Cell.Start(axes[:len(axes)-1]...)
	if len(start) == 0 {
		return g.Fail("Recur", errors.New("want a cell with a state"), x), nil
	}
	kept, before := make([]*graph.Node, len(start)), make([]*graph.Node, len(start))
	end := g.Scope("state")
	first := build.Begins(fresh)
	for i, s := range start {
		if !s.IsValid() || !first.IsValid() {
			end()
			return ops.Select(first, s, s), nil // invalid, and its mistake is recorded
		}
		kept[i] = g.State(stateName(i), s.DType(), s.Shape().Axes()...)
		before[i] = ops.Select(first, s, kept[i])
	}
	end()
	next := r.Cell.Step(x, before)
	for i := range kept {
		step = append(step, g.Assign(kept[i], next[i]))
	}
	return next[0], step
}

var errNoInput = &graph.Mistake{Problem: "want the features x[b d] of one time", Fix: "for a whole sequence, take Of"}

// stateName returns h for the hidden values, which are first, and c for the memory.
func stateName(i int) string {
	if i < 2 {
		return [...]string{"h", "c"}[i]
	}
	return build.Numbered("s", i)
}
