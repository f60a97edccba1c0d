package randgraph

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// production adds one piece to the graph, nil if it found nothing to build on.
type production func(m *maker) *graph.Node

// productions lists the ways to extend a graph; those of elementwise operations and layouts are
// there more than once because real graphs have more of them.
var productions = []production{
	unary, unary, unary, binary, binary, binary, trivial, constants,
	layout, layout, layout, layoutOfLeaf, layoutOfLeaf,
	reduce, reduce, along, matMul, pairs, pairsAsWritten, softmaxAsWritten, logAsWritten,
	kink, mask, choose, extremum, index, gather, scatter, oneHot, concat, random, cast, convolution, pool, padded,
}

// Every eighth graph begins with a loop and has some more: loops take a large part of
// what a graph may cost to evaluate.
func (m *maker) loops(seed uint64, k int) bool { return seed%8 == 5 && k%6 == 0 }

// Another eighth has functions, branches and loops that stop.
func (m *maker) controls(seed uint64, k int) bool { return seed%8 == 3 && k%6 == 0 }

// Every eighth graph has linear algebra, in the same places.
func (m *maker) solves(seed uint64, k int) bool { return seed%8 == 7 && k%6 == 0 }

// unary draws a form, and takes one of its variants by how many nodes there are: a variant more
// leaves all other graphs as they were.
func unary(m *maker) *graph.Node {
	x := m.pick(m.floats)
	within := func() *graph.Node { return ops.Scale(ops.Tanh(x), 0.9) }                  // from −0.9 to 0.9
	above := func() *graph.Node { return ops.Shift(ops.Square(x), 1.5) }                 // from 1.5 on
	between := func() *graph.Node { return ops.Shift(ops.Scale(ops.Tanh(x), 0.3), 2.5) } // from 2.2 to 2.8
	forms := [16][]func() *graph.Node{
		{func() *graph.Node { return ops.Tanh(x) }, func() *graph.Node { return ops.Atan(x) }, func() *graph.Node { return ops.Scale(ops.Asin(within()), 0.6) }},
		{func() *graph.Node { return ops.Sigmoid(x) }, func() *graph.Node { return ops.Scale(ops.Erfc(x), 0.5) }, func() *graph.Node { return ops.Scale(ops.Xlogy(ops.Sigmoid(x), above()), 0.5) }},
		{func() *graph.Node { return ops.Sin(x) }, func() *graph.Node { return ops.Asinh(x) }, func() *graph.Node { return ops.Scale(ops.Tan(within()), 0.6) }},
		{func() *graph.Node { return ops.Cos(x) }, func() *graph.Node { return ops.Scale(ops.Acos(within()), 0.3) }, func() *graph.Node { return ops.Scale(ops.Cosh(within()), 0.6) }},
		{func() *graph.Node { return ops.Neg(x) }, func() *graph.Node { return ops.Sub(ops.Floor(between()), x) }, func() *graph.Node { return ops.Sub(ops.Scale(ops.Ceil(between()), 0.3), x) }},
		{func() *graph.Node { return ops.Square(x) }, func() *graph.Node { return ops.Add(x, ops.Round(ops.Scale(within(), 0.5))) }, func() *graph.Node { return ops.Add(x, ops.Scale(ops.Trunc(between()), 0.2)) }},
		{func() *graph.Node { return ops.Scale(ops.Exp(x), 0.3) }, func() *graph.Node { return ops.Scale(ops.Exp2(x), 0.3) }, func() *graph.Node { return ops.Scale(ops.Sinh(within()), 0.6) }},
		{func() *graph.Node { return ops.Log(ops.Shift(x, 1.6)) }, func() *graph.Node { return ops.Scale(ops.Log2(above()), 0.5) }, func() *graph.Node { return ops.Log10(above()) }},
		{func() *graph.Node { return ops.Scale(ops.Sqrt(ops.Shift(x, 1.6)), 0.6) }, func() *graph.Node { return ops.Scale(ops.Acosh(above()), 0.6) }},
		{func() *graph.Node { return ops.Log1p(ops.Scale(x, 0.5)) }, func() *graph.Node { return ops.Scale(ops.Lgamma(above()), 0.6) }, func() *graph.Node { return ops.Scale(ops.Atanh(within()), 0.6) }},
		{func() *graph.Node { return ops.StopGradient(ops.Scale(x, 0.9)) }},
		{func() *graph.Node { return ops.Erf(x) }, func() *graph.Node { return ops.Scale(ops.Erfinv(within()), 0.6) }, func() *graph.Node { return ops.Sub(ops.Erf(x), ops.Round(ops.Scale(within(), 0.5))) }},
		{func() *graph.Node { return ops.Softplus(x) }, func() *graph.Node { return ops.Remainder(between(), ops.Lit(x, 1)) }},
		{func() *graph.Node { return ops.LogSigmoid(x) }, func() *graph.Node { return ops.Mul(x, ops.Scale(ops.FloorDiv(between(), ops.Lit(x, 1)), 0.4)) }},
		{func() *graph.Node { return ops.Scale(ops.Expm1(x), 0.3) }, func() *graph.Node { return ops.Digamma(above()) }, func() *graph.Node { return ops.Polygamma(1, above()) }},
		{func() *graph.Node { return ops.OneMinus(ops.Square(x)) }},
	}
	form := forms[m.rnd.IntN(len(forms))]
	return form[len(m.floats)%len(form)]()
}

