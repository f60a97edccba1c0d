package nn

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// StochasticDepth drops the whole residual branch f[n …] of an example with
// probability p, and divides it by 1 − p otherwise (Huang et al., 2016; the notes on
// stochastic depth):
//
//	x ← x + b/(1 − p)·F(x),  b = 1 with probability 1 − p, else 0
//
// Every example of the batch draws its own b, anew in every run. Dividing here stands for
// multiplying by 1 − p in evaluation, which feeds p = 0.
func StochasticDepth(f, p *graph.Node) *graph.Node {
	defer graph.Of(f, p).Scope("stochastic depth")()
	if !f.IsValid() || f.Rank() == 0 {
		return graph.Of(f).Fail("StochasticDepth", fmt.Errorf("want an array [n …]"), f)
	}
	return kept(f, p, build.PerExample(f))
}

// DropAt returns the rate at which branch i of n, from 0 on, is dropped where the last
// one has rate p: (i+1)/n·p, because what early branches give is used by all others.
// The probability of survival falls linearly with depth (Huang et al., 2016).
func DropAt(i, n int, p *graph.Node) *graph.Node {
	return ops.Scale(p, float64(i+1)/float64(max(n, 1)))
}
