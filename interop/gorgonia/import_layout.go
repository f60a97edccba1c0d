package gorgonia

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func isReshape(x *graph.Node) bool { return match.Is(x, match.Reshape) }

// turnedFrom returns the array whose axes in the given order are x; x itself if it is no transposition.
func turnedFrom(x *graph.Node) (z *graph.Node, order []int) {
	if order, ok := match.Permuted(x); ok && match.Is(x, match.Transpose) {
		return x.In(0), order
	}
	return x, nil
}

// through returns f(x), for a function of one element each. The axes are exchanged behind it, so that
// images which convolutions have with the channels last stay so from one to the next.
func through(x *graph.Node, f func(x *graph.Node) *graph.Node) *graph.Node {
	z, order := turnedFrom(x)
	if order == nil {
		return f(x)
	}
	return transposing(f(z), order...)
}

// inverse returns the order that takes back another.
func inverse(order []int) []int {
	out := make([]int, len(order))
	for i, a := range order {
		out[a] = i
	}
	return out
}

// transposing returns x with its axes in the given order, without a chain of transpositions.
func transposing(x *graph.Node, order ...int) *graph.Node {
	if z, before := turnedFrom(x); before != nil {
		both := make([]int, len(order))
		for i, a := range order {
			both[i] = before[a]
		}
		x, order = z, both
	}
	if slices.IsSorted(order) {
		return x
	}
	if match.Is(x, match.Broadcast) && x.In(0).Rank() == len(order) {
		sizes := make([]int, len(order))
		for i, a := range order {
			sizes[i] = x.Dim(a)
		}
		return broadcasting(transposing(x.In(0), order...), sizes)
	}
	return ops.Transpose(x, anyAxes(order)...)
}

func importTranspose(s theirs) *graph.Node { return transposing(s.x(0), s.ints("pattern")...) }

func importConcat(s theirs) *graph.Node {
	var parts []*graph.Node
	for i := range s.operands[s.n] {
		parts = append(parts, s.x(i))
	}
	return ops.Concat(s.int("axis"), parts...)
}

func importAt(s theirs) *graph.Node {
	y := s.x(0)
	for _, i := range s.ints("coordinates") {
		y = ops.At(y, 0, i)
	}
	return y
}

func importDiagFlat(s theirs) *graph.Node {
	x := s.x(0)
	return ops.DiagonalMatrix(reshaping(x, []int{x.Shape().Len()}))
}

// importSlice takes a part along one axis, and without the axis where the part is one element.
func importSlice(s theirs) *graph.Node {
	x := s.x(0)
	along := s.int("along")
	is, ok := s.op.(interface{ IsSlice() tensor.Slice })
	if !ok {
		panic(noRule{"gorgonia's operation has no slice: another version of it?"})
	}
	part := is.IsSlice()
	if part == nil || part.End() <= part.Start() {
		return x
	}
	from, to, step := part.Start(), min(part.End(), x.Dim(along)), max(1, part.Step())
	if to-from == 1 {
		return ops.At(x, along, from)
	}
	return ops.SliceStep(x, along, from, to, step)
}

// importRepeat repeats each element along one axis; of a scalar and of a vector it makes the axes up
// to that one.
func importRepeat(s theirs) *graph.Node {
	x := s.x(0)
	along := s.int("along")
	count, ok := s.number(s.arg(1))
	if !ok {
		panic(noRule{"how often it repeats is not known"})
	}
	n, sizes := int(count), x.Shape().Sizes()
	for len(sizes) <= along {
		sizes = append(sizes, 1)
	}
	repeat := func(axis int, sizes []int) *graph.Node {
		x := reshaping(x, sizes)
		to := slices.Clone(sizes)
		to[axis] = n
		return broadcasting(x, to)
	}
	switch {
	case n == 1:
		return reshaping(x, sizes)
	case sizes[along] == 1:
		return repeat(along, sizes)
	}
	return reshaping(repeat(along+1, slices.Insert(slices.Clone(sizes), along+1, 1)), s.n.Shape())
}

// broadcasting returns x repeated to the given sizes, without a chain of repetitions.
func broadcasting(x *graph.Node, sizes []int) *graph.Node {
	if match.Is(x, match.Broadcast) && x.In(0).Rank() == len(sizes) {
		x = x.In(0)
	}
	to, err := graph.NewShape(graph.Dims(sizes...)...)
	if err != nil {
		panic(noRule{err.Error()})
	}
	return ops.BroadcastTo(x, to)
}

