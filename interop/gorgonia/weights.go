package gorgonia

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The functions of this file arrange the values of gorgonia's variables as layers of package nn want
// their weights, for programs that keep the weights and write the net anew. Their results have the
// element type of the values, and go to a store: store.Set("conv/w", w).

// FilterWeights returns w[kh kw c o] of an nn.Conv for the filter [o c kh kw] of G.Conv2d; for one of
// G.Conv1d, [o c 1 k], the axis of size 1 stays.
func FilterWeights(filter G.Value) (*tensor.Dense, error) {
	v, err := weightsOf(filter, 4)
	if err != nil {
		return nil, err
	}
	return arranged(v, 2, 3, 1, 0), nil
}

// FlattenedWeights returns w[h·w·c out] of an nn.Linear behind images [n h w c] that are flattened, for
// the matrix [c·h·w out] behind images [n c h w] that G.Reshape flattens.
func FlattenedWeights(matrix G.Value, c, h, w int) (*tensor.Dense, error) {
	v, err := weightsOf(matrix, 2)
	if err != nil {
		return nil, err
	}
	s := v.Type.Shape
	if min(c, h, w) < 1 || s.Axis(0).Size != c*h*w {
		return nil, fmt.Errorf("weights of shape %v: want %d·%d·%d rows", s, c, h, w)
	}
	out := s.Axis(1).Size
	if v.Type.Shape, err = graph.NewShape(graph.Dims(c, h, w, out)...); err != nil {
		return nil, err
	}
	t := arranged(v, 1, 2, 0, 3)
	return t, t.Reshape(h*w*c, out)
}

// TransposedWeights returns w[in out] of an nn.Linear, which computes x·W, for the matrix [out in] of
// a program that computes W·x.
func TransposedWeights(matrix G.Value) (*tensor.Dense, error) {
	v, err := weightsOf(matrix, 2)
	if err != nil {
		return nil, err
	}
	return arranged(v, 1, 0), nil
}

// ChannelWeights returns the values of channels as [c]: a bias, or the gain, bias and statistics of an
// nn.BatchNorm, which gorgonia has in such shapes as [c], [1 c] and [1 c 1 1].
func ChannelWeights(values G.Value) (*tensor.Dense, error) {
	v, err := arrayOf(values, graph.Type{})
	if err != nil {
		return nil, err
	}
	longest := 1
	for _, n := range v.Type.Shape.Sizes() {
		longest = max(longest, n)
	}
	if longest != len(v.Data) {
		return nil, fmt.Errorf("weights of shape %v: want one axis of more than one element", v.Type.Shape)
	}
	if v.Type.Shape, err = graph.NewShape(graph.Dims(longest)...); err != nil {
		return nil, err
	}
	return tape.Tensor(v), nil
}

// LSTMGate holds the weights of one gate of a cell, by x and by h, and its bias.
type LSTMGate struct{ X, H, B G.Value }

// LSTMGates holds the weights of an LSTM cell that a program has written by gates: the input gate,
// the forget gate, the candidate for the cell, and the output gate.
type LSTMGates struct {
	Input, Forget, Cell, Output LSTMGate
	// Left says that the program computes W·x, with W[h d], as gorgonia's charRNN does; otherwise it
	// is x·W, with W[d h].
	Left bool
}

// Weights returns the weights of an rnn.LSTM, whose gates stand side by side in the order i, f, c̃, o:
// in[d 4h], its bias[4h] and hidden[h 4h], for the paths NAME/in/w, NAME/in/b and NAME/hidden/w.
func (l LSTMGates) Weights() (in, bias, hidden *tensor.Dense, err error) {
	var xs, hs, bs []*tensor.Dense
	for i, g := range []LSTMGate{l.Input, l.Forget, l.Cell, l.Output} {
		name := []string{"input gate", "forget gate", "cell", "output gate"}[i]
		for _, part := range []struct {
			what string
			v    G.Value
			to   *[]*tensor.Dense
		}{{"x", g.X, &xs}, {"h", g.H, &hs}} {
			v, err := weightsOf(part.v, 2)
			if err != nil {
				return nil, nil, nil, fmt.Errorf("%s by %s: %w", name, part.what, err)
			}
			if l.Left {
				*part.to = append(*part.to, arranged(v, 1, 0))
			} else {
				*part.to = append(*part.to, tape.Tensor(v))
			}
		}
		b, err := ChannelWeights(g.B)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("bias of the %s: %w", name, err)
		}
		bs = append(bs, b)
	}
	if in, err = beside(1, xs); err != nil {
		return nil, nil, nil, fmt.Errorf("the gates by x: %w", err)
	}
	if bias, err = beside(0, bs); err != nil {
		return nil, nil, nil, fmt.Errorf("the gates' biases: %w", err)
	}
	if hidden, err = beside(1, hs); err != nil {
		return nil, nil, nil, fmt.Errorf("the gates by h: %w", err)
	}
	return in, bias, hidden, nil
}

// beside joins arrays along an axis.
func beside(axis int, parts []*tensor.Dense) (*tensor.Dense, error) {
	return parts[0].Concat(axis, parts[1:]...)
}

// weightsOf reads an array of so many axes.
func weightsOf(v G.Value, rank int) (graph.Value, error) {
	a, err := arrayOf(v, graph.Type{})
	if err == nil && a.Type.Shape.Rank() != rank {
		err = fmt.Errorf("weights of shape %v: want %d axes", a.Type.Shape, rank)
	}
	return a, err
}

// arranged returns an array with its axes in the given order.
func arranged(v graph.Value, order ...int) *tensor.Dense {
	sizes := v.Type.Shape.Sizes()
	strides, n := make([]int, len(sizes)), 1
	for i := len(sizes) - 1; i >= 0; i-- {
		strides[i] = n
		n *= sizes[i]
	}
	to := make([]graph.Axis, len(order))
	for i, a := range order {
		to[i] = v.Type.Shape.Axis(a)
	}
	shape, err := graph.NewShape(to...)
	if err != nil { // of axes that were a shape
		panic(err)
	}
	out := graph.NewValue(graph.Type{DType: v.Type.DType, Shape: shape})
	for i := range out.Data {
		from, rest := 0, i
		for k := len(order) - 1; k >= 0; k-- {
			from += rest % to[k].Size * strides[order[k]]
			rest /= to[k].Size
		}
		out.Data[i] = v.Data[from]
	}
	return tape.Tensor(out)
}
