package train

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// LazyAdam returns [Adam] for tables of which a step reads a few rows, such as embeddings: it updates
// the rows that were gathered, and their moments, and leaves the others as they are. A step then
// takes the time of these rows, however large the table is. A parameter that is read otherwise is
// updated as by Adam.
//
// It is another rule than Adam's, by which rows that were read once go on moving, and their moments
// decay: with equal results where every step reads every row. PyTorch calls it SparseAdam, and has
// ε beside √v instead of √v̂. The steps of 1 − β₁ᵗ and 1 − β₂ᵗ are those of all updates. The states are called
// as Adam's, under "lazyadam". With [WeightDecay] every row moves, and nothing is gained; [DecoupledDecay]
// and [L1] shrink the rows that were read alone.
//
// [SGD] and [Adagrad] need no rule of their own: a row with a gradient of 0 stays as it is, and so a
// step of theirs touches the rows that were read as well, with the same bits as if it touched all.
func LazyAdam(rate float64, options ...Option) Optimiser {
	return newOptimiser(Optimiser{name: "lazyadam", rate: rate, set: adamDefaults,
		update: func(r *run, p, dp *graph.Node) (*graph.Node, graph.Step) {
			g := r.decayed(p, dp)
			r.rows, _ = ops.TouchedRows(g)
			by, states := r.adam(p, g)
			return r.move(p, by), states
		}}, options, takesBetas, takesEpsilon)
}
