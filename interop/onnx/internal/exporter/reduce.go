package exporter

import (
	"slices"

	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// reduction returns the rule of a sum or a mean over axes.
func reduction(op string) rule {
	return func(s site) value {
		axes := s.axes()
		x := s.spread(0)
		if len(axes) == 0 {
			return x
		}
		return s.cast(s.reduce(op, s.computed(op, x)[0], axes, s.flag("Keep")), s.elem())
	}
}

// spread returns operand i with all of its elements, in whatever layout it lies.
func (s site) spread(i int) value {
	v := s.in(i)
	if v.pack == nil && slices.Equal(v.dims, s.n.In(i).Shape().Sizes()) {
		return v
	}
	return s.whole(i)
}

func extreme(op string) rule {
	return func(s site) value {
		return s.cast(s.reduce(op, s.computed(op, s.spread(0))[0], []int{s.axis()}, s.flag("Keep")), s.elem())
	}
}

func argExtreme(s site) value {
	op := s.n.Op().Name()
	axis := s.axis()
	x := s.computed(op, s.whole(0))[0]
	return s.op(op, format.Int64, s.sizes(), []value{x}, attrInt("axis", axis), attrInt("keepdims", 0))
}

func allOver(s site) value { return over(s, "ReduceMin") }
func anyOver(s site) value { return over(s, "ReduceMax") }

func over(s site, op string) value {
	axes := s.axes()
	if len(axes) == 0 {
		return s.in(0)
	}
	return s.cast(s.reduce(op, s.cast(s.spread(0), format.Int32), axes, s.flag("Keep")), format.Bool)
}

// along returns the rule of a softmax, whose axis is one of the array as it lies.
func along(op string) rule {
	return func(s site) value {
		x := s.spread(0)
		axis := s.axis()
		if x.perm != nil {
			axis = x.perm[axis]
		}
		out := x
		out.name = s.raw(op, x.elem, x.stored(), []string{x.name}, attrInt("axis", axis)).name
		return out
	}
}

// logSumExp is −∞ of elements that are all −∞; the operator of ONNX Runtime is NaN there, and so are
// infinities. It is composed of the maximum and what is left.
func logSumExp(s site) value {
	x, axes := s.spread(0), []int{s.axis()}
	return s.reduce("ReduceLogSumExp", x, axes, s.flag("Keep"))
}

func (s site) centred(x value) (d, variance value) {
	axes := s.axes()
	d = s.sub(x, s.reduce("ReduceMean", x, axes, true))
	return d, s.reduce("ReduceMean", s.mul(d, d), axes, true)
}

// standardise is composed: LayerNormalization of ONNX Runtime subtracts the square of the mean from the mean of the
// squares, which loses all digits where the mean is large.
func standardise(s site) value {
	d, variance := s.centred(s.spread(0))
	return s.div(d, s.unary("Sqrt", s.add2(variance, s.lit(s.elem(), s.float("Eps")))))
}

func rstd(s site) value {
	axes := s.axes()
	x := s.spread(0)
	d := s.sub(x, s.reduce("ReduceMean", x, axes, true))
	variance := s.reduce("ReduceMean", s.mul(d, d), axes, s.flag("Keep"))
	return s.unary("Reciprocal", s.unary("Sqrt", s.add2(variance, s.lit(s.elem(), s.float("Eps")))))
}

// matMul lets ONNX repeat what has fewer axes before the last two.
func matMulInteger(s site) value {
	return s.op("MatMulInteger", s.elem(), s.sizes(), []value{s.own(0, s.whole(0)), s.own(1, s.whole(1)), s.own(2, s.whole(2))})
}

func matMul(s site) value {
	operand := func(i int) value {
		v, sizes := s.in(i), s.n.In(i).Shape().Sizes()
		if k := len(v.dims); v.pack == nil && k >= 2 && len(sizes) >= 2 && slices.Equal(v.dims[k-2:], sizes[len(sizes)-2:]) {
			return s.flat(v)
		}
		return s.whole(i)
	}
	a, b := operand(0), operand(1)
	if from, ok := s.reshaped[a.name]; ok && len(a.dims) == 2 && len(b.dims) == 2 && len(from.dims) > 2 && from.dims[len(from.dims)-1] == a.dims[1] {
		// The rows are those of an array of more axes, which ONNX multiplies as it is.
		y := s.op("MatMul", s.elem(), append(slices.Clone(from.dims[:len(from.dims)-1]), b.dims[1]), []value{from, b})
		s.called[y.name] = s.base
		return s.reshape(y, s.sizes()...)
	}
	if len(a.dims) < 2 || len(b.dims) < 2 {
		return s.op("MatMul", s.elem(), s.sizes(), []value{s.whole(0), s.whole(1)})
	}
	dims := meet(value{dims: a.dims[:len(a.dims)-2]}, value{dims: b.dims[:len(b.dims)-2]})
	dims = append(dims, a.dims[len(a.dims)-2], b.dims[len(b.dims)-1])
	return s.op("MatMul", s.elem(), dims, []value{a, b})
}

// matMul64 is a sum of products: where ONNX Runtime 1.20 finds a transpose before a product, or moves one there, it makes
// an operator of both, which it has for f32 alone.
func matMul64(s site) value {
	a, b := s.spread(0), s.spread(1)
	if len(a.dims) < 2 || len(b.dims) < 2 {
		return matMul(s)
	}
	batch := s.sizes()[:s.n.Rank()-2]
	const letters = "abcdefgh"
	subscripts := func(v *value, last string) string {
		k := len(v.dims) - 2
		if !slices.Equal(v.dims[:k], batch[len(batch)-k:]) {
			*v = s.full(*v, append(slices.Clone(batch), v.dims[k:]...))
			k = len(batch)
		}
		of := letters[len(batch)-k:len(batch)] + last
		out := []byte(of)
		for a, p := range v.perm {
			out[p] = of[a]
		}
		return string(out)
	}
	equation := subscripts(&a, "xy") + "," + subscripts(&b, "yz") + "->" + letters[:len(batch)] + "xz"
	return s.raw("Einsum", a.elem, s.sizes(), []string{a.name, b.name}, attrString("equation", equation))
}

// pairs returns the differences of all rows of the last two operands, [… i j d].
func (s site) pairs() value {
	k := s.n.NumIn() - 2
	x, r := s.whole(k), s.whole(k+1)
	at := len(x.dims) - 1
	return s.sub(s.reshape(x, slices.Insert(slices.Clone(x.dims), at, 1)...), s.reshape(r, slices.Insert(slices.Clone(r.dims), at-1, 1)...))
}

func sqDist(s site) value {
	d := s.pairs()
	return s.reduce("ReduceSum", s.mul(d, d), []int{len(d.dims) - 1}, false)
}

func weightedDiff(s site) value {
	d, w := s.pairs(), s.whole(0)
	return s.reduce("ReduceSum", s.mul(s.reshape(w, append(slices.Clone(w.dims), 1)...), d), []int{len(d.dims) - 2}, false)
}

func diffDot(s site) value {
	d, u := s.pairs(), s.whole(0)
	at := len(u.dims) - 1
	return s.reduce("ReduceSum", s.mul(s.reshape(u, slices.Insert(slices.Clone(u.dims), at, 1)...), d), []int{len(d.dims) - 1}, false)
}
