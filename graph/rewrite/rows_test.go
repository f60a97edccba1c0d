package rewrite

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// table and scattered are a table and its derivative by rows that were gathered.
func (v leaves) table() *graph.Node {
	if t := v.g.Lookup("table"); t != nil {
		return t
	}
	return v.g.Input("table", graph.F32, graph.Ax("v", 30), graph.Ax("d", 4))
}

// slope is the derivative by the table of what is made of the rows at n indices.
func (v leaves) slope(n int) *graph.Node {
	k := v.g.Input("k", graph.I64, graph.Ax("n", n))
	return grad.Of(ops.Sum(ops.Exp(ops.Gather(v.table(), k, 0))), v.table())[0]
}

func (v leaves) scattered(n int) *graph.Node {
	k := v.g.Input("k", graph.I64, graph.Ax("n", n))
	rows := ops.Square(ops.Gather(v.table(), k, 0))
	return ops.ScatterAdd(k, rows, 0, v.table().Shape().Axes()...)
}

var rowCases = []ruleCase{
	{"touched rows", true, func(v leaves) *graph.Node { return ops.Sub(v.table(), ops.Mul(v.s, v.scattered(3))) }},
	{"touched rows", true, func(v leaves) *graph.Node { return ops.Add(v.table(), ops.Sqrt(ops.Square(v.scattered(3)))) }},
	{"touched rows", true, func(v leaves) *graph.Node {
		dp := v.scattered(3)
		mask, _ := ops.TouchedRows(dp)
		return ops.Select(mask, ops.Scale(ops.Add(dp, v.table()), .5), v.table())
	}},
	{"touched rows", false, func(v leaves) *graph.Node { return ops.Sub(v.table(), ops.Mul(v.s, v.scattered(8))) }},  // nothing is gained
	{"touched rows", false, func(v leaves) *graph.Node { return ops.Add(ops.Scale(v.table(), .9), v.scattered(3)) }}, // every row shrinks
	{"touched rows", false, func(v leaves) *graph.Node { return ops.Sub(v.table(), ops.Exp(v.scattered(3))) }},       // e⁰ = 1
	{"touched rows", false, func(v leaves) *graph.Node { return ops.Sub(ops.Sin(v.table()), v.scattered(3)) }},       // sin x is no leaf
	{"touched rows", false, func(v leaves) *graph.Node { return ops.Sub(v.table(), ops.Div(v.s, v.scattered(3))) }},  // 1/0
	{"touched rows", false, func(v leaves) *graph.Node { return ops.Mul(v.s, v.scattered(3)) }},                      // zero elsewhere, which is no leaf
	{"sum of touched rows", true, func(v leaves) *graph.Node { return ops.Sum(ops.Square(v.slope(3))) }},             // of all elements
	{"sum of touched rows", true, func(v leaves) *graph.Node { return ops.Sum(ops.Mul(v.s, ops.Square(v.slope(3))), 0) }},
	{"sum of touched rows", false, func(v leaves) *graph.Node { return ops.Sum(ops.Square(v.scattered(3))) }},                 // indices of the user's // of each column
	{"sum of touched rows", false, func(v leaves) *graph.Node { return ops.Sum(ops.Square(v.slope(3)), 1) }},                  // of each row
	{"sum of touched rows", false, func(v leaves) *graph.Node { return ops.Sum(ops.Exp(v.slope(3))) }},                        // e⁰ = 1
	{"sum of touched rows", false, func(v leaves) *graph.Node { return ops.Sum(ops.Square(ops.Add(v.table(), v.slope(3)))) }}, // all rows count
}
