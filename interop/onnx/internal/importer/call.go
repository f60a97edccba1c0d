package importer

import (
	"errors"
	"fmt"
	"math"
	"runtime"
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
			c.problem(fmt.Sprintf("no value is called %q here", cut(name)))
			return nil
		}
		if v.kind == poisoned {
			return nil
		}
		c.in = append(c.in, v)
	}
	r, reason := c.rule()
	if r == nil {
		c.problem(reason)
		c.problems[len(c.problems)-1].Unknown = true
		return nil
	}
	had := len(c.problems)
	defer func() {
		switch r := recover().(type) {
		case nil:
		case refusal:
			c.problem(r.reason)
			out = nil
		case runtime.Error: // an operand or a part of an attribute that is not there
			c.problem("its operands and attributes do not fit: " + r.Error())
			out = nil
		default:
			panic(r)
		}
	}()
	if constants := c.allConstant(); len(constants) > 0 {
		defer graph.Beside(constants...)() // no part of a body that is being built
	}
	out = r(c)
	if len(c.problems) > had { // of nodes in its graphs
		return nil
	}
	for i := range out {
		if v := &out[i]; v.kind == array && v.tensor == nil && !v.node.IsValid() {
			c.fail("%s", c.mistake())
		}
	}
	for i := range out {
		c.fold(&out[i])
		if n := out[i].node; i < len(c.n.Outputs) && n.IsValid() && n.Role() == graph.RoleOp && c.n.Outputs[i] != "" {
			if name := nameOf(c.n, i); name != "" {
				c.christen(n, name)
			}
		}
	}
	return out
}

// christen names a result, unless it has a name: outputs of the file come first.
func (c *call) christen(n *graph.Node, name string) {
	if n.Graph() == c.g {
		c.called = append(c.called, naming{n, n.First(), name})
	} else if n.Name() == "" {
		n.As(name)
	}
}

// allConstant returns the operands if all are constants; nil otherwise.
func (c *call) allConstant() (nodes []*graph.Node) {
	for _, v := range c.in {
		switch {
		case v.kind == absent, v.kind == array && v.node == nil && v.tensor != nil:
			continue // what only rules know is constant too
		case v.kind != array || v.node == nil:
			return nil
		}
		if _, ok := v.node.Constant(); !ok || v.node.Graph() != c.g {
			return nil
		}
		nodes = append(nodes, v.node)
	}
	return nodes
}

// rule returns the rule of the operator, or the reason why there is none.
func (c *call) rule() (rule, string) {
	name := c.n.Op
	if d := c.n.Domain; d != "" && d != "ai.onnx" {
		name = d + "." + name
		if f := c.functions[name]; f != nil {
			return func(c *call) []value { return c.function(f) }, ""
		}
	} else if f := c.functions["."+name]; f != nil {
		return func(c *call) []value { return c.function(f) }, ""
	}
	if r := c.table[name]; r != nil {
		if reason := c.unknownVersion(); reason != "" {
			return nil, reason
		}
		return r, ""
	}
	if name != c.n.Op {
		return nil, fmt.Sprintf("there is no such operator here, of the domain %s", cut(c.n.Domain))
	}
	return nil, "there is no such operator here"
}

// mistake returns the last mistake that was made in the graph, with the advice.
func (c *call) mistake() string {
	for _, g := range []*graph.Graph{c.g.Open(), c.g} {
		var all graph.Errors
		if errors.As(g.Err(), &all) && len(all) > 0 {
			e := all[len(all)-1]
			text := e.Op + ": " + e.Err.Error()
			if e.Fix != "" {
				text += " (" + e.Fix + ")"
			}
			return text
		}
	}
	return "it has no result"
}

func (c *call) problem(reason string) {
	c.builder.problem(c.n.At, c.n.Op, c.n.Name, reason)
}

// version returns the version of the standard operators that the file uses.
func (c *call) version() int64 { return c.names.opsets[""] }

// has reports whether operand i is given.
func (c *call) has(i int) bool { return i < len(c.in) && c.in[i].kind != absent }

