package attention

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// Blocks describes the blocks of a transformer.
type Blocks struct {
	Layers     int        // blocks on each other
	Heads      int        // of each attention
	Width      graph.Axis // m, the features of a place
	Hidden     graph.Axis // f, those inside the feed-forward layer
	Post       bool       // norm after the sum instead of before the layer; see [nn.Residual]
	Shared     bool       // the same weights in all blocks
	Bias       bool       // biases in the maps of the attention; see [MultiHead.WithBias]
	QueryNorm  bool       // queries that are scaled to one size; see [QueryNorm]
	KeyNorm    bool       // keys that are scaled to one size as well; see [MultiHead.WithKeyNorm]
	Rotary     bool       // self-attention that rotates queries and keys by their places; see [Rotary]
	Activation func(*graph.Node) *graph.Node
	// Checkpoint keeps of each block only what goes in and comes out for the derivative, which computes
	// the rest again: less memory, and the time of one more pass forward. See grad.Checkpoint,
	// which does so for any layers.
	Checkpoint bool
}

// attention makes the attention of a block to a memory of the given features.
func (b Blocks) attention(g *graph.Graph, name string, dt graph.DType, memory graph.Axis) MultiHead {
	a := NewMultiHead(g, name, dt, b.Width, memory, b.Heads)
	if b.Bias {
		a = a.WithBias()
	}
	if b.QueryNorm {
		a = a.WithQueryNorm()
	}
	if b.KeyNorm {
		a = a.WithKeyNorm()
	}
	return a
}

// selfAttention makes the attention of a block to its own places.
func (b Blocks) selfAttention(g *graph.Graph, dt graph.DType) MultiHead {
	a := b.attention(g, "self-attention", dt, b.Width)
	a.Rotary = b.Rotary
	return a
}

// EncoderBlock is self-attention and a feed-forward layer, each with a shortcut and a norm (Vaswani
// et al., 2017).
type EncoderBlock struct {
	Name         string
	Attention    MultiHead
	Feed         nn.FeedForward
	Norm1, Norm2 nn.LayerNorm
	Post         bool
}

// NewEncoderBlock adds the parameters of a block, in the scope NAME.
func NewEncoderBlock(g *graph.Graph, name string, dt graph.DType, b Blocks) EncoderBlock {
	defer g.Scope(name)()
	return EncoderBlock{
		Name:      name,
		Attention: b.selfAttention(g, dt),
		Feed:      nn.NewFeedForward(g, "feed-forward", dt, b.Width, b.Hidden, b.Activation),
		Norm1:     nn.NewLayerNorm(g, "norm1", dt, b.Width),
		Norm2:     nn.NewLayerNorm(g, "norm2", dt, b.Width),
		Post:      b.Post,
	}
}

// Of returns the block's output for x[b t m], in the shape of x. The mask says which places see
// each other (nil: all).
func (e EncoderBlock) Of(x, mask *graph.Node) *graph.Node {
	return e.with(x, func(x *graph.Node) *graph.Node { return e.Attention.Of(x, x, mask) })
}

// with returns Of for the attention of the places that is given.
func (e EncoderBlock) with(x *graph.Node, attend func(x *graph.Node) *graph.Node) *graph.Node {
	defer build.Within(e.Name, x)()
	x = nn.Residual(x, e.Norm1, e.Post, attend).As("x₁")
	return nn.Residual(x, e.Norm2, e.Post, e.Feed.Of).As("x₂")
}

// Encoder is a stack of blocks. With norms before the layers, a last norm follows the stack.
type Encoder struct {
	Name   string
	Blocks []EncoderBlock
	Norm   *nn.LayerNorm // nil for none

	Checkpoint bool // see [Blocks]
}

// NewEncoder adds the parameters of the blocks NAME/block1, NAME/block2, …, or of the first alone
// if the blocks share their weights.
func NewEncoder(g *graph.Graph, name string, dt graph.DType, b Blocks) Encoder {
	defer g.Scope(name)()
	return Encoder{name, stack(b, func(name string) EncoderBlock { return NewEncoderBlock(g, name, dt, b) }), endNorm(g, dt, b), b.Checkpoint}
}

// Of returns the output of the last block for x[b t m], in the shape of x; see [EncoderBlock.Of].
func (e Encoder) Of(x, mask *graph.Node) *graph.Node {
	levels := e.Levels(x, mask)
	return levels[len(levels)-1]
}

// Levels returns the outputs of all blocks for x[b t m], in order, each in the shape of x and after
// the last norm, if there is one. Without blocks, x itself is the only level.
func (e Encoder) Levels(x, mask *graph.Node) []*graph.Node {
	return e.levels(x, func(block EncoderBlock, x *graph.Node) *graph.Node {
		return checkpoint(e.Checkpoint, func(x *graph.Node) *graph.Node { return block.Of(x, mask) }, x)
	})
}

// checkpoint returns f(x), of which only x and the result are kept for the derivative if it is asked
// for.
func checkpoint(asked bool, f func(x *graph.Node) *graph.Node, x *graph.Node) *graph.Node {
	if !asked {
		return f(x)
	}
	return ops.Closed("checkpoint", func(in []*graph.Node) []*graph.Node { return []*graph.Node{f(in[0])} }, x)[0]
}

// levels returns the outputs of all blocks, where of computes that of one block.
func (e Encoder) levels(x *graph.Node, of func(block EncoderBlock, x *graph.Node) *graph.Node) []*graph.Node {
	defer build.Within(e.Name, x)()
	if len(e.Blocks) == 0 {
		return []*graph.Node{nn.Normed(x, e.Norm)}
	}
	levels := make([]*graph.Node, len(e.Blocks))
	for i, block := range e.Blocks {
		block.Name = build.Numbered("block", i) // shared weights still are two places of the drawing
		x = of(block, x)
		levels[i] = nn.Normed(x, e.Norm)
	}
	return levels
}

// stack makes the blocks, one for all layers if they share it.
func stack[B any](b Blocks, block func(name string) B) []B {
	var blocks []B
	for i := range b.Layers {
		if i > 0 && b.Shared {
			blocks = append(blocks, blocks[0])
			continue
		}
		blocks = append(blocks, block(build.Numbered("block", i)))
	}
	return blocks
}

// endNorm returns the norm behind a stack of blocks that begin with one.
func endNorm(g *graph.Graph, dt graph.DType, b Blocks) *nn.LayerNorm {
	if b.Post {
		return nil
	}
	norm := nn.NewLayerNorm(g, "norm", dt, b.Width)
	return &norm
}
