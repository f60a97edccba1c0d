package builders

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// scoresOf says that an operand is no scores but what a loss makes of them itself:
// probabilities, or their logarithms. It is seen through changes of layout and type. A loss of
// them would be finite, and wrong.
func scoresOf(x *graph.Node) error {
	through := func(n *graph.Node) *graph.Node {
		for ops.Is(n, "Reshape") || ops.Is(n, "Transpose") || ops.Is(n, "Broadcast") || ops.Is(n, "Cast") || ops.Is(n, "StopGradient") {
			n = n.In(0)
		}
		return n
	}
	n, what := through(x), ""
	if ops.Is(n, "Log") {
		if p := through(n.In(0)); ops.Is(p, "Softmax") || ops.Is(p, "Sigmoid") {
			n, what = p, "the logarithm of "
		}
	}
	switch {
	case ops.Is(n, "Softmax"):
		what += "a softmax"
	case ops.Is(n, "LogSoftmax"):
		what = "a log-softmax"
	case ops.Is(n, "Sigmoid"):
		what += "a sigmoid"
	default:
		return nil
	}
	return &graph.Mistake{
		Problem: fmt.Sprintf("%v is %s, and scores are wanted: the loss takes it of them itself", x, what),
		Fix:     fmt.Sprintf("give %v", n.In(0)),
	}
}