func binary(m *maker) *graph.Node {
	a, b := m.meet(m.pick(m.floats), m.pick(m.floats))
	switch m.rnd.IntN(5) {
	case 0:
		return ops.Scale(ops.Add(a, b), 0.5)
	case 1:
		return ops.Scale(ops.Sub(a, b), 0.5)
	case 2:
		return ops.Mul(a, b)
	case 3:
		if len(m.floats)%3 == 0 {
			return ops.Scale(ops.Atan2(a, ops.Shift(ops.Square(b), 1.5)), 0.6)
		}
		return ops.Scale(ops.Div(a, ops.Shift(b, 1.6)), 0.6)
	}
	return ops.Scale(ops.Pow(ops.Shift(a, 1.6), b), 0.3)
}

// trivial adds what algebra takes away again.
func trivial(m *maker) *graph.Node {
	x := m.pick(m.floats)
	a, b := m.meet(x, m.pick(m.floats))
	switch m.rnd.IntN(9) {
	case 0:
		return ops.Shift(x, 0)
	case 1:
		return ops.Sub(x, ops.Lit(x, 0))
	case 2:
		return ops.Scale(x, 1)
	case 3:
		return ops.Div(x, ops.Lit(x, 1))
	case 4:
		return ops.Neg(ops.Neg(x))
	case 5:
		return ops.Scale(ops.Add(a, ops.Neg(b)), 0.5)
	case 6:
		return ops.Scale(ops.Add(ops.Neg(a), b), 0.5)
	case 7:
		return ops.Scale(ops.Sub(a, ops.Neg(b)), 0.5)
	}
	return ops.Pow(x, ops.Lit(x, 2))
}

// constants is an expression that can be computed before anything runs.
func constants(m *maker) *graph.Node {
	data := make([]float64, 4)
	for i := range data {
		data[i] = float64(m.rnd.IntN(17)-8) / 8
	}
	c := m.Graph.Constant(m.dt, data, graph.Ax("d", 4))
	y := ops.Mul(ops.Tanh(c), ops.Cos(c))
	switch m.rnd.IntN(3) {
	case 0:
		return ops.Mean(y)
	case 1:
		return ops.Softmax(y, 0)
	}
	return ops.Reverse(y, 0)
}

func layout(m *maker) *graph.Node { return m.layout(m.pick(m.floats)) }

func layoutOfLeaf(m *maker) *graph.Node {
	y := m.layout(m.pick(m.apart))
	if y != nil {
		m.apart = append(m.apart, y)
	}
	return y
}

func (m *maker) layout(x *graph.Node) *graph.Node {
	if x.Rank() == 0 {
		return ops.Expand(x, 0, "")
	}
	a := m.rnd.IntN(x.Rank())
	switch m.rnd.IntN(8) {
	case 0, 1:
		var order []any
		for _, p := range m.rnd.Perm(x.Rank()) {
			order = append(order, p)
		}
		return ops.Transpose(x, order...)
	case 2:
		return ops.Reshape(x, -1)
	case 3:
		if x.Rank() < m.ranks {
			return ops.Expand(x, m.rnd.IntN(x.Rank()+1), "")
		}
	case 4:
		return ops.Slice(x, a, m.rnd.IntN(x.Dim(a)), 0)
	case 5:
		return ops.SliceStep(x, a, 0, 0, 2)
	case 6:
		return ops.Reverse(x, a)
	case 7:
		if x.Rank() < m.ranks && 2*x.Shape().Len() <= m.most {
			s, _ := graph.NewShape(append([]graph.Axis{{Size: 2}}, x.Shape().Axes()...)...)
			return ops.BroadcastTo(x, s)
		}
	}
	return ops.Reshape(x, x.Shape().Len()/x.Dim(a), x.Dim(a))
}

