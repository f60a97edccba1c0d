package lanes

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// Check returns an error if the derivatives of a loss of which each lane has its own would be wrong:
// the parameters' are summed over lanes in the end, so each lane must come to its share of them. That
// is so unless a sum over lanes is used without [ops.CopyRanks],
//
//	own·SumRanks(own)         the derivative of the sum is the lane's share, not that of all lanes
//	w·SumRanks(own)           the derivative of w is that of all lanes, and they are added up
//
// where own stands for a value that each lane has its own of, and w for one that depends on a
// parameter but through no sum. The error names the first such operation, at its line. rows is that
// of [Own].
func Check(rows func(input *graph.Node) bool, loss *graph.Node) error {
	own := Own(rows, loss)
	summed, learnt := map[*graph.Node]bool{}, map[*graph.Node]bool{}
	for _, n := range graph.Reachable(loss) {
		switch {
		case match.Is(n, match.SumRanks):
			summed[n] = true
			continue
		case match.Is(n, match.CopyRanks):
			continue
		}
		learnt[n] = n.Role() == graph.RoleParam
		var sum *graph.Node
		for _, x := range n.Inputs() {
			if summed[x] && x.DType().IsFloat() {
				sum = x
			}
			learnt[n] = learnt[n] || learnt[x] && x.DType().IsFloat()
		}
		switch {
		case sum == nil:
		case own[n]:
			return located(n, "%v uses %v, a sum over lanes, beside what each lane has its own of: want ops.CopyRanks of it", n, sum)
		case learnt[n]:
			return located(n, "%v uses %v, a sum over lanes, beside what depends on a parameter: want ops.CopyRanks of it", n, sum)
		default:
			summed[n] = true
		}
	}
	return nil
}

// located returns an error at the line where a node was made.
func located(n *graph.Node, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if at := n.First().Pos; at != (graph.Pos{}) {
		return fmt.Errorf("%v: %w", at, err)
	}
	return err
}
