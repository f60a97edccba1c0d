package ops_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/exact"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
)

// bound is what a result may err by: units in the last place of what is right, and beside them
// units in the last place of 1.
type bound struct{ ulps, ones float64 }

// smooth are the functions of one float, operations and what is composed of them, with their
// derivatives as they are in 400 bits. Where a bound has ones, digits of small results are lost,
// and the reason stands beside it.
var smooth = map[string]struct {
	f      func(x node) node
	of, d  func(x *big.Float) *big.Float
	lo, hi float64 // arguments
	value  bound
	slope  bound
}{
	"Abs":   {ops.Abs, func(x *big.Float) *big.Float { return new(big.Float).Abs(x) }, func(x *big.Float) *big.Float { return exact.Of(float64(x.Sign())) }, -64, 64, bound{}, bound{}},
	"Neg":   {ops.Neg, exact.Neg, constantly(-1), -64, 64, bound{}, bound{}},
	"Exp":   {ops.Exp, exact.Exp, exact.Exp, -80, 64, bound{1.5, 0}, bound{1.5, 0}},
	"Expm1": {ops.Expm1, func(x *big.Float) *big.Float { return exact.Sub(exact.Exp(x), one) }, exact.Exp, -80, 64, bound{1.5, 0}, bound{1.5, 0}},
	"Log":   {ops.Log, exact.Log, inverse, 0x1p-60, 64, bound{1.5, 0}, bound{0.5, 0}},
	"Log1p": {ops.Log1p, func(x *big.Float) *big.Float { return exact.Log(exact.Add(one, x)) },
		func(x *big.Float) *big.Float { return inverse(exact.Add(one, x)) }, -0.99, 64, bound{1.5, 0}, bound{100, 0}}, // 1 + x rounds where it is small
	"LogSigmoid": {ops.LogSigmoid, logSigmoid, func(x *big.Float) *big.Float { return exact.Sigmoid(exact.Neg(x)) }, -64, 80, bound{2.5, 0}, bound{2.5, 0}},
	"Softplus":   {ops.Softplus, exact.Softplus, exact.Sigmoid, -80, 64, bound{2.5, 0}, bound{2.5, 0}},
	"Sigmoid": {ops.Sigmoid, exact.Sigmoid, func(x *big.Float) *big.Float {
		return exact.Mul(exact.Sigmoid(x), exact.Sigmoid(exact.Neg(x)))
	}, -64, 64, bound{2.5, 0}, bound{4, 2}}, // the derivative is y·(1 − y), so that x need not be kept
	"Tanh": {ops.Tanh, exact.Tanh, func(x *big.Float) *big.Float {
		y := exact.Tanh(x)
		return exact.Sub(one, exact.Mul(y, y))
	}, -64, 64, bound{1.5, 0}, bound{3, 3}}, // the derivative is 1 − y², likewise
	"Erf": {ops.Erf, exact.Erf, func(x *big.Float) *big.Float {
		return exact.Div(exact.Mul(exact.Of(2), exact.Exp(exact.Neg(exact.Mul(x, x)))), exact.Sqrt(exact.Pi()))
	}, -6, 6, bound{1.5, 0}, bound{40, 0}}, // x² rounds before its exponential
	"Asinh": {ops.Asinh, exact.Asinh, func(x *big.Float) *big.Float {
		return inverse(exact.Sqrt(exact.Add(one, exact.Mul(x, x))))
	}, -64, 64, bound{2.5, 0}, bound{2.5, 0}},
	"Sin":          {ops.Sin, exact.Sin, exact.Cos, -10, 10, bound{1.5, 0}, bound{1.5, 0}},
	"Cos":          {ops.Cos, exact.Cos, func(x *big.Float) *big.Float { return exact.Neg(exact.Sin(x)) }, -10, 10, bound{1.5, 0}, bound{1.5, 0}},
	"Sqrt":         {ops.Sqrt, exact.Sqrt, func(x *big.Float) *big.Float { return inverse(exact.Mul(exact.Of(2), exact.Sqrt(x))) }, 0x1p-60, 64, bound{0.5, 0}, bound{2.5, 0}},
	"Square":       {ops.Square, func(x *big.Float) *big.Float { return exact.Mul(x, x) }, func(x *big.Float) *big.Float { return exact.Add(x, x) }, -64, 64, bound{0.5, 0}, bound{}},
	"Relu":         {ops.ReLU, positive, step, -64, 64, bound{}, bound{}},
	"Sign":         {ops.Sign, func(x *big.Float) *big.Float { return exact.Of(float64(x.Sign())) }, constantly(0), -64, 64, bound{}, bound{}},
	"StopGradient": {ops.StopGradient, func(x *big.Float) *big.Float { return x }, constantly(0), -64, 64, bound{}, bound{}},

	"Floor": {ops.Floor, whole(math.Floor), constantly(0), -64, 64, bound{}, bound{}},
	"Ceil":  {ops.Ceil, whole(math.Ceil), constantly(0), -64, 64, bound{}, bound{}},
	"Round": {ops.Round, whole(math.RoundToEven), constantly(0), -64, 64, bound{}, bound{}},
	"Trunc": {ops.Trunc, whole(math.Trunc), constantly(0), -64, 64, bound{}, bound{}},
	"Tan":   {ops.Tan, tan, func(x *big.Float) *big.Float { y := tan(x); return exact.Add(one, exact.Mul(y, y)) }, -10, 10, bound{2.5, 0}, bound{6, 0}},
	"Atan":  {ops.Atan, exact.Atan, func(x *big.Float) *big.Float { return inverse(exact.Add(one, exact.Mul(x, x))) }, -64, 64, bound{1.5, 0}, bound{2, 0}},
	"Asin":  {ops.Asin, asin, func(x *big.Float) *big.Float { return inverse(exact.Sqrt(lessSquare(x))) }, -0.999999, 0.999999, bound{2.5, 0}, bound{4, 0}},
	"Acos":  {ops.Acos, func(x *big.Float) *big.Float { return exact.Sub(exact.Div(exact.Pi(), exact.Of(2)), asin(x)) }, func(x *big.Float) *big.Float { return exact.Neg(inverse(exact.Sqrt(lessSquare(x)))) }, -0.999999, 0.999999, bound{2.5, 0}, bound{4, 0}},
	"Sinh":  {ops.Sinh, sinh, cosh, -64, 64, bound{2.5, 0}, bound{2.5, 0}},
	"Cosh":  {ops.Cosh, cosh, sinh, -64, 64, bound{2.5, 0}, bound{2.5, 0}},
	"Acosh": {ops.Acosh, acosh, func(x *big.Float) *big.Float { return inverse(exact.Sqrt(exact.Neg(lessSquare(x)))) }, 1.001, 64, bound{2.5, 0}, bound{4, 0}},
	"Atanh": {ops.Atanh, atanh, func(x *big.Float) *big.Float { return inverse(lessSquare(x)) }, -0.999999, 0.999999, bound{2.5, 0}, bound{3, 0}},
	"Log2":  {ops.Log2, over(exact.Log, 2), func(x *big.Float) *big.Float { return inverse(exact.Mul(x, exact.Log(exact.Of(2)))) }, 0x1p-60, 64, bound{2.5, 0}, bound{2.5, 0}},
	"Log10": {ops.Log10, over(exact.Log, 10), func(x *big.Float) *big.Float { return inverse(exact.Mul(x, exact.Log(exact.Of(10)))) }, 0x1p-60, 64, bound{2.5, 0}, bound{2.5, 0}},
	"Exp2":  {ops.Exp2, exp2, func(x *big.Float) *big.Float { return exact.Mul(exact.Log(exact.Of(2)), exp2(x)) }, -64, 64, bound{1.5, 0}, bound{3, 0}},
	"Erfc": {ops.Erfc, func(x *big.Float) *big.Float { return exact.Sub(one, exact.Erf(x)) }, func(x *big.Float) *big.Float {
		return exact.Neg(exact.Div(exact.Mul(exact.Of(2), exact.Exp(exact.Neg(exact.Mul(x, x)))), exact.Sqrt(exact.Pi())))
	}, -6, 6, bound{2, 0}, bound{40, 0}}, // x² rounds before its exponential
	"Erfinv": {ops.Erfinv, exact.Erfinv, func(x *big.Float) *big.Float {
		y := exact.Erfinv(x)
		return exact.Mul(exact.Exp(exact.Mul(y, y)), exact.Div(exact.Sqrt(exact.Pi()), exact.Of(2)))
	}, -0.999, 0.999, bound{6, 0}, bound{40, 0}}, // y² rounds before its exponential
	"Lgamma":    {ops.Lgamma, exact.Lgamma, order(0), 0x1p-20, 64, bound{4, 4}, bound{8, 8}}, // both have zeros
	"Digamma":   {ops.Digamma, order(0), order(1), 0x1p-20, 64, bound{8, 8}, bound{8, 0}},    // at 1.4616
	"Polygamma": {func(x node) node { return ops.Polygamma(3, x) }, order(3), order(4), 0x1p-20, 64, bound{12, 0}, bound{12, 0}},

	"ELU": {ops.ELU, func(x *big.Float) *big.Float {
		if x.Sign() > 0 {
			return x
		}
		return exact.Sub(exact.Exp(x), one)
	}, func(x *big.Float) *big.Float {
		if x.Sign() > 0 {
			return one
		}
		return exact.Exp(x)
	}, -80, 64, bound{1.5, 0}, bound{1.5, 0}},
	"LeakyReLU": {func(x node) node { return ops.LeakyReLU(x, 0.25) },
		func(x *big.Float) *big.Float { return exact.Mul(x, leak(x)) }, leak, -64, 64, bound{}, bound{}},
	"SiLU": {ops.SiLU, func(x *big.Float) *big.Float { return exact.Mul(x, exact.Sigmoid(x)) }, func(x *big.Float) *big.Float {
		return exact.Mul(exact.Sigmoid(x), exact.Add(one, exact.Mul(x, exact.Sigmoid(exact.Neg(x)))))
	}, -64, 64, bound{3.5, 0}, bound{4, 70}}, // σ(x) + x·y·(1 − y) has a zero, and 1 − y times x ones
	"Mish": {ops.Mish, func(x *big.Float) *big.Float { return exact.Mul(x, exact.Tanh(exact.Softplus(x))) }, func(x *big.Float) *big.Float {
		y := exact.Tanh(exact.Softplus(x))
		return exact.Add(y, exact.Mul(exact.Mul(x, exact.Sigmoid(x)), exact.Sub(one, exact.Mul(y, y))))
	}, -64, 64, bound{4.5, 0}, bound{8, 70}}, // the derivative has a zero, and 1 − y² has ones, times x
	"GELU": {ops.GELU, func(x *big.Float) *big.Float { return exact.Mul(x, normal(x)) }, func(x *big.Float) *big.Float {
		density := exact.Div(exact.Exp(exact.Mul(exact.Of(-0.5), exact.Mul(x, x))), exact.Sqrt(exact.Mul(exact.Of(2), exact.Pi())))
		return exact.Add(normal(x), exact.Mul(x, density))
	}, -8, 8, bound{4, 8}, bound{4, 8}}, // 1 + erf cancels where x is negative
}

