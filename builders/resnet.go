package builders

import (
	"slices"

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
// so that a block changes its input instead of replacing it. A bottleneck has the convolution over
// places in the middle, on a quarter of the channels, between two of 1×1:
//
//	F = norm ∘ conv 1×1 ∘ relu ∘ norm ∘ conv ∘ relu ∘ norm ∘ conv 1×1
//
// A plain block has the same parameters and no shortcut: y = relu(F(x)).
type ResNetBlock struct {
	Name   string
	Conv1  nn.Conv
	Norm1  nn.BatchNorm
	Conv2  nn.Conv
	Norm2  nn.BatchNorm
	Conv3  *nn.Conv      // of a bottleneck, back to the channels; nil for none
	Norm3  *nn.BatchNorm // after it
	Expand *nn.Conv      // fits the skip to other channels or a stride, by windows of 1; nil for none
	Plain  bool
}

// NewResNetBlock adds the parameters of two convolutions with windows of 3×3, the first with the
// given stride. If the channels or the size change, the shortcut has a convolution of 1×1.
func NewResNetBlock(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis, stride int) ResNetBlock {
	return newResNetBlock(g, name, dt, in, out, stride, false, false)
}

// NewBottleneck adds the parameters of a bottleneck: a convolution of 1×1 to a quarter of the
// channels out, one of 3×3 with the given stride, and one of 1×1 to the channels out. If the
// channels or the size change, the shortcut has a convolution of 1×1.
func NewBottleneck(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis, stride int) ResNetBlock {
	return newResNetBlock(g, name, dt, in, out, stride, true, false)
}

func newResNetBlock(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis, stride int, bottleneck, plain bool) ResNetBlock {
	defer g.Scope(name)()
	b := ResNetBlock{Name: name, Plain: plain}
	filter := func(name string, in, out graph.Axis, size, stride int) nn.Conv {
		return nn.NewFilter2D(g, name, dt, in, out, ops.Size(size), ops.Stride(stride), ops.Padding(size/2))
	}
	if bottleneck {
		inner := graph.Axis{Name: out.Name, Size: max(1, out.Size/4)}
		b.Conv1, b.Norm1 = filter("conv1", in, inner, 1, 1), nn.NewBatchNorm(g, "norm1", dt, inner)
		b.Conv2, b.Norm2 = filter("conv2", inner, inner, 3, stride), nn.NewBatchNorm(g, "norm2", dt, inner)
		c, n := filter("conv3", inner, out, 1, 1), nn.NewBatchNorm(g, "norm3", dt, out)
		b.Conv3, b.Norm3 = &c, &n
	} else {
		b.Conv1, b.Norm1 = filter("conv1", in, out, 3, stride), nn.NewBatchNorm(g, "norm1", dt, out)
		b.Conv2, b.Norm2 = filter("conv2", out, out, 3, 1), nn.NewBatchNorm(g, "norm2", dt, out)
	}
	if !plain && (stride > 1 || in.Size != out.Size) {
		l := filter("expand", in, out, 1, stride)
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
	f = norm(b.Norm2, b.Conv2.Of(f).As("u₂"))
	if b.Conv3 != nil && b.Norm3 != nil {
		f = norm(*b.Norm3, b.Conv3.Of(ops.ReLU(f).As("v₂")).As("u₃"))
	}
	f.As("F(x)")
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
	return NewStagedResNet(g, dt, in, channels, out, 1, blocks, false, plain)
}

// NewStagedResNet adds the parameters of a net in stages, each of so many blocks. The first block of
// every stage but the first halves height and width, and doubles the channels: the map grows
// coarse, and what is said of each place grows rich (the notes on convolutional nets: lifting to
// more channels as we get coarse). The blocks may be bottlenecks. A plain net has no shortcuts.
func NewStagedResNet(g *graph.Graph, dt graph.DType, in, channels, out graph.Axis, stages, blocks int, bottleneck, plain bool) ResNet {
	r := ResNet{Stem: nn.NewConv2D(g, "stem", dt, in, channels, ops.Size(3), ops.Padding(1))}
	for s := range stages {
		for i := range blocks {
			wide, stride := channels, 1
			if s > 0 && i == 0 {
				wide.Size, stride = 2*channels.Size, 2
			}
			r.Blocks = append(r.Blocks, newResNetBlock(g, build.Numbered("block", s*blocks+i), dt, channels, wide, stride, bottleneck, plain))
			channels = wide
		}
	}
	r.Head = nn.NewLinear(g, "head", dt, channels, out)
	return r
}

// Global returns the net with batch norms whose statistics in training are those of all lanes of a
// step; see [nn.BatchNorm].
func (r ResNet) Global() ResNet {
	r.Blocks = slices.Clone(r.Blocks)
	for i := range r.Blocks {
		b := &r.Blocks[i]
		b.Norm1.Global, b.Norm2.Global = true, true
		if b.Norm3 != nil {
			norm := *b.Norm3
			norm.Global, b.Norm3 = true, &norm
		}
	}
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
