package builders

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// everyPair repeats x[…] and w[h] to [… h], so that every element of one meets every element of
// the other, whether or not their axes have names that say so.
func everyPair(x, w *graph.Node) (column, row *graph.Node) {
	x, own := ops.Expand(x, -1, ""), x
	if !x.IsValid() || !w.IsValid() || x.Graph() != w.Graph() || x.DType() != w.DType() {
		return x, w // the operation on them says what is wrong with what was given
	}
	s, err := graph.NewShape(append(own.Shape().Axes(), w.Shape().Axes()...)...)
	if err != nil || w.Rank() != 1 {
		return x, w
	}
	if !x.Shape().SameSizes(s) {
		x = ops.BroadcastTo(x, s)
	}
	if !w.Shape().SameSizes(s) {
		w = ops.BroadcastTo(w, s)
	}
	return x, w
}
