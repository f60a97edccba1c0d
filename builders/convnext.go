package builders

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// ConvNeXtBlock mixes places channel by channel, then channels place by place, as a transformer's
// block does (Liu et al., 2022; the notes on ConvNeXt):
//
//	y = x + γ·(W₂·gelu(W₁·norm(depthwise conv(x))))
//
// It has one norm and one activation. W₁ maps to four times the channels and W₂ back; both are
// convolutions of 1×1.
type ConvNeXtBlock struct {
	Name      string
	Depthwise nn.Conv
	Norm      nn.LayerNorm
	Up, Down  nn.Linear
	Scale     *graph.Node // γ[c]; nil for none
}

// NewConvNeXtBlock adds the parameters of a block of channels c with windows of
// k×k, k odd: 7 in the paper. With a layer scale, γ starts at 10⁻⁶.
func NewConvNeXtBlock(g *graph.Graph, name string, dt graph.DType, c graph.Axis, k int, layerScale bool) ConvNeXtBlock {
	defer g.Scope(name)()
	wide := graph.Ax("e", 4*c.Size)
	b := ConvNeXtBlock{
		Name:      name,
		Depthwise: nn.NewDepthwise2D(g, "depthwise", dt, c, ops.Size(k), ops.Same()),
		Norm:      nn.NewLayerNorm(g, "norm", dt, c),
		Up:        nn.NewLinear(g, "up", dt, c, wide),
		Down:      nn.NewLinear(g, "down", dt, wide, c),
	}
	if layerScale {
		b.Scale = g.Param("γ", dt, c).Init(initial.Fill(1e-6))
	}
	return b
}

// Of returns the output of the block, in the shape of x[n h w c].
func (b ConvNeXtBlock) Of(x *graph.Node) *graph.Node {
	defer build.Within(b.Name, x, b.Depthwise.W)()
	return ops.Add(x, b.branch(x)).As("y")
}

// OfTrain is like [ConvNeXtBlock.Of] with stochastic depth: what the block adds is dropped with the
// probability p, a scalar, for each image of its own (the notes on ConvNeXt's training).
func (b ConvNeXtBlock) OfTrain(x, p *graph.Node) *graph.Node {
	defer build.Within(b.Name, x, b.Depthwise.W)()
	return ops.Add(x, nn.StochasticDepth(b.branch(x), p)).As("y")
}

// branch returns what the block adds to x.
func (b ConvNeXtBlock) branch(x *graph.Node) *graph.Node {
	u := b.Norm.Of(b.Depthwise.Of(x).As("u")).As("û")
	f := b.Down.Of(ops.GELU(b.Up.Of(u)).As("v"))
	return build.Affine(f, b.Scale, nil).As("F(x)")
}

// ConvNeXt cuts images into patches and applies blocks, a norm, the average over all places and a
// linear layer (Liu et al., 2022; the notes on ConvNeXt).
type ConvNeXt struct {
	Patches nn.Conv
	Blocks  []ConvNeXtBlock
	Norm    nn.LayerNorm
	Head    nn.Linear
}

// NewConvNeXt adds the parameters of a net from images with channels in to scores out, with patches
// of p×p and blocks with windows of k×k.
func NewConvNeXt(g *graph.Graph, dt graph.DType, in, channels, out graph.Axis, p, k, blocks int, layerScale bool) ConvNeXt {
	m := ConvNeXt{Patches: nn.NewConv2D(g, "patches", dt, in, channels, ops.Size(p), ops.Stride(p))}
	for i := range blocks {
		m.Blocks = append(m.Blocks, NewConvNeXtBlock(g, build.Numbered("block", i), dt, channels, k, layerScale))
	}
	m.Norm = nn.NewLayerNorm(g, "norm", dt, channels)
	m.Head = nn.NewLinear(g, "head", dt, channels, out)
	return m
}

// Of returns scores[n k] of images x[n h w c].
func (m ConvNeXt) Of(x *graph.Node) *graph.Node {
	return m.through(x, func(_ int, b ConvNeXtBlock, x *graph.Node) *graph.Node { return b.Of(x) })
}

// OfTrain is like [ConvNeXt.Of] with stochastic depth: the deeper a block, the more often it is
// dropped, the last with the probability p, a scalar.
func (m ConvNeXt) OfTrain(x, p *graph.Node) *graph.Node {
	return m.through(x, func(i int, b ConvNeXtBlock, x *graph.Node) *graph.Node {
		return b.OfTrain(x, nn.DropAt(i, len(m.Blocks), p).As(build.Indexed("p", i)))
	})
}

func (m ConvNeXt) through(x *graph.Node, block func(i int, b ConvNeXtBlock, x *graph.Node) *graph.Node) *graph.Node {
	x = m.Patches.Of(x).As("x₀")
	for i, b := range m.Blocks {
		x = block(i, b, x)
	}
	return m.Head.Of(m.Norm.Of(nn.GlobalAverage(x).As("x̄")))
}
