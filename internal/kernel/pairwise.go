package kernel

import "github.com/tapestry-ml/tapestry/internal/simd"

// The kernels of points x[...,i,d] and centres r[...,j,d] take the differences x-r first and never
// form an array i×j×d. The expansion x²+r²-2xr would be faster but loses every digit where a point
// is near a centre and both are far from 0.

// SqDist is the squared distance of every pair: x[...,i,d], r[...,j,d] → [...,i,j] Σ_d (x_id -
// r_jd)². Floats; the axes before broadcast; strides are arbitrary.
type SqDist struct {
	pairs
	Packed bool
}

// WeightedDiff is w[...,i,j], x[...,i,d], r[...,j,d] → [...,i,d] Σ_j w_ij·(x_id - r_jd), as the
// derivative of SqDist by x wants it. Floats; the axes before broadcast; strides are arbitrary.
type WeightedDiff struct {
	pairs
	Accumulate bool
}

// DiffDot is u[...,i,d], x[...,i,d], r[...,j,d] → [...,i,j] Σ_d u_id·(x_id - r_jd), as the
// derivative of WeightedDiff by w wants it. Floats; the axes before broadcast; strides are
// arbitrary.
type DiffDot struct {
	pairs
	Accumulate bool
}

// pairs is embedded by the kernels of this file.
type pairs struct{ apart }

// Flops counts a difference, a product and a sum for each term of each result.
func (pairs) Flops(out Layout, in []Layout) int64 {
	return 3 * int64(out.Len()) * int64(in[0].Dims[in[0].Rank-1])
}

func (pairs) multiplies() {}

// Divide divides along the batch and the points.
func (SqDist) Divide(out Layout, in []Layout) []Division {
	return []Division{matrixRows(out, in, 1)}
}

// Bind takes x and r.
func (k SqDist) Bind(out Layout, in []Layout) Bound {
	return bindProduct(k.product(out, in))
}

func (k SqDist) product(out Layout, in []Layout) product {
	p := product{op: simd.Distance, packed: k.Packed}
	p.a = matricesOf(out, in[0], false)
	if k.Packed {
		p.b = packedMatrix(in[1])
	} else {
		p.b = matricesOf(out, in[1], true)
	}
	return p.sized(k, out, in)
}

// PackOperand returns r[j,d] as [d,j].
func (SqDist) PackOperand(in []Layout) (l Layout, ok bool) { return packOperand(in[1], true) }

// WithPacked returns the kernel for an r that is packed.
func (k SqDist) WithPacked() (Kernel, Pack) {
	k.Packed = true
	return k, Pack{}
}

// PackPays reports whether one packing of r saves time if so many runs with these layouts read it.
func (k SqDist) PackPays(out Layout, in []Layout, runs int) bool {
	return packPays(k.product(out, in), runs)
}

// Divide divides along the batch and the points; where there is no batch, the terms of the sums
// divide too.
func (WeightedDiff) Divide(out Layout, in []Layout) []Division {
	ds := []Division{matrixRows(out, in, 2)}
	if out.Rank == 2 {
		ds = append(ds, Division{Dims: []int{in[0].Dims[1]}, Axes: [][]int{{1}, {-1}, {0}}, First: WeightedDiff{}, Accumulate: WeightedDiff{Accumulate: true}})
	}
	return ds
}

// Bind takes w, x and r.
func (k WeightedDiff) Bind(out Layout, in []Layout) Bound {
	return bindProduct(k.product(out, in))
}

func (k WeightedDiff) product(out Layout, in []Layout) product {
	p := product{op: simd.Centred, accumulate: k.Accumulate}
	p.a, p.x, p.b = matricesOf(out, in[0], false), matricesOf(out, in[1], false), matricesOf(out, in[2], false)
	return p.sized(k, out, in)
}

// Divide divides along the batch and the points.
func (DiffDot) Divide(out Layout, in []Layout) []Division {
	return []Division{matrixRows(out, in, 2)}
}

// Bind takes u, x and r.
func (k DiffDot) Bind(out Layout, in []Layout) Bound {
	return bindProduct(k.product(out, in))
}

func (k DiffDot) product(out Layout, in []Layout) product {
	p := product{op: simd.Shifted, accumulate: k.Accumulate}
	p.a, p.x, p.b = matricesOf(out, in[0], false), matricesOf(out, in[1], false), matricesOf(out, in[2], true)
	return p.sized(k, out, in)
}