func reduce(m *maker) *graph.Node {
	x := m.pick(m.floats)
	var axes []any
	n := 1
	for a := range x.Rank() {
		if m.rnd.IntN(2) == 0 {
			axes = append(axes, a)
			n *= x.Dim(a)
		}
	}
	if len(axes) == 0 {
		return nil
	}
	if m.rnd.IntN(2) == 0 {
		axes = append(axes, ops.Keep)
	}
	if m.rnd.IntN(2) == 0 {
		return ops.Mean(x, axes...)
	}
	return ops.Scale(ops.Sum(x, axes...), 1/float64(n))
}

func along(m *maker) *graph.Node {
	x := m.pick(m.floats)
	if x.Rank() == 0 {
		return nil
	}
	a := m.rnd.IntN(x.Rank())
	switch m.rnd.IntN(8) {
	case 0:
		return ops.Scale(ops.LogSoftmax(x, a), 0.2)
	case 1:
		return ops.Scale(ops.LogSumExp(x, a), 0.2)
	case 2:
		return ops.Scale(ops.LogSumExp(x, a, ops.Keep), 0.2)
	case 3:
		return ops.Scale(ops.Standardise(x, 0.5, a), 0.4)
	case 4:
		return ops.Rstd(x, 1, a)
	case 5:
		re, im := ops.FFT(x, x, a)
		return ops.Scale(ops.Sub(re, im), 0.5/float64(x.Dim(a)))
	case 6:
		return ops.Scale(ops.LinearRecurrence(ops.Scale(x, 0.5), x, a), 0.5)
	}
	if len(m.floats)%3 == 0 {
		x = m.pick(m.apart)
		if x.Rank() == 0 {
			return nil
		}
		return ops.Sparsemax(x, -1)
	}
	return ops.Softmax(x, a)
}

func matMul(m *maker) *graph.Node {
	x, y := m.matrix(m.pick(m.floats)), m.matrix(m.pick(m.floats))
	if x.Dim(1) != y.Dim(0) {
		y = ops.Transpose(x)
	}
	return ops.Scale(ops.MatMul(x, y), 1/float64(x.Dim(1)))
}

func pairs(m *maker) *graph.Node {
	x, r := m.rows()
	c := 1 / float64(4*x.Dim(1))
	w := ops.Scale(ops.SqDist(x, r), c)
	switch m.rnd.IntN(3) {
	case 0:
		return ops.Scale(ops.WeightedDiff(w, x, r), 1/float64(2*r.Dim(0)))
	case 1:
		return ops.Scale(ops.DiffDot(x, x, r), c)
	}
	return w
}

// pairsAsWritten is Σ_d (x_id − r_jd)² in the spellings that people use.
func pairsAsWritten(m *maker) *graph.Node {
	x, r := m.rows()
	c := 1 / float64(4*x.Dim(1))
	if m.rnd.IntN(2) == 0 {
		x, r = named(x, "p", "c"), named(r, "q", "c")
		order := []string{"p", "q", "c"}
		m.rnd.Shuffle(3, func(i, j int) { order[i], order[j] = order[j], order[i] })
		diff := ops.Sub(ops.Over(x, order...), ops.Over(r, order...))
		return ops.Scale(ops.Sum(m.squared(diff), "c"), c)
	}
	diff := ops.Sub(ops.Expand(r, 0, ""), ops.Expand(x, 1, ""))
	return ops.Scale(ops.Sum(m.squared(diff), -1, ops.Keep), c)
}

func (m *maker) squared(x *graph.Node) *graph.Node {
	switch m.rnd.IntN(3) {
	case 0:
		return ops.Mul(x, x)
	case 1:
		return ops.Pow(x, ops.Lit(x, 2))
	}
	return ops.Square(x)
}

func softmaxAsWritten(m *maker) *graph.Node {
	x := m.pick(m.floats)
	if x.Rank() == 0 {
		return nil
	}
	a := m.rnd.IntN(x.Rank())
	e := ops.Exp(x)
	s := ops.Sum(e, a, ops.Keep)
	if m.rnd.IntN(2) == 0 {
		s = ops.Expand(ops.Sum(e, a), a, "")
	}
	y := ops.Div(e, s)
	if m.rnd.IntN(3) == 0 {
		return ops.Scale(ops.Log(y), 0.2)
	}
	return y
}

// exponentialsAsWritten is a logarithm or a quotient of exponentials; u is drawn between 0 and 1.
func exponentialsAsWritten(x *graph.Node, u float64) *graph.Node {
	e, f := ops.Exp(x), ops.Exp(ops.Neg(x))
	switch {
	case u < 0.4:
		return ops.Scale(ops.Log(ops.Shift(e, 0.5+2*u)), 0.4)
	case u < 0.6: // what is added keeps the sum above 0
		return ops.Scale(ops.Log(ops.Add(e, ops.Shift(ops.Square(ops.Sin(x)), u))), 0.3)
	case u < 0.8:
		return ops.Div(e, ops.Shift(ops.Add(e, ops.Mul(f, f)), u))
	}
	return ops.Div(ops.Sub(e, f), ops.Add(e, f))
}

