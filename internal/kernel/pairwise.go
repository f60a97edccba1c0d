package kernel

// The kernels of points x[...,i,d] and centres r[...,j,d] take the differences x-r first and never form an array i×j×d. The
// expansion x²+r²-2xr would be faster but loses every digit where a point is near a centre and both are far from 0.

// SqDist is the squared distance of every pair: x[...,i,d], r[...,j,d] → [...,i,j] Σ_d (x_id - r_jd)². Floats; the axes before
// broadcast; strides are arbitrary.
type SqDist struct{ pairs }

// WeightedDiff is w[...,i,j], x[...,i,d], r[...,j,d] → [...,i,d] Σ_j w_ij·(x_id - r_jd), as the derivative of SqDist by x wants it.
// Floats; the axes before broadcast; strides are arbitrary.
type WeightedDiff struct{ pairs }

// DiffDot is u[...,i,d], x[...,i,d], r[...,j,d] → [...,i,j] Σ_d u_id·(x_id - r_jd), as the derivative of WeightedDiff by w wants it.
// Floats; the axes before broadcast; strides are arbitrary.
type DiffDot struct{ pairs }

// pairs is embedded by the kernels of this file.
type pairs struct{ apart }

// Flops counts a difference, a product and a sum per element of the result and of the first operand's last axis.
func (pairs) Flops(out Layout, in []Layout) int64 {
	return 3 * int64(out.Len()) * int64(in[0].Dims[in[0].Rank-1])
}

// Bind takes x and r.
func (k SqDist) Bind(out Layout, in []Layout) Loop {
	return bindProduct(k, product{
		op: distance,
		k:  in[0].Dims[in[0].Rank-1],
		a:  matricesOf(out, in[0], false),
		b:  matricesOf(out, in[1], false),
	}, out)
}

// Bind takes w, x and r.
func (k WeightedDiff) Bind(out Layout, in []Layout) Loop {
	return bindProduct(k, product{
		op: centred,
		k:  in[0].Dims[in[0].Rank-1],
		a:  matricesOf(out, in[0], false),
		x:  matricesOf(out, in[1], false),
		b:  matricesOf(out, in[2], true),
	}, out)
}

// Bind takes u, x and r.
func (k DiffDot) Bind(out Layout, in []Layout) Loop {
	return bindProduct(k, product{
		op: shifted,
		k:  in[0].Dims[in[0].Rank-1],
		a:  matricesOf(out, in[0], false),
		x:  matricesOf(out, in[1], false),
		b:  matricesOf(out, in[2], false),
	}, out)
}
