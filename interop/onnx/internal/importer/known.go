package importer

import "github.com/tapestry-ml/tapestry/graph"

// number returns the one element of operand i, and whether it is known while the graph is built.
func (c *call) number(i int) (v float64, ok bool) {
	if c.x(i).Shape().Len() != 1 || !c.isKnown(i) {
		return 0, false
	}
	return c.known(i)[0], true
}

// whole returns the one element of operand i, which must be known, as an integer.
func (c *call) whole(i int) int {
	v := c.ints(i)
	if len(v) != 1 {
		c.fail("operand %d has %d elements: want one", i, len(v))
	}
	return v[0]
}

// array returns a constant of numbers of type dt.
func (c *call) array(dt graph.DType, v []float64, sizes ...int) *graph.Node {
	return c.g.Constant(dt, v, graph.Dims(sizes...)...)
}

// vector returns a list of integers as a constant.
func (c *call) vector(v []int) *graph.Node {
	data := make([]float64, len(v))
	for i, x := range v {
		data[i] = float64(x)
	}
	return c.array(graph.I64, data, len(v))
}