// x returns operand i, which must be a tensor.
func (c *call) x(i int) *graph.Node {
	if !c.has(i) {
		c.fail("operand %d is missing", i)
	}
	return c.numbers(c.in[i], i)
}

// numbers returns the node of a value, which must be a tensor of numbers.
func (c *call) numbers(v value, i int) *graph.Node {
	if v.kind != array {
		c.fail("operand %d is no tensor of numbers", i)
	}
	if v.node == nil {
		c.fail("operand %d has integers of more than 53 bits, which a constant here does not hold", i)
	}
	return v.node
}

// is returns a result whose elements are of the type that operand i has in the file.
func (c *call) is(i int, n *graph.Node) value { return value{node: n, elem: c.in[i].elem} }

// attr returns an attribute; nil if it is not given. In a function it may stand for one of the call.
func (c *call) attr(name string) *format.Attr {
	a := c.n.Attr(name)
	if a != nil && a.Of != "" {
		return c.names.attrs[a.Of]
	}
	return a
}

// int returns an attribute, or what it is by default.
func (c *call) int(name string, otherwise int) int {
	if a := c.attr(name); a != nil {
		return int(a.Int)
	}
	return otherwise
}

func (c *call) float(name string, otherwise float64) float64 {
	if a := c.attr(name); a != nil {
		return float64(a.Float)
	}
	return otherwise
}

func (c *call) text(name, otherwise string) string {
	if a := c.attr(name); a != nil {
		return a.String
	}
	return otherwise
}

// list returns an attribute of integers; nil if it is not given.
func (c *call) list(name string) []int {
	a := c.attr(name)
	if a == nil {
		return nil
	}
	out := make([]int, len(a.Ints))
	for i, v := range a.Ints {
		out[i] = int(v)
	}
	return out
}

// body returns an attribute that is a graph.
func (c *call) body(name string) *format.Graph {
	a := c.attr(name)
	if a == nil || a.Graph == nil {
		c.fail("the attribute %s is no graph", name)
	}
	return a.Graph
}

// axis returns an axis of a rank, counted from 0; a negative one counts from the last.
func (c *call) axis(a, rank int) int {
	if a < -rank || a >= rank {
		c.fail("axis %d of an array with %d axes", a, rank)
	}
	return (a + rank) % max(rank, 1)
}

// known returns the elements of operand i, which must depend on no leaf but on weights of the file
// themselves.
func (c *call) known(i int) []float64 {
	if c.has(i) && c.in[i].tensor != nil && c.in[i].kind == array {
		data, err := c.in[i].tensor.Floats()
		if err != nil {
			c.fail("operand %d: %v", i, err)
		}
		return data
	}
	n := c.x(i)
	if v, ok := n.Constant(); ok {
		return v.Data
	}
	if leaf := leafOf(n); leaf != nil {
		c.fail("operand %d must be known when the graph is built, and depends on %s", i, cut(leaf.Label()))
	}
	for _, m := range graph.Reachable(n) {
		c.bounded(m.Shape().Len())
	}
	v, err := ref.Eval(trait.Env{}, nil, n)
	if err != nil {
		c.fail("operand %d: %v", i, err)
	}
	return v[0].Data
}

// isKnown reports whether [call.known] has the elements of operand i.
func (c *call) isKnown(i int) bool {
	return c.has(i) && c.in[i].kind == array && (c.in[i].tensor != nil || leafOf(c.in[i].node) == nil)
}

// ints returns the elements of operand i as integers; see [call.known].
func (c *call) ints(i int) []int {
	var out []int
	if c.has(i) && c.in[i].tensor != nil && c.in[i].kind == array && !c.in[i].elem.IsFloat() {
		whole, err := c.in[i].tensor.Ints()
		if err != nil {
			c.fail("operand %d: %v", i, err)
		}
		for _, v := range whole {
			out = append(out, int(max(min(v, math.MaxInt), math.MinInt)))
		}
		return out
	}
	for _, v := range c.known(i) {
		out = append(out, int(max(min(graph.I64.Whole(v), math.MaxInt), math.MinInt)))
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
