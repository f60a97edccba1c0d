package ops

import (
	"fmt"
	"math"
	"sort"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// A Side is the side of equal elements on which [SearchSorted] finds the place of a number.
type Side uint8

// Before the elements that are equal, or after them.
const (
	Left Side = iota
	Right
)

// searchSorted gives places in rows along the last axis of the first operand, whose other axes are the
// first of the second.
type searchSorted struct {
	flat
	Right bool
}

// SearchSorted returns the places (i32) of the numbers x in rows that are sorted along an axis, the
// smallest first: the number of elements of the row that are less than x, or with [Right] not greater.
// So at this place x can be inserted, and the row stays sorted; with sorted limits of bins it is the
// number of the bin. The sorted numbers are of one axis, for x of any shape; or they have x's shape but
// for the size, and the name, of that axis, and each row is searched for its own numbers, as in
// PyTorch's searchsorted. Both operands have one element type, and the result has x's shape. NaN comes
// after all numbers, as in [Sort] and NumPy. It takes ⌈log₂(n + 1)⌉ comparisons a number, and of rows
// that are not sorted gives some place from 0 to n. No derivative flows through it.
func SearchSorted(sorted, x *graph.Node, axis any, side ...Side) *graph.Node {
	defer calling("SearchSorted", sorted, x)()
	in, ok := joined(sorted, x)
	if !ok {
		return graph.Apply(searchSorted{}, in...) // records the mistake, or stays silent
	}
	sorted, x = in[0], in[1]
	return withAxes("SearchSorted", sorted, []any{axis}, func(list []int) *graph.Node {
		g, a := sorted.Graph(), list[0]
		op, last := searchSorted{}, sorted.Rank()-1
		if len(side) > 0 {
			if side[len(side)-1] > Right {
				return g.Fail("SearchSorted", fmt.Errorf("side %d: want ops.Left or ops.Right", side[len(side)-1]), sorted, x)
			}
			op.Right = side[len(side)-1] == Right
		}
		if last == 0 {
			return g.Apply(op, sorted, x)
		}
		if _, err := alongside(x.Shape(), sorted.Shape(), a); err != nil {
			return g.Fail("SearchSorted", fmt.Errorf("numbers %w", err), sorted, x)
		}
		return moved(g.Apply(op, moved(sorted, a, 1, last), moved(x, a, 1, last)), last, 1, a)
	})
}

func (searchSorted) Name() string     { return "SearchSorted" }
func (searchSorted) Kind() match.Kind { return match.SearchSorted }
func (searchSorted) Doc() string      { return "places of numbers in sorted rows" }

func (searchSorted) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 2); err != nil {
		return graph.Type{}, err
	}
	if err := wantNumber(in...); err != nil {
		return graph.Type{}, err
	}
	rows, x := in[0].Shape(), in[1].Shape()
	if rows.Rank() == 0 || rows.Rank()-1 > x.Rank() {
		return graph.Type{}, fmt.Errorf("numbers of shape %v in rows of shape %v", x, rows)
	}
	for a := range rows.Rank() - 1 {
		if rows.Dim(a) != x.Dim(a) {
			return graph.Type{}, fmt.Errorf("numbers of shape %v in rows of shape %v", x, rows)
		}
	}
	if n := rows.Axis(rows.Rank() - 1); n.Size > math.MaxInt32 {
		return graph.Type{}, fmt.Errorf("axis %v: i32 does not hold its places", n)
	}
	return graph.Type{DType: graph.I32, Shape: x}, nil
}

// Batch repeats the rows unless they are the same for all.
func (op searchSorted) Batch(y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	if batched[0] || y.In(0).Rank() > 1 {
		in = repeated(in, batched, b)
	}
	return graph.Apply(op, in...)
}

func (op searchSorted) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	rows, x := in[0], in[1]
	last := rows.Type.Shape.Rank() - 1
	n, each := rows.Type.Shape.Dim(last), 1
	for _, size := range x.Type.Shape.Sizes()[last:] {
		each *= size
	}
	less := func(a, b float64) bool { return a < b || a == a && b != b }
	for i, v := range x.Data {
		row := rows.Data[i/each*n:][:n]
		out.Data[i] = float64(sort.Search(n, func(k int) bool {
			if op.Right {
				return less(v, row[k])
			}
			return !less(row[k], v)
		}))
	}
	return out
}

func (op searchSorted) Kernel(*graph.Node) kernel.Kernel { return kernel.SearchSorted{Right: op.Right} }

func (op searchSorted) Notation(_ *graph.Node, in []expr.Expr) expr.Expr {
	if op.Right {
		return expr.Call("place after", in...)
	}
	return expr.Call("place", in...)
}

func (searchSorted) Cases() []Case {
	search := func(axis any, side Side) func(in []*graph.Node) *graph.Node {
		return func(in []*graph.Node) *graph.Node { return SearchSorted(Sort(in[0], axis), in[1], axis, side) }
	}
	whole := Domain{Lo: -3, Hi: 3}
	return []Case{
		{[]Operand{{"float[k=5]", Apart}, {"float[i=3 j=4]", Apart}}, search("k", Left)},
		{[]Operand{{"float[i=2 k=5 d=3]", Apart}, {"float[i=2 j=4 d=3]", Apart}}, search("k", Right)},
		{[]Operand{{"i64[k=5]", whole}, {"i64[i=3]", whole}}, func(in []*graph.Node) *graph.Node { return SearchSorted(in[0], in[1], 0) }},
		{[]Operand{{"i32[i=2 k=4]", whole}, {"i32[i=2 j=3]", whole}}, func(in []*graph.Node) *graph.Node { return SearchSorted(in[0], in[1], 1, Right) }},
	}
}
