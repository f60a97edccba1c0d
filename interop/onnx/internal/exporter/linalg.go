package exporter

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// Factorisations are loops over rows, columns, or pairs of columns of matrices [… n n], in f64. A row of the unit
// matrix, e, picks a row or a column in each step.

// unit returns the rows e of the unit matrix, [n n].
func unit(x *graph.Node, n int) *graph.Node {
	return ops.Eye(x.Graph(), x.DType(), graph.Ax("", n), graph.Ax("", n))
}

// size returns the number of rows and columns.
func size(x *graph.Node) (rows, columns int) {
	r := x.Rank()
	return x.Dim(r - 2), x.Dim(r - 1)
}

// column returns x·e, [… m].
func column(x, e *graph.Node) *graph.Node { return ops.Sum(ops.Mul(x, e), -1) }

// row returns eᵀ·x, [… n].
func row(x, e *graph.Node) *graph.Node { return ops.Sum(ops.Mul(x, ops.Expand(e, -1, "")), -2) }

// outer returns a·bᵀ of vectors [… m] and [… n].
func outer(a, b *graph.Node) *graph.Node {
	return ops.Mul(ops.Expand(a, a.Rank(), ""), ops.Expand(b, b.Rank()-1, ""))
}

// at returns v·eᵀ, v in the column that e picks.
func at(v, e *graph.Node) *graph.Node {
	for e.Rank() <= v.Rank() && e.Rank() > 0 {
		e = ops.Expand(e, 0, "")
	}
	return ops.Mul(ops.Expand(v, v.Rank(), ""), e)
}

// dot returns aᵀ·b of vectors.
func dot(a, b *graph.Node) *graph.Node { return ops.Sum(ops.Mul(a, b), -1) }

// swapped transposes matrices.
func swapped(x *graph.Node) *graph.Node {
	order := make([]any, x.Rank())
	for i := range order {
		order[i] = i
	}
	k := len(order)
	if k < 2 {
		return x // a mistake, which the graph has recorded
	}
	order[k-1], order[k-2] = order[k-2], order[k-1]
	return ops.Transpose(x, order...)
}

// last brings the first axis, the time of a loop, to the last place, or before the last.
func last(x *graph.Node, behind int) *graph.Node {
	var order []any
	for i := 1; i < x.Rank()-behind; i++ {
		order = append(order, i)
	}
	order = append(order, 0)
	for i := x.Rank() - behind; i < x.Rank(); i++ {
		order = append(order, i)
	}
	return ops.Transpose(x, order...)
}

// unlessNaN makes whole matrices NaN where bad, [… 1 1] or of the matrices' shape, is NaN anywhere.
func unlessNaN(y, bad *graph.Node) *graph.Node {
	broken := ops.Any(ops.NotEqual(bad, bad), -1, -2, ops.Keep)
	return ops.Select(broken, ops.Lit(y, math.NaN()), y)
}

// cholesky takes a column of L in each step, and its square from what is left of A.
func cholesky(_ *graph.Graph, n *graph.Node, in []*graph.Node) *graph.Node {
	return double(n, in, func(in []*graph.Node) *graph.Node {
		a := ops.Scale(ops.Add(in[0], swapped(in[0])), 0.5)
		k, _ := size(a)
		r := ops.Scan(ops.Loop{Carry: []*graph.Node{a}, Over: []*graph.Node{unit(a, k), ops.Triu(ops.Full(a.Graph(), a.DType(), 1, graph.Dims(k, k)...))}},
			func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
				l := column(c[0], x[0])
				pivot := dot(l, x[0])
				root := ops.Sqrt(ops.Select(ops.Greater(pivot, ops.Lit(pivot, 0)), pivot, ops.Lit(pivot, math.NaN())))
				l = ops.Select(ops.Greater(x[1], ops.Lit(x[1], 0)), ops.Div(l, ops.Expand(root, root.Rank(), "")), ops.Lit(l, 0))
				return []*graph.Node{ops.Sub(c[0], outer(l, l))}, []*graph.Node{l}
			})
		l := last(r.Out[0], 0)
		return unlessNaN(l, l)
	})
}

