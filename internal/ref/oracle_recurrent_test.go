package ref_test

import (
	"maps"

	"github.com/tapestry-ml/tapestry/nn/rnn"
	"github.com/tapestry-ml/tapestry/ops"
)

// The recurrent cases are built of the layers of package rnn, over the case's arrays, whose gates
// are in PyTorch's order.
func init() {
	for name := range recurrentCells {
		maps.Copy(models, map[string]func(b *builder) outputs{
			name:                    func(b *builder) outputs { return b.recurrent(name, rnn.Recur{}) },
			name + "_bidirectional": func(b *builder) outputs { return b.bidirectional(name, rnn.Recur{}) },
		})
	}
}

var recurrentCells = map[string]func(rnn.Gates) rnn.Cell{
	"rnn_tanh": func(w rnn.Gates) rnn.Cell { return rnn.RNN{Gates: w} },
	"lstm":     func(w rnn.Gates) rnn.Cell { return rnn.LSTM{Gates: w} },
	"gru":      func(w rnn.Gates) rnn.Cell { return rnn.GRU{Gates: w} },
}

// layer is the cell of that name with the arrays of a direction, run as the other
// fields say.
func (b *builder) layer(name, suffix string, run rnn.Recur) rnn.Recur {
	w := func(name string) node { return b.array(name + "_l0" + suffix) }
	run.Cell = recurrentCells[name](rnn.Gates{
		In:     torchLinear(w("weight_ih"), w("bias_ih")),
		Hidden: torchLinear(w("weight_hh"), w("bias_hh")),
	})
	return run
}

func (b *builder) recurrent(name string, run rnn.Recur) outputs {
	return b.weighted(b.layer(name, "", run).Of(b.array("x")))
}

func (b *builder) bidirectional(name string, run rnn.Recur) outputs {
	l := rnn.Bidirectional{Forward: b.layer(name, "", run), Backward: b.layer(name, "_reverse", run)}
	return b.weighted(l.Of(b.array("x")))
}

// stepwise is a cell whose inputs are not prepared ahead of the loop.
type stepwise struct{ Cell rnn.Cell }

func (c stepwise) Start(batch ...axis) []node              { return c.Cell.Start(batch...) }
func (c stepwise) Step(x node, state []node) (next []node) { return c.Cell.Step(x, state) }

// sideBySide is [builder.bidirectional] of two layers of one direction, the second over
// the sequence turned round.
func (b *builder) sideBySide(name string, run rnn.Recur) outputs {
	x := b.array("x")
	backward := ops.Reverse(b.layer(name, "_reverse", run).Of(ops.Reverse(x, 1)), 1)
	return b.weighted(ops.Concat(2, b.layer(name, "", run).Of(x), backward))
}
