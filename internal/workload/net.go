package workload

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/spelling"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// Net is a model of a size that is trained on many machines, for batches of any number of rows.
type Net struct {
	Name  string
	What  string // in a line, for people
	Rows  int    // of a batch on one machine
	Build train.Build
	// RowBytes is what one row of a batch takes where it is stored.
	RowBytes int
	// batch returns so many rows of random inputs, by name.
	batch func(rows int) map[string]*tensor.Dense
}

// Source returns batches of random rows, the same at every step.
func (n *Net) Source(rows int) data.Source {
	values := n.batch(rows)
	return data.Generated(n.Name, rows, func(int) (map[string]*tensor.Dense, error) { return values, nil })
}

var nets = []Net{
	{"mlp", "perceptron 784-512-256-10 for digits of 28×28", 64, perceptron, 784 + 1, images(1, 28*28, 10)},
	{"chars-gpt", "GPT of 2 blocks for 64 characters of 96 kinds", 16, chars, 64, texts(64, 96)},
	{"resnet18", "ResNet-18 for images of 224×224 and 1000 classes", 8, of(resNet18{224, 1000}.build), 110_000, images(224, 3, 1000)},
	{"gpt2-small", "GPT-2 small for texts of 1024 tokens", 1, of(gpt2Small.build), 2 * 1024, texts(1024, 50257)},
}

// Nets lists the nets.
func Nets() []string {
	out := make([]string, len(nets))
	for i, n := range nets {
		out[i] = n.Name
	}
	return out
}

