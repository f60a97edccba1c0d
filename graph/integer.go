package graph

import (
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph/attr"
)

// Integer arithmetic wraps around: a result that overflows its type loses its upper bits, as in Go,
// NumPy and PyTorch. That holds for sums, differences, products and negations, and for |x| of
// the least integer, which is itself. A conversion from float does not wrap around, on any machine:
// see Round.

// Check returns a [Mistake] for the first number that is no value of the type, nil if there is
// none. Digits aside, f64 holds every number; f32, f16 and bf16 all but the finite ones that they
// would round to an infinity; an integer type the whole numbers in its range; bool 0 and 1. The largest i64 is 2⁶³ as
// a float64.
func (d DType) Check(data ...float64) error {
	for _, v := range data {
		if d.holds(v) {
			continue
		}
		fix := "write a whole number in its range, or convert the array with ops.Cast"
		switch d {
		case Bool:
			fix = "write 0 or 1"
		case F32:
			fix = "its finite numbers end at 3.4e38: use f64"
		case F16:
			fix = "its finite numbers end at 65504: use f32 or bf16"
		case BF16:
			fix = "its finite numbers end at 3.39e38: use f64"
		}
		return &Mistake{fmt.Sprintf("%v is no value of type %v", attr.FloatOf(v), d), fix}
	}
	return nil
}

// holds reports whether v is a value of the type, apart from digits.
func (d DType) holds(v float64) bool {
	switch r := d.Round(v); {
	case d == F64 || d.IsFloat() && v != v:
		return true
	case d.IsFloat():
		return r == v || !math.IsInf(r, 0)
	default:
		return r == v
	}
}

// ends returns the least and the greatest integer of the type, as far as float64 has them.
func (d DType) ends() (least, greatest float64) {
	if d == U8 {
		return 0, math.MaxUint8
	}
	greatest = math.Ldexp(1, 8*d.Size()-1)
	return -greatest, greatest - 1
}

// Wrap returns v without the bits that an integer type does not have: 256 is 0 as u8.
func (d DType) Wrap(v int64) int64 {
	switch d {
	case I32:
		return int64(int32(v))
	case I8:
		return int64(int8(v))
	case U8:
		return int64(uint8(v))
	}
	return v
}

// Whole converts v to an integer of an integer type, as [DType.Round] does.
func (d DType) Whole(v float64) int64 {
	if v = d.Round(v); v >= math.MaxInt64 { // 2⁶³ as a float64, which no int64 is
		return math.MaxInt64
	}
	return int64(v)
}
