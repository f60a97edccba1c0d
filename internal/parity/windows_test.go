package parity

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

func TestWindows(t *testing.T) {
	type sliding = func(x, w *graph.Node, options ...ops.Window) *graph.Node
	type pooling = func(x *graph.Node, options ...ops.Window) *graph.Node
	window := func(c *call) ops.Window {
		w := ops.Windows(ops.Stride(c.ints("stride")...), ops.Padding(c.ints("padding")...))
		if c.has("dilation") {
			w = ops.Windows(w, ops.Dilation(c.ints("dilation")...))
		}
		if c.has("groups") {
			w = ops.Windows(w, ops.Groups(c.int("groups")))
		}
		if c.has("size") {
			w = ops.Windows(w, ops.Size(c.ints("size")...))
		}
		if c.has("same") && c.bool("same") {
			w = ops.Windows(w, ops.Same())
		}
		if c.has("exclude") && c.bool("exclude") {
			w = ops.Windows(w, ops.ExcludePadding())
		}
		return w
	}
	convolved := func(f ...sliding) func(c *call) []*graph.Node {
		return func(c *call) []*graph.Node {
			return one(ops.Square(f[c.int("axes")-1](c.x("x"), c.x("w"), window(c))))
		}
	}
	pooled := func(f ...pooling) func(c *call) []*graph.Node {
		return func(c *call) []*graph.Node { return one(ops.Square(f[c.int("axes")-1](c.x("x"), window(c)))) }
	}
	compare(t, "windows", family{
		"Conv":          convolved(ops.Conv1D, ops.Conv2D, ops.Conv3D),
		"ConvTranspose": convolved(ops.ConvTranspose1D, ops.ConvTranspose2D, ops.ConvTranspose3D),
		"MaxPool":       pooled(ops.MaxPool1D, ops.MaxPool2D, ops.MaxPool3D),
		"AvgPool":       pooled(ops.AvgPool1D, ops.AvgPool2D, ops.AvgPool3D),
	})
}
