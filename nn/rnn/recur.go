package rnn

import (
	"errors"
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// Cell is one step of a recurrence, a struct of parameters that are the same at every time. It
// carries its state from step to step; the hidden values h come first.
type Cell interface {
	// Start returns the state before the first step, zeros, for a batch of these axes.
	Start(batch ...graph.Axis) []*graph.Node
	// Step returns the state after the input x[… d].
	Step(x *graph.Node, state []*graph.Node) []*graph.Node
}

// Ahead is a cell whose step begins with a computation that does not need the state.
type Ahead interface {
	Cell
	// Ahead makes this computation for the inputs x[… d] of all times at once, and returns the
	// cell that goes on from there.
	Ahead(x *graph.Node) (z *graph.Node, rest Cell)
}

// Recur is a layer that runs a cell over time (the notes on RNNs):
//
//	h_t = cell(x_t, h_{t−1})
//
// As a loop (see [ops.Scan]) it is a small graph whatever the number of steps. Unrolled, every step
// is drawn, and the values are the same.
type Recur struct {
	Name       string // of the scope that its operations stand in; "" for none
	Cell       Cell
	Reverse    bool // from the last time to the first
	Unroll     bool // all steps written out
	Checkpoint int  // see [ops.Loop]
}

// Of returns the hidden values h[b … t h] at all times of x[b … t d]. A nil cell is a mistake.
func (r Recur) Of(x *graph.Node) *graph.Node {
	h, _ := r.From(x, nil)
	return h
}

// Read returns [Recur.Of] together with the state after the last step.
func (r Recur) Read(x *graph.Node) (h *graph.Node, final []*graph.Node) { return r.ReadMasked(x, nil) }

// ReadMasked is like [Recur.Read] for sequences of different lengths: where mask[b … t] is false
// there is padding, and the state stays as it was. So a sequence ends, or in reverse begins, with
// its own last element. The hidden values at padding are the state as well; a later layer or
// attention passes over them with the same mask.
func (r Recur) ReadMasked(x, mask *graph.Node) (h *graph.Node, final []*graph.Node) {
	return r.run(x, mask, nil, "h")
}

// From is like [Recur.Read] from a given state before the first step; nil is zeros.
func (r Recur) From(x *graph.Node, start []*graph.Node) (h *graph.Node, final []*graph.Node) {
	return r.run(x, nil, start, "h")
}

// run returns ReadMasked with a mask that may be nil and From in one, and gives the hidden
// values a name.
func (r Recur) run(x, mask *graph.Node, start []*graph.Node, name string) (h *graph.Node, final []*graph.Node) {
	defer build.Within(r.Name, x)()
	fail := func(err error) (*graph.Node, []*graph.Node) {
		all := []*graph.Node{x}
		if r.Cell != nil { // there may be no sequence whose graph could say it
			all = append(all, r.Cell.Start()...)
		}
		bad := graph.Of(all...).Fail("Recur", err, x)
		return bad, []*graph.Node{bad}
	}
	switch {
	case r.Cell == nil:
		return fail(errors.New("want a cell"))
	case !x.IsValid() || x.Rank() < 2:
		return fail(errNoSequence)
	case x.Rank() == 2:
		return fail(&graph.Mistake{Problem: "a single sequence, without a batch: want x[b t d]", Fix: `ops.Expand(x, 0, "b") makes a batch of one`})
	}
	axes := x.Shape().Axes()
	if err := masksPlaces(mask, axes[:len(axes)-1]); err != nil {
		return fail(err)
	}
	if start == nil {
		start = r.Cell.Start(axes[:len(axes)-2]...)
	}
	if len(start) == 0 {
		return fail(errors.New("want a cell with a state"))
	}
	z, cell := ahead(r.Cell, x)
	over := []*graph.Node{z}
	if mask != nil {
		over = append(over, ops.Expand(mask, -1, ""))
	}
	var names []string // of the state
	s := loop(ops.Loop{Carry: start, Over: over, Axis: -2, Reverse: r.Reverse, Checkpoint: r.Checkpoint}, r.Unroll,
		func(state, x, _ []*graph.Node) (next, out []*graph.Node) {
			next, names = cell.Step(x[0], state), nil
			for _, n := range next {
				names = append(names, n.Name())
			}
			if mask != nil {
				for i, n := range next[:min(len(next), len(state))] {
					next[i] = ops.Select(x[1], n, state[i]).As(names[i])
				}
			}
			if r.Checkpoint > 0 { // a loop keeps the states of all times, except with checkpoints
				out = next[:min(1, len(next))]
			}
			return next, out
		})
	if all := append(s.Out, s.Trace...); len(all) > 0 {
		h = build.TimeInside(all[0]).As(name)
	} else {
		return fail(errors.New("want a cell with a state"))
	}
	for i, n := range names {
		if n != "" && !r.Unroll && i < len(s.Final) {
			s.Final[i].As(map[bool]string{false: n + "_T", true: n + "₁"}[r.Reverse])
		}
	}
	return h, s.Final
}

var errNoSequence = &graph.Mistake{Problem: "want a sequence x[b t d]", Fix: "put the time before the features"}

// masksPlaces says why an array is no mask of the places of these axes, none of which
// is left out; nil is one that lets all through.
func masksPlaces(mask *graph.Node, axes []graph.Axis) error {
	s, err := graph.NewShape(axes...)
	if err != nil || !mask.IsValid() || mask.DType() == graph.Bool && mask.Shape().SameSizes(s) {
		return err
	}
	want := graph.Type{DType: graph.Bool, Shape: s}
	return &graph.Mistake{Problem: fmt.Sprintf("a mask %v: want %v", mask.Type(), want), Fix: "true where there is no padding, as nn.Present gives it"}
}

// ahead does of a cell's steps what does not wait for the state.
func ahead(c Cell, x *graph.Node) (*graph.Node, Cell) {
	if a, ok := c.(Ahead); ok {
		return a.Ahead(x)
	}
	return x, c
}
