package gorgonia

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	G "gorgonia.org/gorgonia"
)

// unaries are gorgonia's functions of one array, by their names there.
var unaries = map[string]func(x *graph.Node) *graph.Node{
	"abs": ops.Abs, "sign": ops.Sign, "ceil": ops.Ceil, "floor": ops.Floor,
	"sin": ops.Sin, "cos": ops.Cos, "exp": ops.Exp, "ln": ops.Log, "log2": ops.Log2,
	"neg": ops.Neg, "square": ops.Square, "sqrt": ops.Sqrt, "cube": ops.Cube,
	"tanh": ops.Tanh, "sigmoid": ops.Sigmoid, "log1p": ops.Log1p, "expm1": ops.Expm1, "softplus": ops.Softplus,
	"inv":     func(x *graph.Node) *graph.Node { return ops.Div(ops.Lit(x, 1), x) },
	"invSqrt": func(x *graph.Node) *graph.Node { return ops.Div(ops.Lit(x, 1), ops.Sqrt(x)) },
}

func importUnary(s theirs) *graph.Node {
	name := s.op.String()
	f, ok := unaries[name]
	if !ok {
		panic(noRule{"there is no counterpart for it"})
	}
	if x, axes, ok := s.logSumExp(); ok && name == "ln" {
		return ops.LogSumExp(s.of(x), anyAxes(axes)...)
	}
	return through(s.x(0), f)
}

// logSumExp returns x and axes where the operand of a logarithm is Σ exp(x − max x) + max x: what
// gorgonia's LogSumExp makes, where the logarithm of the sum and the maximum are meant to be added.
func (s theirs) logSumExp() (x *G.Node, axes []int, ok bool) {
	sum, most, ok := s.pair(s.arg(0), "+")
	if !ok || kindOf(sum) != "sumOp" || kindOf(most) != "maxOp" {
		return nil, nil, false
	}
	exp := s.operands[sum][0]
	if kindOf(exp) != "elemUnaryOp" || exp.Op().String() != "exp" {
		return nil, nil, false
	}
	x, of, ok := s.pair(s.operands[exp][0], "-")
	if !ok || of != most || s.operands[most][0] != x {
		return nil, nil, false
	}
	return x, s.at(sum).ints("along"), true
}

// pairing returns the sign of an elementwise operation on two arrays, and whether a comparison gives
// numbers.
func pairing(n *G.Node) (sign string, numeric bool) {
	sign, same, _ := strings.Cut(n.Op().String(), " ")
	return sign, same == "true"
}

// pair returns the operands of an elementwise operation of the given sign.
func (b *importer) pair(n *G.Node, sign string) (x, y *G.Node, ok bool) {
	if kindOf(n) != "elemBinOp" || len(b.operands[n]) != 2 {
		return nil, nil, false
	}
	if have, _ := pairing(n); have != sign {
		return nil, nil, false
	}
	return b.operands[n][0], b.operands[n][1], true
}

func importPair(s theirs) *graph.Node {
	sign, numeric := pairing(s.n)
	for _, whole := range []func(s theirs) (*graph.Node, bool){rectified, leaky, averaged, normed} {
		if y, ok := whole(s); ok {
			return y
		}
	}
	f, ok := binaries[sign]
	if !ok {
		panic(noRule{"there is no counterpart for it"})
	}
	x, y := alike(s.x(0), s.x(1))
	order := []int(nil)
	switch _, a := turnedFrom(x); { // as through does
	case a != nil && y.Rank() == 0, y.Rank() == x.Rank() && a != nil:
		order = a
	case x.Rank() == 0 || y.Rank() == x.Rank():
		_, order = turnedFrom(y)
	}
	if order != nil {
		back := inverse(order)
		if x.Rank() > 0 {
			x = transposing(x, back...)
		}
		if y.Rank() > 0 {
			y = transposing(y, back...)
		}
	}
	z := f(x, y)
	if numeric {
		z = ops.Cast(z, x.DType())
	}
	if order != nil {
		z = transposing(z, order...)
	}
	return z
}

// binaries are gorgonia's functions of two arrays, by their signs there.
var binaries = map[string]func(x, y *graph.Node) *graph.Node{
	"+": func(x, y *graph.Node) *graph.Node { return ops.Add(x, y) }, "-": ops.Sub,
	"⊙": func(x, y *graph.Node) *graph.Node { return ops.Mul(x, y) }, "÷": ops.Div, "^": ops.Pow,
	"<": ops.Less, ">": ops.Greater, "<=": ops.LessEqual, ">=": ops.GreaterEqual, "==": ops.Equal, "!=": ops.NotEqual,
}

// alike returns the operands in one shape: gorgonia has vectors of the shapes [n], [n 1] and [1 n],
// and scalars of [1].
func alike(x, y *graph.Node) (*graph.Node, *graph.Node) {
	a, b := x.Shape(), y.Shape()
	switch {
	case a.Rank() == 0 || b.Rank() == 0 || slices.Equal(a.Sizes(), b.Sizes()):
	case b.Len() == 1:
		y = reshaping(y, nil)
	case a.Len() == 1:
		x = reshaping(x, nil)
	case a.Len() == b.Len():
		y = reshaping(y, a.Sizes())
	}
	return x, y
}

