package ops

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type remainder struct{ numbers2 }

// Remainder returns a − b·⌊a/b⌋, element by element, with broadcasting, for numbers of one type: the
// rest of the division of [FloorDiv], without a rounding of the quotient. It has the sign of b, as
// % in Python. Where b is 0 it is NaN, and 0 for integers. Its derivative by a is 1, by b it is
// −⌊a/b⌋.
func Remainder(a, b *graph.Node) *graph.Node { return elementwise(remainder{}, a, b) }

func (remainder) Name() string     { return "Remainder" }
func (remainder) Kind() match.Kind { return match.Remainder }
func (remainder) Doc() string {
	return "rest of a division, with the sign of the divisor, element by element"
}

func (remainder) Convention() string {
	return "where the remainder jumps, the derivative is that of one side, as in PyTorch"
}

func (remainder) Grad(y, dy *graph.Node, i int) *graph.Node {
	if i == 0 {
		return dy
	}
	return Neg(Mul(dy, FloorDiv(y.In(0), y.In(1))))
}

func (remainder) Scalar(x ...float64) float64 { return rest(x[0], x[1]) }
func (remainder) Whole(x ...int64) int64      { return restWhole(x[0], x[1]) }

func (remainder) Kernel(*graph.Node) kernel.Kernel { return kernel.Zip{Of: rest, Whole: restWhole} }

func (remainder) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("mod", in...) }

// Cases keep away from jumps.
func (remainder) Cases() []Case {
	return case2(Remainder, Domain{Lo: 4.4, Hi: 4.9}, Domain{Lo: 2.05, Hi: 2.1})
}

type floorDiv struct {
	flat
	pointwise
}

// FloorDiv returns ⌊a/b⌋, element by element, with broadcasting, for numbers of one type: the
// quotient, rounded towards −∞, as // in Python. Floats divided by 0 are infinite or NaN, integers
// divided by 0 are 0; the least integer divided by −1 is itself. [Remainder] is the rest. No
// derivative flows through it.
func FloorDiv(a, b *graph.Node) *graph.Node { return elementwise(floorDiv{}, a, b) }

func (floorDiv) Name() string     { return "FloorDiv" }
func (floorDiv) Kind() match.Kind { return match.FloorDiv }
func (floorDiv) Doc() string      { return "quotient rounded down, element by element" }

func (floorDiv) Infer(in []*graph.Node) (graph.Type, error) { return inferEach(in, 2, wantNumber) }

func (floorDiv) Scalar(x ...float64) float64 { return quotient(x[0], x[1]) }
func (floorDiv) Whole(x ...int64) int64      { return quotientWhole(x[0], x[1]) }

func (floorDiv) Kernel(*graph.Node) kernel.Kernel {
	return kernel.Zip{Of: quotient, Whole: quotientWhole}
}

func (floorDiv) Notation(_ *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Call("floor", in[0].Over(in[1]))
}

func (floorDiv) Cases() []Case {
	return case2(FloorDiv, Domain{Lo: 4.4, Hi: 4.9}, Domain{Lo: 2.05, Hi: 2.1})
}

// rest and quotient come from the rounded quotient. Its floor is that of a/b, or one more where a/b
// is rounded to a whole number above it: then a − b·q, which one rounding leaves exact, has the
// wrong sign. Package math divides bit by bit, which takes ten times as long, and is left what that
// does not serve.
func rest(a, b float64) float64 {
	if r, _, ok := divided(a, b); ok {
		return r
	}
	return restByBits(a, b)
}

// divided returns a − b·q and q, the floor of a/b, unless one of them might be rounded.
func divided(a, b float64) (r, q float64, ok bool) {
	q = math.Floor(a / b)
	if !(math.Abs(q) < 0x1p52 && 0x1p-900 < math.Abs(b) && math.Abs(b) < 0x1p900) {
		return 0, 0, false
	}
	r = math.FMA(-q, b, a)
	if r == 0 {
		return math.Copysign(0, b), q, true
	}
	if (r < 0) != (b < 0) {
		q--
		r = math.FMA(-q, b, a)
	}
	return r, q, true
}

func restByBits(a, b float64) float64 {
	switch r := math.Mod(a, b); {
	case r == 0:
		return math.Copysign(0, b)
	case math.Signbit(r) != math.Signbit(b):
		return r + b
	default:
		return r
	}
}

// quotient divides what the remainder leaves, so that it is the floor of the exact quotient, where
// a/b may round up to the next whole number.
func quotient(a, b float64) float64 {
	if b == 0 || math.IsInf(a, 0) {
		return a / b
	}
	if math.IsInf(b, 0) {
		if a != 0 && math.Signbit(a) != math.Signbit(b) {
			return -1
		}
		return a / b
	}
	if _, q, ok := divided(a, b); ok {
		return q
	}
	return math.RoundToEven((a - restByBits(a, b)) / b)
}

func restWhole(a, b int64) int64 {
	if b == 0 {
		return 0
	}
	r := a % b
	if r != 0 && (r < 0) != (b < 0) {
		r += b
	}
	return r
}

func quotientWhole(a, b int64) int64 {
	if b == 0 {
		return 0
	}
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}
