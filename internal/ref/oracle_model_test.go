package ref_test

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

type node = *graph.Node

// models build the cases by name.
var models = map[string]func(b *builder) outputs{
	"kmeans_softmax": func(b *builder) outputs {
		D, α, _ := b.kmeans()
		return outputs{"D": D, "alpha": α, "loss": ops.Mean(ops.Sum(ops.Mul(α, D), "j"), "i")}
	},
	"kmeans_goofy": func(b *builder) outputs {
		_, α, r := b.kmeans()
		centre := ops.MatMul(α, r)
		return outputs{"alpha": α, "rhat": centre, "loss": ops.Mean(ops.Sum(ops.Square(ops.Sub(centre, b.array("x"))), "d"), "i")}
	},
	"kmeans_hard": func(b *builder) outputs {
		D, _, _ := b.kmeans()
		return outputs{"assign": ops.ArgMin(D, "j"), "loss": ops.Mean(ops.Min(D, "j"), "i")}
	},
	"second_order": func(b *builder) outputs {
		w := b.array("w")
		g := grad.Of(ops.Sum(ops.Square(ops.Tanh(ops.MatMul(w, w)))), w)[0]
		return outputs{"g": g, "loss": ops.Sum(ops.Mul(g, g))}
	},

	"attention": func(b *builder) outputs {
		α, o := attend(b.array("q"), b.array("k"), b.array("v"), nil)
		return outputs{"alpha": α, "out": o, "loss": b.wsum(o)}
	},
	"attention_causal_self": func(b *builder) outputs {
		q := b.array("q")
		α, o := attend(q, q, q, b.causal(q.Dim(2)))
		return outputs{"alpha": α, "out": o, "loss": b.wsum(o)}
	},
	"seq2seq_attention_dot": func(b *builder) outputs {
		return b.seq2seq(ops.Sum(ops.Mul(ops.Expand(b.array("s"), 1, ""), b.array("h")), -1))
	},
	"seq2seq_attention_multiplicative": func(b *builder) outputs {
		sw := ops.MatMul(b.array("s"), b.array("w"))
		return b.seq2seq(ops.Sum(ops.Mul(ops.Expand(sw, 1, ""), b.array("h")), -1))
	},
	"seq2seq_attention_additive": func(b *builder) outputs {
		e := ops.Add(linear(b.array("h"), b.array("w1"), nil), ops.Expand(linear(b.array("s"), b.array("w2"), nil), 1, ""))
		return b.seq2seq(ops.Sum(ops.Mul(ops.Tanh(e), b.array("v")), -1))
	},
	"transformer_encoder_prenorm": func(b *builder) outputs {
		x := b.array("x")
		x = ops.Add(x, b.selfAttention(b.layerNorm(x, "norm1.weight", "norm1.bias")))
		return b.weighted(ops.Add(x, b.feedForward(b.layerNorm(x, "norm2.weight", "norm2.bias"), ops.Gelu)))
	},
	"transformer_encoder_postnorm": func(b *builder) outputs {
		x := b.array("x")
		x = b.layerNorm(ops.Add(x, b.selfAttention(x)), "norm1.weight", "norm1.bias")
		return b.weighted(b.layerNorm(ops.Add(x, b.feedForward(x, ops.Gelu)), "norm2.weight", "norm2.bias"))
	},
	"transformer_decoder_prenorm": func(b *builder) outputs {
		x, mem := b.array("x"), b.array("mem")
		h := b.layerNorm(x, "norm1.weight", "norm1.bias")
		x = ops.Add(x, b.multiHead("self_attn.", h, h, b.causal(x.Dim(1))))
		x = ops.Add(x, b.multiHead("multihead_attn.", b.layerNorm(x, "norm2.weight", "norm2.bias"), mem, nil))
		h = b.layerNorm(x, "norm3.weight", "norm3.bias")
		return b.weighted(ops.Add(x, b.feedForward(h, ops.Relu)))
	},
	"positional_encoding": func(b *builder) outputs {
		x := b.array("x")
		t, d := x.Dim(1), x.Dim(2)
		angle, even := make([]float64, t*d), make([]float64, t*d)
		for p := range angle {
			k := p % d
			angle[p] = float64(p/d) / math.Pow(10000, float64(k-k%2)/float64(d))
			even[p] = float64(1 - k%2)
		}
		a := b.g.Constant(b.dt, angle, graph.Dims(t, d)...)
		pe := ops.Select(b.g.Constant(graph.Bool, even, graph.Dims(t, d)...), ops.Sin(a), ops.Cos(a))
		y := ops.Add(x, pe)
		return outputs{"pe": pe, "y": y, "loss": b.wsum(y)}
	},

	"rnn_tanh":               func(b *builder) outputs { return b.recurrent(1, rnn, "") },
	"rnn_tanh_bidirectional": func(b *builder) outputs { return b.recurrent(1, rnn, "", "_reverse") },
	"lstm":                   func(b *builder) outputs { return b.recurrent(2, lstm, "") },
	"lstm_bidirectional":     func(b *builder) outputs { return b.recurrent(2, lstm, "", "_reverse") },
	"gru":                    func(b *builder) outputs { return b.recurrent(1, gru, "") },
	"gru_bidirectional":      func(b *builder) outputs { return b.recurrent(1, gru, "", "_reverse") },

	"conv2d":              (*builder).convolution,
	"conv2d_stride2_pad1": (*builder).convolution,
	"conv2d_dilated":      (*builder).convolution,
	"conv2d_depthwise":    (*builder).convolution,
	"conv1d_narrow":       (*builder).convolution,
	"conv1d_wide":         (*builder).convolution,
	"maxpool2d": func(b *builder) outputs {
		return b.pooled(func(x node) node { return ops.MaxPool2D(x, 2, 2) })
	},
	"maxpool2d_overlap": func(b *builder) outputs {
		return b.pooled(func(x node) node { return ops.MaxPool2D(x, 3, 3, ops.Stride(2), ops.Padding(1)) })
	},
	"avgpool2d": func(b *builder) outputs {
		return b.pooled(func(x node) node { return ops.AvgPool2D(x, 2, 2) })
	},

	"batch_norm_train": func(b *builder) outputs { return b.weighted(b.channels(ops.Standardise(b.array("x"), 1e-5, 0, 2, 3))) },
	"instance_norm":    func(b *builder) outputs { return b.weighted(b.channels(ops.Standardise(b.array("x"), 1e-5, 2, 3))) },
	"group_norm": func(b *builder) outputs {
		x := b.array("x")
		groups := ops.Reshape(x, x.Dim(0), int(b.number("groups", 1)), -1)
		return b.weighted(b.channels(ops.Reshape(ops.Standardise(groups, 1e-5, -1), x.Shape().Sizes()...)))
	},
	"layer_norm": func(b *builder) outputs { return b.weighted(b.layerNorm(b.array("x"), "gamma", "beta")) },

	"cross_entropy_smoothing_0":   (*builder).crossEntropy,
	"cross_entropy_smoothing_0.1": (*builder).crossEntropy,
	"gelu_erf":                    func(b *builder) outputs { return b.weighted(ops.Gelu(b.array("x"))) },
	"gelu_tanh":                   func(b *builder) outputs { return b.weighted(ops.GeluTanh(b.array("x"))) },
	"silu":                        func(b *builder) outputs { return b.weighted(ops.Mul(b.array("x"), ops.Sigmoid(b.array("x")))) },
	"softplus": func(b *builder) outputs {
		x := b.array("x")
		return b.weighted(ops.Add(ops.Relu(x), ops.Log1p(ops.Exp(ops.Neg(ops.Abs(x))))))
	},
	"logsumexp":   func(b *builder) outputs { return b.weighted(ops.LogSumExp(b.array("x"), 1)) },
	"log_softmax": func(b *builder) outputs { return b.weighted(ops.LogSoftmax(b.array("x"), 1)) },
	"elu":         func(b *builder) outputs { return b.weighted(elu(b.array("x"))) },
	"cumsum": func(b *builder) outputs {
		x := b.array("x")
		mask := ops.Cast(b.causal(x.Dim(1)), b.dt)
		return b.weighted(ops.MatMul(x, ops.Transpose(mask)))
	},
	"prod": func(b *builder) outputs {
		x := b.array("x")
		y := ops.Slice(x, 1, 0, 1)
		for j := 1; j < x.Dim(1); j++ {
			y = ops.Mul(y, ops.Slice(x, 1, j, j+1))
		}
		return b.weighted(ops.Squeeze(y, 1))
	},
	"var": func(b *builder) outputs {
		x := b.array("x")
		return b.weighted(ops.Mean(ops.Square(ops.Sub(x, ops.Mean(x, 1, ops.Keep))), 1))
	},
	"norm":      func(b *builder) outputs { return b.weighted(ops.Sqrt(ops.Sum(ops.Square(b.array("x")), 1))) },
	"embedding": func(b *builder) outputs { return b.weighted(ops.Gather(b.array("table"), b.ints("index"), 0)) },

	"gcn": func(b *builder) outputs {
		A := b.adjacency()
		root := ops.Div(ops.Lit(A, 1), ops.Sqrt(ops.Sum(A, 1)))
		A = ops.Mul(ops.Mul(ops.Expand(root, 1, ""), A), ops.Expand(root, 0, ""))
		return b.weighted(ops.Relu(ops.MatMul(A, ops.MatMul(b.array("x"), b.array("w")))))
	},
	"gat": func(b *builder) outputs {
		h := ops.MatMul(b.array("x"), b.array("w"))
		score := func(a string) node { return ops.Sum(ops.Mul(h, b.array(a)), 1) }
		e := ops.Add(ops.Expand(score("a1"), 1, ""), ops.Expand(score("a2"), 0, ""))
		e = ops.Select(ops.Greater(e, ops.Lit(e, 0)), e, ops.Scale(e, 0.2))
		α := ops.Softmax(masked(e, ops.Cast(b.adjacency(), graph.Bool)), 1)
		y := elu(ops.MatMul(α, h))
		return outputs{"alpha": α, "y": y, "loss": b.wsum(y)}
	},
}

