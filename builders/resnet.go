package builders

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// ResNetBlock is two convolutions with batch norms, and a shortcut past them (He et al., 2016; the
// notes on residual nets):
//
//	y = relu(x + F(x)),  F = norm ∘ conv ∘ relu ∘ norm ∘ conv
//
// so that a block changes its input instead of replacing it. A plain block has the same parameters
// and no shortcut: y = relu(F(x)).
type ResNetBlock struct {
	Name   string
	Conv1  nn.Conv
	Norm1  nn.BatchNorm
	Conv2  nn.Conv
	Norm2  nn.BatchNorm
	Expand *nn.Conv // fits the skip to other channels or a stride, by windows of 1; nil for none
	Plain  bool
}

// NewResNetBlock adds the parameters of two convolutions with windows of 3×3, the first with the
// given stride. If the channels or the size change, the shortcut has a convolution of 1×1.
func NewResNetBlock(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis, stride int) ResNetBlock {
	defer g.Scope(name)()
	first := nn.Window{Size: 3, Stride: stride, Padding: 1}
	b := ResNetBlock{
		Name:  name,
		Conv1: nn.NewFilter2D(g, "conv1", dt, in, out, first),
		Norm1: nn.NewBatchNorm(g, "norm1", dt, out),
		Conv2: nn.NewFilter2D(g, "conv2", dt, out, out, nn.Window{Size: 3, Padding: 1}),
		Norm2: nn.NewBatchNorm(g, "norm2", dt, out),
	}
	if stride > 1 || in.Size != out.Size {
		l := nn.NewFilter2D(g, "expand", dt, in, out, nn.Window{Size: 1, Stride: stride})
		b.Expand = &l
	}
	return b
}

// Of returns the output [n h w c] of the block in evaluation, for x[n h w c].
func (b ResNetBlock) Of(x *graph.Node) *graph.Node { return b.apply(x, nn.BatchNorm.Of) }

// OfTrain returns the output of the block in training, and the updates of its running statistics.
func (b ResNetBlock) OfTrain(x *graph.Node) (y *graph.Node, step graph.Step) {
	y = b.apply(x, func(l nn.BatchNorm, x *graph.Node) *graph.Node {
		y, s := l.OfTrain(x)
		step = append(step, s...)
		return y
	})
	return y, step
}

func (b ResNetBlock) apply(x *graph.Node, norm func(nn.BatchNorm, *graph.Node) *graph.Node) *graph.Node {
	defer build.Within(b.Name, x, b.Conv1.W)()
	f := ops.ReLU(norm(b.Norm1, b.Conv1.Of(x).As("u₁"))).As("v")
	f = norm(b.Norm2, b.Conv2.Of(f).As("u₂")).As("F(x)")
	if b.Plain {
		return ops.ReLU(f).As("y")
	}
	if b.Expand != nil {
		x = b.Expand.Of(x).As("Ex")
	}
	return ops.ReLU(ops.Add(x, f)).As("y")
}

// ResNet is a convolution to the channels of the blocks, the blocks, the average over all places,
// and a linear layer (He et al., 2016; the notes on residual nets).
type ResNet struct {
	Stem   nn.Conv
	Blocks []ResNetBlock
	Head   nn.Linear
}

// NewResNet adds the parameters of a net from images with channels in to scores out. A plain net
// has the same parameters, and no shortcuts.
func NewResNet(g *graph.Graph, dt graph.DType, in, channels, out graph.Axis, blocks int, plain bool) ResNet {
	r := ResNet{Stem: nn.NewConv2D(g, "stem", dt, in, channels, nn.Window{Size: 3, Padding: 1})}
	for i := range blocks {
		b := NewResNetBlock(g, build.Numbered("block", i), dt, channels, channels, 1)
		b.Plain = plain
		r.Blocks = append(r.Blocks, b)
	}
	r.Head = nn.NewLinear(g, "head", dt, channels, out)
	return r
}

// Of returns scores[n k] of images x[n h w c] in evaluation.
func (r ResNet) Of(x *graph.Node) *graph.Node {
	x = ops.ReLU(r.Stem.Of(x)).As("x₀")
	for _, b := range r.Blocks {
		x = b.Of(x)
	}
	return r.Head.Of(nn.GlobalAverage(x).As("x̄"))
}

// OfTrain returns the scores in training, and the updates of the running statistics.
func (r ResNet) OfTrain(x *graph.Node) (scores *graph.Node, step graph.Step) {
	x = ops.ReLU(r.Stem.Of(x)).As("x₀")
	for _, b := range r.Blocks {
		y, s := b.OfTrain(x)
		x, step = y, append(step, s...)
	}
	return r.Head.Of(nn.GlobalAverage(x).As("x̄")), step
}
