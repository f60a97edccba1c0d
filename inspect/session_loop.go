package inspect

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

// Iteration is one iteration of a loop seen from inside: the instructions of its body with their
// values. In a loop that runs backwards, iteration 0 is the last time.
type Iteration struct {
	Number, Time int
	Of           int // number of iterations
	body         *tape.Program
	rows         []tape.Row
	record       *Record
	session      *Session
	step         int
}

// Enter goes into an iteration of the loop that is instruction i of the present training step. The
// body is run once, from the carries that the loop computed before this iteration, so any iteration
// takes equally long. It is an error if the instruction is not a loop or has no such iteration.
func (s *Session) Enter(ctx context.Context, i, iteration int) (*Iteration, error) {
	ins, err := s.Instruction(ctx, i)
	if err != nil {
		return nil, err
	}
	return s.enter(ctx, s.rows, ins, iteration)
}

// Enter goes into an iteration of the loop that is instruction i of the body, a loop within a loop.
func (it *Iteration) Enter(ctx context.Context, i, iteration int) (*Iteration, error) {
	ins, err := it.Instruction(i)
	if err != nil {
		return nil, err
	}
	return it.session.enter(ctx, it.rows, ins, iteration)
}

// enter goes into an iteration of the loop ins, one of the rows.
func (s *Session) enter(ctx context.Context, rows []tape.Row, ins *Instruction, iteration int) (*Iteration, error) {
	n := ins.Row.Node
	if trait.LoopBody(n) == nil || ins.Row.Body == nil {
		return nil, fmt.Errorf("inspect: instruction %d, %s, is not a loop: %s", ins.Index, ins.Row.Op, loopsOf(rows))
	}
	it := &Iteration{Number: iteration, Of: n.Op().(trait.Looped).Loop().Steps, body: ins.Row.Body, rows: ins.Row.Body.Rows(), session: s, step: ins.Step}
	var more []*graph.Node
	for _, r := range it.rows {
		more = append(more, r.Node)
	}
	var err error
	it.record, it.Time, err = enterLoop(ctx, n, func(k int) tape.Array { return ins.Operands[k].Value }, ins.Result.Value, iteration, more)
	if err != nil {
		return nil, err
	}
	return it, nil
}

// Program returns the program of the body.
func (it *Iteration) Program() *tape.Program { return it.body }

// Rows returns the instructions of the body.
func (it *Iteration) Rows() []tape.Row { return it.rows }

// Len returns the number of instructions of the body.
func (it *Iteration) Len() int { return len(it.rows) }

// Value returns the value of a node of the body's graph in this iteration. Its Type is invalid
// for any other node.
func (it *Iteration) Value(n *graph.Node) tape.Array { return it.record.Value(n) }

// Instruction returns instruction i of the body with its values in this iteration. Where values
// are summed over the iterations (Accumulate), operands and result are the term of this
// iteration. There are no gradients: they are values of the loop that computes the derivative.
func (it *Iteration) Instruction(i int) (*Instruction, error) {
	if it == nil {
		return nil, errors.New("inspect: the iteration was not made by Enter")
	}
	if i < 0 || i >= len(it.rows) {
		return nil, fmt.Errorf("inspect: there is no instruction %d: the body has 0 to %d", i, len(it.rows)-1)
	}
	row := it.rows[i]
	out := &Instruction{Index: i, Step: it.step, Row: row, Result: it.quantity(row.Node)}
	for _, n := range row.Of {
		out.Operands = append(out.Operands, it.quantity(n))
	}
	return out, nil
}

func (it *Iteration) quantity(n *graph.Node) Quantity {
	return Quantity{Node: n, Value: it.record.Value(n)}
}

// cut returns the elements of an array from at on as a tensor of type t.
func cut(t graph.Type, a tape.Array, at int) *tensor.Dense {
	v := graph.NewValue(t)
	for i := range v.Data {
		v.Data[i] = a.At(at + i)
	}
	return tape.Tensor(v)
}

// loopsOf lists the instructions that are loops, for errors.
func loopsOf(rows []tape.Row) string {
	var at []string
	for i, r := range rows {
		if r.Body != nil {
			at = append(at, strconv.Itoa(i))
		}
	}
	switch len(at) {
	case 0:
		return "the program has none"
	case 1:
		return "instruction " + at[0] + " is one"
	}
	return "instructions " + strings.Join(at, ", ") + " are"
}
