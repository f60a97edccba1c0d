package gorgonia

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// own is an operation of ours and gorgonia's function for it, of arrays of the given sizes.
type own struct {
	op     string
	ours   func(x []*graph.Node) *graph.Node
	theirs func(x []*G.Node) (*G.Node, error)
	sizes  [][]int
	domain ops.Domain
}

func own1(op string, ours func(x *graph.Node) *graph.Node, theirs func(x *G.Node) (*G.Node, error), d ops.Domain) own {
	return own{op, func(x []*graph.Node) *graph.Node { return ours(x[0]) }, func(x []*G.Node) (*G.Node, error) { return theirs(x[0]) }, [][]int{{3, 4}}, d}
}

func own2(op string, ours func(a, b *graph.Node) *graph.Node, theirs func(a, b *G.Node) (*G.Node, error), d ops.Domain) own {
	return own{op, func(x []*graph.Node) *graph.Node { return ours(x[0], x[1]) },
		func(x []*G.Node) (*G.Node, error) { return theirs(x[0], x[1]) }, [][]int{{3, 4}, {3, 4}}, d}
}

// owns lists what both have under one name, and the functions of gorgonia's that
// are compositions of ours.
func owns() []own {
	all := []own{
		own1("Abs", ops.Abs, G.Abs, ops.Apart),
		own2("Add", func(a, b *graph.Node) *graph.Node { return ops.Add(a, b) }, G.Add, ops.Reals),
		own1("Cos", ops.Cos, G.Cos, ops.Reals),
		own2("Div", ops.Div, G.HadamardDiv, ops.Positive),
		own1("Exp", ops.Exp, G.Exp, ops.Reals),
		own1("Expm1", ops.Expm1, G.Expm1, ops.Reals),
		own1("Log", ops.Log, G.Log, ops.Positive),
		own1("Log1p", ops.Log1p, G.Log1p, ops.Positive),
		own1("LogSoftmax", func(x *graph.Node) *graph.Node { return ops.LogSoftmax(x, 1) }, func(x *G.Node) (*G.Node, error) { return G.LogSoftMax(x, 1) }, ops.Reals),
		own1("LogSumExp", func(x *graph.Node) *graph.Node { return ops.LogSumExp(x, 1) }, func(x *G.Node) (*G.Node, error) { return G.LogSumExp(x, 1) }, ops.Reals),
		own2("MatMul", ops.MatMul, G.Mul, ops.Reals),
		own1("Max", func(x *graph.Node) *graph.Node { return ops.Max(x, 1) }, func(x *G.Node) (*G.Node, error) { return G.Max(x, 1) }, ops.Apart),
		own2("Maximum", ops.Maximum, G.MaxBetween, ops.Reals),
		own1("Mean", func(x *graph.Node) *graph.Node { return ops.Mean(x, 1) }, func(x *G.Node) (*G.Node, error) { return G.Mean(x, 1) }, ops.Reals),
		own2("Minimum", ops.Minimum, G.MinBetween, ops.Reals),
		own2("Mul", func(a, b *graph.Node) *graph.Node { return ops.Mul(a, b) }, G.HadamardProd, ops.Reals),
		own1("Neg", ops.Neg, G.Neg, ops.Reals),
		own2("Pow", ops.Pow, G.Pow, ops.Positive),
		own1("Relu", ops.ReLU, G.Rectify, ops.Apart),
		own1("Reshape", func(x *graph.Node) *graph.Node { return ops.Reshape(x, 2, 6) }, func(x *G.Node) (*G.Node, error) { return G.Reshape(x, tensor.Shape{2, 6}) }, ops.Reals),
		own1("Sigmoid", ops.Sigmoid, G.Sigmoid, ops.Reals),
		own1("Sign", ops.Sign, G.Sign, ops.Apart),
		own1("Sin", ops.Sin, G.Sin, ops.Reals),
		own1("Slice", func(x *graph.Node) *graph.Node { return ops.Slice(x, 1, 1, 3) }, func(x *G.Node) (*G.Node, error) { return G.Slice(x, nil, G.S(1, 3)) }, ops.Reals),
		own1("Softmax", func(x *graph.Node) *graph.Node { return ops.Softmax(x, 1) }, func(x *G.Node) (*G.Node, error) { return G.SoftMax(x, 1) }, ops.Reals),
		own1("Softplus", ops.Softplus, G.Softplus, ops.Reals),
		own1("Sqrt", ops.Sqrt, G.Sqrt, ops.Positive),
		own1("Square", ops.Square, G.Square, ops.Reals),
		own2("Sub", ops.Sub, G.Sub, ops.Reals),
		own1("Sum", func(x *graph.Node) *graph.Node { return ops.Sum(x, 1) }, func(x *G.Node) (*G.Node, error) { return G.Sum(x, 1) }, ops.Reals),
		own1("Tanh", ops.Tanh, G.Tanh, ops.Reals),
		own1("Transpose", func(x *graph.Node) *graph.Node { return ops.Transpose(x) }, func(x *G.Node) (*G.Node, error) { return G.Transpose(x, 1, 0) }, ops.Reals),
		own2("Concat", func(a, b *graph.Node) *graph.Node { return ops.Concat(1, a, b) }, func(a, b *G.Node) (*G.Node, error) { return G.Concat(1, a, b) }, ops.Reals),

		own1("1/x", func(x *graph.Node) *graph.Node { return ops.Div(ops.Lit(x, 1), x) }, G.Inverse, ops.Positive),
		own1("1/√x", func(x *graph.Node) *graph.Node { return ops.Div(ops.Lit(x, 1), ops.Sqrt(x)) }, G.InverseSqrt, ops.Positive),
		own1("x³", ops.Cube, G.Cube, ops.Reals),
	}
	for i := range all {
		if all[i].op == "MatMul" {
			all[i].sizes = [][]int{{3, 4}, {4, 2}}
		}
	}
	return all
}
