package gorgonia

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
	G "gorgonia.org/gorgonia"
)

// rule builds the translation of s.y from its translated operands.
type rule func(s site, x []*G.Node) *G.Node

// entry is an operation's row of the table: a rule, or the reason why there is none.
type entry struct {
	op       match.Kind
	rule     rule
	operands func(s site) []*G.Node // the operands of the rule; nil for the node's own
	refused  string
}

// table lists how every operation is translated, or why it is refused.
func table() []entry {
	const powers = "its float32 power is wrong for large exponents and for negative bases"
	const turns = "its float32 sine and cosine lose digits as the argument grows, and are NaN at 1e9"
	const channels = "its windows want the channels before the height and width, and only its own derivatives"
	const moments = "it has no variance"
	return []entry{
		{op: match.Abs, rule: unary(G.Abs)},
		{op: match.Add, rule: binary(G.Add), operands: withScalar},
		{op: match.And, rule: binary(G.HadamardProd)},
		{op: match.ArgMax, refused: "it has no index of a maximum"},
		{op: match.ArgMin, refused: "it has no index of a minimum"},
		{op: match.ArgSort, refused: "it has no sort"},
		{op: match.Broadcast, rule: broadcast},
		{op: match.Cast, rule: cast},
		{op: match.Ceil, rule: unary(G.Ceil)},
		{op: match.Concat, rule: concat},
		{op: match.Conv, refused: channels},
		{op: match.ConvInput, refused: channels},
		{op: match.ConvInteger, refused: "it has no products of integers"},
		{op: match.ConvKernel, refused: channels},
		{op: match.CopyRanks, rule: func(_ site, x []*G.Node) *G.Node { return x[0] }}, // there is one lane
		{op: match.Cos, rule: onlyF64(unary(G.Cos), turns)},
		{op: match.Custom, rule: func(_ site, x []*G.Node) *G.Node { return x[0] }},
		{op: match.CumArg, refused: "it has no index of a maximum"},
		{op: match.DiffDot, rule: diffDot},
		{op: match.Div, rule: div, operands: withScalar},
		{op: match.DynamicSlice, refused: "it has no integers for indices"},
		{op: match.DynamicUpdate, refused: "it has no integers for indices"},
		{op: match.Equal, rule: comparison(G.Eq)},
		{op: match.Erf, refused: "it has no error function"},
		{op: match.Exp, rule: exp},
		{op: match.Expm1, rule: unary(G.Expm1)},
		{op: match.FFT, refused: "it has no Fourier transform"},
		{op: match.Floor, rule: unary(G.Floor)},
		{op: match.Gather, refused: "it has no integers for indices"},
		{op: match.Implicit, refused: "it has no loops"},
		{op: match.InRange, refused: "it has no integers for indices"},
		{op: match.Less, rule: comparison(G.Lt)},
		{op: match.LessEqual, rule: comparison(G.Lte)},
		{op: match.LinearRecurrence, refused: "it has no recurrences"},
		{op: match.Log, rule: unary(G.Log)},
		{op: match.Log1p, rule: unary(G.Log1p)},
		{op: match.Log2, rule: unary(G.Log2)},
		{op: match.LogSigmoid, rule: logSigmoid},
		{op: match.LogSoftmax, rule: logSoftmax},
		{op: match.LogSumExp, rule: logSumExp},
		{op: match.MatMul, rule: matMul},
		{op: match.MatMulInteger, refused: "it has no products of integers"},
		{op: match.Max, rule: maxOver},
		{op: match.MaxPick, refused: channels},
		{op: match.MaxPool, refused: channels},
		{op: match.MaxUnpool, refused: channels},
		{op: match.Maximum, rule: maximum},
		{op: match.Mean, rule: mean},
		{op: match.Min, rule: minOver},
		{op: match.Minimum, rule: minimum},
		{op: match.Mul, rule: binary(G.HadamardProd), operands: withScalar},
		{op: match.Neg, rule: unary(G.Neg)},
		{op: match.Not, rule: not},
		{op: match.NotEqual, rule: comparison(G.Ne)},
		{op: match.OneHot, refused: "it has no integers for indices"},
		{op: match.Or, rule: or},
		{op: match.Place, rule: place},
		{op: match.Pow, rule: onlyF64(binary(G.Pow), powers), operands: withScalar},
		{op: match.Random, refused: "its random numbers are not ours"},
		{op: match.Relu, rule: relu},
		{op: match.Reshape, rule: reshape},
		{op: match.Rstd, refused: moments},
		{op: match.Scan, refused: "it has no loops"},
		{op: match.Scatter, refused: "it has no integers for indices"},
		{op: match.ScatterAdd, refused: "it has no integers for indices"},
		{op: match.FirstEqual, refused: "it has no integers for indices"},
		{op: match.Select, refused: "it has no choice by a mask, and products let NaN and infinity through"},
		{op: match.Sigmoid, rule: unary(G.Sigmoid)},
		{op: match.Sign, rule: sign},
		{op: match.Sin, rule: onlyF64(unary(G.Sin), turns)},
		{op: match.Slice, rule: slice},
		{op: match.Softmax, rule: softmax},
		{op: match.Softplus, rule: softplus},
		{op: match.Sparsemax, rule: sparsemax},
		{op: match.SqDist, rule: sqDist},
		{op: match.Sqrt, rule: unary(G.Sqrt)},
		{op: match.Square, rule: unary(G.Square)},
		{op: match.Standardise, refused: moments},
		{op: match.StopGradient, rule: func(_ site, x []*G.Node) *G.Node { return x[0] }},
		{op: match.Sub, rule: binary(G.Sub), operands: withScalar},
		{op: match.Sum, rule: sum},
		{op: match.SumPool, refused: channels},
		{op: match.SumUnpool, refused: channels},
		{op: match.Tanh, rule: unary(G.Tanh)},
		{op: match.Transpose, rule: transpose},
		{op: match.WeightedDiff, rule: weightedDiff},
	}
}

// rules returns the table by operation.
func rules() map[match.Kind]entry {
	out := map[match.Kind]entry{}
	for _, e := range table() {
		out[e.op] = e
	}
	return out
}

// Supported returns the names of the operations that are translated, in alphabetical order. Some
// are translated for some types only; Compile refuses others with an [Unsupported].
func Supported() []string {
	var out []string
	rules := rules()
	for _, op := range ops.List() {
		if rules[match.Of(op)].rule != nil {
			out = append(out, op.Name())
		}
	}
	return out
}

// site is the node that a rule translates, and the float type of its translation.
type site struct {
	*builder
	y  *graph.Node
	dt graph.DType
}

// in returns the translation of operand i.
func (s site) in(i int) *G.Node { return s.operand(s.y.In(i)) }

func (s site) operand(x *graph.Node) *G.Node {
	if x.DType().IsFloat() && x.DType() != s.dt {
		s.errs = append(s.errs, unsupported(s.y, fmt.Sprintf("it cannot convert %v to %v", x.DType(), s.dt)))
		return nil
	}
	return s.node(x, s.dt)
}

// withScalar returns the operands of an elementwise operation on two arrays, one of which may stay
// a scalar that gorgonia repeats by itself.
func withScalar(s site) []*G.Node {
	x := []*graph.Node{s.y.In(0), s.y.In(1)}
	for i, n := range x {
		if match.Is(n, match.Broadcast) && n.In(0).Rank() == 0 {
			x[i] = n.In(0)
			break
		}
	}
	return []*G.Node{s.operand(x[0]), s.operand(x[1])}
}

// along returns the first axis that the operation works along.
func (s site) along() int {
	set, _ := match.Along(s.y)
	return set.List()[0]
}
