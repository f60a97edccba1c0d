package rnn

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// Stack is recurrent layers on top of each other, each reading the hidden values of the one below
// (the notes on making RNNs more expressive):
//
//	h^l_t = cell_l(h^{l−1}_t, h^l_{t−1}),  x^l_t = h^l_t + x^{l−1}_t with skips
//
// Skips are vertical shortcuts past a layer whose input and output have one size, so that gradients
// reach the lower layers. Horizontal skips, from step to step, are cells' own; see
// [HorizontalSkip].
type Stack struct {
	Name   string
	Layers []nn.Layer // such as [Recur] and [Bidirectional]
	Skip   bool       // past every layer but the first
}

// Of returns the values of the last layer, [b t h], for x[b t d].
func (s Stack) Of(x *graph.Node) *graph.Node {
	defer build.Within(s.Name, x)()
	for i, l := range s.Layers {
		if l == nil {
			return graph.Of(x).Fail("Stack", fmt.Errorf("layer %d is nil", i), x)
		}
		h := l.Of(x)
		if i > 0 && s.Skip {
			h = ops.Add(h, x).As(build.Indexed("x", i))
		}
		x = h
	}
	return x
}
