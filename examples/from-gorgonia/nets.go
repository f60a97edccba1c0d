package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/gorgonia"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// images draws n images of 28 × 28 in the range of gorgonia's MNIST, 0.1 to 1, and labels of ten
// classes, 0.9 for the right one and 0.1 for the others.
func images(r *rand.Rand, n int) (x, y []float64) {
	x, y = make([]float64, n*28*28), make([]float64, n*10)
	for i := range x {
		x[i] = 0.1 + 0.9*r.Float64()
	}
	for i := range y {
		y[i] = 0.1
	}
	for i := range n {
		y[10*i+r.IntN(10)] = 0.9
	}
	return x, y
}

// convnet is gorgonia's examples/convnet: three convolutions and two full layers. Its dropouts are left
// out: the two would draw different masks, gorgonia's derivative of a dropout is wrong, and with rate
// 0 it is 0.
func convnet(r *rand.Rand, quick bool) (program, error) {
	bs, dt := 20, tensor.Float64
	if quick {
		bs = 2
	}
	g := G.NewGraph()
	xs, ys := images(r, bs)
	x := G.NewTensor(g, dt, 4, G.WithShape(bs, 1, 28, 28), G.WithName("x"), G.WithValue(tensor.New(tensor.WithShape(bs, 1, 28, 28), tensor.WithBacking(xs))))
	y := G.NewMatrix(g, dt, G.WithShape(bs, 10), G.WithName("y"), G.WithValue(tensor.New(tensor.WithShape(bs, 10), tensor.WithBacking(ys))))
	weights := func(name string, sizes ...int) *G.Node {
		return G.NewTensor(g, dt, len(sizes), G.WithShape(sizes...), G.WithName(name), G.WithValue(glorot(r, dt, sizes...)))
	}
	w0, w1, w2 := weights("w0", 32, 1, 3, 3), weights("w1", 64, 32, 3, 3), weights("w2", 128, 64, 3, 3)
	w3, w4 := weights("w3", 128*3*3, 625), weights("w4", 625, 10)

	layer := func(x, w *G.Node) *G.Node {
		c := G.Must(G.Conv2d(x, w, tensor.Shape{3, 3}, []int{1, 1}, []int{1, 1}, []int{1, 1}))
		return G.Must(G.MaxPool2D(G.Must(G.Rectify(c)), tensor.Shape{2, 2}, []int{0, 0}, []int{2, 2}))
	}
	p2 := layer(layer(layer(x, w0), w1), w2)
	r2 := G.Must(G.Reshape(p2, tensor.Shape{bs, 128 * 3 * 3}))
	fc := G.Must(G.Rectify(G.Must(G.Mul(r2, w3))))
	out := G.Must(G.SoftMax(G.Must(G.Mul(fc, w4))))

	losses := G.Must(G.Log(G.Must(G.HadamardProd(out, y))))
	cost := G.Must(G.Neg(G.Must(G.Mean(losses))))
	learned := G.Nodes{w0, w1, w2, w3, w4}
	if _, err := G.Grad(cost, learned...); err != nil {
		return program{}, err
	}
	p := program{name: "convnet", within: 1e-9, steps: 10, drawn: true, g: g, loss: cost, learned: learned}
	p.step, p.close = onTape(g, cost, G.NewRMSPropSolver(G.WithBatchSize(float64(bs))), learned)
	p.ours = func(m *gorgonia.Imported) graph.Step {
		return train.RMSProp(0.001, train.Smoothing(0.999), train.EpsilonInside(1e-8)).Minimize(m.Node(cost), m.Nodes(learned...)...)
	}
	return p, nil
}

