package nn

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// StochasticDepth sets the whole residual branch f[n …] of an example to 0 with probability p, a
// scalar of its type, and divides it by 1 − p otherwise (Huang et al., 2016; the notes on
// stochastic depth):
//
//	x ← x + b/(1 − p)·F(x),  b = 1 with probability 1 − p, else 0
//
// Each example of the batch draws its own b, anew in every run. Because of the division, evaluation
// only feeds p = 0.
func StochasticDepth(f, p *graph.Node) *graph.Node {
	defer graph.Of(f, p).Scope("stochastic depth")()
	if !f.IsValid() || f.Rank() == 0 {
		return graph.Of(f).Fail("StochasticDepth", fmt.Errorf("want an array [n …]"), f)
	}
	return kept(f, p, build.PerExample(f))
}

// DropAt returns the drop rate of branch i of n, counted from 0, if the last has rate p: (i+1)/n·p.
// The probability of survival falls linearly with depth, because later branches build on the
// earlier ones (Huang et al., 2016).
func DropAt(i, n int, p *graph.Node) *graph.Node {
	return ops.Scale(p, float64(i+1)/float64(max(n, 1)))
}
