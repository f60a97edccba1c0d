package trait

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
)

// Wrong classifies a number from which a result that is not finite was computed.
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
	// Undefined explains an element v of y that is not finite, given the element of each operand
	// that it was computed from; ok is false if these do not explain it.
	Undefined(y *graph.Node, in []float64, v float64) (f Fault, ok bool)
}

// Degenerate is an operation that has no finite value for some arrays of which no element alone is to
// blame, such as singular matrices.
type Degenerate interface {
	// Degenerate explains element p of y, which is not finite, given the operands; ok is false if they
	// do not explain it.
	Degenerate(y *graph.Node, in []graph.Value, p int) (f Fault, ok bool)
}

// Overflowing is an operation that explains a result that is too large for its type.
type Overflowing interface {
	// Overflow explains a result that float64 holds and the type does not, given the largest
	// element of each operand. Its Cause completes the result: "…: the divisor is tiny".
	Overflow(in []float64) (f Fault, ok bool)
}

// Blaming is an operation that knows which operands can have caused a bad result. [Blames] decides
// for other operations.
type Blaming interface {
	// Blames reports whether an element c of an operand can have caused the defect w of the element
	// v of the result, which was computed from it.
	Blames(w Wrong, c, v float64) bool
}

// Blames reports whether an element c of an operand can have caused the defect w of an element v of
// the result: by the operation's own rule if it is [Blaming], and otherwise by [ByMagnitude].
func Blames(op graph.Op, w Wrong, c, v float64) bool {
	if b, ok := op.(Blaming); ok {
		return b.Blames(w, c, v)
	}
	return ByMagnitude(w, c, v)
}

// ByMagnitude reports whether c is as small as v for w = [Zero], or nearly as large for [Extreme].
// It follows no signs: for [Negative] it is false.
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
	// Loses explains why y, computed from the elements in[i] of operand i, has fewer digits than
	// they have; it returns "" if they do not explain it.
	Loses(in [][]float64, y float64) string
}

// Summing is an operation that adds up many terms, which may cancel.
type Summing interface {
	// Terms returns the terms of an element, computed from the elements in[i] of operand i, and a
	// word for them; ok is false if they are unknown.
	Terms(in [][]float64) (terms []float64, what string, ok bool)
}

// Magnification says when an operation magnifies the errors of its operands.
type Magnification uint8

// When errors grow.
const (
	LargeArguments Magnification = iota // if its argument is large
	Cancellation                        // if terms inside are larger than the result
)

// Magnifying is an operation that magnifies the error of its operands.
type Magnifying interface {
	// Magnifies returns when the errors grow.
	Magnifies() Magnification
}

// Windowed is an operation that knows which elements of an operand an element of its result needs.
// For other operations package inspect finds out by trying.
type Windowed interface {
	// Window returns the box of elements of operand i that the element of y at an index needs: from
	// lo up to hi, which is outside, along each axis; ok is false if no box is known.
	Window(y *graph.Node, i int, index []int) (lo, hi []int, ok bool)
}

// Limit returns the largest number of a float type for use in causes: "float32's 3.4e38".
func Limit(dt graph.DType) string {
	switch dt {
	case graph.F64:
		return "float64's 1.8e308"
	case graph.F16:
		return "float16's 65504"
	case graph.BF16:
		return "bfloat16's 3.39e38"
	}
	return "float32's 3.4e38"
}

// Number returns a number for use in causes, with enough digits to tell neighbours in float32
// apart.
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

// Rough returns a number for use in causes with two digits, where only its size matters.
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
