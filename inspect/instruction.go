package inspect

import (
	"context"
	"errors"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// Quantity is a node with its value and the derivative of the loss by it.
type Quantity struct {
	Node     *graph.Node
	Value    tape.Array
	Gradient *graph.Node // nil if none is computed
	// Slope is the value of Gradient; its Type is invalid without one.
	Slope tape.Array
	// AsWritten reports that the program does not compute this derivative, because rewriting took
	// another way, so that it is taken from the graph as the user wrote it.
	AsWritten bool
}

// Instruction is a row of the program at work, with its operands and its result.
type Instruction struct {
	Index, Step int
	Row         tape.Row
	Operands    []Quantity
	Result      Quantity
	// Owner is the user's node that the instruction belongs to (see [Session.Owner]); the zero
	// Quantity if there is none.
	Owner    Quantity
	Backward bool // it computes part of the derivative by Owner
	// Update is the parameter or state of the user's graph that receives the result when the
	// training step ends; nil if there is none.
	Update *graph.Node
}

// Instruction returns instruction i of the present training step with its values. It is an error
// if there is no instruction i.
func (s *Session) Instruction(ctx context.Context, i int) (*Instruction, error) {
	if err := s.exists(i); err != nil {
		return nil, err
	}
	row := s.rows[i]
	out := &Instruction{Index: i, Step: s.step, Row: row, Update: s.updates[row.Node]}
	var err error
	for _, n := range row.Of {
		q, err := s.Quantity(ctx, n)
		if err != nil {
			return nil, err
		}
		out.Operands = append(out.Operands, q)
	}
	if out.Result, err = s.Quantity(ctx, row.Node); err != nil {
		return nil, err
	}
	n, backward := s.Owner(i)
	out.Backward = backward
	if n != nil {
		if out.Owner, err = s.Quantity(ctx, n); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Quantity returns a node of the program's graph or of the user's, with its value and gradient at
// the present training step.
func (s *Session) Quantity(ctx context.Context, n *graph.Node) (q Quantity, err error) {
	q.Node = n
	if err := s.whole(); err != nil {
		return q, err
	}
	if !n.IsValid() {
		return q, errors.New("inspect: the node is invalid")
	}
	if q.Value, err = s.array(ctx, n); err != nil {
		return q, err
	}
	if q.Gradient = s.asRun.grads[n]; q.Gradient == nil {
		q.Gradient = s.written.grads[n]
	}
	if u := s.twins[n]; u != nil && q.Gradient == nil {
		q.Gradient = s.written.grads[u]
		q.AsWritten = q.Gradient != nil
	}
	if q.Gradient != nil {
		q.Slope, err = s.array(ctx, q.Gradient)
	}
	return q, err
}