// autoencoder is the pretraining of the first layer in gorgonia's examples/stacked_autoencoder: a
// denoising autoencoder with tied weights. Its noise is a draw of 1 with probability 1, for the
// reason that convnet has no dropout.
func autoencoder(r *rand.Rand, quick bool) (program, error) {
	batch, inputs, hidden, dt := 20, 784, 100, tensor.Float64
	if quick {
		inputs = 50
	}
	g := G.NewGraph()
	xs := make([]float64, batch*inputs)
	for i := range xs {
		xs[i] = 0.1 + 0.8*r.Float64()
	}
	input := G.NewMatrix(g, dt, G.WithShape(batch, inputs), G.WithName("x"), G.WithValue(tensor.New(tensor.WithShape(batch, inputs), tensor.WithBacking(xs))))
	w := G.NewMatrix(g, dt, G.WithShape(inputs, hidden), G.WithName("w_0"), G.WithValue(glorot(r, dt, inputs, hidden)))
	b := G.NewMatrix(g, dt, G.WithShape(batch, hidden), G.WithName("b_0"), G.WithInit(G.Zeroes()))
	hb := G.NewMatrix(g, dt, G.WithShape(batch, inputs), G.WithName("h_0"), G.WithInit(G.Zeroes()))

	corruption := G.BinomialRandomNode(g, dt, 1, 1)
	corrupted := G.Must(G.HadamardProd(corruption, input))
	output := G.Must(G.Sigmoid(G.Must(G.Add(G.Must(G.Mul(corrupted, w)), b))))
	hiddenOut := G.Must(G.Sigmoid(G.Must(G.Add(G.Must(G.Mul(output, G.Must(G.Transpose(w)))), hb))))
	loss, err := G.BinaryXent(hiddenOut, input)
	if err != nil {
		return program{}, err
	}
	cost := G.Must(G.Mean(loss))
	learned := G.Nodes{w, b, hb}
	grads, err := G.Grad(cost, learned...)
	if err != nil {
		return program{}, err
	}
	var costValue G.Value
	prog, locMap, err := G.CompileFunction(g, G.Nodes{input}, append(append(G.Nodes{}, grads...), G.Read(cost, &costValue)))
	if err != nil {
		return program{}, err
	}
	machine := G.NewTapeMachine(g, G.WithPrecompiled(prog, locMap))
	solver := G.NewVanillaSolver(G.WithBatchSize(float64(batch)))
	return program{
		name: "autoencoder", within: 1e-9, steps: 200, g: g, loss: cost, learned: learned,
		step: func() (float64, error) {
			if err := machine.RunAll(); err != nil {
				return 0, err
			}
			if err := solver.Step(G.NodesToValueGrads(learned)); err != nil {
				return 0, err
			}
			machine.Reset()
			return number(costValue)
		},
		ours: func(m *gorgonia.Imported) graph.Step {
			return train.SGD(0.001/float64(batch)).Minimize(m.Node(cost), m.Nodes(learned...)...)
		},
		close: machine.Close,
	}, nil
}

// lstm is the cell of gorgonia's examples/charRNN, with vectors and a matrix of each gate.
type lstm struct{ wx, wh, b map[string]*G.Node }

func (l lstm) gate(name string, activation func(*G.Node) (*G.Node, error), x, h *G.Node) *G.Node {
	sum := G.Must(G.Add(G.Must(G.Mul(l.wx[name], x)), G.Must(G.Mul(l.wh[name], h))))
	return G.Must(activation(G.Must(G.Add(sum, l.b[name]))))
}

func (l lstm) fwd(x, prevHidden, prevCell *G.Node) (hidden, cell *G.Node) {
	inputGate := l.gate("i", G.Sigmoid, x, prevHidden)
	forgetGate := l.gate("f", G.Sigmoid, x, prevHidden)
	outputGate := l.gate("o", G.Sigmoid, x, prevHidden)
	cellWrite := l.gate("c", G.Tanh, x, prevHidden)
	cell = G.Must(G.Add(G.Must(G.HadamardProd(forgetGate, prevCell)), G.Must(G.HadamardProd(inputGate, cellWrite))))
	return G.Must(G.HadamardProd(outputGate, G.Must(G.Tanh(cell)))), cell
}

