package kernel

// MatMul is the matrix product [...,m,k]·[...,k,n] → [...,m,n] of floats; the axes before broadcast. The strides are arbitrary, so
// a transposed operand costs no copy. Sums over k have a fixed order; no terms give 0.
type MatMul struct{ apart }

// Flops counts 2·m·k·n per batch.
func (MatMul) Flops(out Layout, in []Layout) int64 {
	return 2 * int64(out.Len()) * int64(in[0].Dims[in[0].Rank-1])
}

// Bind takes two operands of rank 2 and up.
func (k MatMul) Bind(out Layout, in []Layout) Loop {
	return bindProduct(k, product{
		op: dot,
		k:  in[0].Dims[in[0].Rank-1],
		a:  matricesOf(out, in[0], false),
		b:  matricesOf(out, in[1], true),
	}, out)
}

// bindProduct fills in the sizes of the result.
func bindProduct(k Kernel, p product, out Layout) Loop {
	p.m, p.n = out.Dims[out.Rank-2], out.Dims[out.Rank-1]
	p.batches = out.count(0, out.Rank-2)
	switch out.DType {
	case F32:
		return productLoop[float32](p)
	case F64:
		return productLoop[float64](p)
	}
	panic(unsupported(k, out.DType))
}
