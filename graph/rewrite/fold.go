package rewrite

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/ref"
)

// foldLimit is the number of elements up to which a result is kept as a constant even if its
// operands are smaller.
const foldLimit = 64

// fold computes nodes that depend on constants alone, by the operations' definitions.
var fold = []Rule{
	{"constants", "an operation on constants is a constant", func(n *graph.Node) *graph.Node {
		if n.NumIn() == 0 || match.Is(n, match.Random) || match.Is(n, match.Broadcast) { // repeating costs nothing
			return nil
		}
		if match.Is(n, match.SumRanks) { // of so many terms as there are lanes
			return nil
		}
		in := make([]graph.Value, n.NumIn())
		size := foldLimit
		for i := range in {
			v, ok := n.In(i).Constant()
			if !ok {
				return nil
			}
			in[i] = v
			size = max(size, len(v.Data))
		}
		if trait.CheckIndex(n, in) != nil {
			return nil // Compile refuses it
		}
		if n.Shape().Len() > size {
			return nil
		}
		if n.Body() != nil {
			return nil
		}
		out, err := ref.Apply(trait.Env{}, n, in)
		if err != nil {
			return nil // no definition, or integers that it does not hold exactly
		}
		rounded := graph.NewValue(n.Type())
		for i, v := range out.Data {
			rounded.Data[i] = n.DType().Round(v)
		}
		return n.Graph().ConstantValue(rounded)
	}},
}