// charRNN is gorgonia's examples/charRNN: an LSTM over the characters of a sentence, unrolled, on the
// LispMachine, which the program makes anew in each step. Gorgonia's pool of memory is
// switched off, which the original leaves on: it gives one array out twice, so that the second step
// panics. It is in float64: its first steps are so long that the rounding of float32 takes two
// trainings apart within ten.
func charRNN(r *rand.Rand, _ bool) (program, error) {
	const sentence = "the quick brown fox jumps over the lazy dog"
	const embeddingSize, hiddenSize, vocabulary = 10, 100, 29 // letters, a space, start and end
	index := func(c rune) int {
		if c == ' ' {
			return 26
		}
		return int(c - 'a')
	}
	const start, end = 27, 28
	dt := tensor.Float64
	g := G.NewGraph()
	var learned G.Nodes
	learn := func(name string, v *tensor.Dense) *G.Node {
		n := G.NodeFromAny(g, v, G.WithName(name))
		learned = append(learned, n)
		return n
	}
	l := lstm{map[string]*G.Node{}, map[string]*G.Node{}, map[string]*G.Node{}}
	for _, gate := range []string{"i", "f", "o", "c"} {
		l.wx[gate] = learn("w"+gate+"x_0", normal(r, dt, 0.08, hiddenSize, embeddingSize))
		l.wh[gate] = learn("w"+gate+"h_0", normal(r, dt, 0.08, hiddenSize, hiddenSize))
		l.b[gate] = learn("bias_"+gate+"_0", tensor.New(tensor.Of(dt), tensor.WithShape(hiddenSize)))
	}
	whd := learn("whd", normal(r, dt, 0.08, vocabulary, hiddenSize))
	biasD := learn("bias_d", tensor.New(tensor.Of(dt), tensor.WithShape(vocabulary)))
	embedding := learn("Embedding", normal(r, dt, 0.008, vocabulary, embeddingSize))
	zeros := func(name string) *G.Node {
		return G.NewVector(g, dt, G.WithName(name), G.WithShape(hiddenSize), G.WithValue(tensor.New(tensor.Of(dt), tensor.WithShape(hiddenSize))))
	}
	prevHidden, prevCell := zeros("prevHidden_0"), zeros("prevCell_0")

	// costFn builds the graph; in later steps gorgonia finds that it has each node already.
	costFn := func() (cost *G.Node) {
		hidden, cell := prevHidden, prevCell
		runes := []rune(sentence)
		for i := -1; i < len(runes); i++ {
			source, target := start, end
			if i >= 0 {
				source = index(runes[i])
			}
			if i < len(runes)-1 {
				target = index(runes[i+1])
			}
			hidden, cell = l.fwd(G.Must(G.Slice(embedding, G.S(source))), hidden, cell)
			probs := G.Must(G.SoftMax(G.Must(G.Add(G.Must(G.Mul(whd, hidden)), biasD))))
			loss := G.Must(G.Slice(G.Must(G.Neg(G.Must(G.Log(probs)))), G.S(target)))
			if cost == nil {
				cost = loss
			} else {
				cost = G.Must(G.Add(cost, loss))
			}
		}
		return cost
	}
	solver := G.NewRMSPropSolver(G.WithLearnRate(0.01), G.WithL2Reg(0.000001), G.WithClip(5))
	cost := costFn()
	return program{
		name: "char-rnn", within: 1e-6, steps: 20, g: g.SubgraphRoots(cost), loss: cost, learned: learned,
		step: func() (float64, error) {
			tensor.DontUsePool()
			defer tensor.UsePool()
			cost := costFn()
			machine := G.NewLispMachine(g.SubgraphRoots(cost))
			defer machine.Close()
			if err := machine.RunAll(); err != nil {
				return 0, err
			}
			now, err := number(cost.Value())
			if err != nil {
				return 0, err
			}
			machine.UnbindAll()
			if err := solver.Step(G.NodesToValueGrads(learned)); err != nil {
				return 0, fmt.Errorf("the solver: %w", err)
			}
			return now, nil
		},
		ours: func(m *gorgonia.Imported) graph.Step {
			return clippedRMSProp(0.01, 0.999, 1e-8, 5, 0.000001).Minimize(m.Node(cost), m.Nodes(learned...)...)
		},
	}, nil
}

// clippedRMSProp is gorgonia's RMSProp with a clip: the average is of the squares of the gradient
// before it is clipped, and the penalty of the weights is not multiplied by the rate.
func clippedRMSProp(rate, β, ε, clip, l2 float64) train.Optimiser {
	return train.Custom("gorgonia-rmsprop", rate, func(m *train.Minimizing, p, g *graph.Node) *graph.Node {
		v := m.State("v", p)
		now := m.Assign(v, ops.Add(ops.Scale(v, β), ops.Scale(ops.Square(g), 1-β)))
		g = ops.Clip(g, ops.Lit(g, -clip), ops.Lit(g, clip))
		move := ops.Div(ops.Mul(m.Rate(p), g), ops.Sqrt(ops.Shift(now, ε)))
		return ops.Sub(ops.Scale(p, 1-l2), move)
	})
}