// solveTriangular solves row by row.
func solveTriangular(_ *graph.Graph, n *graph.Node, in []*graph.Node) *graph.Node {
	upper, one := field[bool](n, "Upper"), field[bool](n, "Unit")
	return double(n, in, func(in []*graph.Node) *graph.Node {
		a, b := in[0], in[1]
		k, _ := size(a)
		strict := ops.Tril(a, -1)
		if upper {
			strict = ops.Triu(a, 1)
		}
		diagonal := ops.Diagonal(a)
		if one {
			diagonal = ops.Full(a.Graph(), a.DType(), 1, diagonal.Shape().Axes()...)
		}
		r := ops.Scan(ops.Loop{Carry: []*graph.Node{ops.ZerosLike(b)}, Over: []*graph.Node{unit(a, k)}, Reverse: upper},
			func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
				e := x[0]
				known := ops.Sum(ops.Mul(ops.Expand(row(strict, e), a.Rank()-1, ""), c[0]), -2)
				d := dot(diagonal, e)
				v := ops.Div(ops.Sub(row(b, e), known), ops.Expand(d, d.Rank(), ""))
				return []*graph.Node{ops.Add(c[0], outer(ops.BroadcastTo(e, diagonal.Shape()), v))}, nil
			})
		bad := ops.Select(ops.Equal(diagonal, ops.Lit(diagonal, 0)), ops.Lit(diagonal, math.NaN()), diagonal)
		return unlessNaN(r.Final[0], ops.Expand(bad, bad.Rank(), ""))
	})
}

// eliminated turns [A B] into [P⁻¹ A⁻¹·B], column by column, with the pivots and the rows where they were.
func eliminated(a, b *graph.Node) (all, pivots, rows *graph.Node) {
	k, _ := size(a)
	m := a
	if b != nil {
		m = ops.Concat(-1, a, b)
	}
	used := ops.ZerosLike(ops.Diagonal(a))
	r := ops.Scan(ops.Loop{Carry: []*graph.Node{m, used}, Over: []*graph.Node{unit(a, k)}}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
		m, used := c[0], c[1]
		v := column(ops.Slice(m, -1, 0, k), x[0])
		free := ops.Select(ops.Greater(used, ops.Lit(used, 0.5)), ops.Lit(v, -1), ops.Abs(v))
		p := ops.OneHot(ops.ArgMax(free, -1), -1, graph.Ax("", k), a.DType())
		pivot := dot(v, p)
		safe := ops.Select(ops.Equal(pivot, ops.Lit(pivot, 0)), ops.Lit(pivot, 1), pivot)
		taken := ops.Div(ops.Sum(ops.Mul(m, ops.Expand(p, p.Rank(), "")), -2), ops.Expand(safe, safe.Rank(), ""))
		return []*graph.Node{ops.Sub(m, outer(ops.Sub(v, p), taken)), ops.Add(used, p)}, []*graph.Node{pivot, p}
	})
	return r.Final[0], last(r.Out[0], 0), last(r.Out[1], 1)
}

func solve(_ *graph.Graph, n *graph.Node, in []*graph.Node) *graph.Node {
	return double(n, in, func(in []*graph.Node) *graph.Node {
		k, _ := size(in[0])
		all, pivots, rows := eliminated(in[0], in[1])
		x := ops.MatMul(rows, ops.Slice(all, -1, k, all.Dim(all.Rank()-1)))
		bad := ops.Select(ops.Equal(pivots, ops.Lit(pivots, 0)), ops.Lit(pivots, math.NaN()), pivots)
		return unlessNaN(x, ops.Expand(bad, bad.Rank(), ""))
	})
}

func logDet(_ *graph.Graph, n *graph.Node, in []*graph.Node) *graph.Node {
	return double(n, in, func(in []*graph.Node) *graph.Node {
		_, pivots, _ := eliminated(in[0], nil)
		return ops.Sum(ops.Log(ops.Abs(pivots)), -1)
	})
}

// detSign counts negative pivots and the pairs of rows whose order is turned.
func detSign(_ *graph.Graph, n *graph.Node, in []*graph.Node) *graph.Node {
	return double(n, in, func(in []*graph.Node) *graph.Node {
		k, _ := size(in[0])
		_, pivots, rows := eliminated(in[0], nil)
		at := ops.ArgMax(rows, -1)
		turned := ops.Greater(ops.Expand(at, at.Rank(), ""), ops.Expand(at, at.Rank()-1, ""))
		pairs := ops.Triu(ops.Full(in[0].Graph(), in[0].DType(), 1, graph.Dims(k, k)...), 1)
		count := ops.Sum(ops.Mul(ops.Cast(turned, in[0].DType()), pairs), -1, -2)
		count = ops.Add(count, ops.Sum(ops.Cast(ops.Less(pivots, ops.Lit(pivots, 0)), in[0].DType()), -1))
		odd := ops.Remainder(count, ops.Lit(count, 2))
		singular := ops.Any(ops.Equal(pivots, ops.Lit(pivots, 0)), -1)
		return ops.Select(singular, ops.Lit(odd, 0), ops.OneMinus(ops.Scale(odd, 2)))
	})
}

