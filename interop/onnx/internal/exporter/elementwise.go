package exporter

import (
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/ops"
)

// lacking lists the element types for which ONNX Runtime has no kernel of an operator, and the type
// in which it is computed instead; an i64 is one exactly up to 2⁵³.
var lacking = map[string]map[format.DataType]format.DataType{
	"Less":        {format.Bool: format.Int32},
	"LessOrEqual": {format.Bool: format.Int32},
	"ArgMax":      {format.Bool: format.Int32, format.Int64: format.Double},
	"ArgMin":      {format.Bool: format.Int32, format.Int64: format.Double},
	"TopK":        {format.Bool: format.Int32},
	"ReduceMean":  {format.Int64: format.Double},
	"ReduceMax":   {format.Bool: format.Int32},
	"ReduceMin":   {format.Bool: format.Int32},
}

// computed converts the operands of an operator to a type that it has a kernel for.
func (e *emitter) computed(op string, in ...value) []value {
	out := slices.Clone(in)
	for i, x := range in {
		if to, ok := lacking[op][x.elem]; ok {
			out[i] = e.cast(x, to)
		}
	}
	return out
}

// one returns the rule of an operation that is one of ONNX's operators, element by element.
func one(op string) rule {
	return func(s site) value { return s.pointwise(op, s.elem(), s.all()) }
}

// only32 returns the rule of an operation whose operator ONNX Runtime has for f32 alone; f64 is composed.
func only32(op string, composed func(g *graph.Graph, n *graph.Node, x []*graph.Node) *graph.Node) rule {
	return func(s site) value {
		if s.elem() == format.Double {
			return inOps(composed)(s)
		}
		return one(op)(s)
	}
}

// quotient is Reciprocal where 1 is divided: ONNX Runtime 1.20 ends the process while it fuses such a quotient
// with a product.
func quotient(s site) value {
	if v, ok := match.Literal(s.n.In(0)); ok && v == 1 {
		return s.unary("Reciprocal", s.in(1))
	}
	return one("Div")(s)
}

func compare(op string) rule {
	return func(s site) value { return s.pointwise(op, format.Bool, s.computed(op, s.all()...)) }
}

func notEqual(s site) value {
	return s.unary("Not", s.pointwise("Equal", format.Bool, s.all()))
}

// rounded rounds a value to a type that is narrower than the one that it is computed in.
func (e *emitter) rounded(v value, dt graph.DType) value {
	if dt == dt.Wide() {
		return v
	}
	return e.widened(e.cast(v, elemOf(dt)), dt)
}

// widened converts a value of a type to that in which it is computed.
func (e *emitter) widened(v value, dt graph.DType) value { return e.cast(v, elemOf(dt.Wide())) }

// cast converts as the tape does: to bool, what is not 0 is true; floats lose their fraction. Floats beyond i32
// and i64 are as the runtime has them.
func cast(s site) value {
	x, to := s.in(0), s.n.DType()
	from := s.n.In(0).DType()
	if to == from {
		return x
	}
	if to == graph.Bool {
		return s.unary("Not", s.pointwise("Equal", format.Bool, []value{x, s.lit(x.elem, 0)}))
	}
	if from.IsFloat() && (to == graph.I8 || to == graph.U8) {
		low, high := s.lit(x.elem, to.Round(-1e3)), s.lit(x.elem, to.Round(1e3))
		x = s.pointwise("Min", x.elem, []value{s.pointwise("Max", x.elem, []value{x, low}), high})
		return s.cast(x, format.Int32)
	}
	return s.rounded(s.cast(x, s.elem()), to)
}

// choose is Where, and for masks what they say.
func choose(s site) value {
	m, a, b := s.in(0), s.in(1), s.in(2)
	if v, ok := either(s, a, b); ok {
		return v
	}
	if a.elem != format.Bool {
		return s.where(m, a, b)
	}
	and := func(a, b value) value { return s.pointwise("And", format.Bool, []value{a, b}) }
	return s.pointwise("Or", format.Bool, []value{and(m, a), and(s.unary("Not", m), b)})
}

