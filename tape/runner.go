package tape

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// Runner is what an operation defined outside this module offers to be run:
// plain Go over slices. Built-in operations have kernels instead.
//
// Run computes y = op(in...) into out, whose elements it must all write; in must
// not be changed or kept. All arrays are row-major without gaps.
type Runner interface {
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

// arrayOf is a value's memory, which may be the first part of a larger buffer.
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

// runner makes a kernel of a Runner.
type runner struct {
	op Runner
	y  *graph.Node
}

func (r runner) Bind(kernel.Layout, []kernel.Layout) kernel.Loop {
	return kernel.Loop{Units: 1, Run: func(c *kernel.Ctx, lo, hi int) {
		if lo >= hi {
			return
		}
		in := make([]Array, r.y.NumIn())
		for i := range in {
			in[i] = arrayOf(r.y.In(i).Type(), c.In[i])
		}
		r.op.Run(r.y, arrayOf(r.y.Type(), c.Out), in)
	}}
}

func (runner) Flops(kernel.Layout, []kernel.Layout) int64 { return 0 }
func (runner) InPlace(int) bool                           { return false }
func (runner) Strided(int) bool                           { return false }