var one = exact.Of(1)

func constantly(v float64) func(*big.Float) *big.Float {
	return func(*big.Float) *big.Float { return exact.Of(v) }
}

func inverse(x *big.Float) *big.Float    { return exact.Div(one, x) }
func logSigmoid(x *big.Float) *big.Float { return exact.Neg(exact.Softplus(exact.Neg(x))) }

// whole is a function of numbers that both float types hold, whose results are whole.
func whole(f func(float64) float64) func(*big.Float) *big.Float {
	return func(x *big.Float) *big.Float { v, _ := x.Float64(); return exact.Of(f(v)) }
}

func over(log func(*big.Float) *big.Float, base float64) func(*big.Float) *big.Float {
	return func(x *big.Float) *big.Float { return exact.Div(log(x), log(exact.Of(base))) }
}

// order is the polygamma function of an order.
func order(n int) func(*big.Float) *big.Float {
	return func(x *big.Float) *big.Float { return exact.Polygamma(n, x) }
}

func lessSquare(x *big.Float) *big.Float { return exact.Sub(one, exact.Mul(x, x)) }
func tan(x *big.Float) *big.Float        { return exact.Div(exact.Sin(x), exact.Cos(x)) }
func asin(x *big.Float) *big.Float       { return exact.Atan(exact.Div(x, exact.Sqrt(lessSquare(x)))) }
func exp2(x *big.Float) *big.Float       { return exact.Exp(exact.Mul(x, exact.Log(exact.Of(2)))) }

