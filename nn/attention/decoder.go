package attention

import (
	"errors"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
)

// DecoderBlock is masked self-attention, attention to a memory, and a feed-forward layer, each with
// a shortcut and a norm (Vaswani et al., 2017).
type DecoderBlock struct {
	Name                string
	Self, Cross         MultiHead
	Feed                nn.FeedForward
	Norm1, Norm2, Norm3 nn.LayerNorm
	Post                bool
}

// NewDecoderBlock adds the parameters of a block, in the scope NAME, for a memory with the features
// of the axis memory.
func NewDecoderBlock(g *graph.Graph, name string, dt graph.DType, b Blocks, memory graph.Axis) DecoderBlock {
	defer g.Scope(name)()
	return DecoderBlock{
		Name:  name,
		Self:  b.selfAttention(g, dt),
		Cross: b.attention(g, "cross-attention", dt, memory),
		Feed:  nn.NewFeedForward(g, "feed-forward", dt, b.Width, b.Hidden, b.Activation),
		Norm1: nn.NewLayerNorm(g, "norm1", dt, b.Width),
		Norm2: nn.NewLayerNorm(g, "norm2", dt, b.Width),
		Norm3: nn.NewLayerNorm(g, "norm3", dt, b.Width),
		Post:  b.Post,
	}
}

// Of returns the block's output for x[b t m], in the shape of x, and a memory[b s n]. The mask self
// says which places of x see each other, commonly [Causal], and cross which places of the memory
// they see (nil: all).
func (d DecoderBlock) Of(x, memory, self, cross *graph.Node) *graph.Node {
	defer build.Within(d.Name, x, memory)()
	x = nn.Residual(x, d.Norm1, d.Post, func(x *graph.Node) *graph.Node { return d.Self.Of(x, x, self) }).As("x₁")
	x = nn.Residual(x, d.Norm2, d.Post, func(x *graph.Node) *graph.Node { return d.Cross.Of(x, memory, cross) }).As("x₂")
	return nn.Residual(x, d.Norm3, d.Post, d.Feed.Of).As("x₃")
}

// Decoder is a stack of blocks. With norms before the layers, a last norm follows the stack.
type Decoder struct {
	Name   string
	Blocks []DecoderBlock
	Norm   *nn.LayerNorm // nil for none

	Checkpoint bool // see [Blocks]
}

// NewDecoder adds the parameters of the blocks NAME/block1, NAME/block2, …, or of the first alone
// if the blocks share their weights.
func NewDecoder(g *graph.Graph, name string, dt graph.DType, b Blocks, memory graph.Axis) Decoder {
	defer g.Scope(name)()
	return Decoder{name, stack(b, func(name string) DecoderBlock { return NewDecoderBlock(g, name, dt, b, memory) }), endNorm(g, dt, b), b.Checkpoint}
}

// Of returns the output of the last block for x[b t m], in the shape of x; see [DecoderBlock.Of].
// One memory is read by all blocks. Of several, block i reads the i-th, and later blocks the last:
// so the decoder of a U-net reads the encoder's level of its own fineness.
func (d Decoder) Of(x *graph.Node, memory []*graph.Node, self, cross *graph.Node) *graph.Node {
	g := graph.Of(append([]*graph.Node{x}, memory...)...)
	if d.Name != "" {
		defer g.Scope(d.Name)()
	}
	if len(memory) == 0 {
		return g.Fail("Decoder", errors.New("want a memory to read"), x)
	}
	for i, block := range d.Blocks {
		block.Name = build.Numbered("block", i)
		x = checkpoint(d.Checkpoint, func(x *graph.Node) *graph.Node {
			return block.Of(x, memory[min(i, len(memory)-1)], self, cross)
		}, x)
	}
	return nn.Normed(x, d.Norm)
}
