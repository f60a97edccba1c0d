package kernel

import "slices"

// ScatterByRows is [Scatter] along the first axis of an array of which blocks of rows are made one
// at a time: the operands are the rows at hand, from the worker's Row on, and all integers and
// slices. A block meets the slices whose integers are among its rows. An integer outside of the
// axis brings nothing, and is no fault: others have checked the integers.
type ScatterByRows struct{ Scatter }

// Divide divides along the rows.
func (ScatterByRows) Divide(out Layout, _ []Layout) []Division {
	return []Division{{Dims: slices.Clone(out.Dims[:1]), Axes: [][]int{{0}, {-1}, {-1}}}}
}

// Bind takes the rows of a block, integers and slices.
func (k ScatterByRows) Bind(out Layout, in []Layout) Bound {
	k.Scatter.blocks = true
	return k.Scatter.Bind(out, in)
}