func sinh(x *big.Float) *big.Float {
	return exact.Mul(exact.Of(0.5), exact.Sub(exact.Exp(x), exact.Exp(exact.Neg(x))))
}

func cosh(x *big.Float) *big.Float {
	return exact.Mul(exact.Of(0.5), exact.Add(exact.Exp(x), exact.Exp(exact.Neg(x))))
}

func acosh(x *big.Float) *big.Float {
	return exact.Log(exact.Add(x, exact.Sqrt(exact.Neg(lessSquare(x)))))
}

func atanh(x *big.Float) *big.Float {
	return exact.Mul(exact.Of(0.5), exact.Log(exact.Div(exact.Add(one, x), exact.Sub(one, x))))
}

// normal is the normal distribution function.
func normal(x *big.Float) *big.Float {
	return exact.Mul(exact.Of(0.5), exact.Add(one, exact.Erf(exact.Div(x, exact.Sqrt(exact.Of(2))))))
}

func positive(x *big.Float) *big.Float { return exact.Mul(x, step(x)) }

func step(x *big.Float) *big.Float {
	if x.Sign() > 0 {
		return one
	}
	return exact.Of(0)
}

func leak(x *big.Float) *big.Float {
	if x.Sign() > 0 {
		return one
	}
	return exact.Of(0.25)
}

