package gorgonia_test

import (
	"context"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/gorgonia"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/rnn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// fills puts weights into a store.
func fills(t *testing.T, store *tape.Store, path string, w *tensor.Dense, err error) {
	t.Helper()
	if err == nil {
		err = store.Set(path, w)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// TestWeightsOfConvnet: a net of gorgonia's, with a batch norm in use, and the same net of our layers
// with its weights give the same numbers.
func TestWeightsOfConvnet(t *testing.T) {
	const n, c, o, size, classes = 3, 2, 4, 8, 5
	theirs := G.NewGraph()
	x := array(theirs, "x", n, c, size, size)
	filter, gain, bias := array(theirs, "filter", o, c, 3, 3), array(theirs, "gain", 1, o, 1, 1), array(theirs, "bias", 1, o, 1, 1)
	full, b := array(theirs, "full", o*3*3, classes), array(theirs, "b", 1, classes)
	h := G.Must(G.Conv2d(x, filter, tensor.Shape{3, 3}, []int{0, 0}, []int{1, 1}, []int{1, 1}))
	none := G.Must(G.Sub(h, h))
	h, _, _, op, err := G.BatchNorm(h, G.Must(G.Auto(G.BroadcastAdd, gain, none)), G.Must(G.Auto(G.BroadcastAdd, bias, none)), 0.1, 1e-3)
	if err != nil {
		t.Fatal(err)
	}
	h = G.Must(G.Reshape(G.Must(G.MaxPool2D(G.Must(G.Rectify(h)), tensor.Shape{2, 2}, []int{0, 0}, []int{2, 2})), tensor.Shape{n, o * 3 * 3}))
	y := G.Must(G.SoftMax(G.Must(G.BroadcastAdd(G.Must(G.Mul(h, full)), b, nil, []byte{0}))))
	if err := op.SetStats(tensor.New(tensor.WithBacking([]float64{0.1, -0.2, 0.3, 0})), tensor.New(tensor.WithBacking([]float64{1, 2, 0.5, 3}))); err != nil {
		t.Fatal(err)
	}
	mean, variance := op.Stats()
	mean, variance = mean.Clone().(*tensor.Dense), variance.Clone().(*tensor.Dense)

	g := graph.New("net")
	images := g.Input("x", graph.F64, graph.Ax("n", n), graph.Ax("h", size), graph.Ax("w", size), graph.Ax("c", c))
	conv := nn.NewFilter2D(g, "conv", graph.F64, graph.Ax("c", c), graph.Ax("o", o), ops.Size(3), ops.Valid())
	norm := nn.NewBatchNorm(g, "norm", graph.F64, graph.Ax("o", o))
	norm.Epsilon = 1e-3
	layer := nn.NewLinear(g, "full", graph.F64, graph.Ax("in", o*3*3), graph.Ax("k", classes))
	z := ops.MaxPool2D(ops.ReLU(norm.Of(conv.Of(images))), ops.Size(2))
	out := ops.Softmax(layer.Of(ops.Merge(z, "in", "h", "w", "o")), "k")
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	store := tape.NewStore(g)
	w, err := gorgonia.FilterWeights(filter.Value())
	fills(t, store, "conv/w", w, err)
	for path, v := range map[string]G.Value{"norm/gain": gain.Value(), "norm/bias": bias.Value(), "norm/mean": mean, "norm/var": variance, "full/b": b.Value()} {
		w, err := gorgonia.ChannelWeights(v)
		fills(t, store, path, w, err)
	}
	w, err = gorgonia.FlattenedWeights(full.Value(), o, 3, 3)
	fills(t, store, "full/w", w, err)

	laid, err := tensor.Transpose(x.Value().(*tensor.Dense), 0, 2, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	v, err := store.Eval(context.Background(), tape.Feed{images: tensor.Materialize(laid).(*tensor.Dense)}, out)
	if err != nil {
		t.Fatal(err)
	}
	if want := ran(t, theirs, y, G.EvalMode()); !near(v[out].Data, want) {
		t.Errorf("got  %v\nwant %v", v[out].Data, want)
	}
}

// TestWeightsOfLSTM: an unrolled cell written by gates and an rnn.LSTM with its weights end in the
// same state, whether the program multiplies from the left or from the right.
func TestWeightsOfLSTM(t *testing.T) {
	const d, hidden, times = 3, 4, 5
	for _, left := range []bool{true, false} {
		theirs := G.NewGraph()
		gate := func(name string) (x, h, b *G.Node) {
			if left {
				return array(theirs, "wx"+name, hidden, d), array(theirs, "wh_"+name, hidden, hidden), array(theirs, "bias_"+name, hidden)
			}
			return array(theirs, "wx"+name, d, hidden), array(theirs, "wh_"+name, hidden, hidden), array(theirs, "bias_"+name, 1, hidden)
		}
		product := func(w, x *G.Node) *G.Node { // of rows, where they come from the left
			if left {
				return G.Must(G.Mul(w, x))
			}
			return G.Must(G.Mul(x, w))
		}
		var x, h, b [4]*G.Node // i, f, c, o
		for k, name := range []string{"i", "f_", "c__", "o___"} {
			x[k], h[k], b[k] = gate(name)
		}
		times0 := array(theirs, "x", times, d)
		state, cell := product(h[0], b[0]), product(h[1], b[1])
		state, cell = G.Must(G.Sub(state, state)), G.Must(G.Sub(cell, cell))
		for time := range times {
			in := G.Must(G.Slice(times0, G.S(time)))
			if !left {
				in = G.Must(G.Reshape(in, tensor.Shape{1, d}))
			}
			affine := func(k int) *G.Node {
				return G.Must(G.Add(G.Must(G.Add(product(x[k], in), product(h[k], state))), b[k]))
			}
			i, f, o, write := G.Must(G.Sigmoid(affine(0))), G.Must(G.Sigmoid(affine(1))), G.Must(G.Sigmoid(affine(3))), G.Must(G.Tanh(affine(2)))
			cell = G.Must(G.Add(G.Must(G.HadamardProd(f, cell)), G.Must(G.HadamardProd(i, write))))
			state = G.Must(G.HadamardProd(o, G.Must(G.Tanh(cell))))
		}
		of := func(k int) gorgonia.LSTMGate {
			return gorgonia.LSTMGate{X: x[k].Value(), H: h[k].Value(), B: b[k].Value()}
		}
		in, bias, hiddens, err := gorgonia.LSTMGates{Input: of(0), Forget: of(1), Cell: of(2), Output: of(3), Left: left}.Weights()
		if err != nil {
			t.Fatal(err)
		}

		g := graph.New("lstm")
		xs := g.Input("x", graph.F64, graph.Ax("b", 1), graph.Ax("t", times), graph.Ax("d", d))
		lstm := rnn.NewLSTM(g, "cell", graph.F64, graph.Ax("d", d), graph.Ax("h", hidden))
		s := lstm.Start(graph.Ax("b", 1))
		for time := range times {
			s = lstm.Step(ops.At(xs, "t", time), s)
		}
		if err := g.Err(); err != nil {
			t.Fatal(err)
		}
		store := tape.NewStore(g)
		for path, w := range map[string]*tensor.Dense{"cell/in/w": in, "cell/in/b": bias, "cell/hidden/w": hiddens} {
			fills(t, store, path, w, nil)
		}
		batch := times0.Value().(*tensor.Dense).Clone().(*tensor.Dense)
		if err := batch.Reshape(1, times, d); err != nil {
			t.Fatal(err)
		}
		v, err := store.Eval(context.Background(), tape.Feed{xs: batch}, s[0])
		if err != nil {
			t.Fatal(err)
		}
		if want := ran(t, theirs, state); !near(v[s[0]].Data, want) {
			t.Errorf("from the left %v: got %v, want %v", left, v[s[0]].Data, want)
		}
	}
}

// TestWeightsThatDoNotFit: the errors say what is wanted.
func TestWeightsThatDoNotFit(t *testing.T) {
	g := G.NewGraph()
	three, matrix := array(g, "three", 2, 3, 4).Value(), array(g, "matrix", 2, 3).Value()
	for want, f := range map[string]func() error{
		"weights of shape [2 3 4]: want 4 axes":                          func() error { _, err := gorgonia.FilterWeights(three); return err },
		"weights of shape [2 3]: want 2·2·2 rows":                        func() error { _, err := gorgonia.FlattenedWeights(matrix, 2, 2, 2); return err },
		"weights of shape [2 3 4]: want 2 axes":                          func() error { _, err := gorgonia.TransposedWeights(three); return err },
		"it has no value":                                                func() error { _, err := gorgonia.TransposedWeights(nil); return err },
		"input gate by x: it has no value":                               func() error { _, _, _, err := gorgonia.LSTMGates{}.Weights(); return err },
		"weights of shape [2 3]: want one axis of more than one element": func() error { _, err := gorgonia.ChannelWeights(matrix); return err },
	} {
		if err := f(); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