// weighted is the case of one output.
func (b *builder) weighted(y node) outputs { return outputs{"y": y, "loss": b.wsum(y)} }

// kmeans is D_ij = ‖x_i − r_j‖², α = softmax_j(−γ D), and the centres.
func (b *builder) kmeans() (D, α, r node) {
	x := b.array("x", "i", "d")
	r = b.array("r", "j", "d")
	D = ops.Sum(ops.Square(ops.Sub(ops.Over(x, "i", "j", "d"), ops.Over(r, "i", "j", "d"))), "d").As("D")
	γ := b.g.Scalar("γ", b.number("gamma", 0), b.dt)
	return D, ops.Softmax(ops.Neg(ops.Mul(γ, D)), "j").As("α"), r
}

// linear is x·Wᵀ + b.
func linear(x, w, bias node) node {
	y := ops.MatMul(x, ops.Transpose(w))
	if bias != nil {
		y = ops.Add(y, bias)
	}
	return y
}

// causal is a mask: position t sees 0 to t.
func (b *builder) causal(t int) node {
	sees := make([]float64, t*t)
	for p := range sees {
		if p%t <= p/t {
			sees[p] = 1
		}
	}
	return b.g.Constant(graph.Bool, sees, graph.Dims(t, t)...)
}

func masked(scores, mask node) node { return ops.Select(mask, scores, ops.Lit(scores, math.Inf(-1))) }

