package rnn

import (
	"errors"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// HorizontalSkip is a cell with a shortcut from step to step, past the cell (the notes on skip
// connections in RNNs):
//
//	h_t = h_{t−1} + cell(x_t, h_{t−1})
//
// Gradients by h flow back undiminished, but nothing that was once added leaves h again unless the
// cell learns to subtract it, and a new input counts for less the more there is; the gates of [LSTM]
// and [GRU] are the answer to that. Other states of the cell, as the memory of an LSTM, have no
// shortcut.
type HorizontalSkip struct{ Cell Cell }

var errNoCell = errors.New("want a cell")

// Start returns the cell's state before the first step.
func (c HorizontalSkip) Start(batch ...graph.Axis) []*graph.Node {
	if c.Cell == nil {
		return nil
	}
	return c.Cell.Start(batch...)
}

// Ahead returns what the cell computes of x[… d] of all times, and the cell that goes on from there.
func (c HorizontalSkip) Ahead(x *graph.Node) (*graph.Node, Cell) {
	if c.Cell == nil {
		return x, c
	}
	z, rest := ahead(c.Cell, x)
	return z, HorizontalSkip{rest}
}

// Step returns the next state for the input x[b d] and the state, h[b h] first.
func (c HorizontalSkip) Step(x *graph.Node, state []*graph.Node) []*graph.Node {
	g := graph.Of(append([]*graph.Node{x}, state...)...)
	if c.Cell == nil || len(state) == 0 {
		return []*graph.Node{g.Fail("HorizontalSkip", errNoCell, x)}
	}
	end := g.Scope("cell")
	next := c.Cell.Step(x, state)
	end()
	if len(next) > 0 {
		next[0] = ops.Add(state[0], next[0]).As("h")
	}
	return next
}
