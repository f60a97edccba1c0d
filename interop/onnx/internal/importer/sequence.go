package importer

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/ops"
)

// sequences has the operators on lists of tensors, and on options. How long a list is, and whether
// an option has a value, is known when the graph is built, so that nothing of them is left in it.
var sequences = map[string]rule{
	"ConcatFromSequence": concatFromSequence,
	"Optional": func(c *call) []value {
		if c.has(0) {
			return c.in[:1]
		}
		return []value{{kind: absent}}
	},
	"OptionalGetElement": func(c *call) []value {
		if !c.has(0) {
			c.fail("the option has no value")
		}
		return c.in[:1]
	},
	"OptionalHasElement": func(c *call) []value { return []value{c.literal(format.Bool, nil, truth01(c.has(0)))} },
	"SequenceAt":         func(c *call) []value { s := c.sequence(0); return []value{s[c.place(1, len(s))]} },
	"SequenceConstruct":  func(c *call) []value { return []value{listOf(slices.Clone(c.in))} },
	"SequenceEmpty":      func(c *call) []value { return []value{listOf(nil)} },
	"SequenceErase": func(c *call) []value {
		s := slices.Clone(c.sequence(0))
		i := len(s) - 1
		if c.has(1) || len(s) == 0 {
			i = c.place(1, len(s))
		}
		return []value{listOf(slices.Delete(s, i, i+1))}
	},
	"SequenceInsert": func(c *call) []value {
		s, i := slices.Clone(c.sequence(0)), 0
		if i = len(s); c.has(2) {
			if i = c.ints(2)[0]; i < 0 {
				i += len(s)
			}
			if i < 0 || i > len(s) {
				c.fail("place %d of a sequence of %d", i, len(s))
			}
		}
		return []value{listOf(slices.Insert(s, i, c.in[1]))}
	},
	"SequenceLength":  func(c *call) []value { return []value{c.literal(format.Int64, nil, float64(len(c.sequence(0))))} },
	"SplitToSequence": splitToSequence,
}

func listOf(list []value) value { return value{kind: sequence, list: list} }

func truth01(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// sequence returns operand i, which must be a sequence.
func (c *call) sequence(i int) []value {
	if !c.has(i) || c.in[i].kind != sequence {
		c.fail("operand %d is no sequence", i)
	}
	return c.in[i].list
}

// place returns operand i as a place in a list of n; a negative one counts from the end.
func (c *call) place(i, n int) int {
	p := c.ints(i)
	if len(p) != 1 || p[0] < -n || p[0] >= n {
		c.fail("place %v of a sequence of %d", p, n)
	}
	return (p[0] + n) % n
}

func concatFromSequence(c *call) []value {
	s := c.sequence(0)
	if len(s) == 0 {
		c.fail("the sequence is empty, so that the shape of the result is not known")
	}
	nodes := make([]*graph.Node, len(s))
	for i, v := range s {
		nodes[i] = bare(c.numbers(v, 0))
	}
	rank, axis := nodes[0].Rank(), c.int("axis", 0)
	if c.int("new_axis", 0) != 0 {
		return []value{{node: ops.Stack(c.axis(axis, rank+1), "", nodes...), elem: s[0].elem}}
	}
	return []value{{node: ops.Concat(c.axis(axis, rank), nodes...), elem: s[0].elem}}
}

func splitToSequence(c *call) []value {
	x := c.x(0)
	axis := c.axis(c.int("axis", 0), x.Rank())
	n, keep := x.Dim(axis), true
	var sizes []int
	switch {
	case !c.has(1):
		sizes, keep = slices.Repeat([]int{1}, n), c.int("keepdims", 1) != 0
	case c.x(1).Rank() == 0:
		each := c.one(1)
		if each < 1 {
			c.fail("parts of %d elements", each)
		}
		for left := n; left > 0; left -= each {
			sizes = append(sizes, min(each, left))
		}
	default:
		sizes = c.ints(1)
	}
	var list []value
	at := 0
	for _, size := range sizes {
		if size < 0 || at+size > n {
			c.fail("parts of %v elements of an axis of %d", sizes, n)
		}
		y := c.part(x, axis, at, at+size)
		if at += size; !keep {
			y = ops.Squeeze(y, axis)
		}
		list = append(list, value{node: y, elem: c.in[0].elem})
	}
	if at != n {
		c.fail("parts of %v elements of an axis of %d", sizes, n)
	}
	return []value{listOf(list)}
}

// part returns the elements from from to to−1 along an axis, which may be none.
func (c *call) part(x *graph.Node, axis, from, to int) *graph.Node {
	if from == 0 && to == x.Dim(axis) {
		return x
	}
	if to == 0 { // where a bound of 0 is the end
		axes := x.Shape().Axes()
		axes[axis].Size = 0
		return ops.Zeros(c.g, x.DType(), axes...)
	}
	return ops.Slice(x, axis, from, to)
}

// sequenceMap runs a graph on each element of sequences.
func sequenceMap(c *call) []value {
	f, n := c.body("body"), len(c.sequence(0))
	if n > written {
		c.fail("more than %d elements, each of which is a part of the graph of its own", written)
	}
	out := make([]value, len(f.Outputs))
	for k := range out {
		out[k] = listOf(nil)
	}
	for i := range n {
		var in []value
		for _, v := range c.in {
			if v.kind == sequence {
				if i >= len(v.list) {
					c.fail("sequences of %d and of %d elements", n, len(v.list))
				}
				v = v.list[i]
			}
			in = append(in, v)
		}
		for k, v := range c.branch(f, c.names, in...) {
			out[k].list = append(out[k].list, v)
		}
	}
	return out
}