// attend is softmax(q·kᵀ/√d)·v over the last two axes.
func attend(q, k, v, mask node) (α, out node) {
	s := ops.Scale(ops.MatMul(q, ops.Transpose(k, 0, 1, 3, 2)), 1/math.Sqrt(float64(q.Dim(3))))
	if mask != nil {
		s = masked(s, mask)
	}
	α = ops.Softmax(s, -1)
	return α, ops.MatMul(α, v)
}

// multiHead is torch's MultiheadAttention of x to mem.
func (b *builder) multiHead(prefix string, x, mem, mask node) node {
	heads := int(b.number("heads", 1))
	d := x.Dim(2)
	part := func(of node, k int) node {
		w := ops.Slice(b.array(prefix+"in_proj_weight"), 0, k*d, (k+1)*d)
		bias := ops.Slice(b.array(prefix+"in_proj_bias"), 0, k*d, (k+1)*d)
		return ops.Transpose(ops.Reshape(linear(of, w, bias), of.Dim(0), of.Dim(1), heads, -1), 0, 2, 1, 3)
	}
	_, o := attend(part(x, 0), part(mem, 1), part(mem, 2), mask)
	o = ops.Reshape(ops.Transpose(o, 0, 2, 1, 3), x.Dim(0), x.Dim(1), d)
	return linear(o, b.array(prefix+"out_proj.weight"), b.array(prefix+"out_proj.bias"))
}

func (b *builder) selfAttention(x node) node { return b.multiHead("self_attn.", x, x, nil) }

// feedForward is the pair of linear layers of a transformer's block.
func (b *builder) feedForward(x node, activation func(node) node) node {
	h := activation(linear(x, b.array("linear1.weight"), b.array("linear1.bias")))
	return linear(h, b.array("linear2.weight"), b.array("linear2.bias"))
}

func (b *builder) seq2seq(scores node) outputs {
	α := ops.Softmax(scores, -1)
	ctx := ops.Sum(ops.Mul(ops.Expand(α, -1, ""), b.array("h")), 1)
	return outputs{"alpha": α, "ctx": ctx, "loss": b.wsum(ops.Concat(-1, ctx, b.array("s")))}
}

func (b *builder) layerNorm(x node, gamma, beta string) node {
	return ops.Add(ops.Mul(ops.Standardise(x, 1e-5, -1), b.array(gamma)), b.array(beta))
}

// channels scales and shifts the channels of x[n c h w].
func (b *builder) channels(x node) node {
	c := func(name string) node { return ops.Reshape(b.array(name), -1, 1, 1) }
	return ops.Add(ops.Mul(x, c("gamma")), c("beta"))
}

func (b *builder) crossEntropy() outputs {
	x, s := b.array("x"), b.number("smoothing", 0)
	l := ops.LogSoftmax(x, 1)
	hot := ops.OneHot(b.ints("labels"), -1, x.Shape().Axis(1), b.dt)
	target := ops.Shift(ops.Scale(hot, 1-s), s/float64(x.Dim(1)))
	return outputs{"loss": ops.Neg(ops.Mean(ops.Sum(ops.Mul(target, l), 1)))}
}

// elu is x where positive, eˣ − 1 elsewhere.
func elu(x node) node {
	zero := ops.Lit(x, 0)
	return ops.Select(ops.Greater(x, zero), x, ops.Shift(ops.Exp(ops.Minimum(x, zero)), -1))
}

func (b *builder) adjacency() node {
	var rows [][]float64
	b.attr("adjacency", &rows)
	var flat []float64
	for _, r := range rows {
		flat = append(flat, r...)
	}
	return b.g.Constant(b.dt, flat, graph.Dims(len(rows), len(rows))...)
}