func logAsWritten(m *maker) *graph.Node {
	x := m.pick(m.floats)
	switch n := m.rnd.IntN(10); {
	case n == 6:
		return ops.Div(ops.Lit(x, 1), ops.Shift(ops.Exp(ops.Neg(x)), 1))
	case n == 7:
		return ops.Scale(ops.Neg(ops.Softplus(ops.Neg(x))), 0.4)
	case n == 8:
		return exponentialsAsWritten(x, m.rnd.Float64())
	case n == 0:
		return ops.Scale(ops.Log(ops.Sigmoid(x)), 0.4)
	case n == 1:
		return ops.Scale(ops.Log(ops.OneMinus(ops.Sigmoid(x))), 0.4)
	case n == 2:
		return ops.Scale(ops.Log(ops.Shift(ops.Exp(x), 1)), 0.4)
	case n == 3 || x.Rank() == 0:
		return ops.Log(ops.Shift(ops.Scale(x, 0.5), 1))
	case n == 9:
		return ops.Scale(ops.Log(ops.Shift(ops.Sum(ops.Exp(x), m.rnd.IntN(x.Rank())), 0.5)), 0.2)
	}
	return ops.Scale(ops.Log(ops.Sum(ops.Exp(x), m.rnd.IntN(x.Rank()))), 0.2)
}

func random(m *maker) *graph.Node {
	axes := m.axes()
	if m.rnd.IntN(2) == 0 {
		return ops.Tanh(ops.RandomNormal(m.Graph, "ε", m.dt, axes...))
	}
	return ops.RandomUniform(m.Graph, "u", m.dt, axes...)
}

// cast goes through float64 and back; a float64 graph does not go through
// float32, whose rounding is a jump.
func cast(m *maker) *graph.Node {
	if m.dt == graph.F32 {
		return ops.Cast(ops.Tanh(ops.Cast(m.pick(m.floats), graph.F64)), graph.F32)
	}
	if len(m.others) == 0 {
		return nil
	}
	return ops.Scale(ops.Cast(m.pick(m.others), m.dt), 0.1)
}

// linear solves with a matrix that is symmetric and well conditioned, or takes its determinant.
func linear(m *maker) *graph.Node {
	x, _ := m.rows()
	n, d := x.Dim(0), x.Dim(1)
	rows := ops.Reshape(x, n, d)
	a := ops.Scale(ops.MatMul(rows, ops.Transpose(rows)), 1/float64(d))
	a = ops.Add(a, ops.DiagonalMatrix(ops.BroadcastTo(ops.Lit(x, 2), onlyAxis(n))))
	switch m.rnd.IntN(6) {
	case 0:
		switch len(m.floats) % 3 { // so that other graphs stay as they were
		case 1:
			values, vectors := ops.Eigh(m.spread(rows))
			return ops.Add(vectors, ops.Scale(values, 0.1))
		case 2:
			u, s, v := ops.SVD(m.spread(rows))
			return ops.Add(ops.Mul(u, v), ops.Scale(s, 0.1))
		}
		return ops.Scale(ops.Cholesky(a), 0.5)
	case 1:
		if len(m.floats)%3 == 1 {
			return ops.LeastSquares(a, rows)
		}
		return ops.Solve(a, rows)
	case 2:
		return ops.SolveTriangular(a, rows)
	case 3:
		q, r := ops.QR(a)
		return ops.Add(q, ops.Scale(r, 0.2))
	case 4:
		return ops.MatrixExp(ops.Scale(a, -0.5))
	}
	sign, log := ops.SlogDet(a)
	return ops.Scale(ops.Mul(sign, log), 1/float64(2*n))
}

// spread is a symmetric matrix whose eigenvalues, and singular values, are 2 apart at least.
func (m *maker) spread(rows *graph.Node) *graph.Node {
	n, d := rows.Dim(0), rows.Dim(1)
	rows = ops.Tanh(rows)
	a := ops.Scale(ops.MatMul(rows, ops.Transpose(rows)), 1/float64(n*d))
	return ops.Add(a, ops.DiagonalMatrix(ops.Shift(ops.Scale(ops.Arange(rows.Graph(), rows.DType(), graph.Axis{Size: n}), 4), 2)))
}

// onlyAxis is the shape of one axis without a name.
func onlyAxis(n int) graph.Shape {
	s, _ := graph.NewShape(graph.Dims(n)...)
	return s
}
