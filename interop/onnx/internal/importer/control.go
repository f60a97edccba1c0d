package importer

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/ops"
)

// control has what runs graphs of its own, and what hands values on.
func control() map[string]rule {
	return map[string]rule{
		"Constant":    constants,
		"Identity":    func(c *call) []value { return c.in[:1] },
		"If":          ifs,
		"Loop":        loop,
		"Scan":        scan,
		"SequenceMap": sequenceMap,
	}
}

// constants gives the value of a node Constant.
func constants(c *call) []value {
	a := c.attr("value")
	switch {
	case a != nil && a.Tensor != nil:
		if v, ok := c.weights[a.Tensor]; ok {
			return []value{v}
		}
		return []value{c.constant(a.Tensor)}
	case c.attr("value_float") != nil:
		return []value{c.literal(format.Float, nil, float64(c.attr("value_float").Float))}
	case c.attr("value_floats") != nil:
		var data []float64
		for _, v := range c.attr("value_floats").Floats {
			data = append(data, float64(v))
		}
		return []value{c.literal(format.Float, []int{len(data)}, data...)}
	case c.attr("value_int") != nil:
		return []value{c.constant(format.IntsOf(c.n.Name, nil, c.attr("value_int").Int))}
	case c.attr("value_ints") != nil:
		v := c.attr("value_ints").Ints
		return []value{c.constant(format.IntsOf(c.n.Name, []int64{int64(len(v))}, v...))}
	case c.attr("value_string") != nil:
		return []value{{kind: strs, elem: format.String, text: []string{c.attr("value_string").String}}}
	case c.attr("value_strings") != nil:
		return []value{{kind: strs, elem: format.String, text: slices.Clone(c.attr("value_strings").Strings)}}
	}
	c.fail("it has no value that is a tensor, numbers or text")
	return nil
}

// literal returns a constant with elements of a type of the file.
func (c *call) literal(elem format.DataType, sizes []int, data ...float64) value {
	dt, _ := c.dtype(elem)
	return value{node: c.g.Constant(dt, data, graph.Dims(sizes...)...), elem: elem}
}

// ifs takes a branch: where the condition is known, that branch stands in the graph itself.
func ifs(c *call) []value {
	then, otherwise := c.body("then_branch"), c.body("else_branch")
	if c.isKnown(0) {
		taken := then
		if v := c.known(0); len(v) != 1 {
			c.fail("the condition has %d elements: want 1", len(v))
		} else if v[0] == 0 {
			taken = otherwise
		}
		return c.branch(taken, c.names)
	}
	cond := c.x(0)
	if cond.Shape().Len() != 1 {
		c.fail("the condition has %d elements: want 1", cond.Shape().Len())
	}
	if cond.Rank() > 0 {
		cond = ops.Reshape(cond)
	}
	c.enter(then, otherwise)
	defer c.leave()
	var results []value
	side := func(f *format.Graph) ops.Function {
		return func([]*graph.Node) []*graph.Node {
			results = c.branch(f, c.names)
			return c.nodesOf(results)
		}
	}
	return c.results(ops.Cond(cond, side(then), side(otherwise)), &results)
}

// enter begins the building of bodies, which leaves cannot be made in.
func (c *call) enter(bodies ...*format.Graph) {
	if c.bodies == 0 {
		for _, f := range bodies {
			c.hoistAll(f)
		}
	}
	c.bodies++
}

func (c *call) leave() { c.bodies-- }

// nodesOf returns the nodes of results of a body. Where there is none, an invalid node ends the
// building.
func (c *call) nodesOf(vs []value) []*graph.Node {
	out := make([]*graph.Node, len(vs))
	for i, v := range vs {
		switch {
		case v.kind == array && v.node != nil:
			out[i] = v.node
		case v.kind == poisoned:
			out[i] = &graph.Node{}
		default:
			c.problem("a result of its graph is no tensor of numbers, and which it is depends on data")
			out[i] = &graph.Node{}
		}
	}
	return out
}

// results returns nodes as values of the types that the results of a body have.
func (c *call) results(nodes []*graph.Node, of *[]value) []value {
	if len(c.problems) > 0 && len(nodes) != len(*of) {
		return nil
	}
	out := make([]value, len(nodes))
	for i, n := range nodes {
		out[i] = value{node: n}
		if i < len(*of) {
			out[i].elem = (*of)[i].elem
		}
	}
	return out
}
