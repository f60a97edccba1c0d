package inspect

import (
	"context"
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// Written lists the nodes of the user's graph that a training step depends on, in the order in
// which they were made, each derivative after its node. Constants are left out. Their values are
// computed as the user wrote them.
func (s *Session) Written() []*graph.Node {
	return slices.DeleteFunc(slices.Clone(s.written.nodes), func(n *graph.Node) bool {
		_, constant := n.Constant()
		return constant
	})
}

// AsWritten returns node i of Written in the present training step as an instruction: its
// operands and its value, with the derivatives of the loss by them. Its Row has no place in
// memory, because no instruction of the program need compute the node.
func (s *Session) AsWritten(ctx context.Context, i int) (*Instruction, error) {
	if err := s.whole(); err != nil {
		return nil, err
	}
	nodes := s.Written()
	if i < 0 || i >= len(nodes) {
		return nil, fmt.Errorf("inspect: there is no node %d: the graph has 0 to %d", i, len(nodes)-1)
	}
	n := nodes[i]
	out := &Instruction{Index: i, Step: s.step, Row: writtenRow(n), Backward: n.IsBackward()}
	for _, u := range s.subject.Step {
		if u.Value == n {
			out.Update = u.Target
		}
	}
	for _, x := range out.Row.Of {
		q, err := s.Quantity(ctx, x)
		if err != nil {
			return nil, err
		}
		out.Operands = append(out.Operands, q)
	}
	var err error
	out.Result, err = s.Quantity(ctx, n)
	return out, err
}

// WrittenRows returns the nodes of Written as rows of a listing.
func (s *Session) WrittenRows() []tape.Row {
	var rows []tape.Row
	for _, n := range s.Written() {
		rows = append(rows, writtenRow(n))
	}
	return rows
}

func writtenRow(n *graph.Node) tape.Row {
	at := n.First()
	r := tape.Row{Op: n.Op().Name(), Result: n.String(), Of: n.Inputs(), Pos: at.Pos, Scope: at.Scope, Node: n}
	for _, x := range r.Of {
		r.In = append(r.In, x.String())
	}
	return r
}

// Instructions lists the instructions that belong to a node of the user's graph (see
// [Session.Owner]) or, if gradient is set, to the derivative by it. For a node that is itself a
// derivative by x, they are those of the derivative by x.
func (s *Session) Instructions(n *graph.Node, gradient bool) []int {
	sought := owner{n, gradient}
	for sought.node.IsBackward() && sought.node.First().Origin.Of != nil {
		sought = owner{sought.node.First().Origin.Of, true}
	}
	var at []int
	for i, o := range s.owners {
		if o == sought {
			at = append(at, i)
		}
	}
	return at
}
