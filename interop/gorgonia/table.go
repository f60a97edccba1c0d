package gorgonia

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	G "gorgonia.org/gorgonia"
)

// rule builds the translation of s.y over its translated operands.
type rule func(s site, x []*G.Node) *G.Node

// entry is an operation's line in the table: a rule, or why there is none.
type entry struct {
	op       string
	rule     rule
	operands func(s site) []*G.Node // which operands the rule wants; nil for the node's own
	refused  string
}

// table says how every operation is translated, or why it is refused.
func table() []entry {
	const powers = "its float32 power is wrong for large exponents and for negative bases"
	const turns = "its float32 sine and cosine lose digits as the argument grows, and are NaN at 1e9"
	const channels = "its windows want the channels before the height and width, and only its own derivatives"
	const moments = "it has no variance"
	return []entry{
		{op: "Abs", rule: unary(G.Abs)},
		{op: "Add", rule: binary(G.Add), operands: withScalar},
		{op: "And", rule: binary(G.HadamardProd)},
		{op: "ArgMax", refused: "it has no index of a maximum"},
		{op: "ArgMin", refused: "it has no index of a minimum"},
		{op: "Broadcast", rule: broadcast},
		{op: "Cast", rule: cast},
		{op: "Concat", rule: concat},
		{op: "Conv", refused: channels},
		{op: "ConvInput", refused: channels},
		{op: "ConvKernel", refused: channels},
		{op: "Cos", rule: onlyF64(unary(G.Cos), turns)},
		{op: "DiffDot", rule: diffDot},
		{op: "Div", rule: div, operands: withScalar},
		{op: "Equal", rule: comparison(G.Eq)},
		{op: "Erf", refused: "it has no error function"},
		{op: "Exp", rule: exp},
		{op: "Expm1", rule: unary(G.Expm1)},
		{op: "Gather", refused: "it has no integers for indices"},
		{op: "InRange", refused: "it has no integers for indices"},
		{op: "Less", rule: comparison(G.Lt)},
		{op: "LessEqual", rule: comparison(G.Lte)},
		{op: "Log", rule: unary(G.Log)},
		{op: "Log1p", rule: unary(G.Log1p)},
		{op: "LogSigmoid", rule: logSigmoid},
		{op: "LogSoftmax", rule: logSoftmax},
		{op: "LogSumExp", rule: logSumExp},
		{op: "MatMul", rule: matMul},
		{op: "Max", rule: maxOver},
		{op: "MaxPick", refused: channels},
		{op: "MaxPool", refused: channels},
		{op: "MaxUnpool", refused: channels},
		{op: "Maximum", rule: maximum},
		{op: "Mean", rule: mean},
		{op: "Min", rule: minOver},
		{op: "Minimum", rule: minimum},
		{op: "Mul", rule: binary(G.HadamardProd), operands: withScalar},
		{op: "Neg", rule: unary(G.Neg)},
		{op: "Not", rule: not},
		{op: "NotEqual", rule: comparison(G.Ne)},
		{op: "OneHot", refused: "it has no integers for indices"},
		{op: "Or", rule: or},
		{op: "Place", rule: place},
		{op: "Pow", rule: onlyF64(binary(G.Pow), powers), operands: withScalar},
		{op: "Random", refused: "its random numbers are not ours"},
		{op: "Relu", rule: relu},
		{op: "Reshape", rule: reshape},
		{op: "Rstd", refused: moments},
		{op: "Scan", refused: "it has no loops"},
		{op: "ScatterAdd", refused: "it has no integers for indices"},
		{op: "Select", refused: "it has no choice by a mask, and products let NaN and infinity through"},
		{op: "Sigmoid", rule: unary(G.Sigmoid)},
		{op: "Sign", rule: sign},
		{op: "Sin", rule: onlyF64(unary(G.Sin), turns)},
		{op: "Slice", rule: slice},
		{op: "Softmax", rule: softmax},
		{op: "Softplus", rule: softplus},
		{op: "SqDist", rule: sqDist},
		{op: "Sqrt", rule: unary(G.Sqrt)},
		{op: "Square", rule: unary(G.Square)},
		{op: "Standardise", refused: moments},
		{op: "StopGradient", rule: func(_ site, x []*G.Node) *G.Node { return x[0] }},
		{op: "Sub", rule: binary(G.Sub), operands: withScalar},
		{op: "Sum", rule: sum},
		{op: "SumPool", refused: channels},
		{op: "SumUnpool", refused: channels},
		{op: "Tanh", rule: unary(G.Tanh)},
		{op: "Transpose", rule: transpose},
		{op: "WeightedDiff", rule: weightedDiff},
	}
}

// Supported lists the operations that are translated, in order of name. Some are
// so for floats and masks only, as Compile will say.
func Supported() []string {
	var out []string
	for _, e := range table() {
		if e.rule != nil {
			out = append(out, e.op)
		}
	}
	slices.Sort(out)
	return out
}

// site is where a rule works: a node, and the float type of its translation.
type site struct {
	*builder
	y  *graph.Node
	dt graph.DType
}

// in is the translation of operand i.
func (s site) in(i int) *G.Node { return s.operand(s.y.In(i)) }

func (s site) operand(x *graph.Node) *G.Node {
	if x.DType().IsFloat() && x.DType() != s.dt {
		s.errs = append(s.errs, unsupported(s.y, fmt.Sprintf("it cannot convert %v to %v", x.DType(), s.dt)))
		return nil
	}
	return s.node(x, s.dt)
}

// withScalar gives the operands of an elementwise operation on two arrays, of
// which one may stay a scalar: gorgonia repeats it on the way.
func withScalar(s site) []*G.Node {
	x := []*graph.Node{s.y.In(0), s.y.In(1)}
	for i, n := range x {
		if ops.Is(n, "Broadcast") && n.In(0).Rank() == 0 {
			x[i] = n.In(0)
			break
		}
	}
	return []*G.Node{s.operand(x[0]), s.operand(x[1])}
}

// along is the first axis that the operation works along.
func (s site) along() int {
	set, _ := ops.Along(s.y)
	return set.List()[0]
}