// TestPrecision: every smooth function and its derivative keep their digits for arguments of every
// size, on the tape and by the definitions.
func TestPrecision(t *testing.T) {
	for _, op := range ops.List() {
		_, scalar := op.(interface{ Scalar(...float64) float64 })
		if c := op.Cases()[0]; scalar && len(c.Operands) == 1 && generic(c) && op.Name() != "Cast" {
			if _, ok := smooth[op.Name()]; !ok {
				t.Errorf("%s, a function of one number, is not in the table", op.Name())
			}
		}
	}
	for name, c := range smooth {
		t.Run(name, func(t *testing.T) {
			for _, dt := range []graph.DType{graph.F32, graph.F64} {
				x := arguments(dt, c.lo, c.hi)
				g := graph.New(name)
				in := g.Input("x", dt, graph.Dims(len(x))...)
				y := c.f(in)
				dx := grad.OrZero(ops.Sum(y), in)[0]
				feed := graph.Values{in: {Type: in.Type(), Data: x}}
				run, err := reftest.Tape(0, feed, []*graph.Node{y, dx})
				if err != nil {
					t.Fatal(err)
				}
				defined, err := ref.Eval(trait.Env{}, feed, y, dx)
				if err != nil {
					t.Fatal(err)
				}
				for k, want := range []struct {
					of func(*big.Float) *big.Float
					bound
				}{{c.of, c.value}, {c.d, c.slope}} {
					var tape, definition [2]float64 // the greatest error, and where
					for i, v := range x {
						w := want.of(exact.Of(v))
						if e := want.err(dt, run[k].Data[i], w); e > tape[0] || e != e {
							tape = [2]float64{e, v}
						}
						if e := want.err(dt, defined[k].Data[i], w); e > definition[0] || e != e {
							definition = [2]float64{e, v}
						}
					}
					if !(tape[0] <= want.ulps) {
						t.Errorf("derivative %d at %v in %v errs by %.3g units in the last place: want %v and %v of 1", k, tape[1], dt, tape[0], want.ulps, want.ones)
					}
					if most := want.ulps + 1; !(definition[0] <= most) { // constants are rounded to the type
						t.Errorf("the definition of derivative %d at %v errs by %.3g units in the last place: want %v and %v of 1", k, definition[1], definition[0], most, want.ones)
					}
				}
			}
		})
	}
}

// arguments are numbers of both signs and of every size from 2⁻⁶⁰ on, some for each, within the
// bounds.
func arguments(dt graph.DType, lo, hi float64) (x []float64) {
	r := source("arguments")
	for e := -60; e <= 7; e++ {
		for range 6 {
			v := dt.Round(math.Ldexp(1+r.Float64(), e))
			for _, v := range []float64{v, -v} {
				if lo <= v && v <= hi {
					x = append(x, v)
				}
			}
		}
	}
	return x
}

// err is the error of got in units in the last place of want, beyond the ones that are allowed.
func (b bound) err(dt graph.DType, got float64, want *big.Float) float64 {
	digits, least := 24, -149
	if dt == graph.F64 {
		digits, least = 53, -1074
	}
	if math.IsNaN(got) || math.IsInf(got, 0) {
		return math.Inf(1)
	}
	off, _ := new(big.Float).Abs(exact.Sub(exact.Of(got), want)).Float64()
	off = max(0, off-b.ones*math.Ldexp(1, 1-digits))
	return off / math.Ldexp(1, max(want.MantExp(nil)-digits, least))
}
