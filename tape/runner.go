package tape

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// CustomOp is implemented by operations defined outside this module, to be run:
// plain Go over slices. Built-in operations have kernels instead. An elementwise
// operation needs neither: without them its definition, the method
// Scalar(x ...float64) float64, is applied to one element after the other.
//
// Run computes y = op(in...) into out, whose elements it must all write; in must
// not be changed or kept. All arrays are row-major without gaps.
type CustomOp interface {
	Run(y *graph.Node, out Array, in []Array)
}

// Array is the memory of one value: the slice of its element type is set, the
// others are nil.
type Array struct {
	Type graph.Type
	F32  []float32
	F64  []float64
	I32  []int32
	I64  []int64
	Bool []bool
}

// arrayOf returns a value's memory, which may be the first part of a larger buffer.
func arrayOf(t graph.Type, m kernel.Mem) Array {
	a := Array{Type: t}
	m = m.Slice(0, t.Shape.Len()*t.DType.Size())
	switch t.DType {
	case graph.F32:
		a.F32 = kernel.As[float32](m)
	case graph.F64:
		a.F64 = kernel.As[float64](m)
	case graph.I32:
		a.I32 = kernel.As[int32](m)
	case graph.I64:
		a.I64 = kernel.As[int64](m)
	case graph.Bool:
		a.Bool = kernel.As[bool](m)
	}
	return a
}

// runner makes a kernel of a CustomOp.
type runner struct {
	op       CustomOp
	y        *graph.Node
	trusting bool // indices are not checked
}

func (r runner) Bind(kernel.Layout, []kernel.Layout) kernel.Bound {
	return kernel.Bound{Units: 1, Run: func(c *kernel.Ctx, lo, hi int) {
		if lo >= hi {
			return
		}
		in := make([]Array, r.y.NumIn())
		for i := range in {
			in[i] = arrayOf(r.y.In(i).Type(), c.In[i])
		}
		if !r.trusting && !r.within(c, in) {
			c.Out.Clear() // the run fails, and the operation may count on its indices
			return
		}
		r.op.Run(r.y, arrayOf(r.y.Type(), c.Out), in)
	}}
}

func (runner) Flops(kernel.Layout, []kernel.Layout) int64 { return 0 }
func (runner) InPlace(int) bool                           { return false }
func (runner) Strided(int) bool                           { return false }

// pointwise runs an elementwise operation without a Run method by its definition, in float64, one
// element after the other.
type pointwise struct{ op trait.Elementwise }

func (p pointwise) Run(_ *graph.Node, out Array, in []Array) {
	x := make([]float64, len(in))
	for i := range out.Type.Shape.Len() {
		for k := range in {
			x[k] = in[k].At(i)
		}
		out.Set(i, p.op.Scalar(x...))
	}
}

// At returns element i as a number; true is 1.
func (a Array) At(i int) float64 {
	switch a.Type.DType {
	case graph.F32:
		return float64(a.F32[i])
	case graph.F64:
		return a.F64[i]
	case graph.I32:
		return float64(a.I32[i])
	case graph.I64:
		return float64(a.I64[i])
	}
	if a.Bool[i] {
		return 1
	}
	return 0
}

// Set sets element i to the number, rounded to the element type.
func (a Array) Set(i int, v float64) {
	switch a.Type.DType {
	case graph.F32:
		a.F32[i] = float32(v)
	case graph.F64:
		a.F64[i] = v
	case graph.I32:
		a.I32[i] = int32(graph.I32.Whole(v))
	case graph.I64:
		a.I64[i] = graph.I64.Whole(v)
	case graph.Bool:
		a.Bool[i] = v != 0
	}
}
