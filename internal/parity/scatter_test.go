package parity

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

func TestScatter(t *testing.T) {
	at := func(f func(x, index, values *graph.Node, axis any) *graph.Node, then func(*graph.Node) *graph.Node) func(c *call) []*graph.Node {
		return func(c *call) []*graph.Node { return one(then(f(c.x("x"), c.x("index"), c.x("v"), 0))) }
	}
	as := func(x *graph.Node) *graph.Node { return x }
	segment := func(f func(x, ids *graph.Node, segments graph.Axis) *graph.Node) func(c *call) []*graph.Node {
		return func(c *call) []*graph.Node {
			return one(ops.Square(f(c.x("x"), c.x("index"), graph.Ax("segment", 4))))
		}
	}
	compare(t, "scatter", family{
		"SetAt": at(ops.SetAt, ops.Square), "AddAt": at(ops.AddAt, ops.Square), "MaxAt": at(ops.MaxAt, as), "MinAt": at(ops.MinAt, as),
		"SegmentSum": segment(ops.SegmentSum), "SegmentMean": segment(ops.SegmentMean),
		"SegmentMax": segment(ops.SegmentMax), "SegmentMin": segment(ops.SegmentMin),
	})
}
