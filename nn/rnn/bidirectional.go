package rnn

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// Bidirectional reads a sequence in both directions (Schuster & Paliwal, 1997; the notes on
// sequence learning via bidirectional RNNs). At each time it joins the hidden values of a forward
// cell, which has read everything before, and of a backward cell, which has read everything after:
//
//	→h_t = cell(x_t, →h_{t−1}),  ←h_t = cell′(x_t, ←h_{t+1}),  h_t = [→h_t; ←h_t]
type Bidirectional struct {
	Name              string
	Forward, Backward Recur // Reverse is set for the second whatever it says
}

// Of returns the joined hidden values [→h; ←h][b t 2h] for x[b t d].
func (l Bidirectional) Of(x *graph.Node) *graph.Node {
	h, _ := l.Read(x)
	return h
}

// Read returns [Bidirectional.Of] together with the last states of both directions, joined in the
// same way.
func (l Bidirectional) Read(x *graph.Node) (h *graph.Node, final []*graph.Node) {
	return l.ReadMasked(x, nil)
}

// ReadMasked is like [Bidirectional.Read] for sequences of different lengths, whose mask[b t] is
// true for tokens. Both directions pass over padding, so that the backward one begins at the last
// token; see [Recur.ReadMasked].
func (l Bidirectional) ReadMasked(x, mask *graph.Node) (h *graph.Node, final []*graph.Node) {
	defer build.Within(l.Name, x)()
	l.Forward.Reverse, l.Backward.Reverse = false, true
	forward, first := l.Forward.run(x, mask, nil, "→h")
	backward, second := l.Backward.run(x, mask, nil, "←h")
	if len(first) != len(second) {
		err := fmt.Errorf("the cells carry %d and %d states: want two of a kind", len(first), len(second))
		return graph.Of(x).Fail("Bidirectional", err, x), first
	}
	for i := range first {
		final = append(final, ops.Concat(-1, first[i], second[i]))
	}
	return ops.Concat(-1, forward, backward).As("[→h; ←h]"), final
}
