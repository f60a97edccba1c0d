package importer

import (
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/ops"
)

// fusions has operators of ONNX Runtime's own domain: those that its optimiser and exporters for it
// put in the place of several standard ones.
var fusions = map[string]rule{
	"SimplifiedLayerNormalization": simplifiedNorm, // written without a domain

	"com.microsoft.Attention":                        attention,
	"com.microsoft.BiasGelu":                         func(c *call) []value { return []value{c.is(0, ops.GELU(c.plus(c.x(0), 1)))} },
	"com.microsoft.EmbedLayerNormalization":          embedding,
	"com.microsoft.FastGelu":                         func(c *call) []value { return []value{c.is(0, ops.GELUTanh(c.plus(c.x(0), 1)))} },
	"com.microsoft.FusedConv":                        fusedConvolution,
	"com.microsoft.FusedGemm":                        fusedGemm,
	"com.microsoft.FusedMatMul":                      fusedMatMul,
	"com.microsoft.Gelu":                             unary(ops.GELU),
	"com.microsoft.Inverse":                          unary(ops.Inv),
	"com.microsoft.MatMulNBits":                      matMulBits,
	"com.microsoft.MultiHeadAttention":               multiHead,
	"com.microsoft.QuickGelu":                        quickGelu,
	"com.microsoft.RotaryEmbedding":                  rotary,
	"com.microsoft.SkipLayerNormalization":           skipNorm(layered),
	"com.microsoft.SkipSimplifiedLayerNormalization": skipNorm(simplified),
}

// quickGelu is x·σ(αx).
func quickGelu(c *call) []value {
	x := c.x(0)
	return []value{c.is(0, ops.Mul(x, ops.Sigmoid(ops.Scale(x, c.float("alpha", 1.702)))))}
}

// swapped returns an array with its last two axes swapped if an attribute says so.
func (c *call) swapped(x *graph.Node, name string) *graph.Node {
	if c.int(name, 0) == 0 || x.Rank() < 2 {
		return x
	}
	order := places(0, x.Rank())
	slices.Reverse(order[x.Rank()-2:])
	return ops.Transpose(x, order...)
}

func fusedMatMul(c *call) []value {
	if c.int("transBatchA", 0) != 0 || c.int("transBatchB", 0) != 0 {
		c.fail("transposed batches")
	}
	y := ops.MatMul(c.swapped(bare(c.x(0)), "transA"), c.swapped(bare(c.x(1)), "transB"))
	return []value{c.is(0, c.times(y, c.float("alpha", 1)))}
}

// activated applies the activation that an attribute names, with its numbers.
func (c *call) activated(x *graph.Node, numbers []float64) *graph.Node {
	number := func(i int, otherwise float64) float64 {
		if i < len(numbers) {
			return numbers[i]
		}
		return otherwise
	}
	switch name := c.text("activation", ""); name {
	case "":
		return x
	case "Relu":
		return ops.ReLU(x)
	case "Tanh":
		return ops.Tanh(x)
	case "Sigmoid":
		return ops.Sigmoid(x)
	case "LeakyRelu":
		return ops.LeakyReLU(x, number(0, 0.01))
	case "Clip":
		return ops.Clip(x, ops.Lit(x, number(0, math.Inf(-1))), ops.Lit(x, number(1, math.Inf(1))))
	case "HardSigmoid":
		return hardSigmoid(x, number(0, 0.2), number(1, 0.5))
	default:
		c.fail("activation %q", name)
		return nil
	}
}

// fusedConvolution is a convolution plus operand 3, and an activation.
func fusedConvolution(c *call) []value {
	y := c.biased(c.convolved(c.x(0), c.x(1)))
	var numbers []float64
	if a := c.attr("activation_params"); a != nil {
		for _, v := range a.Floats {
			numbers = append(numbers, float64(v))
		}
	}
	return []value{c.is(0, c.activated(c.plus(y, 3), numbers))}
}

func fusedGemm(c *call) []value {
	var numbers []float64
	for _, name := range []string{"activation_alpha", "activation_beta"} {
		if a := c.attr(name); a != nil {
			numbers = append(numbers, float64(a.Float))
		}
	}
	return []value{c.is(0, c.activated(gemm(c)[0].node, numbers))}
}

