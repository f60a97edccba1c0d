package rewrite

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// foldLimit is the number of elements up to which a result is worth keeping as
// a constant even where its operands are smaller.
const foldLimit = 64

// fold computes what depends on constants alone, by the operations' definitions.
var fold = []Rule{
	{"constants", "an operation on constants is a constant", func(n *graph.Node) *graph.Node {
		if n.NumIn() == 0 || ops.Is(n, "Broadcast") { // repeating costs nothing
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
		if n.Shape().Len() > size {
			return nil
		}
		var out graph.Value
		switch op := n.Op().(type) {
		case interface{ Scalar(x ...float64) float64 }:
			out = graph.NewValue(n.Type())
			x := make([]float64, len(in))
			for p := range out.Data {
				for i := range in {
					x[i] = in[i].Data[p]
				}
				out.Data[p] = op.Scalar(x...)
			}
		case interface {
			Eval(env graph.Env, y *graph.Node, in []graph.Value) graph.Value
		}:
			out = op.Eval(graph.Env{}, n, in)
		default:
			return nil
		}
		rounded := graph.NewValue(n.Type())
		for i, v := range out.Data {
			rounded.Data[i] = n.DType().Round(v)
		}
		return n.Graph().ConstantValue(rounded)
	}},
}
