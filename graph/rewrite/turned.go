package rewrite

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// turned lists the rules that give the products of a batch the longer of their two axes as rows, and
// what is made for them the order in which they read it: such products divide into many equal rows,
// and what feeds and follows them goes along, row by row, without an array.
var turned = []Rule{
	{"rows of a batch", "A·Yᵀ = (Y·Aᵀ)ᵀ for each of a batch, where Y has many more rows than A, and is as cheap to have as Yᵀ", func(n *graph.Node) *graph.Node {
		if !match.Is(n, match.MatMul) || n.Rank() < 3 || !match.Is(n.In(1), match.Transpose) && !isRepeated(n.In(1)) {
			return nil
		}
		last := n.Rank() - 1
		if n.Shape().Len() == n.Dim(last-1)*n.Dim(last) || n.Dim(last) < manyRows*n.Dim(last-1) {
			return nil
		}
		order := make([]any, n.Rank())
		for a := range order {
			order[a] = a
		}
		order[last-1], order[last] = last, last-1
		y := ops.MatMul(ops.Transpose(n.In(1), order...), ops.Transpose(n.In(0), order...))
		return ops.ReshapeTo(ops.Transpose(y, order...), n.Shape())
	}},
	{"transpose of what is repeated", "(x ± y)ᵀ and (x∘y)ᵀ of small arrays that are repeated are xᵀ ± yᵀ and xᵀ∘yᵀ", func(n *graph.Node) *graph.Node {
		order, ok := match.Permuted(n)
		if !ok || !isRepeated(n.In(0)) {
			return nil
		}
		in := n.In(0).Inputs()
		for i, x := range in {
			in[i] = transposeRepeated(x, anys(order))
		}
		return ops.ReshapeTo(n.Graph().Apply(n.In(0).Op(), in...), n.Shape())
	}},
}

// manyRows is how many times more rows than columns a product has whose rows are worth turning.
const manyRows = 4

// isRepeated reports whether a node is the sum, difference or product of small arrays that are repeated.
func isRepeated(n *graph.Node) bool {
	if !match.Is(n, match.Add) && !match.Is(n, match.Sub) && !match.Is(n, match.Mul) {
		return false
	}
	for _, x := range n.Inputs() {
		if !match.Is(x, match.Broadcast) || x.In(0).Shape().Len() > x.Shape().Len()/smallPart {
			return false
		}
	}
	return true
}
