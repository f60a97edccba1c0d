package train

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// Accumulate updates the parameters once in n runs, by the mean of the gradients of these runs, as
// one run on a batch n times as large would: for batches that do not fit into memory. Between
// updates, parameters, moments and averages ([EMA]) keep every bit. n is at least 1, and at most
// 2²⁰.
//
// The sum of the gradients is the state "NAME/gathered/PATH", and the number of runs in it the
// state "NAME/gathered-runs", so that training can be resumed in the middle of n runs. The mean is
// what [ClipNorm] and [ClipValue] clip. Batches of unequal size count alike. What a model updates
// by itself, such as running statistics, it updates in every run.
//
// A run without an update skips the computation that only an update needs.
//
// [Run] and [Trainer] count runs as steps, so they update every n steps: a schedule goes by runs,
// and each update takes the rate of the last of its n runs.
func Accumulate(n int) Option {
	var err error
	if n < 1 || n > maxRuns {
		err = fmt.Errorf("accumulate %d: want a number of runs from 1 to %d", n, maxRuns)
	}
	return Option{"", fmt.Sprintf("accumulate %d", n), err, func(s *settings) { s.runs = n }}
}

// maxRuns is a number to which every element type counts exactly, f32 being exact to 2²⁴.
const maxRuns = 1 << 20

// gather returns the mean of the gradients of this run and of those since the last update, and
// keeps their sum in states. The sum is not cleared after an update, but begun anew by the next
// run: so it is written, and read, in one place. The current scope is the optimiser's.
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

// assign updates a parameter or state; where gradients are gathered, only in a run that updates.
// Nodes that need the new value should read that of the update, which is in the store.
func (r *run) assign(target, next *graph.Node) graph.Update {
	if r.rows != nil && target.Rank() > 0 {
		next = ops.Select(r.rows, next, target)
	}
	if r.full != nil {
		next = ops.Select(r.full, next, target)
	}
	return r.g.Assign(target, next)
}