// layered returns x with the mean 0 and the variance 1 over some axes, and the mean and the reciprocal
// of the deviation.
func layered(x *graph.Node, ε float64, axes []any) (y, mean, rstd *graph.Node) {
	kept := append(slices.Clone(axes), ops.Keep)
	return ops.Standardise(x, ε, axes...), ops.Mean(x, kept...), ops.Rstd(x, ε, kept...)
}

// simplified returns x with a mean square of 1 (Zhang & Sennrich, 2019).
func simplified(x *graph.Node, ε float64, axes []any) (y, mean, rstd *graph.Node) {
	square := ops.Mean(ops.Square(x), append(slices.Clone(axes), ops.Keep)...)
	rstd = ops.Div(ops.Lit(x, 1), ops.Sqrt(ops.Shift(square, ε)))
	return ops.Mul(x, rstd), ops.ZerosLike(rstd), rstd
}

func simplifiedNorm(c *call) []value {
	x := c.x(0)
	axis := c.axis(c.int("axis", -1), x.Rank())
	y, _, rstd := simplified(ops.Cast(x, c.least(x)), c.float("epsilon", 1e-5), places(axis, x.Rank()))
	return []value{c.is(0, c.scaled(ops.Cast(y, x.DType()), 1, 2)), {node: rstd, elem: format.Float}}
}

// least returns the type in which statistics of x are computed.
func (c *call) least(x *graph.Node) graph.DType {
	if x.DType().IsHalf() {
		return c.options.Float
	}
	return x.DType()
}

// skipNorm normalises the sum of the operands 0 and 1 and of a bias over the last axis. The other
// operands are the scale and, but for the simplified form, the shift. The outputs are the result, the
// mean, the reciprocal of the deviation, and the sum.
func skipNorm(f func(x *graph.Node, ε float64, axes []any) (y, mean, rstd *graph.Node)) rule {
	return func(c *call) []value {
		shift, bias := 3, 4
		if c.n.Op == "SkipSimplifiedLayerNormalization" {
			shift, bias = len(c.in), 3
		}
		sum := c.plus(c.plus(c.x(0), 1), bias)
		y, mean, rstd := f(ops.Cast(sum, c.least(sum)), c.float("epsilon", 1e-12), []any{-1})
		y = c.scaled(ops.Cast(y, sum.DType()), 2, shift)
		return []value{c.is(0, y), {node: mean, elem: format.Float}, {node: rstd, elem: format.Float}, c.is(0, sum)}
	}
}

// heads returns x[b t h·d] as [b h t d].
func (c *call) heads(x *graph.Node, h int) *graph.Node {
	if x.Rank() != 3 || x.Dim(2)%h != 0 {
		c.fail("an array of shape %v in %d heads: want [batch time features]", x.Shape().Sizes(), h)
	}
	return ops.Transpose(c.reshape(x, x.Dim(0), x.Dim(1), h, x.Dim(2)/h), 0, 2, 1, 3)
}

// attend returns the attention (Vaswani et al., 2017) of queries [b s h·d] to keys and values
// [b t h·d]. What is added to the scores [b h s t] may be nil.
func (c *call) attend(q, k, v, added *graph.Node) *graph.Node {
	h := c.int("num_heads", 0)
	if h < 1 {
		c.fail("%d heads", h)
	}
	q, k, v = c.heads(bare(q), h), c.heads(bare(k), h), c.heads(bare(v), h)
	scale := c.float("scale", 0)
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(q.Dim(3)))
	}
	scores := ops.Scale(ops.MatMul(q, ops.Transpose(k, 0, 1, 3, 2)), scale)
	if added != nil {
		scores = ops.Add(scores, ops.Cast(added, scores.DType()))
	}
	if c.int("unidirectional", 0) != 0 {
		s, t := scores.Dim(2), scores.Dim(3)
		past := c.reshape(ops.Tril(ops.Ones(c.g, graph.Bool, graph.Ax("", s), graph.Ax("", t))), 1, 1, s, t)
		scores = ops.Select(past, scores, ops.Lit(scores, math.Inf(-1)))
	}
	y := ops.Transpose(ops.MatMul(ops.Softmax(scores, -1), v), 0, 2, 1, 3) // [b s h d]
	return c.reshape(y, y.Dim(0), y.Dim(1), h*y.Dim(3))
}

