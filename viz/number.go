package viz

import (
	"math"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
)

// number writes a constant of type t: 0.1 and not 0.10000000149011612, and a reciprocal, as
// averages have it, as 1/150.
func number(v float64, t graph.DType) expr.Expr {
	if v < 0 || math.Signbit(v) {
		return number(-v, t).Neg()
	}
	if v != v {
		return expr.Sym("NaN")
	}
	if math.IsInf(v, 1) {
		return expr.Sym("∞")
	}
	bits := 64
	if t.Wide() == graph.F32 {
		bits = 32
	}
	s := strconv.FormatFloat(v, 'g', -1, bits)
	if n := math.Round(1 / v); len(s) > 6 && n > 1 && n < 1e9 && t.IsFloat() && t.Round(1/n) == v {
		return decimal(1).Over(decimal(n))
	}
	short, _ := strconv.ParseFloat(s, 64)
	return decimal(short)
}

// decimal returns a number with at most 12 digits.
func decimal(v float64) expr.Expr {
	s := strconv.FormatFloat(v, 'g', 12, 64)
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		s = strconv.FormatFloat(v, 'f', -1, 64)
	}
	if m, exp, ok := strings.Cut(s, "e"); ok {
		sign := ""
		if strings.HasPrefix(exp, "-") {
			sign = "−"
		}
		s = m + "e" + sign + strings.TrimLeft(exp, "+-0")
	}
	return expr.Expr{Kind: expr.KindNumber, Text: s}
}

// valueOf reads an ExprNumber.
func valueOf(e expr.Expr) (float64, bool) {
	if e.Kind != expr.KindNumber {
		return 0, false
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(e.Text, "−", "-"), 64)
	return v, err == nil && v == v && !math.IsInf(v, 0)
}

// rounded returns a number with four digits, 0.3321 or 1.200, so that its box keeps its size from
// step to step.
func rounded(v float64) expr.Expr {
	if v < 0 {
		return rounded(-v).Neg()
	}
	s := strconv.FormatFloat(v, 'e', 3, 64)
	e := 0
	if math.IsInf(v, 0) || v != v {
		return number(v, graph.F64)
	}
	if at := strings.IndexByte(s, 'e'); at >= 0 {
		e, _ = strconv.Atoi(s[at+1:])
	}
	if v == 0 || e < -3 || e > 6 {
		r, _ := strconv.ParseFloat(s, 64)
		return number(r, graph.F64)
	}
	return expr.Sym(strconv.FormatFloat(v, 'f', max(0, 3-e), 64))
}

// course returns a number that changes from one value to another, or stays, with three digits.
func course(from, to float64) expr.Expr {
	digits := func(v float64) string { return strings.Replace(strconv.FormatFloat(v, 'g', 3, 64), "-", "−", 1) }
	if from == to {
		return expr.Sym(digits(from))
	}
	return expr.Sym(digits(from) + " → " + digits(to))
}
