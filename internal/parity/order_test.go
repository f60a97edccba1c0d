package parity

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

func TestOrder(t *testing.T) {
	compare(t, "order", family{
		"TakeAlong": func(c *call) []*graph.Node {
			return one(ops.Square(ops.TakeAlong(c.x("x"), c.x("index"), c.int("axis"))))
		},
		"AddAlong": func(c *call) []*graph.Node {
			return one(ops.Square(ops.AddAlong(c.x("index"), c.x("values"), c.int("axis"), graph.Ax("", 4))))
		},
		"At": func(c *call) []*graph.Node { return one(ops.Square(ops.At(c.x("x"), c.int("axis"), c.int("j")))) },
		"Sort": func(c *call) []*graph.Node {
			x, axis, order := c.x("x"), c.int("axis"), direction(c)
			return []*graph.Node{ops.Square(ops.Sort(x, axis, order)), ops.ArgSort(x, axis, order)}
		},
		"SearchSorted": func(c *call) []*graph.Node {
			side := ops.Left
			if c.bool("right") {
				side = ops.Right
			}
			return one(ops.SearchSorted(c.x("rows"), c.x("x"), c.int("axis"), side))
		},
		"Sparsemax": func(c *call) []*graph.Node { return one(ops.Square(ops.Sparsemax(c.x("x"), c.int("axis")))) },
		"Whole":     func(c *call) []*graph.Node { return ordered(c, c.x("x")) },
		"Truth": func(c *call) []*graph.Node {
			x, axis := ops.Cast(c.x("x"), graph.Bool), c.int("axis")
			return append(ordered(c, x), ops.Any(x, axis), ops.All(x, axis))
		},
		"DynamicSlice": func(c *call) []*graph.Node {
			return one(ops.Square(ops.DynamicSlice(c.x("x"), c.x("at"), c.int("size"), c.int("axis"))))
		},
		"DynamicUpdate": func(c *call) []*graph.Node {
			return one(ops.DynamicUpdate(ops.Square(c.x("x")), c.x("at"), ops.Cube(c.x("part")), c.int("axis")))
		},
		"ArgSort":      func(c *call) []*graph.Node { return one(ops.ArgSort(c.x("x"), c.int("axis"), direction(c))) },
		"CumSum":       func(c *call) []*graph.Node { return one(ops.Square(ops.CumSum(c.x("x"), c.int("axis")))) },
		"CumProd":      func(c *call) []*graph.Node { return one(ops.Square(ops.CumProd(c.x("x"), c.int("axis")))) },
		"CumProdZeros": func(c *call) []*graph.Node { return one(ops.Square(ops.CumProd(c.x("x"), c.int("axis")))) },
		"CumMax":       func(c *call) []*graph.Node { return one(ops.Square(ops.CumMax(c.x("x"), c.int("axis")))) },
		"CumMin":       func(c *call) []*graph.Node { return one(ops.Square(ops.CumMin(c.x("x"), c.int("axis")))) },
		"LogCumSumExp": func(c *call) []*graph.Node { return one(ops.Square(ops.LogCumSumExp(c.x("x"), c.int("axis")))) },
		"LinearRecurrence": func(c *call) []*graph.Node {
			return one(ops.Square(ops.LinearRecurrence(c.x("a"), c.x("b"), c.int("axis"))))
		},
		"TopK": func(c *call) []*graph.Node {
			values, indices := ops.TopK(c.x("x"), c.int("k"), c.int("axis"))
			return []*graph.Node{ops.Square(values), indices}
		},
	})
}

// ordered are sorts, running values and the sum of whole numbers or a mask.
func ordered(c *call, x *graph.Node) []*graph.Node {
	axis, order := c.int("axis"), direction(c)
	return []*graph.Node{
		ops.Sort(x, axis, order), ops.ArgSort(x, axis, order), ops.CumMax(x, axis), ops.CumMin(x, axis),
		ops.CumSum(x, axis), ops.CumProd(x, axis), ops.Sum(x, axis),
	}
}

// direction is the order that a case's sort has.
func direction(c *call) ops.SortOrder {
	if c.bool("down") {
		return ops.Descending
	}
	return ops.Ascending
}
