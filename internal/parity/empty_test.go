package parity

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

func TestEmpty(t *testing.T) {
	along := func(f func(x *graph.Node, axis int) *graph.Node) func(c *call) []*graph.Node {
		return func(c *call) []*graph.Node { return one(f(c.x("x"), c.int("axis"))) }
	}
	compare(t, "empty", family{
		"Sum":       along(func(x *graph.Node, a int) *graph.Node { return ops.Sum(x, a) }),
		"Prod":      along(func(x *graph.Node, a int) *graph.Node { return ops.Prod(x, a) }),
		"Mean":      along(func(x *graph.Node, a int) *graph.Node { return ops.Mean(x, a) }),
		"LogSumExp": along(func(x *graph.Node, a int) *graph.Node { return ops.LogSumExp(x, a) }),
		"Max":       along(func(x *graph.Node, a int) *graph.Node { return ops.Max(x, a) }),
		"Softmax":   along(func(x *graph.Node, a int) *graph.Node { return ops.Softmax(x, a) }),
		"CumSum":    along(func(x *graph.Node, a int) *graph.Node { return ops.CumSum(x, a) }),
		"Sort":      along(func(x *graph.Node, a int) *graph.Node { return ops.Sort(x, a) }),
		"Sub":       func(c *call) []*graph.Node { return one(ops.Sub(c.x("x"), c.x("y"))) },
		"MatMul":    func(c *call) []*graph.Node { return one(ops.MatMul(c.x("a"), c.x("b"))) },
		"Concat":    func(c *call) []*graph.Node { return one(ops.Concat(c.int("axis"), c.x("x"), c.x("y"), c.x("y"))) },
		"Gather":    func(c *call) []*graph.Node { return one(ops.Gather(c.x("x"), c.x("k"), 0)) },
		"AddAt":     func(c *call) []*graph.Node { return one(ops.AddAt(c.x("x"), c.x("k"), c.x("v"), 0)) },
		"Det":       func(c *call) []*graph.Node { return one(ops.Det(c.x("a"))) },
		"Conv1D":    func(c *call) []*graph.Node { return one(ops.Conv1D(c.x("x"), c.x("w"))) },
	})
}