// softplus is max(x, 0) + log(1 + e^−|x|) for f64, which the operator is not for.
func softplus(s site) value {
	if s.elem() == format.Float {
		return one("Softplus")(s)
	}
	return s.softplus(s.in(0))
}

func (e *emitter) softplus(x value) value {
	small := e.unary("Exp", e.unary("Neg", e.unary("Abs", x)))
	return e.add2(e.unary("Relu", x), e.composed(func(x []*graph.Node) *graph.Node { return ops.Log1p(x[0]) }, e.flat(small)))
}

// sigmoid is composed for f64: ONNX Runtime makes it of a hyperbolic tangent, which loses the digits of numbers far
// below 0.
func sigmoid(s site) value {
	if s.elem() == format.Float {
		return one("Sigmoid")(s)
	}
	x := s.in(0)
	small := s.unary("Exp", s.unary("Neg", s.unary("Abs", x)))
	one := s.lit(x.elem, 1)
	return s.div(s.where(s.less(x, s.lit(x.elem, 0)), small, one), s.add2(one, small))
}

func logSigmoid(s site) value {
	x := s.unary("Neg", s.in(0))
	if s.elem() == format.Float {
		return s.unary("Neg", s.unary("Softplus", x))
	}
	return s.unary("Neg", s.softplus(x))
}

// cosine is a sine for f64.
func cosine(s site) value {
	if s.elem() == format.Float {
		return one("Cos")(s)
	}
	return s.unary("Sin", s.add2(s.in(0), s.lit(s.elem(), math.Pi/2)))
}

func tangent(s site) value {
	if s.elem() == format.Float {
		return one("Tan")(s)
	}
	return s.div(s.unary("Sin", s.in(0)), cosine(s))
}

func exp2(s site) value { return s.unary("Exp", s.mul(s.in(0), s.lit(s.elem(), math.Ln2))) }

// logTo returns the rule of a logarithm. It is computed in f64, so that powers of the base have whole ones.
func logTo(base float64) rule {
	return func(s site) value {
		x := s.cast(s.in(0), format.Double)
		return s.cast(s.mul(s.unary("Log", x), s.lit(format.Double, 1/math.Log(base))), s.elem())
	}
}

// remainder has the sign of the divisor.
func remainder(s site) value {
	a, b := s.in(0), s.in(1)
	if !s.elem().IsFloat() {
		return s.pointwise("Mod", s.elem(), []value{a, b})
	}
	r := s.pointwise("Mod", s.elem(), []value{a, b}, attrInt("fmod", 1))
	zero := s.lit(s.elem(), 0)
	differ := s.pointwise("Xor", format.Bool, []value{s.less(r, zero), s.less(b, zero)})
	wrong := s.pointwise("And", format.Bool, []value{differ, s.unary("Not", s.pointwise("Equal", format.Bool, []value{r, zero}))})
	return s.where(wrong, s.add2(r, b), r)
}

func floorDiv(s site) value {
	a, b := s.in(0), s.in(1)
	if s.elem().IsFloat() {
		r := remainder(s)
		return s.unary("Round", s.div(s.sub(a, r), b))
	}
	r := s.pointwise("Mod", s.elem(), []value{a, b})
	return s.div(s.sub(a, r), b)
}

func trunc(s site) value {
	x := s.in(0)
	return s.mul(s.unary("Sign", x), s.unary("Floor", s.unary("Abs", x)))
}

// xlogy is 0 where x is, unless y is no number.
func xlogy(s site) value {
	x, y := s.in(0), s.in(1)
	zero := s.lit(s.elem(), 0)
	none := s.pointwise("And", format.Bool, []value{s.pointwise("Equal", format.Bool, []value{x, zero}), s.pointwise("Equal", format.Bool, []value{y, y})})
	return s.where(none, zero, s.mul(x, s.unary("Log", y)))
}
