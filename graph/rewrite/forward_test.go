package rewrite

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// forwardCases are those of the rules that stabilise and specialise.
var forwardCases = []ruleCase{
	{"naive softmax", true, func(v leaves) *graph.Node { return ops.Div(ops.Exp(v.x), ops.Sum(ops.Exp(v.x), "d", ops.Keep)) }},
	{"naive softmax", true, func(v leaves) *graph.Node {
		return ops.Div(ops.Exp(v.x), ops.Expand(ops.Sum(ops.Exp(v.x), "d"), 1, ""))
	}},
	{"naive softmax", true, func(v leaves) *graph.Node {
		return ops.Div(ops.Exp(v.x), ops.Over(ops.Sum(ops.Exp(v.x), "d"), "i", "d"))
	}},
	{"naive softmax", true, func(v leaves) *graph.Node { return ops.Div(ops.Exp(v.x), ops.Sum(ops.Exp(v.x), "i")) }},
	{"naive softmax", true, func(v leaves) *graph.Node { return ops.Div(ops.Exp(v.a), ops.Sum(ops.Exp(v.a), 0)) }},
	// The sums of rows beside the columns: e_ij / Σ_k e_jk is no softmax.
	{"naive softmax", false, func(v leaves) *graph.Node { return ops.Div(ops.Exp(v.a), ops.Sum(ops.Exp(v.a), 1)) }},
	{"naive softmax", false, func(v leaves) *graph.Node {
		return ops.Div(ops.Exp(v.a), ops.Transpose(ops.Sum(ops.Exp(v.a), 1, ops.Keep)))
	}},
	{"naive softmax", false, func(v leaves) *graph.Node {
		return ops.Div(ops.Exp(v.cube), ops.Transpose(ops.Sum(ops.Exp(v.cube), 2, ops.Keep), 1, 0, 2))
	}},
	{"naive softmax", false, func(v leaves) *graph.Node { return ops.Div(ops.Exp(v.x), ops.Sum(ops.Exp(v.w), "d", ops.Keep)) }},
	{"naive softmax", false, func(v leaves) *graph.Node { return ops.Div(ops.Exp(v.x), ops.Mean(ops.Exp(v.x), "d", ops.Keep)) }},
	{"naive softmax", false, func(v leaves) *graph.Node { return ops.Div(ops.Exp(v.x), ops.Sum(ops.Exp(v.x))) }},
	{"naive softmax", false, func(v leaves) *graph.Node { return ops.Div(ops.Sum(ops.Exp(v.x), "d", ops.Keep), ops.Exp(v.x)) }},
	{"naive softmax", false, func(v leaves) *graph.Node {
		e := ops.Exp(v.x)
		return ops.Div(e, ops.Reverse(ops.Sum(e, "d", ops.Keep), "i"))
	}},

	{"naive log-sum-exp", true, func(v leaves) *graph.Node { return ops.Log(ops.Sum(ops.Exp(v.x), "d")) }},
	{"naive log-sum-exp", true, func(v leaves) *graph.Node { return ops.Log(ops.Sum(ops.Exp(v.x), "i", ops.Keep)) }},
	{"naive log-sum-exp", true, func(v leaves) *graph.Node { return ops.Log(ops.Sum(ops.Exp(v.x))) }},
	{"naive log-sum-exp", false, func(v leaves) *graph.Node { return ops.Log(ops.Mean(ops.Exp(v.x), "d")) }},
	{"naive log-sum-exp", false, func(v leaves) *graph.Node { return ops.Log(ops.Sum(ops.Mul(v.w, ops.Exp(v.x)), "d")) }},
	{"naive log-sum-exp", false, func(v leaves) *graph.Node { return ops.Log1p(ops.Sum(ops.Exp(v.x), "d")) }},

	{"log of softmax", true, func(v leaves) *graph.Node { return ops.Log(ops.Softmax(v.x, "i")) }},
	{"log of softmax", false, func(v leaves) *graph.Node { return ops.Log(ops.Sigmoid(v.x)) }},
	{"log of softmax", false, func(v leaves) *graph.Node { return ops.Log(ops.Shift(ops.Softmax(v.x, "i"), 0.5)) }},

	{"log of sigmoid", true, func(v leaves) *graph.Node { return ops.Log(ops.Sigmoid(v.x)) }},
	{"log of sigmoid", true, func(v leaves) *graph.Node { return ops.Log(ops.OneMinus(ops.Sigmoid(v.x))) }},
	{"log of sigmoid", false, func(v leaves) *graph.Node { return ops.Log(ops.Sub(ops.Lit(v.x, 2), ops.Sigmoid(v.x))) }},
	{"log of sigmoid", false, func(v leaves) *graph.Node { return ops.Log(ops.Tanh(v.x)) }},

	{"naive softplus", true, func(v leaves) *graph.Node { return ops.Log(ops.Shift(ops.Exp(v.x), 1)) }},
	{"naive softplus", true, func(v leaves) *graph.Node { return ops.Log1p(ops.Exp(ops.Neg(v.x))) }},
	{"naive softplus", false, func(v leaves) *graph.Node { return ops.Log(ops.Shift(ops.Exp(v.x), 2)) }},
	{"naive softplus", false, func(v leaves) *graph.Node { return ops.Log1p(v.x) }},

	{"naive sigmoid", true, func(v leaves) *graph.Node {
		return ops.Div(ops.Lit(v.x, 1), ops.Shift(ops.Exp(ops.Neg(v.x)), 1))
	}},
	{"naive sigmoid", true, func(v leaves) *graph.Node {
		return ops.Div(ops.Lit(v.x, 1), ops.Add(ops.Lit(v.x, 1), ops.Exp(v.x)))
	}},
	{"naive sigmoid", true, func(v leaves) *graph.Node { return ops.Div(ops.Exp(v.x), ops.Shift(ops.Exp(v.x), 1)) }},
	{"naive sigmoid", false, func(v leaves) *graph.Node { return ops.Div(ops.Exp(v.x), ops.Shift(ops.Exp(v.x), 2)) }},
	{"naive sigmoid", false, func(v leaves) *graph.Node { return ops.Div(ops.Exp(v.w), ops.Shift(ops.Exp(v.x), 1)) }},
	{"naive sigmoid", false, func(v leaves) *graph.Node { return ops.Div(ops.Lit(v.x, 1), ops.Shift(v.x, 1)) }},

	{"log of exponentials", true, func(v leaves) *graph.Node { return ops.Log(ops.Exp(v.x)) }},
	{"log of exponentials", true, func(v leaves) *graph.Node { return ops.Log(ops.Shift(ops.Exp(v.x), 2)) }},
	{"log of exponentials", true, func(v leaves) *graph.Node { return ops.Log(ops.Add(ops.Lit(v.s, 1e-8), ops.Exp(v.s))) }},
	{"log of exponentials", true, func(v leaves) *graph.Node { return ops.Log(ops.Add(ops.Exp(v.x), ops.Exp(ops.Neg(v.x)))) }},
	{"log of exponentials", true, func(v leaves) *graph.Node { return ops.Log(ops.Shift(ops.Sum(ops.Exp(v.x), "d"), 2)) }},
	{"log of exponentials", true, func(v leaves) *graph.Node { return ops.Log(ops.Shift(ops.Mean(ops.Exp(v.x), "d"), 2)) }},
	{"log of exponentials", true, func(v leaves) *graph.Node { return ops.Log1p(ops.Sum(ops.Exp(v.x))) }},
	{"log of exponentials", true, func(v leaves) *graph.Node {
		return ops.Log(ops.Sum(ops.Transpose(ops.Div(ops.Scale(ops.Exp(v.x), 3), ops.Square(ops.Exp(v.w))))))
	}},
	{"log of exponentials", false, func(v leaves) *graph.Node { return ops.Log(ops.Shift(ops.Exp(v.x), -2)) }},
	{"log of exponentials", false, func(v leaves) *graph.Node { return ops.Log(ops.Sub(ops.Exp(v.x), ops.Exp(v.w))) }},
	{"log of exponentials", false, func(v leaves) *graph.Node { return ops.Log(ops.Sum(ops.Mul(v.w, ops.Exp(v.x)), "d")) }},
	{"log of exponentials", false, func(v leaves) *graph.Node { return ops.Log(ops.Lit(v.x, 2)) }},

	{"log of an exponential and any number", true, func(v leaves) *graph.Node { return ops.Log(ops.Add(v.w, ops.Exp(v.x))) }},
	{"log of an exponential and any number", true, func(v leaves) *graph.Node { return ops.Log(ops.Sub(ops.Sum(ops.Exp(v.x)), v.s)) }},
	{"log of an exponential and any number", false, func(v leaves) *graph.Node { return ops.Log(ops.Add(v.w, v.x)) }},
	{"log of an exponential and any number", false, func(v leaves) *graph.Node { return ops.Log(ops.Shift(ops.Exp(v.x), 2)) }},

	{"quotient of exponentials", true, func(v leaves) *graph.Node { return ops.Div(ops.Exp(v.x), ops.Exp(v.w)) }},
	{"quotient of exponentials", true, func(v leaves) *graph.Node {
		e := ops.Exp(v.x)
		return ops.Div(e, ops.Add(ops.Exp(v.w), e))
	}},
	{"quotient of exponentials", true, func(v leaves) *graph.Node {
		e := ops.Exp(v.x)
		return ops.Div(e, ops.Shift(ops.Sum(e, "d", ops.Keep), 1))
	}},
	{"quotient of exponentials", true, func(v leaves) *graph.Node {
		e, f := ops.Exp(v.x), ops.Exp(ops.Neg(v.x))
		return ops.Div(ops.Sub(e, f), ops.Add(e, f))
	}},
	{"quotient of exponentials", false, func(v leaves) *graph.Node { return ops.Div(ops.Exp(v.x), ops.Shift(v.w, 1)) }},
	{"quotient of exponentials", false, func(v leaves) *graph.Node { return ops.Div(v.w, ops.Exp(v.x)) }},
	{"quotient of exponentials", false, func(v leaves) *graph.Node { return ops.Div(ops.Exp(v.x), ops.Lit(v.x, 2)) }},

	{"log of 1 + x", true, func(v leaves) *graph.Node { return ops.Log(ops.Shift(v.x, 1)) }},
	{"log of 1 + x", true, func(v leaves) *graph.Node { return ops.Log(ops.Add(ops.Lit(v.s, 1), v.s)) }},
	{"log of 1 + x", false, func(v leaves) *graph.Node { return ops.Log(ops.Shift(v.x, 2)) }},
	{"log of 1 + x", false, func(v leaves) *graph.Node { return ops.Log(ops.OneMinus(v.x)) }},

	{"pairwise distance", true, func(v leaves) *graph.Node { return ops.Sum(ops.Square(v.differences()), "c") }},
	{"pairwise distance", false, func(v leaves) *graph.Node { return ops.Sum(ops.Square(v.differences()), "i") }},
	{"pairwise distance", false, func(v leaves) *graph.Node { return ops.Sum(ops.Abs(v.differences()), "c") }},
	{"pairwise distance", false, func(v leaves) *graph.Node { return ops.Sum(ops.Square(ops.Sub(v.x, v.w)), "d") }},

	{"pairwise distance", true, func(v leaves) *graph.Node { return ops.Mean(ops.Square(v.differences()), "c") }},
	{"pairwise distance", true, func(v leaves) *graph.Node { return ops.Sum(ops.Square(v.differences()), "j", "c") }},
	{"pairwise distance", true, func(v leaves) *graph.Node { return ops.Mean(ops.Square(v.differences())) }},
	{"pairwise distance", true, func(v leaves) *graph.Node {
		return ops.Sum(ops.Square(ops.Add(ops.Over(v.p, "i", "j", "c"), ops.Over(ops.Neg(v.q), "i", "j", "c"))), "c")
	}},
	{"pairwise distance", true, func(v leaves) *graph.Node {
		return ops.Sum(ops.Square(ops.Add(ops.Neg(ops.Over(v.p, "i", "j", "c")), ops.Over(v.q, "i", "j", "c"))), "c")
	}},
	{"pairwise distance", false, func(v leaves) *graph.Node {
		return ops.Sum(ops.Square(ops.Add(ops.Over(v.p, "i", "j", "c"), ops.Over(v.q, "i", "j", "c"))), "c")
	}},
	{"pairwise distance", false, func(v leaves) *graph.Node { return ops.Sum(ops.Square(v.differences()), "i", "j") }},
	// Both operands are repeated along b: there is more than pairs.
	{"pairwise distance", false, func(v leaves) *graph.Node {
		s := mustShape(graph.Ax("b", 2), graph.Ax("i", 5), graph.Ax("j", 2), graph.Ax("c", 4))
		p, q := ops.BroadcastTo(ops.Over(v.p, "i", "j", "c"), s), ops.BroadcastTo(ops.Over(v.q, "i", "j", "c"), s)
		return ops.Sum(ops.Square(ops.Sub(p, q)), "c")
	}},

	{"product of a batch", true, func(v leaves) *graph.Node { return ops.MatMul(v.cube, v.square(2)) }},
	{"product of a batch", false, func(v leaves) *graph.Node { return ops.MatMul(v.square(2), v.cube) }},
	{"product of a batch", false, func(v leaves) *graph.Node { return ops.MatMul(ops.Transpose(v.cube, 2, 0, 1), v.square(2)) }},
	{"product of a batch", false, func(v leaves) *graph.Node { return ops.MatMul(v.cube, v.cube) }},
	{"product of a batch", false, func(v leaves) *graph.Node { // a matrix that repeats a row, or a number
		return ops.MatMul(v.cube, ops.BroadcastTo(ops.Slice(ops.Slice(v.square(2), 0, 0, 1), 1, 0, 1), v.cube.Shape()))
	}},
	{"product of a batch", false, func(v leaves) *graph.Node { return ops.MatMul(v.cube, ops.BroadcastTo(v.s, v.cube.Shape())) }},
	{"product of a batch", false, func(v leaves) *graph.Node { return ops.MatMul(v.a, v.a) }},
}