// masked returns what is added to scores [b h s t] for a mask: 0 where it lets through, and a large
// negative number elsewhere. A mask is the number of keys of each example [b], or has a number other
// than 0 for each key to be used, [b t] or [b s t].
func (c *call) masked(i, b, s, t int) *graph.Node {
	if !c.has(i) {
		return nil
	}
	m := ops.Cast(bare(c.x(i)), graph.I64)
	var use *graph.Node
	sizes := m.Shape().Sizes()
	switch {
	case slices.Equal(sizes, []int{b}):
		use = ops.Less(c.reshape(ops.Arange(c.g, graph.I64, graph.Ax("", t)), 1, t), c.reshape(m, b, 1))
		use = c.reshape(use, b, 1, 1, t)
	case slices.Equal(sizes, []int{b, t}):
		use = c.reshape(ops.NotEqual(m, ops.Lit(m, 0)), b, 1, 1, t)
	case slices.Equal(sizes, []int{b, s, t}):
		use = c.reshape(ops.NotEqual(m, ops.Lit(m, 0)), b, 1, s, t)
	default:
		c.fail("a mask of shape %v: want [%d], [%d %d] or [%d %d %d]", sizes, b, b, t, b, s, t)
	}
	zero := ops.Zeros(c.g, c.options.Float)
	return ops.Select(use, zero, ops.Lit(zero, c.float("mask_filter_value", -10000)))
}

// both adds what is added to scores, where there is any.
func both(a, b *graph.Node) *graph.Node {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return ops.Add(a, ops.Cast(b, a.DType()))
}

// attention computes queries, keys and values from x[b t features] by one matrix. The operands are x,
// the matrix, its bias, a mask, what was before, and what is added to the scores.
func attention(c *call) []value {
	if c.has(4) || len(c.n.Outputs) > 1 || c.int("do_rotary", 0) != 0 {
		c.fail("keys and values of earlier calls, or rotated ones")
	}
	x, w := bare(c.x(0)), bare(c.x(1))
	if x.Rank() != 3 || w.Rank() != 2 {
		c.fail("an array of shape %v and weights of shape %v: want [batch time features] and a matrix", x.Shape().Sizes(), w.Shape().Sizes())
	}
	y := c.plus(ops.MatMul(x, w), 2)
	widths := c.list("qkv_hidden_sizes")
	if widths == nil {
		widths = slices.Repeat([]int{w.Dim(1) / 3}, 3)
	}
	if len(widths) != 3 || widths[0]+widths[1]+widths[2] != w.Dim(1) {
		c.fail("queries, keys and values of %v features from %d", widths, w.Dim(1))
	}
	q, k := span(y, 2, 0, widths[0]), span(y, 2, widths[0], widths[0]+widths[1])
	v := span(y, 2, widths[0]+widths[1], y.Dim(2))
	added := both(c.masked(3, x.Dim(0), x.Dim(1), x.Dim(1)), c.optional(5))
	return []value{c.is(0, c.attend(q, k, v, added))}
}

// multiHead has the operands queries, keys and values [b t features], a bias for all three, a mask of
// the keys, and what is added to the scores.
func multiHead(c *call) []value {
	if !c.has(1) || !c.has(2) || c.has(6) || c.has(7) || len(c.n.Outputs) > 1 || c.x(1).Rank() != 3 {
		c.fail("packed arrays, or keys and values of earlier calls: want queries, keys and values [batch time features]")
	}
	in := []*graph.Node{bare(c.x(0)), bare(c.x(1)), bare(c.x(2))}
	if c.has(3) {
		bias, at := bare(c.x(3)), 0
		for i, x := range in {
			in[i] = ops.Add(x, span(bias, 0, at, at+x.Dim(2)))
			at += x.Dim(2)
		}
	}
	added := both(c.masked(4, in[0].Dim(0), in[0].Dim(1), in[1].Dim(1)), c.optional(5))
	return []value{c.is(0, c.attend(in[0], in[1], in[2], added))}
}