// NetOf returns the net called name. The error for a name that no net has suggests the nearest.
func NetOf(name string) (*Net, error) {
	i := slices.IndexFunc(nets, func(n Net) bool { return n.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("unknown net %q: did you mean %q?", name, spelling.Nearest(name, Nets()))
	}
	return &nets[i], nil
}

// perceptron is the net of the workload mlp.
func perceptron(rows int, _ train.Mode) *train.Net {
	g := graph.New("mlp")
	i := graph.Ax("i", rows)
	x, y := g.Input("x", graph.F32, i, graph.Ax("f", 28*28)), g.Input("y", graph.I32, i)
	h := ops.ReLU(nn.NewLinear(g, "first", graph.F32, last(x), graph.Ax("g", 512)).Of(x))
	h = ops.ReLU(nn.NewLinear(g, "second", graph.F32, last(h), graph.Ax("h", 256)).Of(h))
	scores := nn.NewLinear(g, "scores", graph.F32, last(h), graph.Ax("c", 10)).Of(h)
	return &train.Net{Loss: nn.CrossEntropy(scores, y), Output: scores}
}

// chars is the small language model of characters.
func chars(rows int, _ train.Mode) *train.Net {
	g := graph.New("chars-gpt")
	n, t := graph.Ax("n", rows), graph.Ax("t", 64)
	x, y := g.Input("x", graph.I32, n, t), g.Input("y", graph.I32, n, t)
	logits := builders.CharacterGPT(g, graph.F32, graph.Ax("w", 96), t).Of(x)
	return &train.Net{Loss: nn.CrossEntropy(logits, y), Output: logits}
}

// resNet18 is the smallest net of He et al. (2016) for ImageNet: a convolution of 7×7 with stride 2, a
// maximum over 3×3 with stride 2, four stages of two blocks with 64, 128, 256 and 512 channels, and a
// linear layer from the averages. It has 11 687 720 parameters, 1 792 less than theirs, which has a
// norm on the three shortcuts that change the channels.
type resNet18 struct{ side, classes int }

func (r resNet18) build(dt graph.DType, rows int, mode train.Mode) *train.Net {
	g := graph.New("resnet18")
	n := graph.Ax("n", rows)
	x := g.Input("x", dt, n, graph.Ax("h", r.side), graph.Ax("w", r.side), graph.Ax("c", 3))
	y := g.Input("y", graph.I32, n)
	c := graph.Ax("c", 64)
	h := nn.NewFilter2D(g, "stem", dt, last(x), c, ops.Size(7), ops.Stride(2), ops.Padding(3)).Of(x)
	var step graph.Step
	norm := nn.NewBatchNorm(g, "norm", dt, c)
	if mode == train.Training {
		h, step = norm.OfTrain(h)
	} else {
		h = norm.Of(h)
	}
	h = ops.MaxPool2D(ops.ReLU(h), ops.Size(3), ops.Stride(2), ops.Padding(1))
	for b := range 8 {
		wide, stride := c, 1
		if b > 0 && b%2 == 0 {
			wide.Size, stride = 2*c.Size, 2
		}
		block := builders.NewResNetBlock(g, fmt.Sprint("block", b), dt, c, wide, stride)
		if mode == train.Training {
			var s graph.Step
			h, s = block.OfTrain(h)
			step = append(step, s...)
		} else {
			h = block.Of(h)
		}
		c = wide
	}
	scores := nn.NewLinear(g, "head", dt, c, graph.Ax("k", r.classes)).Of(nn.GlobalAverage(h))
	return &train.Net{Loss: nn.CrossEntropy(scores, y), Output: scores, Step: step}
}

// gpt2Small is the smallest net of Radford et al. (2019), 124 439 808 parameters: 12 blocks of width
// 768 with 12 heads, norms before the layers, GELU, and the table of the tokens as the weights of the
// output.
var gpt2Small = gpt2{length: 1024, tokens: 50257, width: 768, blocks: 12, heads: 12}

// gpt2 is a net of that kind.
type gpt2 struct{ length, tokens, width, blocks, heads int }

func (p gpt2) build(dt graph.DType, rows int, _ train.Mode) *train.Net {
	g := graph.New("gpt2-small")
	n, t, w := graph.Ax("n", rows), graph.Ax("t", p.length), graph.Ax("w", p.tokens)
	x, y := g.Input("x", graph.I32, n, t), g.Input("y", graph.I32, n, t)
	b := attention.Blocks{
		Layers: p.blocks, Heads: p.heads, Width: graph.Ax("m", p.width), Hidden: graph.Ax("f", 4*p.width),
		Bias: true, Activation: ops.GELUTanh,
	}
	table := nn.NewEmbedding(g, "embedding", dt, w, b.Width, initial.Normal(0, 0.02))
	places := attention.NewPositions(g, "places", dt, t, b.Width)
	h := attention.AddPositions(table.Of(x), places)
	h = attention.NewEncoder(g, "decoder", dt, b).Of(h, attention.Causal(g, t, t))
	logits := ops.MatMul(h, ops.Transpose(table.Table, "m", "w"))
	return &train.Net{Loss: nn.CrossEntropy(logits, y), Output: logits}
}

// of is a net in float32.
func of(build func(graph.DType, int, train.Mode) *train.Net) train.Build {
	return func(rows int, mode train.Mode) *train.Net { return build(graph.F32, rows, mode) }
}

// images returns random images of size × size × channels, as rows of features where the size is 1,
// with the labels y.
func images(size, channels, classes int) func(rows int) map[string]*tensor.Dense {
	return func(rows int) map[string]*tensor.Dense {
		shape := tensor.Shape{rows, channels}
		if size > 1 {
			shape = tensor.Shape{rows, size, size, channels}
		}
		x := make([]float32, shape.TotalSize())
		for i, u := range Uniform(60, len(x)) {
			x[i] = float32(2*u - 1)
		}
		return map[string]*tensor.Dense{
			"x": tensor.New(tensor.WithShape(shape...), tensor.WithBacking(x)),
			"y": tensor.New(tensor.WithShape(rows), tensor.WithBacking(whole(61, rows, classes))),
		}
	}
}

// texts returns random texts of so many tokens, with the next tokens y.
func texts(length, vocabulary int) func(rows int) map[string]*tensor.Dense {
	return func(rows int) map[string]*tensor.Dense {
		of := func(seed uint64) *tensor.Dense {
			return tensor.New(tensor.WithShape(rows, length), tensor.WithBacking(whole(seed, rows*length, vocabulary)))
		}
		return map[string]*tensor.Dense{"x": of(62), "y": of(63)}
	}
}

// whole is like labels, as int32.
func whole(seed uint64, count, classes int) []int32 {
	out := make([]int32, count)
	for i, l := range labels(seed, count, classes) {
		out[i] = int32(l)
	}
	return out
}
