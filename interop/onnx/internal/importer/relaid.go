package importer

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/ops"
)

// A reader is an operand of a node.
type reader struct {
	node    *format.Node // nil for an output of the graph
	operand int
}

// reads notes what reads the values of a graph, the nodes of its graphs included.
func reads(f *format.Graph, into map[string][]reader) {
	for _, n := range f.Nodes {
		for i, name := range n.Inputs {
			into[name] = append(into[name], reader{n, i})
		}
		for _, a := range n.Attrs {
			if a.Graph != nil {
				reads(a.Graph, into)
			}
		}
	}
	for _, v := range f.Outputs {
		into[v.Name] = append(into[v.Name], reader{})
	}
}

// wanted returns the order of axes that all readers want instead of the file's; nil if there is
// none. Ours lays kernels and matrices out so that what is summed comes first: they would be
// transposed in every run.
func wanted(readers []reader, rank int) []int {
	var order []int
	for i, r := range readers {
		o := r.order(rank)
		if o == nil || i > 0 && !slices.Equal(o, order) {
			return nil
		}
		order = o
	}
	return order
}

// order returns the order in which a reader wants axes of the file, nil for that of the file.
func (r reader) order(rank int) []int {
	if r.node == nil || r.operand != 1 && r.operand != 2 {
		return nil
	}
	switch r.node.Op {
	case "LSTM", "GRU", "RNN":
		if rank == 3 {
			return []int{0, 2, 1}
		}
	}
	if r.operand != 1 {
		return nil
	}
	var order []int
	for a := 2; a < rank; a++ {
		order = append(order, a)
	}
	switch a := r.node.Attr("transB"); {
	case r.node.Op == "Conv" && rank > 2:
		return append(order, 1, 0)
	case r.node.Op == "ConvTranspose" && rank > 2:
		return append(order, 0, 1)
	case r.node.Op == "Gemm" && rank == 2 && a != nil && a.Int != 0:
		return []int{1, 0}
	}
	return nil
}

// relaid returns x with its axes in another order. What came out of that order is taken from before.
func relaid(x *graph.Node, order ...int) *graph.Node {
	if came, ok := match.Permuted(x); ok && slices.Equal(came, inverse(order)) {
		return x.In(0)
	}
	return ops.Transpose(x, anys(order)...)
}

// inverse returns the order that brings axes back.
func inverse(order []int) []int {
	back := make([]int, len(order))
	for i, a := range order {
		back[a] = i
	}
	return back
}

// inOrder returns axes in an order; a nil order is their own.
func inOrder[T any](axes []T, order []int) []T {
	if order == nil {
		return axes
	}
	out := make([]T, len(axes))
	for i, a := range order {
		out[i] = axes[a]
	}
	return out
}

// reordered returns the elements of an array of the given sizes with its axes in an order.
func reordered(data []float64, dims []int64, order []int) []float64 {
	if order == nil {
		return data
	}
	steps := make([]int, len(dims)) // of the array as it is
	n := 1
	for a := len(dims) - 1; a >= 0; a-- {
		steps[a], n = n, n*int(dims[a])
	}
	sizes, steps := inOrder(dims, order), inOrder(steps, order)
	out := make([]float64, 0, len(data))
	var walk func(a, at int)
	walk = func(a, at int) {
		if a == len(sizes) {
			out = append(out, data[at])
			return
		}
		for i := range int(sizes[a]) {
			walk(a+1, at+i*steps[a])
		}
	}
	walk(0, 0)
	return out
}
