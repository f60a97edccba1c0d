package importer

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/ops"
)

// scanned is a Scan over sequences, with states before them among the operands.
type scanned struct {
	*call
	body       *format.Graph
	states, in []value
	elems      []format.DataType // of the results
	rows       int               // results with a row for each step
}

func scan(c *call) []value {
	s := &scanned{call: c, body: c.body("body")}
	operands := c.in
	if c.version() < 9 {
		if len(operands) == 0 {
			c.fail("it has no operands")
		}
		operands = operands[1:]
	}
	n := c.int("num_scan_inputs", 0)
	if n < 1 || n > len(operands) || len(s.body.Inputs) != len(operands) || len(s.body.Outputs) < len(operands)-n {
		c.fail("%d scanned inputs of %d operands do not fit its body, which has %d inputs and %d outputs", n, len(operands), len(s.body.Inputs), len(s.body.Outputs))
	}
	s.states, s.in = operands[:len(operands)-n], operands[len(operands)-n:]
	s.rows = len(s.body.Outputs) - len(s.states)
	for i, v := range operands {
		c.numbers(v, i)
	}
	if c.version() < 9 {
		return s.batch()
	}
	var states, sequences []*graph.Node
	for _, v := range s.states {
		states = append(states, bare(v.node))
	}
	axes, backward := c.list("scan_input_axes"), c.list("scan_input_directions")
	for k, v := range s.in {
		x, axis := bare(v.node), 0
		if axes != nil {
			axis = c.axis(axes[k], x.Rank())
		}
		if x = moved(x, axis, 0); backward != nil && backward[k] == 1 {
			x = ops.Reverse(x, 0)
		}
		sequences = append(sequences, x)
	}
	r := s.run(states, sequences)
	axes, backward = c.list("scan_output_axes"), c.list("scan_output_directions")
	out := r.Final
	for k, y := range r.Out {
		if backward != nil && backward[k] == 1 {
			y = ops.Reverse(y, 0)
		}
		if axes != nil {
			y = moved(y, 0, c.axis(axes[k], y.Rank()))
		}
		out = append(out, y)
	}
	return s.typed(out)
}

// run makes the loop over sequences whose first axis is the time.
func (s *scanned) run(states, sequences []*graph.Node) ops.Scanned {
	s.enter(s.body)
	defer s.leave()
	return ops.Scan(ops.Loop{Carry: states, Over: sequences, Axis: 0}, func(carry, x, _ []*graph.Node) (next, out []*graph.Node) {
		var values []value
		for k, v := range s.states {
			values = append(values, value{node: carry[k], elem: v.elem})
		}
		for k, v := range s.in {
			values = append(values, value{node: x[k], elem: v.elem})
		}
		results := s.branch(s.body, s.names, values...)
		s.elems = s.elems[:0]
		for i, n := range s.nodesOf(results) {
			s.elems = append(s.elems, results[i].elem)
			if n = bare(n); i < len(s.states) {
				next = append(next, n)
			} else {
				out = append(out, n)
			}
		}
		return next, out
	})
}

// batch is the Scan of version 8: the first axis of all operands is a batch, and there may be the
// lengths of the sequences.
func (s *scanned) batch() []value {
	if s.has(0) {
		for _, l := range s.ints(0) {
			if l != s.in[0].node.Dim(1) {
				s.fail("sequences of different lengths")
			}
		}
	}
	backward := s.list("directions")
	var examples [][]*graph.Node
	for b := range s.in[0].node.Dim(0) {
		var states, sequences []*graph.Node
		for _, v := range s.states {
			states = append(states, ops.At(bare(v.node), 0, b))
		}
		for k, v := range s.in {
			x := ops.At(bare(v.node), 0, b)
			if backward != nil && backward[k] == 1 {
				x = ops.Reverse(x, 0)
			}
			sequences = append(sequences, x)
		}
		r := s.run(states, sequences)
		examples = append(examples, append(r.Final, r.Out...))
	}
	var out []*graph.Node
	for i := range s.body.Outputs {
		var all []*graph.Node
		for _, e := range examples {
			if i >= len(e) {
				return nil
			}
			all = append(all, e[i])
		}
		out = append(out, ops.Stack(0, "", all...))
	}
	return s.typed(out)
}

func (s *scanned) typed(nodes []*graph.Node) []value {
	out := make([]value, len(nodes))
	for i, n := range nodes {
		out[i] = value{node: n}
		if i < len(s.elems) {
			out[i].elem = s.elems[i]
		}
	}
	return out
}

// moved returns x with one of its axes in another place.
func moved(x *graph.Node, from, to int) *graph.Node {
	if from == to {
		return x
	}
	var order []any
	for i := range x.Rank() {
		if i != from {
			order = append(order, i)
		}
	}
	order = append(order[:to], append([]any{from}, order[to:]...)...)
	return ops.Transpose(x, order...)
}
