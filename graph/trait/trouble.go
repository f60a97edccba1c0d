package trait

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
)

// Wrong says what is wrong with a number from which something that is not finite was computed.
type Wrong uint8

// What can be wrong with a number.
const (
	Nothing  Wrong = iota
	Negative       // where a positive number was wanted
	Zero           // or close to it, where anything else was
	Extreme        // in magnitude
)

// A Fault explains why an element of a result is not finite.
type Fault struct {
	Cause   string // in words, with the numbers: "log of a negative: log(−1)"
	Operand int    // the number of the operand to blame, -1 where none alone is
	Wrong   Wrong  // what is wrong with it
}

// Undefined is an operation that has no finite value for some operands.
type Undefined interface {
	// Undefined explains an element v of y that is not finite, given the element of each operand that
	// it was computed of; ok is false where these do not explain it.
	Undefined(y *graph.Node, in []float64, v float64) (f Fault, ok bool)
}

// Overflowing is an operation that says why a result is too large for its type.
type Overflowing interface {
	// Overflow explains a result that float64 holds, and the type does not, given the largest element
	// of each operand. The cause is what is said after the result: "the divisor is tiny".
	Overflow(in []float64) (f Fault, ok bool)
}

// Blaming is an operation that knows which operands can be behind a bad result; see [Blames] for the others.
type Blaming interface {
	// Blames reports whether an element c of an operand can be why the element v of the result, which
	// was computed of it, is wrong.
	Blames(w Wrong, c, v float64) bool
}

// Blames reports whether an element c of an operand can be why an element v of an operation's result is
// wrong: by what the operation says of itself, or else because c is as small, or nearly as large.
// Where an operation says nothing, no sign is followed through it.
func Blames(op graph.Op, w Wrong, c, v float64) bool {
	if b, ok := op.(Blaming); ok {
		return b.Blames(w, c, v)
	}
	return ByMagnitude(w, c, v)
}

// ByMagnitude is what [Blames] reports of an operation that says nothing of itself.
func ByMagnitude(w Wrong, c, v float64) bool {
	switch w {
	case Zero:
		return math.Abs(c) <= math.Abs(v)
	case Extreme:
		return math.Abs(c) >= math.Max(8, math.Sqrt(math.Abs(v))/2)
	}
	return false
}

// Lossy is an operation that loses digits for some operands.
type Lossy interface {
	// Loses explains why y, computed of the elements in[i] of operand i, has fewer digits than they
	// have; "" where they do not explain it.
	Loses(in [][]float64, y float64) string
}

// Summing is an operation that adds up many terms, which may cancel.
type Summing interface {
	// Terms returns the terms of an element, computed of the elements in[i] of operand i, and what
	// they are called; ok is false where they cannot be told.
	Terms(in [][]float64) (terms []float64, what string, ok bool)
}

// Magnification says for which operands an operation magnifies their error.
type Magnification uint8

// When errors grow.
const (
	LargeArguments Magnification = iota // that of its argument, where it is large
	Cancellation                        // that of terms inside, where they are larger than the result
)

// Magnifying is an operation that magnifies the error of its operands.
type Magnifying interface {
	Magnifies() Magnification
}

// Windowed is an operation that knows which elements of an operand an element of its result needs; of
// others it is found out by trying.
type Windowed interface {
	// Window returns, for the element of y at an index, the box of elements of operand i: from lo up to
	// hi along each axis; ok is false where no box is known.
	Window(y *graph.Node, i int, index []int) (lo, hi []int, ok bool)
}

// Limit is the largest number of a float type, in words: "float32's 3.4e38".
func Limit(dt graph.DType) string {
	if dt == graph.F64 {
		return "float64's 1.8e308"
	}
	return "float32's 3.4e38"
}

// Number is a number with as many digits as tell neighbours in float32 apart, for use in causes.
func Number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "∞"
	case math.IsInf(v, -1):
		return "−∞"
	}
	return strings.ReplaceAll(strconv.FormatFloat(v, 'g', 8, 64), "-", "−")
}

// Rough is a number of which only the size matters, with two digits.
func Rough(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Number(v)
	}
	text := fmt.Sprintf("%.2g", v)
	if strings.Contains(text, "e+") && math.Abs(v) < 1e4 {
		return fmt.Sprintf("%.0f", v)
	}
	return strings.Replace(text, "+0", "", 1)
}
