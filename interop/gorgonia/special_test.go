package gorgonia

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestSpecialValues gives every supported elementwise operation the values at
// which engines go wrong, each with each.
func TestSpecialValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	special := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 2, -3, 1e-30, -1e-30, 17, -17, 100, -100, 800, -800, 7e4, -7e4, 1e10, -1e10, 3e38, -3e38, inf, -inf, nan}
	unary := map[string]func(x *graph.Node) *graph.Node{
		"Abs": ops.Abs, "Cos": ops.Cos, "Exp": ops.Exp, "Expm1": ops.Expm1, "Log": ops.Log, "Log1p": ops.Log1p, "LogSigmoid": ops.LogSigmoid, "Softplus": ops.Softplus, "Neg": ops.Neg,
		"Relu": ops.ReLU, "Sigmoid": ops.Sigmoid, "Sign": ops.Sign, "Sin": ops.Sin, "Sqrt": ops.Sqrt,
		"Square": ops.Square, "Tanh": ops.Tanh, "Cast": func(x *graph.Node) *graph.Node { return ops.Cast(x, graph.Bool) },
		"Not": func(x *graph.Node) *graph.Node { return ops.Not(ops.Less(x, ops.Lit(x, 0))) },
	}
	binary := map[string]func(a, b *graph.Node) *graph.Node{
		"Add": func(a, b *graph.Node) *graph.Node { return ops.Add(a, b) }, "Div": ops.Div, "Equal": ops.Equal, "Less": ops.Less, "LessEqual": ops.LessEqual,
		"Maximum": ops.Maximum, "Minimum": ops.Minimum, "Mul": func(a, b *graph.Node) *graph.Node { return ops.Mul(a, b) }, "NotEqual": ops.NotEqual, "Pow": ops.Pow, "Sub": ops.Sub,
		"Or": func(a, b *graph.Node) *graph.Node {
			return ops.Or(ops.Less(a, ops.Lit(a, 0)), ops.Less(b, ops.Lit(b, 0)))
		},
		"And": func(a, b *graph.Node) *graph.Node {
			return ops.And(ops.Less(a, ops.Lit(a, 0)), ops.Less(b, ops.Lit(b, 0)))
		},
	}
	check := func(t *testing.T, y *graph.Node, feed graph.Values) {
		t.Helper()
		got, err := evaluate(t, feed, y)
		if u := new(Unsupported); errors.As(err, &u) {
			t.Skip(err)
		} else if err != nil {
			t.Fatal(err)
		}
		want, err := ref.Eval(trait.Env{}, feed, y)
		if err != nil {
			t.Fatal(err)
		}
		if d := eachDiffers(got[0], want[0]); d != "" {
			t.Errorf("%v: %s", y, d)
		}
	}
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		n := len(special)
		for name, f := range unary {
			t.Run(fmt.Sprintf("%s/%v", name, dt), func(t *testing.T) {
				g := graph.New("special")
				x := g.Input("x", dt, graph.Ax("i", n))
				check(t, f(x), graph.Values{x: value(x, special...)})
				for _, v := range special {
					g := graph.New("special")
					x := g.Input("x", dt)
					check(t, f(x), graph.Values{x: value(x, v)})
				}
			})
		}
		for name, f := range binary {
			t.Run(fmt.Sprintf("%s/%v", name, dt), func(t *testing.T) {
				for _, v := range special {
					g := graph.New("special")
					x, c := g.Input("x", dt, graph.Ax("i", n)), g.Input("c", dt)
					z := ops.BroadcastTo(ops.Add(c, ops.Lit(c, 0)), x.Shape())
					xs, cs := value(x, special...), value(c, v)
					same := ops.Reshape(z, n) // not a scalar to the translation
					check(t, f(x, c), graph.Values{x: xs, c: cs})
					check(t, f(c, x), graph.Values{x: xs, c: cs})
					check(t, f(x, same), graph.Values{x: xs, c: cs})
					check(t, f(c, c), graph.Values{c: cs})
				}
			})
		}
	}
}

// value is a leaf's value, rounded to its type.
func value(n *graph.Node, data ...float64) graph.Value {
	v := graph.NewValue(n.Type())
	for i := range v.Data {
		v.Data[i] = n.DType().Round(data[i])
	}
	return v
}
