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

// direction is the order that a case's sort has.
func direction(c *call) ops.SortOrder {
	if c.bool("down") {
		return ops.Descending
	}
	return ops.Ascending
}
