package ops

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
)

// At returns the elements of x at one index along an axis, which it removes: of x[… k …] along k it
// makes [… …]. x is of any element type. The index j is an int, negative from the end; or a scalar
// node of i32 or i64, from 0 on, as in [Gather]. An int outside the axis is a mistake,
// and so is a node that is a constant outside; another node is a [trait.IndexError] when the
// program runs.
func At(x *graph.Node, axis, j any) *graph.Node {
	index, isNode := j.(*graph.Node)
	operands := []*graph.Node{x}
	if isNode {
		operands = append(operands, index)
	}
	defer calling("At", operands...)()
	if isNode {
		in, ok := joined(x, index)
		if !ok {
			return graph.Apply(gather{}, in...) // records the mistake, or stays silent
		}
		x, index = in[0], in[1]
	}
	return withAxes("At", x, []any{axis}, func(list []int) *graph.Node {
		a := list[0]
		i, isInt := j.(int)
		switch n := x.Dim(a); {
		case isNode && index.Rank() > 0:
			return x.Graph().Fail("At", fmt.Errorf("an index of shape %v: want a scalar, or ops.Gather", index.Shape()), x, index)
		case isNode:
			return placed(graph.Apply(gather{a}, x, index))
		case !isInt:
			return x.Graph().Fail("At", fmt.Errorf("an index of type %T: want an int or a node", j), x)
		case i < -n || i >= n:
			return x.Graph().Fail("At", fmt.Errorf("index %d of axis %v: want one from %d to %d", i, x.Shape().Axis(a), -n, n-1), x)
		}
		return Squeeze(Slice(x, a, i, i+1), a)
	})
}

// Unstack returns the elements of x at each index along an axis, as [At] does; it undoes [Stack]. A
// mistake gives a list of one node, which is not valid.
func Unstack(x *graph.Node, axis any) []*graph.Node {
	defer calling("Unstack", x)()
	var parts []*graph.Node
	failed := withAxes("Unstack", x, []any{axis}, func(list []int) *graph.Node {
		for i := range x.Dim(list[0]) {
			parts = append(parts, At(x, list[0], i))
		}
		return nil
	})
	if failed != nil {
		return []*graph.Node{failed}
	}
	return parts
}
