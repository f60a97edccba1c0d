package importer

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/ops"
)

// embedding adds the rows of words, places and segments [b t d], and normalises the sums. The operands
// are the indices of words and of segments, the three tables, that of the segments may be missing,
// the scale and the shift, a mask, and the places. The outputs are the result, how many elements of
// each row of the mask are not 0, and the sums.
func embedding(c *call) []value {
	words := bare(c.x(0))
	if words.Rank() != 2 {
		c.fail("words of shape %v: want [batch time]", words.Shape().Sizes())
	}
	b, t := words.Dim(0), words.Dim(1)
	sum := ops.Gather(bare(c.x(2)), words, 0)
	if c.has(8) {
		places := ops.Gather(bare(c.x(3)), bare(c.x(8)), 0)
		sum = ops.Add(c.broadcast(sum, places)...)
	} else {
		sum = ops.Add(sum, c.reshape(span(bare(c.x(3)), 0, 0, t), 1, t, sum.Dim(2)))
	}
	if c.has(1) && c.has(4) {
		sum = ops.Add(sum, ops.Gather(bare(c.x(4)), bare(c.x(1)), 0))
	}
	y, _, _ := layered(ops.Cast(sum, c.least(sum)), c.float("epsilon", 1e-12), []any{-1})
	y = c.scaled(ops.Cast(y, sum.DType()), 5, 6)
	used := ops.Zeros(c.g, graph.I32, graph.Ax("", b))
	if c.has(7) {
		m := c.x(7)
		used = ops.Sum(ops.Cast(ops.NotEqual(m, ops.Lit(m, 0)), graph.I32), 1)
	}
	return []value{c.is(2, y), {node: used, elem: format.Int32}, c.is(2, sum)}
}

// rotary turns pairs of features by angles that grow with the place (Su et al., 2021). The operands
// are x[b t h·d] or [b h t d], the places [b t] or the first of them [1], and the cosines and sines of
// each place [places d/2].
func rotary(c *call) []value {
	x, place, cos, sin := bare(c.x(0)), bare(c.x(1)), bare(c.x(2)), bare(c.x(3))
	if c.int("is_packed_batching", 0) != 0 || cos.Rank() != 2 || x.Rank() != 3 && x.Rank() != 4 {
		c.fail("an array of shape %v with angles of shape %v, or packed: want [batch time features] or [batch heads time features]", x.Shape().Sizes(), cos.Shape().Sizes())
	}
	half := cos.Dim(1)
	flat, heads := x.Rank() == 3, c.int("num_heads", 0)
	if flat { // [b t h d]
		d := 2 * half
		if heads > 0 {
			d = x.Dim(2) / heads
		}
		if d == 0 || x.Dim(2)%d != 0 {
			c.fail("%d features in heads of %d", x.Dim(2), d)
		}
		x = c.reshape(x, x.Dim(0), x.Dim(1), x.Dim(2)/d, d)
	} else {
		x = ops.Transpose(x, 0, 2, 1, 3)
	}
	b, t := x.Dim(0), x.Dim(1)
	if 2*half > x.Dim(3) || c.int("rotary_embedding_dim", 0) > 0 && c.int("rotary_embedding_dim", 0) != 2*half {
		c.fail("angles of %d pairs of %d features", half, x.Dim(3))
	}
	if place.Shape().Len() == 1 && place.Rank() == 1 {
		place = ops.Add(c.reshape(ops.Arange(c.g, place.DType(), graph.Ax("", t)), 1, t), c.reshape(place, 1, 1))
	}
	if !slices.Equal(place.Shape().Sizes(), []int{b, t}) && !slices.Equal(place.Shape().Sizes(), []int{1, t}) {
		c.fail("places of shape %v for an array of shape %v", place.Shape().Sizes(), x.Shape().Sizes())
	}
	angle := func(table *graph.Node) *graph.Node { return ops.Expand(ops.Gather(table, place, 0), 2, "") } // [b t 1 half]
	turn, rest := span(x, 3, 0, 2*half), span(x, 3, 2*half, x.Dim(3))
	var first, second *graph.Node
	between := c.int("interleaved", 0) != 0
	if between {
		pairs := c.reshape(turn, b, t, x.Dim(2), half, 2)
		first, second = ops.At(pairs, -1, 0), ops.At(pairs, -1, 1)
	} else {
		first, second = span(turn, 3, 0, half), span(turn, 3, half, 2*half)
	}
	u := ops.Sub(ops.Mul(first, angle(cos)), ops.Mul(second, angle(sin)))
	v := ops.Add(ops.Mul(first, angle(sin)), ops.Mul(second, angle(cos)))
	y := ops.Concat(3, u, v)
	if between {
		y = c.reshape(together(u, v), b, t, x.Dim(2), 2*half)
	}
	if rest.Dim(3) > 0 {
		y = ops.Concat(3, y, rest)
	}
	if flat {
		return []value{c.is(0, c.reshape(y, b, t, x.Dim(2)*x.Dim(3)))}
	}
	return []value{c.is(0, ops.Transpose(y, 0, 2, 1, 3))}
}

// matMulBits is the product with a matrix [N K] of integers of 4 or 8 bits, in blocks with a scale and
// a zero. Two integers of 4 bits are in a byte, the first in the lower half.
func matMulBits(c *call) []value {
	a, packed := bare(c.x(0)), bare(c.x(1))
	k, n, bits, block := c.int("K", 0), c.int("N", 0), c.int("bits", 4), c.int("block_size", 0)
	if bits != 4 && bits != 8 || k < 1 || n < 1 || block < 1 || c.has(4) {
		c.fail("K = %d and N = %d in blocks of %d, of %d bits, or in another order: want 4 or 8 bits, in order", k, n, block, bits)
	}
	blocks := (k + block - 1) / block
	if packed.Shape().Len() != n*blocks*block*bits/8 {
		c.fail("a matrix of shape %v: want %d blocks of %d for each of %d columns", packed.Shape().Sizes(), blocks, block, n)
	}
	unpack := func(x *graph.Node, rows, each int) *graph.Node { // [rows each], in i32
		x = ops.Cast(x, graph.I32)
		if bits == 4 {
			sixteen := ops.Lit(x, 16)
			x = together(c.reshape(ops.Remainder(x, sixteen), rows, x.Shape().Len()/rows), c.reshape(ops.FloorDiv(x, sixteen), rows, x.Shape().Len()/rows))
		}
		return span(c.reshape(x, rows, x.Shape().Len()/rows), 1, 0, each)
	}
	q := c.reshape(unpack(packed, n, blocks*block), n, blocks, block)
	scales := c.reshape(c.x(2), n, blocks, 1)
	zero := ops.Lit(scales, float64(int(1)<<(bits-1)))
	if c.has(3) {
		z := bare(c.x(3))
		if !z.DType().IsFloat() {
			z = unpack(z, n, blocks)
		}
		zero = ops.Cast(c.reshape(z, n, blocks, 1), scales.DType())
	}
	w := ops.Mul(ops.Sub(ops.Cast(q, scales.DType()), zero), scales)
	w = span(c.reshape(w, n, blocks*block), 1, 0, k)
	y := ops.MatMul(a, ops.Transpose(ops.Cast(w, a.DType())))
	return []value{c.is(0, c.plus(y, 5))}
}