// qr is that of Gram and Schmidt, with every column made orthogonal twice.
func qr(_ *graph.Graph, n *graph.Node, in []*graph.Node) *graph.Node {
	return double(n, in, func(in []*graph.Node) *graph.Node {
		a := in[0]
		_, k := size(a)
		r := ops.Scan(ops.Loop{Carry: []*graph.Node{ops.ZerosLike(a)}, Over: []*graph.Node{unit(a, k)}}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
			q, e := c[0], x[0]
			from := column(a, e)
			v := from
			for range 2 {
				inside := ops.Sum(ops.Mul(q, ops.Expand(v, v.Rank(), "")), -2)
				v = ops.Sub(v, ops.Sum(ops.Mul(q, ops.Expand(inside, inside.Rank()-1, "")), -1))
			}
			length, whole := ops.Sqrt(dot(v, v)), ops.Sqrt(dot(from, from))
			length = ops.Select(ops.LessEqual(length, ops.Scale(whole, 1e-14)), ops.Lit(length, math.NaN()), length)
			v = ops.Div(v, ops.Expand(length, length.Rank(), ""))
			return []*graph.Node{ops.Add(q, at(v, e))}, nil
		})
		q := r.Final[0]
		y := ops.Concat(-2, q, ops.Triu(ops.MatMul(swapped(q), a)))
		return unlessNaN(y, q)
	})
}

// matrixExp sums the series at A/2ˢ, and squares it s times.
func matrixExp(_ *graph.Graph, n *graph.Node, in []*graph.Node) *graph.Node {
	return double(n, in, func(in []*graph.Node) *graph.Node {
		a := in[0]
		k, _ := size(a)
		norm := ops.Max(ops.Sum(ops.Abs(a), -1, ops.Keep), -2, ops.Keep)
		s := ops.Maximum(ops.Shift(ops.Ceil(ops.Scale(ops.Log(ops.Maximum(norm, ops.Lit(norm, 1e-30))), 1/math.Ln2)), 1), ops.Lit(norm, 0))
		s = ops.Select(ops.Less(s, ops.Lit(s, 1100)), s, ops.Lit(s, 0))
		small := ops.Mul(a, ops.Exp(ops.Scale(s, -math.Ln2)))
		one := ops.Add(ops.ZerosLike(a), unit(a, k))
		sum := one
		for i := 18; i > 0; i-- {
			sum = ops.Add(one, ops.Scale(ops.MatMul(small, sum), 1/float64(i)))
		}
		r := ops.While(ops.Loop{Carry: []*graph.Node{sum, s}, Steps: 1100}, func(c, _ []*graph.Node) *graph.Node {
			return ops.Greater(ops.Max(c[1]), ops.Lit(c[1], 0.5))
		}, func(c, _, _ []*graph.Node) (next, out []*graph.Node) {
			left := ops.Greater(c[1], ops.Lit(c[1], 0.5))
			return []*graph.Node{ops.Select(left, ops.MatMul(c[0], c[0]), c[0]), ops.Shift(c[1], -1)}, nil
		})
		finite := ops.Mul(a, ops.Lit(a, 0))
		return unlessNaN(r.Final[0], finite)
	})
}

// sweeps is how often the rotations pass all pairs of columns. They converge quadratically.
const sweeps = 12

// jacobi runs a step for all pairs of n columns, of which it gets the rows e, again and again.
func jacobi(n int, carry []*graph.Node, step func(c []*graph.Node, p, q *graph.Node) []*graph.Node) []*graph.Node {
	if n < 2 {
		return carry
	}
	var first, second []float64
	for i := range n {
		for j := i + 1; j < n; j++ {
			for k := range n {
				first, second = append(first, truth(k == i)), append(second, truth(k == j))
			}
		}
	}
	x, axes := carry[0], graph.Dims(n*(n-1)/2, n)
	p, q := x.Graph().Constant(x.DType(), first, axes...), x.Graph().Constant(x.DType(), second, axes...)
	return ops.Scan(ops.Loop{Carry: carry, With: []*graph.Node{p, q}, Steps: sweeps}, func(c, _, pairs []*graph.Node) (next, out []*graph.Node) {
		return ops.Scan(ops.Loop{Carry: c, Over: pairs}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
			return step(c, x[0], x[1]), nil
		}).Final, nil
	}).Final
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// rotation returns cosine and sine of the angle for which a rotation of two columns makes c, the product
// of both, 0, where a and b are their squares.
func rotation(a, b, c *graph.Node) (cos, sin *graph.Node) {
	none := ops.Equal(c, ops.Lit(c, 0))
	τ := ops.Div(ops.Sub(b, a), ops.Scale(ops.Select(none, ops.Lit(c, 1), c), 2))
	sign := ops.Select(ops.Less(τ, ops.Lit(τ, 0)), ops.Lit(τ, -1), ops.Lit(τ, 1))
	t := ops.Div(sign, ops.Add(ops.Abs(τ), ops.Sqrt(ops.Shift(ops.Square(τ), 1))))
	t = ops.Select(none, ops.Lit(t, 0), t)
	cos = ops.Div(ops.Lit(t, 1), ops.Sqrt(ops.Shift(ops.Square(t), 1)))
	return cos, ops.Mul(t, cos)
}

