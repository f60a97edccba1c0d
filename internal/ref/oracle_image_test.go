package ref_test

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// padded lays v around the last two axes of x.
func padded(x node, h, w int, v float64) node {
	for axis, n := range map[int]int{2: h, 3: w} {
		if n > 0 {
			s := x.Shape().Sizes()
			s[axis] = n
			shape, _ := graph.NewShape(graph.Dims(s...)...)
			edge := ops.BroadcastTo(ops.Lit(x, v), shape)
			x = ops.Concat(axis, edge, x, edge)
		}
	}
	return x
}

// places takes count elements of an axis, from on, every step-th.
func places(x node, axis, from, count, step int) node {
	return ops.SliceStep(x, axis, from, from+(count-1)*step+1, step)
}

// windows combines the elements of square windows over the last two axes.
func windows(x node, size, stride, pad int, edge float64, f func(a, b node) node) node {
	x = padded(x, pad, pad, edge)
	h, w := (x.Dim(2)-size)/stride+1, (x.Dim(3)-size)/stride+1
	var y node
	for i := range size {
		for j := range size {
			part := places(places(x, 2, i, h, stride), 3, j, w, stride)
			if y == nil {
				y = part
			} else {
				y = f(y, part)
			}
		}
	}
	return y
}

// convolve is the cross-correlation of x[n c h w] with w[o c/groups kh kw], one
// tap of the kernel after the other. Groups are 1, or as many as channels.
func convolve(x, w, bias node, padH, padW, stride, dilation int) node {
	depthwise := w.Dim(1) == 1 && x.Dim(1) == w.Dim(0)
	x = padded(x, padH, padW, 0)
	kh, kw := w.Dim(2), w.Dim(3)
	h, l := (x.Dim(2)-(kh-1)*dilation-1)/stride+1, (x.Dim(3)-(kw-1)*dilation-1)/stride+1
	y := ops.Reshape(bias, -1, 1, 1)
	for i := range kh {
		for j := range kw {
			part := places(places(x, 2, i*dilation, h, stride), 3, j*dilation, l, stride)
			tap := ops.Squeeze(ops.Slice(ops.Slice(w, 2, i, i+1), 3, j, j+1), 2, 3) // [o c]
			if depthwise {
				y = ops.Add(y, ops.Mul(part, ops.Reshape(tap, -1, 1, 1)))
				continue
			}
			mixed := ops.MatMul(tap, ops.Reshape(part, x.Dim(0), x.Dim(1), -1)) // [n o h·w]
			y = ops.Add(y, ops.Reshape(mixed, x.Dim(0), w.Dim(0), h, l))
		}
	}
	return y
}

func (b *builder) conv2d() node {
	pad := int(b.number("padding", 0))
	return convolve(b.array("x"), b.array("w"), b.array("b"), pad, pad, int(b.number("stride", 1)), int(b.number("dilation", 1)))
}

// conv1d is a convolution of images one pixel high.
func (b *builder) conv1d() node {
	x, w := ops.Expand(b.array("x"), 2, ""), ops.Expand(b.array("w"), 2, "")
	return ops.Squeeze(convolve(x, w, b.array("b"), 0, int(b.number("padding", 0)), 1, 1), 2)
}
