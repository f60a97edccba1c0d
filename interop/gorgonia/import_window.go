package gorgonia

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// convolution imports the product in G.Conv2d, [b·h·w o], of images [b c h w] and a filter [o c kh
// kw], as the convolution that it is part of.
func (s theirs) convolution() *graph.Node {
	columns := s.operands[s.arg(0)][0]
	c := s.at(columns)
	x, filter := s.of(s.operands[columns][0]), s.of(s.operands[s.arg(1)][0])
	y := ops.Conv2D(transposing(x, 0, 2, 3, 1), transposing(filter, 2, 3, 1, 0),
		ops.Padding(c.int("padH"), c.int("padW")), ops.Stride(c.int("strideH"), c.int("strideW")),
		ops.Dilation(c.int("dilationH"), c.int("dilationW")))
	return reshaping(y, s.n.Shape())
}

// importIm2Col lays the windows over images [b c h w] side by side: [b h′ w′ c·kh·kw].
func importIm2Col(s theirs) *graph.Node { return s.columns(s.x(0)) }

func (s theirs) columns(x *graph.Node) *graph.Node {
	kernel := [2]int{s.int("h"), s.int("w")}
	stride := [2]int{s.int("strideH"), s.int("strideW")}
	dilation := [2]int{s.int("dilationH"), s.int("dilationW")}
	pad := [2]int{s.int("padH"), s.int("padW")}
	var out [2]int
	for i, n := range pad {
		x = ops.Pad(x, 2+i, n, n, 0)
		out[i] = (x.Dim(2+i)-dilation[i]*(kernel[i]-1)-1)/stride[i] + 1
	}
	var places []*graph.Node // [b c h′ w′] for each place in the window
	for row := range kernel[0] {
		for column := range kernel[1] {
			part := x
			for i, k := range []int{row, column} {
				from := k * dilation[i]
				part = ops.SliceStep(part, 2+i, from, from+(out[i]-1)*stride[i]+1, stride[i])
			}
			places = append(places, part)
		}
	}
	y := ops.Transpose(ops.Stack(2, "", places...), 0, 3, 4, 1, 2)
	return reshaping(y, []int{x.Dim(0), out[0], out[1], x.Dim(1) * len(places)})
}

// importCol2Im is the derivative of im2col by the images, of which it depends on the sizes alone.
func importCol2Im(s theirs) *graph.Node {
	dy := s.x(0)
	return backward(s, s.to.Constant(dy.DType(), make([]float64, s.n.Shape().TotalSize()), graph.Dims(s.n.Shape()...)...), dy, s.columns)
}

// around returns the images with what their windows reach beyond them, as elements v, where our
// pooling does not take it as padding.
func (s theirs) around(x *graph.Node, v float64) (*graph.Node, ops.Window) {
	before := [2]int{s.int("padNorth"), s.int("padWest")}
	after := [2]int{s.int("padSouth"), s.int("padEast")}
	size := [2]int{s.int("h"), s.int("w")}
	if s.mirrored {
		before, after = after, before
	}
	if before == after && 2*before[0] <= size[0] && 2*before[1] <= size[1] {
		return x, ops.Padding(before[0], before[1])
	}
	for i := range before {
		x = ops.Pad(x, 2+i, before[i], after[i], v)
	}
	return x, ops.Valid()
}

// overImages are the options of windows over images with the channels last, and channelsLast puts
// them there for a function.
func (s theirs) overImages(padding ops.Window) ops.Window {
	return ops.Windows(ops.Size(s.int("h"), s.int("w")), ops.Stride(s.int("strideH"), s.int("strideW")), padding)
}

func channelsLast(x *graph.Node, f func(x *graph.Node) *graph.Node) *graph.Node {
	return transposing(f(transposing(x, 0, 2, 3, 1)), 0, 3, 1, 2)
}

func importMaxPool(s theirs) *graph.Node {
	x, padding := s.around(s.x(0), math.Inf(-1))
	return channelsLast(x, func(x *graph.Node) *graph.Node { return ops.MaxPool2D(x, s.overImages(padding)) })
}

// importAvgPool divides by the size of the window; gorgonia divides by the width of the images.
func importAvgPool(s theirs) *graph.Node {
	x, padding := s.around(s.x(0), 0)
	return channelsLast(x, func(x *graph.Node) *graph.Node { return ops.AvgPool2D(x, s.overImages(padding)) })
}

func importGlobalAverage(s theirs) *graph.Node { return ops.Mean(s.x(0), 2, 3, ops.Keep) }

// importYOLO is the detection layer in use: of [b a·(5+k) n n] it makes the boxes [b n·n·a 5+k], with
// centres, sizes, and probabilities of an object and of k classes.
func importYOLO(s theirs) *graph.Node {
	if s.bool("trainMode") {
		panic(noRule{"its training chooses among boxes by their overlap with targets, for which there is no counterpart"})
	}
	x := s.x(0)
	masks, anchors := s.ints("masks"), attribute(s.op, "anchors")
	grid, a, k := x.Dim(2), len(masks), 5+s.int("numClasses")
	stride := float64(s.int("dimensions") / grid)
	if x.Dim(3) != grid || x.Dim(1) != a*k {
		panic(noRule{"its operand is no square grid of boxes"})
	}
	z := reshaping(transposing(reshaping(x, []int{x.Dim(0), a * k, grid * grid}), 0, 2, 1), []int{x.Dim(0), grid * grid * a, k})
	g, dt := x.Graph(), x.DType()
	corners := make([]float64, 0, 2*grid*grid*a)
	sizes := make([]float64, 0, 2*grid*grid*a)
	for row := range grid {
		for column := range grid {
			for i := range a {
				corners = append(corners, float64(column), float64(row))
				sizes = append(sizes, anchors.Index(2*i).Float(), anchors.Index(2*i+1).Float())
			}
		}
	}
	table := graph.Dims(grid*grid*a, 2)
	centre := ops.Scale(ops.Add(ops.Sigmoid(ops.Slice(z, 2, 0, 2)), over3(g.Constant(dt, corners, table...))), stride)
	size := ops.Mul(ops.Exp(ops.Slice(z, 2, 2, 4)), over3(g.Constant(dt, sizes, table...)))
	return ops.Concat(2, centre, size, ops.Sigmoid(ops.Slice(z, 2, 4, k)))
}

// over3 puts an axis of size 1 in front of a table.
func over3(x *graph.Node) *graph.Node { return reshaping(x, []int{1, x.Dim(0), x.Dim(1)}) }
