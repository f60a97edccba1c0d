package viz

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
)

func TestSimplify(t *testing.T) {
	x, y := expr.Sym("x", "i"), expr.Sym("y", "i", "j")
	γ := expr.Sym("γ")
	num := func(v float64) expr.Expr { return decimal(v) }
	mul := func(f ...expr.Expr) expr.Expr { return expr.Expr{Kind: expr.KindMul, Args: f} }
	add := func(f ...expr.Expr) expr.Expr { return expr.Expr{Kind: expr.KindAdd, Args: f} }
	div := func(x, y expr.Expr) expr.Expr { return expr.Expr{Kind: expr.KindDiv, Args: []expr.Expr{x, y}} }
	neg := func(x expr.Expr) expr.Expr { return expr.Expr{Kind: expr.KindNeg, Args: []expr.Expr{x}} }
	sum := func(e expr.Expr) expr.Expr { return expr.Big("Σ", []string{"j"}, e) }
	for _, c := range []struct {
		e    expr.Expr
		want string
	}{
		{mul(num(1), x), "xᵢ"},
		{mul(x, num(1), num(1)), "xᵢ"},
		{mul(x, num(0)), "0"},
		{mul(num(2), div(num(1), num(150)), x), "2/150·xᵢ"},
		{mul(num(150), div(num(1), num(150)), x), "xᵢ"},
		{div(x, num(0)), "xᵢ/0"},
		{div(x, num(2)), "1/2·xᵢ"},
		{mul(x, num(0.5)), "0.5·xᵢ"},
		{mul(x, γ, num(2)), "2·γ·xᵢ"},
		{mul(x, x, y), "xᵢ²·yᵢⱼ"},
		{mul(x.Pow(num(2)), x), "xᵢ³"},
		{div(div(x, y), γ), "xᵢ/(yᵢⱼ·γ)"},
		{div(x, div(y, γ)), "γ·xᵢ/yᵢⱼ"},
		{div(x, x), "xᵢ/xᵢ"}, // 1 only where x is not 0
		{neg(neg(x)), "xᵢ"},
		{mul(neg(x), neg(γ)), "γ·xᵢ"},
		{neg(add(x, neg(γ))), "γ − xᵢ"},
		{neg(x).Pow(num(2)), "xᵢ²"},
		{x.Pow(num(1)), "xᵢ"},
		{add(x, num(0)), "xᵢ"},
		{add(neg(x), γ), "γ − xᵢ"},
		{add(num(1), neg(x)), "1 − xᵢ"},
		{add(x, num(2), num(3)), "xᵢ + 5"},
		{add(x, neg(add(γ, neg(y)))), "xᵢ + yᵢⱼ − γ"},
		{add(mul(num(2), x), mul(num(2), γ)), "2·(xᵢ + γ)"},
		{add(mul(num(2), x), mul(num(3), γ)), "2·xᵢ + 3·γ"},
		{add(mul(num(2), x), neg(mul(num(2), γ))), "2·(xᵢ − γ)"},
		{add(num(2), mul(num(2), γ)), "2 + 2·γ"},
		{sum(x), "3·xᵢ"},
		{sum(num(1)), "3"},
		{sum(neg(mul(num(2), y))), "−2·Σⱼ yᵢⱼ"},
		{sum(mul(γ, y)), "Σⱼ γ·yᵢⱼ"},
		{expr.Big("mean", []string{"j"}, x), "xᵢ"},
		{expr.Big("max", []string{"j"}, x), "xᵢ"},
		{expr.Big("max", []string{"j"}, neg(y)), "maxⱼ (−yᵢⱼ)"},
		{expr.Big("argmax", []string{"j"}, x), "argmaxⱼ xᵢ"},
		{mul(expr.Sym("NaN"), num(0)), "0"},
	} {
		u := &unfolder{size: map[string]int{"j": 3}}
		if got := Unicode(u.simplify(c.e)); got != c.want {
			t.Errorf("%s: got %s, want %s", Unicode(c.e), got, c.want)
		}
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		v    float64
		t    graph.DType
		want string
	}{
		{float64(float32(0.1)), graph.F32, "0.1"},
		{float64(float32(1.0 / 150)), graph.F32, "1/150"},
		{1.0 / 3, graph.F64, "1/3"},
		{float64(float32(1.0 / 3)), graph.F64, "0.333333343267"}, // not a reciprocal in float64
		{0.25, graph.F64, "0.25"},
		{-2, graph.F32, "−2"},
		{math.Copysign(0, -1), graph.F64, "−0"},
		{1e20, graph.F64, "1e20"},
		{-1e-7, graph.F64, "−1e−7"},
		{math.Pi, graph.F64, "3.14159265359"},
		{16777216, graph.F32, "16777216"},
		{math.NaN(), graph.F64, "NaN"},
		{math.Inf(-1), graph.F64, "−∞"},
		{7, graph.I64, "7"},
	} {
		if got := Unicode(number(c.v, c.t)); got != c.want {
			t.Errorf("%v %v: got %s, want %s", c.v, c.t, got, c.want)
		}
	}
}
