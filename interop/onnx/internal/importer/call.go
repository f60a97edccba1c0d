package importer

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// call is a node of the file being added, with its operands.
type call struct {
	*builder
	n     *format.Node
	names *names
	in    []value
}

// rule adds the nodes that an operator stands for and returns its outputs. What it cannot do it
// says by c.fail, which ends it.
type rule func(c *call) []value

// refusal ends a rule.
type refusal struct{ reason string }

// fail ends the rule: the node cannot be imported, for a reason.
func (c *call) fail(format string, args ...any) { panic(refusal{fmt.Sprintf(format, args...)}) }

// run runs the rule of the node's operator. It returns nil if an operand could not be imported, or
// the node cannot.
func (c *call) run() (out []value) {
	for _, name := range c.n.Inputs {
		v, ok := value{kind: absent}, true
		if name != "" {
			v, ok = c.names.find(name)
		}
		if !ok {
			c.problem(fmt.Sprintf("no value is called %q here", name))
			return nil
		}
		if v.kind == poisoned {
			return nil
		}
		c.in = append(c.in, v)
	}
	r, ok := table[c.n.Op]
	if !ok || c.n.Domain != "" {
		c.problem("there is no such operator here")
		return nil
	}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case refusal:
			c.problem(r.reason)
			out = nil
		default:
			panic(r)
		}
	}()
	return r(c)
}

func (c *call) problem(reason string) {
	c.builder.problem(c.n.At, c.n.Op, c.n.Name, reason)
}

// version returns the version of the standard operators that the file uses.
func (c *call) version() int64 { return c.model.Opsets[""] }

// has reports whether operand i is given.
func (c *call) has(i int) bool { return i < len(c.in) && c.in[i].kind != absent }

// x returns operand i, which must be a tensor.
func (c *call) x(i int) *graph.Node {
	if !c.has(i) {
		c.fail("operand %d is missing", i)
	}
	if c.in[i].kind != array {
		c.fail("operand %d is no tensor of numbers", i)
	}
	return c.in[i].node
}

// is returns a result whose elements are of the type that operand i has in the file.
func (c *call) is(i int, n *graph.Node) value { return value{node: n, elem: c.in[i].elem} }

// int returns an attribute, or what it is by default.
func (c *call) int(name string, otherwise int) int {
	if a := c.n.Attr(name); a != nil {
		return int(a.Int)
	}
	return otherwise
}

func (c *call) float(name string, otherwise float64) float64 {
	if a := c.n.Attr(name); a != nil {
		return float64(a.Float)
	}
	return otherwise
}

func (c *call) text(name, otherwise string) string {
	if a := c.n.Attr(name); a != nil {
		return a.String
	}
	return otherwise
}

// list returns an attribute of integers; nil if it is not given.
func (c *call) list(name string) []int {
	a := c.n.Attr(name)
	if a == nil {
		return nil
	}
	out := make([]int, len(a.Ints))
	for i, v := range a.Ints {
		out[i] = int(v)
	}
	return out
}

// axis returns an axis of a rank, counted from 0; a negative one counts from the last.
func (c *call) axis(a, rank int) int {
	if a < -rank || a >= rank {
		c.fail("axis %d of an array with %d axes", a, rank)
	}
	return (a + rank) % max(rank, 1)
}

// known returns the elements of operand i, which must depend on no leaf.
func (c *call) known(i int) []float64 {
	n := c.x(i)
	if v, ok := n.Constant(); ok {
		return v.Data
	}
	for _, m := range graph.Reachable(n) {
		if m.NumIn() == 0 {
			if _, ok := m.Constant(); !ok {
				c.fail("operand %d must be known when the graph is built, and depends on %s", i, m.Label())
			}
		}
	}
	v, err := ref.Eval(trait.Env{}, nil, n)
	if err != nil {
		c.fail("operand %d: %v", i, err)
	}
	return v[0].Data
}

// ints returns the elements of operand i as integers; see [call.known].
func (c *call) ints(i int) []int {
	var out []int
	for _, v := range c.known(i) {
		out = append(out, int(graph.I64.Whole(v)))
	}
	return out
}

// attrOrInts returns integers that older versions have as an attribute and newer ones as operand i;
// nil if neither is given.
func (c *call) attrOrInts(name string, i int) []int {
	if c.has(i) {
		return c.ints(i)
	}
	return slices.Clone(c.list(name))
}
