package ranktrain

import (
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/data/text"
	"gorgonia.org/tensor"
)

func nets() []net {
	return []net{
		{"mlp", mlp, train.Adam(3e-3, train.ClipNorm(1)), train.Cosine(3e-3, 200), digits(4*rows + 33)},
		{"cnn", cnn(false), train.Momentum(0.05, 0.9), train.Schedule{}, digits(4*rows + 20)},
		{"cnn-global", cnn(true), train.Momentum(0.05, 0.9), train.Schedule{}, digits(4*rows + 33)},
		{"gpt", gpt, train.AdamW(3e-3, train.EMA(0.99)), train.Warmup(10, train.Constant(3e-3)), characters},
	}
}

// mlp is 64 – 32 – 10 with dropout.
func mlp(rows int, mode train.Mode) *train.Net {
	g := graph.New("mlp")
	n, h, k := graph.Ax("n", rows), graph.Ax("h", 32), graph.Ax("k", 10)
	x, y := g.Input("x", graph.F32, n, graph.Ax("p", 64)), g.Input("y", graph.I32, n)
	u := ops.ReLU(nn.NewLinear(g, "hidden", graph.F32, graph.Ax("p", 64), h).Of(x))
	if mode == train.Training {
		u = nn.Dropout(u, g.Scalar("p", 0.2))
	}
	logits := nn.NewLinear(g, "output", graph.F32, h, k).Of(u)
	return &train.Net{Loss: nn.CrossEntropy(logits, y), Output: logits}
}

// cnn is a convolution of 3×3 with batch norm, of each lane or global, ReLU and the maximum over
// 2×2, and a linear layer.
func cnn(global bool) train.Build {
	return func(rows int, mode train.Mode) *train.Net {
		g := graph.New("cnn")
		n, c, k := graph.Ax("n", rows), graph.Ax("c", 8), graph.Ax("k", 10)
		x, y := g.Input("x", graph.F32, n, graph.Ax("p", 64)), g.Input("y", graph.I32, n)
		image := ops.Split(x, "p", graph.Ax("h", 8), graph.Ax("w", 8), graph.Ax("ink", 1))
		u := nn.NewConv2D(g, "conv", graph.F32, graph.Ax("ink", 1), c, ops.Size(3), ops.Same()).Of(image)
		norm, step := nn.NewBatchNorm(g, "norm", graph.F32, c), graph.Step(nil)
		if norm.Global = global; mode == train.Training {
			u, step = norm.OfTrain(u)
		} else {
			u = norm.Of(u)
		}
		u = ops.Merge(ops.MaxPool2D(ops.ReLU(u), ops.Size(2)), "f", "h", "w", "c")
		logits := nn.NewLinear(g, "output", graph.F32, u.Shape().Axis(1), k).Of(u)
		return &train.Net{Loss: nn.CrossEntropy(logits, y), Output: logits, Step: step}
	}
}

// window is the number of characters that gpt looks back on, and alphabet how many there are.
const (
	window   = 12
	alphabet = 74
)

// gpt is two blocks of 16 features with 2 heads.
func gpt(rows int, _ train.Mode) *train.Net {
	g := graph.New("gpt")
	b, t, m := graph.Ax("b", rows), graph.Ax("t", window), graph.Ax("m", 16)
	x, y := g.Input("x", graph.I32, b, t), g.Input("y", graph.I32, b, t)
	blocks := attention.Blocks{Layers: 2, Heads: 2, Width: m, Hidden: graph.Ax("f", 32), Bias: true, Activation: ops.GELU}
	places := attention.NewPositions(g, "places", graph.F32, t, m)
	logits := builders.NewLanguageModel(g, graph.F32, blocks, graph.Ax("w", alphabet), places).Of(x)
	return &train.Net{Loss: nn.CrossEntropy(logits, y), Output: logits}
}

// digits returns so many handwritten digits, whose last batch is shorter than the others, and the
// next 180 to measure on.
func digits(n int) func() (fit, held data.Source, err error) {
	return func() (fit, held data.Source, err error) {
		set, err := data.Digits().Set("x", "y", tensor.Float32)
		if err != nil {
			return nil, nil, err
		}
		some, rest, err := set.Split(func(i int) bool { return i >= n })
		if err != nil {
			return nil, nil, err
		}
		next, _, err := rest.Split(func(i int) bool { return i >= 180 })
		if err != nil {
			return nil, nil, err
		}
		return data.Shuffled(some, rows, 3), data.InOrder(next, 16), nil
	}
}

// characters returns windows of the Constitution of the United States, the end of which is held
// out.
func characters() (fit, held data.Source, err error) {
	vocabulary, err := text.Characters(text.Constitution())
	if err != nil {
		return nil, nil, err
	}
	codes, err := vocabulary.Encode(text.Constitution())
	if err != nil {
		return nil, nil, err
	}
	end := len(codes) - 2000
	if fit, err = data.Windows(codes[:end], window, rows, 3); err != nil {
		return nil, nil, err
	}
	rest, err := data.Consecutive(codes[end:], window)
	return fit, data.InOrder(rest, 20), err
}
