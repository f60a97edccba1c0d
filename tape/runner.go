package tape

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/half"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// CustomOp is implemented by operations defined outside this module, to be run:
// plain Go over slices. Built-in operations have kernels instead. An elementwise
// operation needs neither: without them its definition, the method
// Scalar(x ...float64) float64, is applied to one element after the other.
//
// Run computes y = op(in...) into out, whose elements it must all write; in must
// not be changed or kept. All arrays are row-major without gaps.
//
// Values of f16 and bf16 come as f32, those of i8 and u8 as i32, and a result of such a
// type is rounded afterwards, so Run needs no loops for them.
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
	Half []uint16 // the bits of f16 or bf16
	I8   []int8
	U8   []uint8
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
	case graph.F16, graph.BF16:
		a.Half = kernel.As[uint16](m)
	case graph.I8:
		a.I8 = kernel.As[int8](m)
	case graph.U8:
		a.U8 = kernel.As[uint8](m)
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
			in[i] = arrayOf(wideType(r.y.In(i)), c.In[i])
		}
		if !r.trusting && !r.within(c, in) {
			c.Out.Clear() // the run fails, and the operation may count on its indices
			return
		}
		r.op.Run(r.y, arrayOf(wideType(r.y), c.Out), in)
	}}
}

// wideType returns the type of n's value as kernels take it.
func wideType(n *graph.Node) graph.Type {
	return graph.Type{DType: n.DType().Wide(), Shape: n.Shape()}
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

// Value returns a copy of the array in float64; no value of an Array without a type.
func (a Array) Value() graph.Value {
	if a.Type.DType == graph.InvalidDType {
		return graph.Value{}
	}
	v := graph.NewValue(a.Type)
	for i := range v.Data {
		v.Data[i] = a.At(i)
	}
	return v
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
	case graph.F16:
		return float64(half.Float32(a.Half[i]))
	case graph.BF16:
		return float64(half.Brain(a.Half[i]))
	case graph.I8:
		return float64(a.I8[i])
	case graph.U8:
		return float64(a.U8[i])
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
	case graph.F16:
		a.Half[i] = half.Bits(half.Odd(v))
	case graph.BF16:
		a.Half[i] = half.BrainBits(half.Odd(v))
	case graph.I8:
		a.I8[i] = int8(graph.I8.Whole(v))
	case graph.U8:
		a.U8[i] = uint8(graph.U8.Whole(v))
	}
}
