package ops

import (
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
)

// Explanations of wrong numbers that several operations share; see package trait.

// keepsSign is the Blames of operations whose result is negative where an operand is.
func keepsSign(w trait.Wrong, c, v float64) bool {
	if w == trait.Negative {
		return c < 0
	}
	return trait.ByMagnitude(w, c, v)
}

// noLog explains the logarithm f of x, which is −∞ at zero and has no value below.
func noLog(f string, x, zero float64) (trait.Fault, bool) {
	call := fmt.Sprintf("%s(%s)", f, trait.Number(x))
	switch {
	case x < zero:
		return trait.Fault{Cause: "log of a negative: " + call, Operand: 0, Wrong: trait.Negative}, true
	case x == zero:
		return trait.Fault{Cause: "log of zero: " + call + " is −∞", Operand: 0, Wrong: trait.Zero}, true
	}
	return trait.Fault{}, false
}

// opposed explains a sum or difference of two infinities.
func opposed(in []float64) (trait.Fault, bool) {
	return trait.Fault{Cause: "∞ − ∞", Operand: -1}, math.IsInf(in[0], 0) && math.IsInf(in[1], 0)
}

// tooLarge explains an exponential f of x that is infinite.
func tooLarge(f string, y *graph.Node, x, v float64) (trait.Fault, bool) {
	cause := fmt.Sprintf("overflow of %s: %s(%s) is beyond %s", f, f, trait.Number(x), trait.Limit(y.DType()))
	return trait.Fault{Cause: cause, Operand: 0, Wrong: trait.Extreme}, math.IsInf(v, 0)
}

// cancelled explains y = a + sign·b, of numbers more than three times as large.
func cancelled(in [][]float64, sign, y float64) string {
	if len(in[0]) != 1 || len(in[1]) != 1 {
		return ""
	}
	a, b := in[0][0], in[1][0]
	large := max(math.Abs(a), math.Abs(b))
	if !(large > 3*math.Abs(y)) {
		return ""
	}
	between := "−"
	if (sign > 0) == (b >= 0) {
		between = "+"
	}
	return fmt.Sprintf("cancellation: %s %s %s = %s keeps the error of numbers %s times its size",
		trait.Number(a), between, trait.Number(math.Abs(b)), trait.Number(y), trait.Rough(large/math.Abs(y)))
}

// manyRadians explains a sine or cosine of many radians.
func manyRadians(f string, in [][]float64) string {
	if x := in[0]; len(x) == 1 && math.Abs(x[0]) > 3 {
		return fmt.Sprintf("large argument: %s(%s) keeps the absolute error of its argument", f, trait.Number(x[0]))
	}
	return ""
}
