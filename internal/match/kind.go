package match

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
)

// A Kind tells the operations of package ops from each other and from all others. An operation needs
// one only where something outside package ops treats it like no other: a rule of rewriting, a drawing,
// a translation to another engine. What holds for several operations is a trait instead; see
// package graph/trait.
type Kind uint8

// The kinds of the operations of package ops, by the names that they have there. Other is every
// operation from outside, whatever its name.
const (
	Other Kind = iota
	Abs
	Acos
	Acosh
	Add
	All
	And
	Any
	ArgMax
	ArgMin
	ArgSort
	Asin
	Asinh
	Atan
	Atan2
	Atanh
	Broadcast
	Cast
	Ceil
	Cholesky
	Concat
	Conv
	ConvInput
	ConvInteger
	ConvKernel
	CopyRanks
	Cos
	Cosh
	CumArg
	Custom
	DetSign
	DiffDot
	Digamma
	Div
	DynamicSlice
	DynamicUpdate
	Eigh
	Equal
	Erf
	Erfc
	Erfinv
	Exp
	Exp2
	Expm1
	FFT
	FirstEqual
	Floor
	FloorDiv
	Gather
	Implicit
	InRange
	Less
	LessEqual
	Lgamma
	LinearRecurrence
	Log
	Log10
	Log1p
	Log2
	LogDet
	LogSigmoid
	LogSoftmax
	LogSumExp
	MatMul
	MatMulInteger
	MatrixExp
	Max
	Maximum
	MaxPick
	MaxPool
	MaxUnpool
	Mean
	Min
	Minimum
	Mul
	Neg
	Not
	NotEqual
	OneHot
	Or
	Place
	Polygamma
	Pow
	QR
	Random
	Relu
	Remainder
	Reshape
	Round
	Rstd
	Scan
	Scatter
	ScatterAdd
	SearchSorted
	Select
	Sigmoid
	Sign
	Sin
	Sinh
	Slice
	Softmax
	Softplus
	Solve
	SolveTriangular
	Sparsemax
	SqDist
	Sqrt
	Square
	Standardise
	StopGradient
	Sub
	Sum
	SumPool
	SumRanks
	SumUnpool
	SVD
	Tan
	Tanh
	Transpose
	Trunc
	WeightedDiff
	Xlogy
)

// kinded is an operation of package ops. No operation from outside the module can have the method,
// whose result it cannot name.
type kinded interface{ Kind() Kind }

// Of returns the kind of an operation.
func Of(op graph.Op) Kind {
	if k, ok := op.(kinded); ok {
		return k.Kind()
	}
	return Other
}

// KindOf returns the kind of the operation of a node, [Other] if n is nil or a mistake.
func KindOf(n *graph.Node) Kind {
	if !n.IsValid() {
		return Other
	}
	return Of(n.Op())
}

// Draws reports whether a node is a random draw, or runs a body that makes one.
func Draws(n *graph.Node) bool {
	if b := n.Body(); b != nil {
		return slices.ContainsFunc(b.Graph().Nodes(), Draws)
	}
	return Is(n, Random)
}

// SumsOverLanes reports whether a node is a sum over lanes, or runs a body that makes one.
func SumsOverLanes(n *graph.Node) bool {
	if b := n.Body(); b != nil {
		return slices.ContainsFunc(b.Graph().Nodes(), SumsOverLanes)
	}
	return Is(n, SumRanks)
}

// Is reports whether the operation of a node is of a kind.
func Is(n *graph.Node, k Kind) bool { return KindOf(n) == k }
