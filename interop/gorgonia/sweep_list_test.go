package gorgonia

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// sweeps lists what is sensitive to how it is called: axes, broadcasting, windows.
func sweeps() []own {
	var all []own
	add1 := func(name string, ours func(x *graph.Node) *graph.Node, theirs func(x *G.Node) (*G.Node, error), d ops.Domain, size ...int) {
		o := own1(name, ours, theirs, d)
		o.sizes = [][]int{size}
		all = append(all, o)
	}
	add2 := func(name string, ours func(a, b *graph.Node) *graph.Node, theirs func(a, b *G.Node) (*G.Node, error), d ops.Domain, a, b []int) {
		o := own2(name, ours, theirs, d)
		o.sizes = [][]int{a, b}
		all = append(all, o)
	}
	type over = func(x *graph.Node, axes ...any) *graph.Node
	for _, r := range []struct {
		name   string
		ours   over
		theirs func(x *G.Node, along ...int) (*G.Node, error)
	}{{"Sum", ops.Sum, G.Sum}, {"Mean", ops.Mean, G.Mean}, {"Max", ops.Max, G.Max}} {
		add1(r.name+", all", func(x *graph.Node) *graph.Node { return r.ours(x) }, func(x *G.Node) (*G.Node, error) { return r.theirs(x) }, ops.Apart, 3, 4)
		add1(r.name+", first axis", func(x *graph.Node) *graph.Node { return r.ours(x, 0) }, func(x *G.Node) (*G.Node, error) { return r.theirs(x, 0) }, ops.Apart, 3, 4)
		add1(r.name+", middle of three", func(x *graph.Node) *graph.Node { return r.ours(x, 1) }, func(x *G.Node) (*G.Node, error) { return r.theirs(x, 1) }, ops.Apart, 2, 3, 4)
		add1(r.name+", first and last of three", func(x *graph.Node) *graph.Node { return r.ours(x, 0, 2) }, func(x *G.Node) (*G.Node, error) { return r.theirs(x, 0, 2) }, ops.Apart, 2, 3, 4)
	}
	add1("SoftMax, first axis", func(x *graph.Node) *graph.Node { return ops.Softmax(x, 0) }, func(x *G.Node) (*G.Node, error) { return G.SoftMax(x, 0) }, ops.Reals, 3, 4)
	add1("SoftMax, middle of three", func(x *graph.Node) *graph.Node { return ops.Softmax(x, 1) }, func(x *G.Node) (*G.Node, error) { return G.SoftMax(x, 1) }, ops.Reals, 2, 3, 4)
	add1("LogSoftMax, first axis", func(x *graph.Node) *graph.Node { return ops.LogSoftmax(x, 0) }, func(x *G.Node) (*G.Node, error) { return G.LogSoftMax(x, 0) }, ops.Reals, 3, 4)
	add1("Norm, 2", func(x *graph.Node) *graph.Node { return ops.Norm(x, 1) }, func(x *G.Node) (*G.Node, error) { return G.Norm(x, 1, 2) }, ops.Apart, 3, 4)
	add1("Expm1", func(x *graph.Node) *graph.Node { return ops.Sub(ops.Exp(x), ops.Lit(x, 1)) }, G.Expm1, ops.Reals, 3, 4)
	add1("Floor", ops.Floor, G.Floor, ops.Apart, 3, 4)
	add1("Ceil", ops.Ceil, G.Ceil, ops.Apart, 3, 4)
	add1("Sparsemax", func(x *graph.Node) *graph.Node { return ops.Sparsemax(x, -1) }, func(x *G.Node) (*G.Node, error) { return G.Sparsemax(x) }, ops.Reals, 3, 4)
	add1("Sparsemax, first axis", func(x *graph.Node) *graph.Node { return ops.Sparsemax(x, 0) }, func(x *G.Node) (*G.Node, error) { return G.Sparsemax(x, 0) }, ops.Reals, 3, 4)
	add1("Log2", ops.Log2, G.Log2, ops.Positive, 3, 4)
	add1("Cube", ops.Cube, G.Cube, ops.Reals, 3, 4)
	add1("Inverse", func(x *graph.Node) *graph.Node { return ops.Div(ops.Lit(x, 1), x) }, G.Inverse, ops.Apart, 3, 4)
	add1("Norm, 1, of both signs", func(x *graph.Node) *graph.Node { return ops.Sum(ops.Abs(x), 1) }, func(x *G.Node) (*G.Node, error) { return G.Norm(x, 1, 1) }, ops.Apart, 3, 4)
	add1("Norm, 3, of both signs", func(x *graph.Node) *graph.Node {
		return ops.Pow(ops.Sum(ops.Pow(ops.Abs(x), ops.Lit(x, 3)), 1), ops.Lit(x, 1.0/3))
	}, func(x *G.Node) (*G.Node, error) { return G.Norm(x, 1, 3) }, ops.Apart, 3, 4)
	byIndices := func(axis int, at ...int) func(x *G.Node) (*G.Node, error) {
		return func(x *G.Node) (*G.Node, error) {
			i := G.NewVector(x.Graph(), G.Int, G.WithShape(len(at)), G.WithName("indices"), G.WithValue(tensor.New(tensor.WithBacking(at))))
			return G.ByIndices(x, i, axis)
		}
	}
	rows := func(axis int, at ...int) func(x *graph.Node) *graph.Node {
		return func(x *graph.Node) *graph.Node {
			var parts []*graph.Node
			for _, i := range at {
				parts = append(parts, ops.Slice(x, axis, i, i+1))
			}
			return ops.Concat(axis, parts...)
		}
	}
	add1("ByIndices, each row once", rows(0, 2, 0, 1), byIndices(0, 2, 0, 1), ops.Reals, 3, 4)
	add1("ByIndices, a row twice", rows(0, 2, 0, 2), byIndices(0, 2, 0, 2), ops.Reals, 3, 4)
	add1("ByIndices, columns", rows(1, 3, 1, 2), byIndices(1, 3, 1, 2), ops.Reals, 3, 4)
	targets, lengths, spoken := []int{1, 2, 2, 3, 4, 1}, []int{6, 6, 5}, []int{2, 2, 1}
	add1("CTCLoss, summed", func(x *graph.Node) *graph.Node {
		ints := func(v []int, sizes ...int) *graph.Node {
			return x.Graph().Constant(graph.I64, floatsOf(v), graph.Dims(sizes...)...)
		}
		return ops.Sum(nn.CTC(ops.LogSoftmax(x, -1), ints(targets, 3, 2), ints(lengths, 3), ints(spoken, 3), 0))
	}, func(x *G.Node) (*G.Node, error) {
		ints := func(name string, v []int, shape ...int) *G.Node {
			return G.NewTensor(x.Graph(), G.Int, len(shape), G.WithShape(shape...), G.WithName(name), G.WithValue(tensor.New(tensor.WithShape(shape...), tensor.WithBacking(v))))
		}
		logs, err := G.LogSoftMax(x, 2)
		if err != nil {
			return nil, err
		}
		return G.CTCLoss(logs, ints("targets", targets, 3, 2), ints("lengths", lengths, 3), ints("spoken", spoken, 3), G.ReductionSum)
	}, ops.Reals, 6, 3, 5)
	add1("Mish", ops.Mish, G.Mish, ops.Reals, 3, 4)
	add1("LeakyRelu", func(x *graph.Node) *graph.Node { return ops.LeakyReLU(x, 0.1) }, func(x *G.Node) (*G.Node, error) { return G.LeakyRelu(x, 0.1) }, ops.Apart, 3, 4)
	add1("Transpose of three axes", func(x *graph.Node) *graph.Node { return ops.Transpose(x, 2, 0, 1) }, func(x *G.Node) (*G.Node, error) { return G.Transpose(x, 2, 0, 1) }, ops.Reals, 2, 3, 4)
	add1("Slice of the first axis", func(x *graph.Node) *graph.Node { return ops.Slice(x, 0, 1, 3) }, func(x *G.Node) (*G.Node, error) { return G.Slice(x, G.S(1, 3)) }, ops.Reals, 4, 3)
	add1("Ravel of a transpose", func(x *graph.Node) *graph.Node { return ops.Reshape(ops.Transpose(x), 12) }, func(x *G.Node) (*G.Node, error) {
		y, err := G.Transpose(x, 1, 0)
		if err != nil {
			return nil, err
		}
		return G.Reshape(y, tensor.Shape{12})
	}, ops.Reals, 3, 4)

	row := func(f func(a, b *graph.Node) *graph.Node) func(a, b *graph.Node) *graph.Node {
		return func(a, b *graph.Node) *graph.Node { return f(a, ops.Reshape(b, 1, b.Shape().Len())) }
	}
	column := func(f func(a, b *graph.Node) *graph.Node) func(a, b *graph.Node) *graph.Node {
		return func(a, b *graph.Node) *graph.Node { return f(a, ops.Reshape(b, b.Shape().Len(), 1)) }
	}
	type broadcast = func(a, b *G.Node, left, right []byte) (*G.Node, error)
	for _, b := range []struct {
		name   string
		ours   func(a, b *graph.Node) *graph.Node
		theirs broadcast
	}{{"BroadcastAdd", func(a, b *graph.Node) *graph.Node { return ops.Add(a, b) }, G.BroadcastAdd}, {"BroadcastSub", ops.Sub, G.BroadcastSub}, {"BroadcastHadamardProd", func(a, b *graph.Node) *graph.Node { return ops.Mul(a, b) }, G.BroadcastHadamardProd}, {"BroadcastHadamardDiv", ops.Div, G.BroadcastHadamardDiv}} {
		add2(b.name+", a row", row(b.ours), func(x, y *G.Node) (*G.Node, error) { return b.theirs(x, y, nil, []byte{0}) }, ops.Positive, []int{3, 4}, []int{1, 4})
		add2(b.name+", a column", column(b.ours), func(x, y *G.Node) (*G.Node, error) { return b.theirs(x, y, nil, []byte{1}) }, ops.Positive, []int{3, 4}, []int{3, 1})
	}
	add2("OuterProd", func(a, b *graph.Node) *graph.Node { return ops.MatMul(ops.Reshape(a, 3, 1), ops.Reshape(b, 1, 4)) }, G.OuterProd, ops.Reals, []int{3}, []int{4})
	add2("BatchedMatMul", ops.MatMul, func(a, b *G.Node) (*G.Node, error) { return G.BatchedMatMul(a, b) }, ops.Reals, []int{2, 3, 4}, []int{2, 4, 2})
	add2("Concat, first axis", func(a, b *graph.Node) *graph.Node { return ops.Concat(0, a, b) }, func(a, b *G.Node) (*G.Node, error) { return G.Concat(0, a, b) }, ops.Reals, []int{2, 4}, []int{3, 4})

	conv := func(name string, pad, stride, dilation []int) {
		add2("Conv2d, "+name, func(x, k *graph.Node) *graph.Node {
			y := ops.Conv2D(ops.Transpose(x, 0, 2, 3, 1), ops.Transpose(k, 2, 3, 1, 0), ops.Padding(pad...), ops.Stride(stride...), ops.Dilation(dilation...))
			return ops.Transpose(y, 0, 3, 1, 2)
		}, func(x, k *G.Node) (*G.Node, error) {
			return G.Conv2d(x, k, tensor.Shape{3, 3}, pad, stride, dilation)
		}, ops.Reals, []int{1, 2, 5, 6}, []int{2, 2, 3, 3})
	}
	conv("plain", []int{0, 0}, []int{1, 1}, []int{1, 1})
	conv("padding 1", []int{1, 1}, []int{1, 1}, []int{1, 1})
	conv("padding 2 and 0", []int{2, 0}, []int{1, 1}, []int{1, 1})
	conv("stride 2", []int{1, 1}, []int{2, 2}, []int{1, 1})
	conv("stride 2 and 1", []int{1, 1}, []int{2, 1}, []int{1, 1})
	conv("dilation 2", []int{1, 1}, []int{1, 1}, []int{2, 2})

	// Beyond the edge of a maximum stands what is never chosen.
	beyond := func(x *graph.Node, axis, n int) *graph.Node {
		size := x.Shape().Sizes()
		size[axis] = n
		return x.Graph().Constant(x.DType(), slices.Repeat([]float64{-1e9}, product(size)), graph.Dims(size...)...)
	}
	pool := func(name string, kernel, pad, stride []int) {
		add1("MaxPool2D, "+name, func(x *graph.Node) *graph.Node {
			at := pad // north, south, west, east
			if len(pad) == 2 {
				at = []int{pad[0], pad[0], pad[1], pad[1]}
			}
			for i, n := range at {
				switch axis := 2 + i/2; {
				case n == 0:
				case i%2 == 0:
					x = ops.Concat(axis, beyond(x, axis, n), x)
				default:
					x = ops.Concat(axis, x, beyond(x, axis, n))
				}
			}
			y := ops.MaxPool2D(ops.Transpose(x, 0, 2, 3, 1), ops.Size(kernel[0], kernel[1]), ops.Stride(stride...))
			return ops.Transpose(y, 0, 3, 1, 2)
		}, func(x *G.Node) (*G.Node, error) { return G.MaxPool2D(x, tensor.Shape(kernel), pad, stride) }, ops.Apart, 1, 2, 4, 5)
	}
	pool("window 2", []int{2, 2}, []int{0, 0}, []int{2, 2})
	pool("window 3, overlapping", []int{3, 3}, []int{0, 0}, []int{1, 1})
	pool("window 3 and 2", []int{3, 2}, []int{0, 0}, []int{1, 2})
	pool("window 3, padding 1", []int{3, 3}, []int{1, 1}, []int{2, 2})
	pool("padding above only", []int{2, 2}, []int{1, 0, 0, 0}, []int{1, 1})
	pool("padding below only", []int{2, 2}, []int{0, 1, 0, 0}, []int{1, 1})
	pool("padding left only", []int{2, 2}, []int{0, 0, 1, 0}, []int{1, 1})
	add1("GlobalAveragePool2D", func(x *graph.Node) *graph.Node { return ops.Mean(x, 2, 3, ops.Keep) }, G.GlobalAveragePool2D, ops.Reals, 2, 2, 3, 3)

	batch := own{op: "BatchNorm, training", sizes: [][]int{{3, 2, 2, 2}, {1, 2, 1, 1}, {1, 2, 1, 1}}, domain: ops.Reals}
	const eps = 0.1
	batch.ours = func(x []*graph.Node) *graph.Node {
		centred := ops.Sub(x[0], ops.Mean(x[0], 0, 2, 3, ops.Keep))
		variance := ops.Mean(ops.Square(centred), 0, 2, 3, ops.Keep)
		return ops.Add(ops.Mul(x[1], ops.Div(centred, ops.Sqrt(ops.Add(variance, ops.Lit(variance, eps))))), x[2])
	}
	batch.theirs = func(x []*G.Node) (*G.Node, error) {
		y, _, _, _, err := G.BatchNorm(x[0], x[1], x[2], 0.9, eps)
		return y, err
	}
	return append(all, batch)
}

func floatsOf(list []int) []float64 {
	out := make([]float64, len(list))
	for i, v := range list {
		out[i] = float64(v)
	}
	return out
}
