package kernel

import "github.com/tapestry-ml/tapestry/internal/simd"

// MatMul is the matrix product [...,m,k]·[...,k,n] → [...,m,n] of floats; the axes before
// broadcast. The strides are arbitrary, so a transposed operand costs no copy of the whole. Sums
// over k have a fixed order; no terms give 0.
//
// Accumulate adds the product to what the result holds. Packed says that the right operand was laid
// out by [Pack], one matrix for all batches. Brain rounds both operands, of float32, to bfloat16;
// sums stay float32.
type MatMul struct {
	apart
	Accumulate, Packed, Brain bool
}

// Flops counts 2·m·k·n per batch.
func (MatMul) Flops(out Layout, in []Layout) int64 {
	return 2 * int64(out.Len()) * int64(in[0].Dims[in[0].Rank-1])
}

func (MatMul) multiplies() {}

// Divide divides along the batch and the rows of the left operand, or along the batch and the terms
// of the sums.
func (k MatMul) Divide(out Layout, in []Layout) []Division {
	batch := out.Rank - 2
	terms := alike(out, in, batch)
	terms.Outer, terms.Dims = batch, append(terms.Dims, in[0].Dims[in[0].Rank-1])
	for i, l := range in {
		terms.Axes[i] = append(terms.Axes[i], l.Rank-1-i)
	}
	terms.First, terms.Accumulate = MatMul{Brain: k.Brain}, MatMul{Brain: k.Brain, Accumulate: true}
	return []Division{matrixRows(out, in, 1), terms}
}

// Bind takes two operands of rank 2 and up.
func (k MatMul) Bind(out Layout, in []Layout) Bound {
	return bindProduct(k.product(out, in))
}

func (k MatMul) product(out Layout, in []Layout) product {
	p := product{op: simd.Dot, accumulate: k.Accumulate, packed: k.Packed, brain: k.Brain}
	p.a = matricesOf(out, in[0], false)
	if k.Packed {
		p.b = packedMatrix(in[1])
	} else {
		p.b = matricesOf(out, in[1], false)
	}
	return p.sized(k, out, in)
}

// PackOperand returns the right operand.
func (MatMul) PackOperand(in []Layout) (l Layout, ok bool) { return packOperand(in[1], false) }

// WithPacked returns the product with a right operand that is packed.
func (k MatMul) WithPacked() (Kernel, Pack) {
	k.Packed = true
	return k, Pack{Brain: k.Brain}
}

// PackPays reports whether one packing of the right operand saves time if so many runs with these
// layouts read it.
func (k MatMul) PackPays(out Layout, in []Layout, runs int) bool {
	return packPays(k.product(out, in), runs)
}
