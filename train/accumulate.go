package train

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// Accumulate moves once in n runs, by the mean of their n gradients, as one run on a
// batch n times as large would: for batches that memory has no room for. Between
// moves parameters, moments and averages ([EMA]) stay as they are, to the bit.
//
// The sum of the gradients is the state "NAME/gathered/PATH", their number the state
// "NAME/gathered-runs", so that training can be resumed in the middle of n; after a move
// the number is 0, and the next run begins the sum anew. What is clipped is the mean.
// Batches of unequal size count alike, and what a model updates by itself, such as
// running statistics, it does in every run.
//
// In a run that does not move, the tape passes over what only a move needs.
//
// Whoever counts runs as steps, as [Loop] and [Trainer] do, makes a move every n
// steps: a schedule goes by runs, and of the n rates the last is taken.
func Accumulate(n int) Option {
	var err error
	if n < 1 || n > maxRuns {
		err = fmt.Errorf("accumulate %d: want a number of runs from 1 to %d", n, maxRuns)
	}
	return Option{"", fmt.Sprintf("accumulate %d", n), err, func(s *settings) { s.runs = n }}
}

// maxRuns is the largest number that every element type counts to and divides by exactly.
const maxRuns = 1 << 20

// gather gives the mean of the gradients of this run and of those since the last
// move, and keeps their sum, which is not cleared after a move but begun anew: so it is
// written where it is kept, and read there. The current scope is the optimiser's.
func (r *run) gather(params, grads []*graph.Node) []*graph.Node {
	runs := r.g.State("gathered-runs", graph.I32)
	now := ops.Shift(runs, 1)
	n := ops.Lit(now, float64(r.set.runs))
	begins := ops.Equal(runs, ops.Lit(runs, 0)).As("begins")
	r.full = ops.Equal(now, n).As("full")
	r.step = append(r.step, r.g.Assign(runs, ops.Select(r.full, ops.Lit(now, 0), now)))
	means := make([]*graph.Node, len(grads))
	for i, g := range grads {
		if means[i] = g; !g.IsValid() {
			continue // the mistake is recorded
		}
		s := r.state("gathered", params[i])
		sum := ops.Add(ops.Select(begins, ops.Lit(s, 0), s), g)
		r.step = append(r.step, r.g.Assign(s, sum))
		means[i] = ops.Div(sum, ops.Cast(n, sum.DType()))
	}
	return means
}

// assign updates a parameter or state, where gradients are gathered only in a run that
// moves. What needs the new value had better read that of the update: it is in the store.
func (r *run) assign(target, next *graph.Node) graph.Update {
	if r.full != nil {
		next = ops.Select(r.full, next, target)
	}
	return r.g.Assign(target, next)
}