// against returns x where n is the mask in numbers of x against 0, by the given comparison.
func (b *importer) against(n *G.Node, sign string) (x *G.Node, ok bool) {
	x, zero, ok := b.pair(n, sign)
	if !ok {
		return nil, false
	}
	_, numeric := pairing(n)
	v, fixed := b.number(zero)
	return x, numeric && fixed && v == 0
}

// rectified is x ⊙ (x ≥ 0), as G.Rectify builds it.
func rectified(s theirs) (*graph.Node, bool) {
	x, mask, ok := s.pair(s.n, "⊙")
	if !ok {
		return nil, false
	}
	of, ok := s.against(mask, ">=")
	if !ok || of != x {
		return nil, false
	}
	return through(s.of(x), ops.ReLU), true
}

// leaky is x ⊙ (x ≥ 0) + (x ⊙ (x < 0)) ⊙ α, as G.LeakyRelu builds it.
func leaky(s theirs) (*graph.Node, bool) {
	above, below, ok := s.pair(s.n, "+")
	if !ok {
		return nil, false
	}
	x, mask, ok := s.pair(above, "⊙")
	if !ok {
		return nil, false
	}
	if of, ok := s.against(mask, ">="); !ok || of != x {
		return nil, false
	}
	part, slope, ok := s.pair(below, "⊙")
	if !ok {
		return nil, false
	}
	α, fixed := s.number(slope)
	of, mask, ok := s.pair(part, "⊙")
	if !ok || of != x || !fixed {
		return nil, false
	}
	if of, ok = s.against(mask, "<"); !ok || of != x {
		return nil, false
	}
	return through(s.of(x), func(x *graph.Node) *graph.Node { return ops.LeakyReLU(x, α) }), true
}

// averaged is Σ x divided by the number of its terms, as G.Mean builds it.
func averaged(s theirs) (*graph.Node, bool) {
	sum, count, ok := s.pair(s.n, "÷")
	if !ok || kindOf(sum) != "sumOp" || kindOf(count) == "constantScalar" {
		return nil, false
	}
	x := s.operands[sum][0]
	n, fixed := s.number(count)
	if !fixed || x.Shape().TotalSize() != int(n)*max(1, sum.Shape().TotalSize()) {
		return nil, false
	}
	along := s.at(sum).ints("along")
	return ops.Mean(s.of(x), anyAxes(along)...), true
}

// normed is (Σ xᵖ)^(1/p), as G.Norm builds it, with |x| for x where p is odd.
func normed(s theirs) (*graph.Node, bool) {
	sum, inverse, ok := s.pair(s.n, "^")
	if !ok || kindOf(sum) != "sumOp" {
		return nil, false
	}
	x, power, ok := s.pair(s.operands[sum][0], "^")
	if !ok {
		return nil, false
	}
	p, fixed := s.number(power)
	q, also := s.number(inverse)
	if !fixed || !also || math.Mod(p, 2) != 1 || math.Abs(p*q-1) > 1e-6 {
		return nil, false
	}
	y := ops.Abs(s.of(x))
	if p != 1 {
		y = ops.Pow(y, ops.Lit(y, p))
	}
	y = ops.Sum(y, anyAxes(s.at(sum).ints("along"))...)
	if p == 1 {
		return y, true
	}
	return ops.Pow(y, ops.Lit(y, 1/p)), true
}

func importClamp(s theirs) *graph.Node {
	x := s.x(0)
	limit := func(name string) *graph.Node {
		v, ok := attribute(s.op, name).Interface().(G.Value)
		if !ok {
			panic(noRule{fmt.Sprintf("its %s is no number", name)})
		}
		a, err := arrayOf(v, graph.Type{})
		if err != nil {
			panic(noRule{err.Error()})
		}
		return ops.Lit(x, a.Data[0])
	}
	return ops.Clip(x, limit("min"), limit("max"))
}

func importConversion(s theirs) *graph.Node {
	dt, err := elementOf(s.n)
	if err != nil {
		panic(noRule{err.Error()})
	}
	return ops.Cast(s.x(0), s.float(dt))
}

func importSize(s theirs) *graph.Node {
	v, ok := s.number(s.n)
	if !ok {
		panic(noRule{"the size is not known"})
	}
	dt, err := elementOf(s.n)
	if err != nil {
		panic(noRule{err.Error()})
	}
	return s.to.Constant(s.float(dt), []float64{v})
}

// importRandom draws by our generator: a node has one value in a run, and another in the next.
func importRandom(s theirs) *graph.Node {
	dt, err := elementOf(s.n)
	if err != nil {
		panic(noRule{err.Error()})
	}
	dt = s.float(dt)
	a, b := s.float64("a"), s.float64("b")
	name := s.path(s.n)
	axes := graph.Dims(s.ints("shape")...)
	switch attribute(s.op, "which").Uint() {
	case 0:
		return ops.Shift(ops.Scale(ops.RandomUniform(s.to, name, dt, axes...), b-a), a)
	case 1:
		return ops.Shift(ops.Scale(ops.RandomNormal(s.to, name, dt, axes...), b), a)
	case 2:
		trials := int(a)
		if trials < 1 {
			panic(noRule{fmt.Sprintf("%d trials of a binomial distribution", trials)})
		}
		u := ops.RandomUniform(s.to, name, dt, append(graph.Dims(trials), axes...)...)
		return ops.Sum(ops.Cast(ops.Less(u, ops.Lit(u, b)), dt), 0)
	}
	panic(noRule{"there is no counterpart for its distribution"})
}
