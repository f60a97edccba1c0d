package rewrite_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestExponentials: logarithms and quotients of what is made of exponentials are finite where the
// exponentials are not, and so are their derivatives; where they are, they are what they were.
func TestExponentials(t *testing.T) {
	type expression struct {
		name  string
		build func(x, y *graph.Node) *graph.Node // of x[i=1 j=2] and y[i=1]
		value func(a, b, y float64) float64      // written stably; NaN: only that it is finite counts
	}
	e, log, add := ops.Exp, ops.Log, ops.Add
	sum := func(x *graph.Node) *graph.Node { return ops.Sum(e(x), "j") }
	at := func(x *graph.Node, j int) *graph.Node { return ops.Squeeze(ops.Slice(x, "j", j, j+1), "j") }
	lse := func(x ...float64) float64 {
		m, s := math.Inf(-1), 0.0
		for _, v := range x {
			m = math.Max(m, v)
		}
		for _, v := range x {
			s += math.Exp(v - m)
		}
		return m + math.Log(s)
	}
	for _, c := range []expression{
		{"log(eᵃ + eᵇ)", func(x, y *graph.Node) *graph.Node { return log(add(e(at(x, 0)), e(at(x, 1)))) }, func(a, b, y float64) float64 { return lse(a, b) }},
		{"log(eᵃ + eᵇ + eʸ)", func(x, y *graph.Node) *graph.Node { return log(add(add(e(at(x, 0)), e(at(x, 1))), e(y))) },
			func(a, b, y float64) float64 { return lse(a, b, y) }},
		{"log(eʸ + e⁻ʸ)", func(x, y *graph.Node) *graph.Node { return log(add(e(y), e(ops.Neg(y)))) }, func(a, b, y float64) float64 { return lse(y, -y) }},
		{"log(1 + eᵃ + eᵇ)", func(x, y *graph.Node) *graph.Node { return log(add(ops.Shift(e(at(x, 0)), 1), e(at(x, 1)))) },
			func(a, b, y float64) float64 { return lse(0, a, b) }},
		{"log(Σe + 1 + 1)", func(x, y *graph.Node) *graph.Node { return log(ops.Shift(ops.Shift(sum(x), 1), 1)) },
			func(a, b, y float64) float64 { return lse(math.Log(2), a, b) }},
		{"log(Σe + Σe)", func(x, y *graph.Node) *graph.Node { return log(add(sum(x), sum(ops.Scale(x, 0.5)))) },
			func(a, b, y float64) float64 { return lse(a, b, a/2, b/2) }},
		{"log mean e", func(x, y *graph.Node) *graph.Node { return log(ops.Mean(e(x), "j")) }, func(a, b, y float64) float64 { return lse(a, b) - math.Ln2 }},
		{"log(mean e + 1)", func(x, y *graph.Node) *graph.Node { return log(ops.Shift(ops.Mean(e(x), "j"), 1)) },
			func(a, b, y float64) float64 { return lse(0, lse(a, b)-math.Ln2) }},
		{"log 2Σe", func(x, y *graph.Node) *graph.Node { return log(ops.Scale(sum(x), 2)) }, func(a, b, y float64) float64 { return lse(a, b) + math.Ln2 }},
		{"log(2Σe + 1)", func(x, y *graph.Node) *graph.Node { return log(ops.Shift(ops.Scale(sum(x), 2), 1)) },
			func(a, b, y float64) float64 { return lse(0, lse(a, b)+math.Ln2) }},
		{"log(eᵃ·eᵇ + 1)", func(x, y *graph.Node) *graph.Node { return log(ops.Shift(ops.Mul(e(at(x, 0)), e(at(x, 1))), 1)) },
			func(a, b, y float64) float64 { return lse(0, a+b) }},
		{"log eʸ", func(x, y *graph.Node) *graph.Node { return log(e(y)) }, func(a, b, y float64) float64 { return y }},
		{"log(½ + eʸ)", func(x, y *graph.Node) *graph.Node { return log(ops.Shift(e(y), 0.5)) }, func(a, b, y float64) float64 { return lse(y, -math.Ln2) }},
		{"log(10⁻⁸ + eʸ)", func(x, y *graph.Node) *graph.Node { return log(ops.Shift(e(y), 1e-8)) }, func(a, b, y float64) float64 { return lse(y, math.Log(1e-8)) }},
		{"log ΣΣe", func(x, y *graph.Node) *graph.Node { return log(ops.Sum(sum(x), "i")) }, func(a, b, y float64) float64 { return lse(a, b) }},
		{"log Σ [e 3]", func(x, y *graph.Node) *graph.Node {
			return log(ops.Sum(ops.Concat("j", e(x), ops.BroadcastTo(ops.Lit(x, 3), x.Shape())), "j"))
		}, func(a, b, y float64) float64 { return lse(a, b, math.Log(6)) }},
		{"log(Σe laid out + 2)", func(x, y *graph.Node) *graph.Node {
			return log(ops.Shift(ops.Expand(ops.Sum(ops.Transpose(e(x)), "j"), 0, "k"), 2))
		}, func(a, b, y float64) float64 { return lse(math.Ln2, a, b) }},
		{"log(Σe + y²)", func(x, y *graph.Node) *graph.Node { return log(add(sum(x), ops.Square(y))) },
			func(a, b, y float64) float64 { return lse(a, b, math.Log(y*y)) }},
		{"log(exp y² − ½)", func(x, y *graph.Node) *graph.Node { return log(ops.Shift(e(ops.Square(y)), -0.5)) },
			func(a, b, y float64) float64 { return y*y + math.Log1p(-0.5*math.Exp(-y*y)) }},
		{"eᵃ / (eᵃ + eᵇ)", func(x, y *graph.Node) *graph.Node {
			a := e(at(x, 0))
			return ops.Div(a, add(a, e(at(x, 1))))
		}, func(a, b, y float64) float64 { return 1 / (1 + math.Exp(b-a)) }},
		{"eᵃ / (1 + Σe)", func(x, y *graph.Node) *graph.Node { return ops.Div(e(at(x, 0)), ops.Shift(sum(x), 1)) },
			func(a, b, y float64) float64 { return 1 / (math.Exp(-a) + 1 + math.Exp(b-a)) }},
		{"Σe / (1 + Σe)", func(x, y *graph.Node) *graph.Node { return ops.Div(sum(x), ops.Shift(sum(x), 1)) },
			func(a, b, y float64) float64 { return 1 / (1 + 1/(math.Exp(a)+math.Exp(b))) }},
		{"eᵃ·Σe / (2 + mean e·Σe + [e 3]₀ + ½(eᵃ)²)", func(x, y *graph.Node) *graph.Node {
			laid := ops.Concat("j", e(x), ops.BroadcastTo(ops.Lit(x, 3), x.Shape()))
			s := add(ops.Shift(ops.Mul(ops.Mean(e(x), "j"), sum(x)), 2), at(laid, 0))
			return ops.Div(ops.Mul(e(at(x, 0)), sum(x)), add(s, ops.Scale(ops.Square(e(at(x, 0))), 0.5)))
		}, func(a, b, y float64) float64 {
			u, v := math.Exp(b-a), math.Exp(-a)
			return (1 + u) / (0.5*(1+u)*(1+u) + 2*v*v + v + 0.5)
		}},
		{"tanh y", func(x, y *graph.Node) *graph.Node {
			p, n := e(y), e(ops.Neg(y))
			return ops.Div(ops.Sub(p, n), add(p, n))
		}, func(a, b, y float64) float64 { return math.Tanh(y) }},
		{"2 / (2 + eʸ)", func(x, y *graph.Node) *graph.Node { return ops.Div(ops.Lit(y, 2), ops.Shift(e(y), 2)) },
			func(a, b, y float64) float64 { return math.Exp(math.Ln2 - lse(math.Ln2, y)) }},
	} {
		for _, dt := range []graph.DType{graph.F32, graph.F64} {
			for _, v := range [][3]float64{{0.5, -1, 0.25}, {1000, 999, 1000}, {-1000, -1001, -1000}, {1000, -1000, 3}, {20, 20, -20}, {0, 0, 1}} {
				t.Run(fmt.Sprint(c.name, " ", dt, " ", v), func(t *testing.T) {
					g := graph.New("exponentials")
					x, y := g.Input("x", dt, graph.Ax("i", 1), graph.Ax("j", 2)), g.Input("y", dt, graph.Ax("i", 1))
					z := c.build(x, y)
					loss := ops.Sum(z)
					nodes := append([]*graph.Node{loss}, grad.OrZero(loss, x, y)...)
					values, err := reftest.Tape(0, graph.Values{x: {Type: x.Type(), Data: v[:2]}, y: {Type: y.Type(), Data: v[2:]}}, nodes)
					if err != nil {
						t.Fatal(err)
					}
					var got [3][]float64
					for i, v := range values {
						got[i] = v.Data
					}
					want := c.value(v[0], v[1], v[2])
					tolerance := map[graph.DType]float64{graph.F32: 3e-7, graph.F64: 1e-15}[dt] * (1 + math.Abs(want)) * 3
					if math.Abs(got[0][0]-want) > tolerance {
						t.Errorf("%v, want %v", got[0][0], want)
					}
					const h = 1e-4
					slope := func(i int) float64 {
						up, down := v, v
						up[i] += h
						down[i] -= h
						return (c.value(up[0], up[1], up[2]) - c.value(down[0], down[1], down[2])) / (2 * h)
					}
					for i, d := range []float64{got[1][0], got[1][1], got[2][0]} {
						want := slope(i)
						if math.IsNaN(d) || math.IsInf(d, 0) || math.Abs(d-want) > 1e-3*math.Max(1, math.Abs(want)) {
							t.Errorf("derivative %d is %v, want about %v", i, d, want)
						}
					}
				})
			}
		}
	}
}
