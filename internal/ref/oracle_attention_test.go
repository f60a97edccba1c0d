package ref_test

import (
	"maps"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/ops"
)

// The cases of attention, transformers and positions are built of the layers of package attention,
// over the case's arrays.
func init() { maps.Copy(models, attentionModels) }

var attentionModels = map[string]func(b *builder) outputs{
	"attention": func(b *builder) outputs {
		o, α := attention.Attend(b.array("q"), b.array("k"), b.array("v"), nil)
		return outputs{"alpha": α, "out": o, "loss": b.wsum(o)}
	},
	"attention_causal_self": func(b *builder) outputs {
		q := b.array("q")
		o, α := attention.Attend(q, q, q, b.causalMask(q.Dim(2)))
		return outputs{"alpha": α, "out": o, "loss": b.wsum(o)}
	},
	"seq2seq_attention_dot": func(b *builder) outputs { return b.seq2seq(attention.DotScore{}) },
	"seq2seq_attention_multiplicative": func(b *builder) outputs {
		return b.seq2seq(attention.MultiplicativeScore{W: b.array("w")})
	},
	"seq2seq_attention_additive": func(b *builder) outputs {
		return b.seq2seq(attention.AdditiveScore{W1: ops.Transpose(b.array("w1")), W2: ops.Transpose(b.array("w2")), V: b.array("v")})
	},
	"transformer_encoder_prenorm":  func(b *builder) outputs { return b.encoder(false) },
	"transformer_encoder_postnorm": func(b *builder) outputs { return b.encoder(true) },
	"transformer_decoder_prenorm": func(b *builder) outputs {
		x, memory := b.array("x"), b.array("mem")
		block := attention.DecoderBlock{
			Self: b.heads("self_attn."), Cross: b.heads("multihead_attn."), Feed: b.feedForward(ops.ReLU),
			Norm1: b.norm("norm1"), Norm2: b.norm("norm2"), Norm3: b.norm("norm3"),
		}
		return b.weighted(block.Of(x, memory, b.causalMask(x.Dim(1)), nil))
	},
	"positional_encoding": func(b *builder) outputs {
		x := b.array("x")
		p := attention.Sinusoidal(b.g, b.dt, graph.Dims(x.Dim(1))[0], graph.Dims(x.Dim(2))[0])
		y := attention.AddPositions(x, p)
		return outputs{"pe": p, "y": y, "loss": b.wsum(y)}
	},
	"embedding": func(b *builder) outputs {
		return b.weighted(nn.Embedding{Table: b.array("table")}.Of(b.ints("index")))
	},
}

func (b *builder) causalMask(t int) node {
	return attention.Causal(b.g, graph.Axis{Size: t}, graph.Axis{Size: t})
}

func (b *builder) seq2seq(score attention.Score) outputs {
	a, α := attention.AttendStates(score, b.array("s"), b.array("h"), nil)
	return outputs{"alpha": α, "ctx": a, "loss": b.wsum(ops.Concat(-1, a, b.array("s")))}
}

// torchLinear is torch's Linear, whose weights are [out in].
func torchLinear(w, bias node) nn.Linear {
	return nn.Linear{W: ops.Transpose(w), B: bias}
}

// heads is torch's MultiheadAttention: its projections stand in one array, one after the other.
func (b *builder) heads(prefix string) attention.MultiHead {
	w, bias := b.array(prefix+"in_proj_weight"), b.array(prefix+"in_proj_bias")
	d := w.Dim(1)
	part := func(k int) nn.Linear {
		return torchLinear(ops.Slice(w, 0, k*d, (k+1)*d), ops.Slice(bias, 0, k*d, (k+1)*d))
	}
	return attention.MultiHead{
		Heads: int(b.number("heads", 1)), QKV: attention.QKV{Query: part(0), Key: part(1), Value: part(2)},
		Output: torchLinear(b.array(prefix+"out_proj.weight"), b.array(prefix+"out_proj.bias")),
	}
}

func (b *builder) feedForward(activation func(node) node) nn.FeedForward {
	return nn.FeedForward{
		Activation: activation,
		Up:         torchLinear(b.array("linear1.weight"), b.array("linear1.bias")),
		Down:       torchLinear(b.array("linear2.weight"), b.array("linear2.bias")),
	}
}

func (b *builder) norm(name string) nn.LayerNorm {
	return nn.LayerNorm{Gain: b.array(name + ".weight"), Bias: b.array(name + ".bias")}
}

func (b *builder) encoder(post bool) outputs {
	block := attention.EncoderBlock{
		Attention: b.heads("self_attn."), Feed: b.feedForward(ops.GELU),
		Norm1: b.norm("norm1"), Norm2: b.norm("norm2"), Post: post,
	}
	return b.weighted(block.Of(b.array("x"), nil))
}