// importUpsample repeats every element of images [b c h w] along h and w.
func importUpsample(s theirs) *graph.Node {
	x, n := s.x(0), s.int("stride")+1
	b, c, h, w := x.Dim(0), x.Dim(1), x.Dim(2), x.Dim(3)
	y := broadcasting(reshaping(x, []int{b, c, h, 1, w, 1}), []int{b, c, h, n, w, n})
	return reshaping(y, []int{b, c, h * n, w * n})
}

func importByIndices(s theirs) *graph.Node {
	index := s.x(1)
	return ops.Gather(s.x(0), reshaping(index, []int{index.Shape().Len()}), s.int("axis"))
}

// The products of gorgonia's linear algebra, by number.
const (
	matMul2 = iota
	matVec
	vecDot
	outer
	batchedMatMul
)

func importProduct(s theirs) *graph.Node {
	if s.isConvolution(s.n) {
		return s.convolution()
	}
	kind := attribute(s.op, "āBinaryOperator").Uint()
	flat := func(x *graph.Node) *graph.Node { return reshaping(x, []int{x.Shape().Len()}) }
	turned := func(x *graph.Node, name string) *graph.Node {
		if !s.bool(name) {
			return x
		}
		order := make([]int, x.Rank())
		for i := range order {
			order[i] = i
		}
		n := len(order)
		order[n-1], order[n-2] = n-2, n-1
		return transposing(x, order...)
	}
	x, y := s.x(0), s.x(1)
	switch kind {
	case vecDot:
		return ops.MatMul(flat(x), flat(y))
	case outer:
		return ops.Mul(reshaping(x, []int{x.Shape().Len(), 1}), reshaping(y, []int{1, y.Shape().Len()}))
	case matVec:
		return ops.MatMul(turned(x, "transA"), flat(y))
	case matMul2, batchedMatMul:
		return ops.MatMul(turned(x, "transA"), turned(y, "transB"))
	}
	panic(noRule{"there is no counterpart for it"})
}

// importTensordot contracts axes: a product of matrices, once the contracted axes are last on the
// left and first on the right.
func importTensordot(s theirs) *graph.Node {
	x, y := s.x(0), s.x(1)
	a, b := s.ints("aAxes"), s.ints("bAxes")
	size := 1
	for _, axis := range a {
		size *= x.Dim(axis)
	}
	left := append(others(x.Rank(), a), a...)
	right := append(slices.Clone(b), others(y.Rank(), b)...)
	m, n := x.Shape().Len()/size, y.Shape().Len()/size
	product := ops.MatMul(reshaping(transposing(x, left...), []int{m, size}), reshaping(transposing(y, right...), []int{size, n}))
	return reshaping(product, s.n.Shape())
}

// others lists the axes that are not among the given.
func others(rank int, axes []int) []int {
	var out []int
	for a := range rank {
		if !slices.Contains(axes, a) {
			out = append(out, a)
		}
	}
	return out
}

// isConvolution reports whether a node is the product of G.Conv2d: of the columns of images and a
// filter, both as matrices.
func (b *importer) isConvolution(n *G.Node) bool {
	in := b.operands[n]
	if kindOf(n) != "linAlgBinOp" || len(in) != 2 || kindOf(in[0]) != "reshapeOp" || kindOf(in[1]) != "reshapeOp" {
		return false
	}
	s := b.at(n)
	if attribute(n.Op(), "āBinaryOperator").Uint() != matMul2 || s.bool("transA") || !s.bool("transB") {
		return false
	}
	columns, filter := b.operands[in[0]][0], b.operands[in[1]][0]
	if kindOf(columns) != "im2colOp" || filter.Shape().Dims() != 4 || in[1].Shape().Dims() != 2 {
		return false
	}
	c := b.at(columns)
	k := filter.Shape()
	return k[1] == b.operands[columns][0].Shape()[1] && k[2] == c.int("h") && k[3] == c.int("w") &&
		in[1].Shape()[0] == k[0] && in[0].Shape()[1] == k[1]*k[2]*k[3]
}
