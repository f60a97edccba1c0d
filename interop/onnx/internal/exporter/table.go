package exporter

import (
	"fmt"
	"reflect"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// rule writes a node and returns its value.
type rule func(s site) value

// entry is an operation's row of the table: a rule, or the reason why there is none.
type entry struct {
	op      match.Kind
	rule    rule
	moves   bool // elements are moved, not computed: nothing is to be rounded
	refused string
}

// site is the node that a rule writes.
type site struct {
	*emitter
	n *graph.Node
}

// in returns the value of operand i, of fewer elements than the operand where it repeats them.
func (s site) in(i int) value { return s.node(s.n.In(i)) }

// elem is the type in which the node is computed.
func (s site) elem() format.DataType { return elemOf(s.n.DType().Wide()) }

// all returns the values of all operands.
func (s site) all() []value {
	out := make([]value, s.n.NumIn())
	for i := range out {
		out[i] = s.in(i)
	}
	return out
}

func (s site) sizes() []int { return s.n.Shape().Sizes() }

// refuse leaves the rule.
func (s site) refuse(format string, args ...any) value { panic(refusal(fmt.Sprintf(format, args...))) }

// attribute returns an attribute of the operation, which is an exported field of it, as in the text
// form of a graph.
func attribute[T any](s site, name string) T { return field[T](s.n, name) }

func field[T any](n *graph.Node, name string) T {
	return reflect.ValueOf(n.Op()).FieldByName(name).Interface().(T)
}

func (s site) axis() int                 { return attribute[int](s, "Axis") }
func (s site) flag(name string) bool     { return attribute[bool](s, name) }
func (s site) list(name string) []int    { return attribute[attr.Ints](s, name).List() }
func (s site) axes() []int               { return attribute[attr.AxisSet](s, "Axes").List() }
func (s site) float(name string) float64 { return attribute[attr.Float](s, name).Value() }

// table lists how every operation is written, or why it is refused.
func table() []entry {
	return []entry{
		{op: match.Abs, rule: one("Abs")},
		{op: match.Acos, rule: only32("Acos", acos)},
		{op: match.Acosh, rule: inOps(acosh)},
		{op: match.Add, rule: add},
		{op: match.All, rule: allOver},
		{op: match.And, rule: one("And")},
		{op: match.Any, rule: anyOver},
		{op: match.ArgMax, rule: argExtreme},
		{op: match.ArgMin, rule: argExtreme},
		{op: match.ArgSort, rule: argSort},
		{op: match.Asin, rule: only32("Asin", asin)},
		{op: match.Asinh, rule: inOps(asinh)},
		{op: match.Atan, rule: only32("Atan", atan)},
		{op: match.Atan2, rule: inOps(atan2)},
		{op: match.Atanh, rule: inOps(atanh)},
		{op: match.Broadcast, rule: func(s site) value { return s.in(0) }, moves: true},
		{op: match.Cast, rule: cast, moves: true},
		{op: match.Ceil, rule: one("Ceil")},
		{op: match.Cholesky, rule: inOps(cholesky)},
		{op: match.Concat, rule: concat, moves: true},
		{op: match.Conv, rule: in64(conv64, conv)},
		{op: match.ConvInput, rule: in64(convInput64, convInput)},
		{op: match.ConvInteger, rule: convInteger, moves: true},
		{op: match.ConvKernel, rule: in64(convKernel64, convKernel)},
		{op: match.CopyRanks, rule: func(s site) value { return s.in(0) }, moves: true}, // there is one lane
		{op: match.Cos, rule: cosine},
		{op: match.Cosh, rule: only32("Cosh", cosh)},
		{op: match.CumArg, rule: inOps(cumArg)},
		{op: match.Custom, rule: func(s site) value { return s.in(0) }, moves: true},
		{op: match.DetSign, rule: inOps(detSign)},
		{op: match.DiffDot, rule: diffDot},
		{op: match.Digamma, rule: inOps(digamma)},
		{op: match.Div, rule: quotient},
		{op: match.DynamicSlice, rule: dynamicSlice, moves: true},
		{op: match.DynamicUpdate, rule: dynamicUpdate, moves: true},
		{op: match.Eigh, rule: inOps(eigh)},
		{op: match.Equal, rule: compare("Equal")},
		{op: match.Erf, rule: in64(inOps(erf), one("Erf"))},
		{op: match.Erfc, rule: inOps(erfc)},
		{op: match.Erfinv, rule: inOps(erfinv)},
		{op: match.Exp, rule: one("Exp")},
		{op: match.Exp2, rule: exp2},
		{op: match.Expm1, rule: inOps(expm1)},
		{op: match.FFT, rule: fft},
		{op: match.FirstEqual, rule: inOps(firstEqual)},
		{op: match.Floor, rule: one("Floor")},
		{op: match.FloorDiv, rule: floorDiv},
		{op: match.Gather, rule: gather, moves: true},
		{op: match.Implicit, rule: func(s site) value { return s.in(0) }, moves: true},
		{op: match.InRange, rule: func(s site) value { return s.in(0) }, moves: true},
		{op: match.Less, rule: compare("Less")},
		{op: match.LessEqual, rule: compare("LessOrEqual")},
		{op: match.Lgamma, rule: inOps(lgamma)},
		{op: match.LinearRecurrence, rule: recurrence},
		{op: match.Log, rule: one("Log")},
		{op: match.Log10, rule: logTo(10)},
		{op: match.Log1p, rule: inOps(log1p)},
		{op: match.Log2, rule: logTo(2)},
		{op: match.LogDet, rule: inOps(logDet)},
		{op: match.LogSigmoid, rule: logSigmoid},
		{op: match.LogSoftmax, rule: along("LogSoftmax")},
		{op: match.LogSumExp, rule: logSumExp},
		{op: match.MatMul, rule: in64(matMul64, matMul)},
		{op: match.MatMulInteger, rule: matMulInteger, moves: true},
		{op: match.MatrixExp, rule: inOps(matrixExp)},
		{op: match.Max, rule: extreme("ReduceMax")},
		{op: match.MaxPick, rule: maxPick},
		{op: match.MaxPool, rule: maxPool},
		{op: match.MaxUnpool, rule: maxUnpool},
		{op: match.Maximum, rule: one("Max")},
		{op: match.Mean, rule: reduction("ReduceMean")},
		{op: match.Min, rule: extreme("ReduceMin")},
		{op: match.Minimum, rule: one("Min")},
		{op: match.Mul, rule: one("Mul")},
		{op: match.Neg, rule: one("Neg")},
		{op: match.Not, rule: one("Not")},
		{op: match.NotEqual, rule: notEqual},
		{op: match.OneHot, rule: oneHot},
		{op: match.Or, rule: one("Or")},
		{op: match.Place, rule: place, moves: true},
		{op: match.Polygamma, rule: inOps(polygamma)},
		{op: match.Pow, rule: one("Pow")},
		{op: match.QR, rule: inOps(qr)},
		{op: match.Random, rule: random},
		{op: match.Relu, rule: one("Relu")},
		{op: match.Remainder, rule: remainder},
		{op: match.Reshape, rule: reshape, moves: true},
		{op: match.Round, rule: one("Round")},
		{op: match.Rstd, rule: rstd},
		{op: match.SVD, rule: inOps(svd)},
		{op: match.Scan, rule: loop, moves: true},
		{op: match.Scatter, rule: scatter},
		{op: match.ScatterAdd, rule: scatterAdd},
		{op: match.SearchSorted, rule: searchSorted},
		{op: match.Select, rule: choose, moves: true},
		{op: match.Sigmoid, rule: sigmoid},
		{op: match.Sign, rule: one("Sign")},
		{op: match.Sin, rule: one("Sin")},
		{op: match.Sinh, rule: inOps(sinh)},
		{op: match.Slice, rule: slice, moves: true},
		{op: match.Softmax, rule: along("Softmax")},
		{op: match.Softplus, rule: softplus},
		{op: match.Solve, rule: inOps(solve)},
		{op: match.SolveTriangular, rule: inOps(solveTriangular)},
		{op: match.Sparsemax, rule: sparsemax},
		{op: match.SqDist, rule: sqDist},
		{op: match.Sqrt, rule: one("Sqrt")},
		{op: match.Square, rule: func(s site) value { return s.mul(s.in(0), s.in(0)) }},
		{op: match.Standardise, rule: standardise},
		{op: match.StopGradient, rule: func(s site) value { return s.in(0) }, moves: true},
		{op: match.Sub, rule: one("Sub")},
		{op: match.Sum, rule: reduction("ReduceSum")},
		{op: match.SumPool, rule: in64(sumPool64, sumPool)},
		{op: match.SumRanks, rule: func(s site) value { return s.in(0) }, moves: true}, // of one lane
		{op: match.SumUnpool, rule: in64(sumUnpool64, sumUnpool)},
		{op: match.Tan, rule: tangent},
		{op: match.Tanh, rule: one("Tanh")},
		{op: match.Transpose, rule: transpose, moves: true},
		{op: match.Trunc, rule: trunc},
		{op: match.WeightedDiff, rule: weightedDiff},
		{op: match.Xlogy, rule: xlogy},
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