// rotated turns columns p and q of x.
func rotated(x, cos, sin, p, q *graph.Node) *graph.Node {
	a, b := column(x, p), column(x, q)
	cos, sin = ops.Expand(cos, cos.Rank(), ""), ops.Expand(sin, sin.Rank(), "")
	da := ops.Sub(ops.Mul(ops.Shift(cos, -1), a), ops.Mul(sin, b))
	db := ops.Add(ops.Mul(sin, a), ops.Mul(ops.Shift(cos, -1), b))
	return ops.Add(x, ops.Add(at(da, p), at(db, q)))
}

// signs returns the sign of the component of largest magnitude of each column, [… 1 n].
func signs(v *graph.Node) *graph.Node {
	m, _ := size(v)
	at := ops.OneHot(ops.ArgMax(ops.Abs(v), -2), -1, graph.Ax("", m), v.DType()) // [… n m]
	largest := ops.Sum(ops.Mul(v, swapped(at)), -2, ops.Keep)
	return ops.Select(ops.Less(largest, ops.Lit(largest, 0)), ops.Lit(largest, -1), ops.Lit(largest, 1))
}

// ordered returns the matrix that brings columns into the order of the values [… n].
func ordered(values *graph.Node, order ...ops.SortOrder) *graph.Node {
	n := values.Dim(values.Rank() - 1)
	return swapped(ops.OneHot(ops.ArgSort(values, -1, order...), -1, graph.Ax("", n), values.DType()))
}

// eigh is Jacobi's method.
func eigh(_ *graph.Graph, n *graph.Node, in []*graph.Node) *graph.Node {
	return double(n, in, func(in []*graph.Node) *graph.Node {
		a := ops.Scale(ops.Add(in[0], swapped(in[0])), 0.5)
		k, _ := size(a)
		v := ops.Add(ops.ZerosLike(a), unit(a, k))
		r := jacobi(k, []*graph.Node{a, v}, func(c []*graph.Node, p, q *graph.Node) []*graph.Node {
			ap, aq := column(c[0], p), column(c[0], q)
			cos, sin := rotation(dot(ap, p), dot(aq, q), dot(ap, q))
			a := rotated(c[0], cos, sin, p, q)
			return []*graph.Node{swapped(rotated(swapped(a), cos, sin, p, q)), rotated(c[1], cos, sin, p, q)}
		})
		d, v := r[0], r[1]
		values := ops.Diagonal(d)
		by := ordered(values)
		v = ops.MatMul(v, by)
		v = ops.Mul(v, signs(v))
		y := ops.Concat(-2, ops.MatMul(ops.Expand(values, values.Rank()-1, ""), by), v)
		return unlessNaN(y, ops.Mul(a, ops.Lit(a, 0)))
	})
}

// svd is the method of Hestenes: rotations of the columns until they are orthogonal.
func svd(_ *graph.Graph, n *graph.Node, in []*graph.Node) *graph.Node {
	return double(n, in, func(in []*graph.Node) *graph.Node {
		a := in[0]
		m, k := size(a)
		wide := m < k
		if wide {
			a = swapped(a)
			k = m
		}
		v := ops.Add(ops.Zeros(a.Graph(), a.DType(), graph.Dims(append(a.Shape().Sizes()[:a.Rank()-2], k, k)...)...), unit(a, k))
		r := jacobi(k, []*graph.Node{a, v}, func(c []*graph.Node, p, q *graph.Node) []*graph.Node {
			ap, aq := column(c[0], p), column(c[0], q)
			cos, sin := rotation(dot(ap, ap), dot(aq, aq), dot(ap, aq))
			return []*graph.Node{rotated(c[0], cos, sin, p, q), rotated(c[1], cos, sin, p, q)}
		})
		b, v := r[0], r[1]
		s := ops.Sqrt(ops.Sum(ops.Square(b), -2))
		by := ordered(s, ops.Descending)
		b, v = ops.MatMul(b, by), ops.MatMul(v, by)
		row := ops.MatMul(ops.Expand(s, s.Rank()-1, ""), by)
		u := ops.Div(b, row)
		if wide {
			u, v = v, u
		}
		sign := signs(v)
		y := ops.Concat(-2, ops.Mul(u, sign), row, ops.Mul(v, sign))
		return unlessNaN(y, ops.Mul(in[0], ops.Lit(a, 0)))
	})
}
