package rewrite_test

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
)

// formulas are numbers of x[n] that overflow at 1000 as they are written, beside what does not.
var formulas = map[string][2]func(x *graph.Node) *graph.Node{
	"log(1 + exp x)": {
		func(x *graph.Node) *graph.Node { return ops.Sum(ops.Log(ops.Shift(ops.Exp(x), 1))) },
		func(x *graph.Node) *graph.Node { return ops.Sum(ops.Softplus(x)) },
	},
	"log Σ exp x": {
		func(x *graph.Node) *graph.Node { return ops.Log(ops.Sum(ops.Exp(x))) },
		func(x *graph.Node) *graph.Node { return ops.LogSumExp(x, 0) },
	},
	"log softmax x": {
		func(x *graph.Node) *graph.Node { return second(ops.Log(ops.Softmax(x, 0))) },
		func(x *graph.Node) *graph.Node { return second(ops.LogSoftmax(x, 0)) },
	},
	"exp x / Σ exp x": {
		func(x *graph.Node) *graph.Node { return second(ops.Div(ops.Exp(x), ops.Sum(ops.Exp(x), 0, ops.Keep))) },
		func(x *graph.Node) *graph.Node { return second(ops.Softmax(x, 0)) },
	},
	"1 / (1 + exp(−x))": {
		func(x *graph.Node) *graph.Node {
			return ops.Sum(ops.Div(ops.Lit(x, 1), ops.Shift(ops.Exp(ops.Neg(x)), 1)))
		},
		func(x *graph.Node) *graph.Node { return ops.Sum(ops.Sigmoid(x)) },
	},
	"log σ(x)": {
		func(x *graph.Node) *graph.Node { return ops.Sum(ops.Log(ops.Sigmoid(x))) },
		func(x *graph.Node) *graph.Node { return ops.Sum(ops.LogSigmoid(x)) },
	},
}

func second(x *graph.Node) *graph.Node { return ops.Sum(ops.Slice(x, 0, 1, 2)) }

// along is the derivative of Σ y by x, along v.
func along(y, x, v *graph.Node) *graph.Node {
	return ops.Sum(ops.Mul(v, grad.Of(ops.Sum(y), x)[0]))
}

// sweeps are the ways to derive f(x), and whether a formula that overflows is derived stably.
var sweeps = map[string]struct {
	stable bool
	of     func(f func(x *graph.Node) *graph.Node, x, v *graph.Node) *graph.Node
}{
	"value": {true, func(f func(x *graph.Node) *graph.Node, x, v *graph.Node) *graph.Node { return f(x) }},
	"Of":    {true, func(f func(x *graph.Node) *graph.Node, x, v *graph.Node) *graph.Node { return grad.Of(f(x), x)[0] }},
	"Of of Of": {true, func(f func(x *graph.Node) *graph.Node, x, v *graph.Node) *graph.Node {
		return grad.Of(along(f(x), x, v), x)[0]
	}},
	"third": {true, func(f func(x *graph.Node) *graph.Node, x, v *graph.Node) *graph.Node {
		return grad.Of(along(along(f(x), x, v), x, v), x)[0]
	}},
	"Each": {true, func(f func(x *graph.Node) *graph.Node, x, v *graph.Node) *graph.Node { return each(f, x) }},
	"Of of Each": {true, func(f func(x *graph.Node) *graph.Node, x, v *graph.Node) *graph.Node {
		return grad.Of(ops.Sum(each(f, x)), x)[0]
	}},
	"JVP": {false, func(f func(x *graph.Node) *graph.Node, x, v *graph.Node) *graph.Node {
		return grad.JVP([]*graph.Node{f(x)}, []*graph.Node{x}, []*graph.Node{v})[0]
	}},
	"HVP": {false, func(f func(x *graph.Node) *graph.Node, x, v *graph.Node) *graph.Node {
		return grad.HVP(f(x), []*graph.Node{x}, []*graph.Node{v})[0]
	}},
	"Jacobian": {false, func(f func(x *graph.Node) *graph.Node, x, v *graph.Node) *graph.Node { return grad.Jacobian(f(x), x) }},
	"Hessian":  {false, func(f func(x *graph.Node) *graph.Node, x, v *graph.Node) *graph.Node { return grad.Hessian(f(x), x) }},
	"Of of JVP": {false, func(f func(x *graph.Node) *graph.Node, x, v *graph.Node) *graph.Node {
		return grad.Of(grad.JVP([]*graph.Node{f(x)}, []*graph.Node{x}, []*graph.Node{v})[0], x)[0]
	}},
	"Each of Of": {false, func(f func(x *graph.Node) *graph.Node, x, v *graph.Node) *graph.Node {
		return each(func(x *graph.Node) *graph.Node { return grad.Of(f(x), x)[0] }, x)
	}},
	"Of of Each′": {false, func(f func(x *graph.Node) *graph.Node, x, v *graph.Node) *graph.Node {
		return grad.Of(ops.Sum(ops.Square(each(func(x *graph.Node) *graph.Node { return grad.Of(f(x), x)[0] }, x))), x)[0]
	}},
}

// each is f of x twice, as of two examples.
func each(f func(x *graph.Node) *graph.Node, x *graph.Node) *graph.Node {
	return vmap.Each(func(x []*graph.Node) []*graph.Node { return []*graph.Node{f(x[0])} }, ops.Stack(0, "", x, x))[0]
}

// TestDerivativesOfStableFormulas: what is written without overflow has derivatives in every way;
// what overflows as it is written has the same values, and reverse derivatives of any order. Of the
// other ways, package grad and package vmap say that they do not follow.
func TestDerivativesOfStableFormulas(t *testing.T) {
	for name, formula := range formulas {
		for what, sweep := range sweeps {
			var got [2][]float64
			for i, f := range formula {
				g := graph.New("overflow")
				x, v := g.Input("x", graph.F64, graph.Ax("n", 3)), g.Input("v", graph.F64, graph.Ax("n", 3))
				y := sweep.of(f, x, v)
				res, err := rewrite.Run(g, []*graph.Node{y, x, v}, rewrite.Passes()...)
				if err != nil {
					t.Fatalf("%s of %s: %v", what, name, err)
				}
				out, err := ref.Eval(trait.Env{}, graph.Values{
					res.Node(x): {Type: x.Type(), Data: []float64{1000, 0.5, -1000}},
					res.Node(v): {Type: v.Type(), Data: []float64{1, -2, 0.5}},
				}, res.Node(y))
				if err != nil {
					t.Fatalf("%s of %s: %v", what, name, err)
				}
				got[i] = out[0].Data
			}
			agree := true
			for i, want := range got[1] {
				if math.IsNaN(want) || math.IsInf(want, 0) {
					t.Errorf("%s of %s, written stably: %v", what, name, got[1])
					break
				}
				agree = agree && math.Abs(got[0][i]-want) <= 1e-12*max(1, math.Abs(want))
			}
			if sweep.stable && !agree {
				t.Errorf("%s of %s: %v, want %v", what, name, got[0], got[1])
			}
			if !sweep.stable && agree && name == "log(1 + exp x)" {
				t.Errorf("%s of %s is stable: say so in the documentation of packages grad and vmap", what, name)
			}
		}
	}
}
