package parity

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

func TestBasics(t *testing.T) {
	compare(t, "basics", family{
		"Asinh":  func(c *call) []*graph.Node { return one(ops.Asinh(c.x("x"))) },
		"MatMul": func(c *call) []*graph.Node { return one(ops.MatMul(c.x("a"), c.x("b"))) },
		"Gather": func(c *call) []*graph.Node { return one(ops.Square(ops.Gather(c.x("x"), c.x("index"), 0))) },
	})
}
