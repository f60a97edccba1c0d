package main

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// formula is the model of a data set: the prediction of y[i] given the parameters and predictors.
type formula func(b, x []*graph.Node) *graph.Node

// formulas has the models as the files state them.
var formulas = map[string]formula{
	"Bennett5": func(b, x []*graph.Node) *graph.Node {
		return ops.Mul(b[0], ops.Pow(ops.Add(b[1], x[0]), ops.Div(ops.Lit(b[2], -1), b[2])))
	},
	"BoxBOD":   saturation,
	"Chwirut1": chwirut,
	"Chwirut2": chwirut,
	"DanWood":  func(b, x []*graph.Node) *graph.Node { return ops.Mul(b[0], ops.Pow(x[0], b[1])) },
	"ENSO": func(b, x []*graph.Node) *graph.Node {
		wave := func(period, c, s *graph.Node) *graph.Node {
			t := ops.Div(ops.Scale(x[0], 2*math.Pi), period)
			return ops.Add(ops.Mul(c, ops.Cos(t)), ops.Mul(s, ops.Sin(t)))
		}
		year := wave(ops.Lit(x[0], 12), b[1], b[2])
		return ops.Add(b[0], year, wave(b[3], b[4], b[5]), wave(b[6], b[7], b[8]))
	},
	"Eckerle4": func(b, x []*graph.Node) *graph.Node {
		return ops.Mul(ops.Div(b[0], b[1]), ops.Exp(ops.Scale(ops.Square(ops.Div(ops.Sub(x[0], b[2]), b[1])), -.5)))
	},
	"Gauss1":   gauss,
	"Gauss2":   gauss,
	"Gauss3":   gauss,
	"Hahn1":    cubics,
	"Kirby2":   func(b, x []*graph.Node) *graph.Node { return ratio(x[0], b[:3], b[3:]) },
	"Lanczos1": lanczos,
	"Lanczos2": lanczos,
	"Lanczos3": lanczos,
	"MGH09": func(b, x []*graph.Node) *graph.Node {
		return ops.Div(ops.Mul(b[0], ops.Add(ops.Square(x[0]), ops.Mul(x[0], b[1]))), ops.Add(ops.Square(x[0]), ops.Mul(x[0], b[2]), b[3]))
	},
	"MGH10": func(b, x []*graph.Node) *graph.Node {
		return ops.Mul(b[0], ops.Exp(ops.Div(b[1], ops.Add(x[0], b[2]))))
	},
	"MGH17": func(b, x []*graph.Node) *graph.Node {
		return ops.Add(b[0], decay(b[1], b[3], x[0]), decay(b[2], b[4], x[0]))
	},
	"Misra1a": saturation,
	"Misra1b": func(b, x []*graph.Node) *graph.Node {
		return ops.Mul(b[0], ops.OneMinus(reciprocal(ops.Square(ops.Shift(ops.Scale(ops.Mul(b[1], x[0]), .5), 1)))))
	},
	"Misra1c": func(b, x []*graph.Node) *graph.Node {
		return ops.Mul(b[0], ops.OneMinus(reciprocal(ops.Sqrt(ops.Shift(ops.Scale(ops.Mul(b[1], x[0]), 2), 1)))))
	},
	"Misra1d": func(b, x []*graph.Node) *graph.Node {
		return ops.Div(ops.Mul(b[0], b[1], x[0]), ops.Shift(ops.Mul(b[1], x[0]), 1))
	},
	"Nelson": func(b, x []*graph.Node) *graph.Node {
		return ops.Sub(b[0], ops.Mul(b[1], x[0], ops.Exp(ops.Neg(ops.Mul(b[2], x[1])))))
	}, // of log y
	"Rat42": func(b, x []*graph.Node) *graph.Node { return ops.Div(b[0], growth(b, x)) },
	"Rat43": func(b, x []*graph.Node) *graph.Node { return ops.Div(b[0], ops.Pow(growth(b, x), reciprocal(b[3]))) },
	"Roszman1": func(b, x []*graph.Node) *graph.Node {
		return ops.Sub(ops.Sub(b[0], ops.Mul(b[1], x[0])), ops.Scale(ops.Atan(ops.Div(b[2], ops.Sub(x[0], b[3]))), 1/math.Pi))
	},
	"Thurber": cubics,
}

func saturation(b, x []*graph.Node) *graph.Node {
	return ops.Mul(b[0], ops.OneMinus(ops.Exp(ops.Neg(ops.Mul(b[1], x[0])))))
}

func chwirut(b, x []*graph.Node) *graph.Node {
	return ops.Div(ops.Exp(ops.Neg(ops.Mul(b[0], x[0]))), ops.Add(b[1], ops.Mul(b[2], x[0])))
}

// decay is a·e^−cx.
func decay(a, c, x *graph.Node) *graph.Node { return ops.Mul(a, ops.Exp(ops.Neg(ops.Mul(c, x)))) }

func gauss(b, x []*graph.Node) *graph.Node {
	bell := func(height, at, width *graph.Node) *graph.Node {
		return ops.Mul(height, ops.Exp(ops.Neg(ops.Div(ops.Square(ops.Sub(x[0], at)), ops.Square(width)))))
	}
	return ops.Add(decay(b[0], b[1], x[0]), bell(b[2], b[3], b[4]), bell(b[5], b[6], b[7]))
}

func lanczos(b, x []*graph.Node) *graph.Node {
	return ops.Add(decay(b[0], b[1], x[0]), decay(b[2], b[3], x[0]), decay(b[4], b[5], x[0]))
}

// growth is 1 + e^(b₂−b₃x).
func growth(b, x []*graph.Node) *graph.Node {
	return ops.Shift(ops.Exp(ops.Sub(b[1], ops.Mul(b[2], x[0]))), 1)
}

func cubics(b, x []*graph.Node) *graph.Node { return ratio(x[0], b[:4], b[4:]) }

// ratio is Σ_k p_k·x^k / (1 + Σ_k q_k·x^(k+1)).
func ratio(x *graph.Node, p, q []*graph.Node) *graph.Node {
	return ops.Div(horner(x, p), ops.Shift(ops.Mul(x, horner(x, q)), 1))
}

func horner(x *graph.Node, c []*graph.Node) *graph.Node {
	y := c[len(c)-1]
	for k := len(c) - 2; k >= 0; k-- {
		y = ops.Add(ops.Mul(y, x), c[k])
	}
	return y
}

// reciprocal is 1/x.
func reciprocal(x *graph.Node) *graph.Node { return ops.Div(ops.Lit(x, 1), x) }
