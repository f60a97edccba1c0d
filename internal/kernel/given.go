package kernel

import "github.com/tapestry-ml/tapestry/internal/simd"

// Map applies a function that is given in Go to floats, element by element: for functions without
// assembly. F32 computes in float64 and rounds once, by Wide where that is given.
type Map struct {
	elementwise
	Of   func(x float64) float64
	Wide Wide
}

// Zip applies a function that is given in Go to pairs of floats, like Map, and another one to pairs
// of integers, unless that is nil. I32 computes in int64 and keeps the lower bits.
type Zip struct {
	elementwise
	Of    func(x, y float64) float64
	Whole func(x, y int64) int64
	Wide  Wide
}

// Bind panics if there is no loop for the dtype.
func (k Map) Bind(out Layout, in []Layout) Bound {
	switch {
	case out.DType == F32 && k.Wide != ByElement:
		return k.Wide.bind(func(x, _ float64) float64 { return k.Of(x) }, out, in[0])
	case out.DType == F32:
		return mapLoop(simd.MapBy[float32](k.Of), out, in[0])
	case out.DType == F64:
		return mapLoop(simd.MapBy[float64](k.Of), out, in[0])
	}
	panic(unsupported(k, out.DType))
}

// Bind panics if there is no loop for the dtype.
func (k Zip) Bind(out Layout, in []Layout) Bound {
	var f simd.Zip
	switch {
	case out.DType == F32 && k.Wide != ByElement:
		return k.Wide.bind(k.Of, out, in[0], in[1])
	case out.DType == F64 && k.Wide == WidePow:
		return bindPower(k.Of, out, in)
	case out.DType == F32:
		f = simd.ZipBy[float32](k.Of)
	case out.DType == F64:
		f = simd.ZipBy[float64](k.Of)
	case out.DType == I32 && k.Whole != nil:
		f = simd.ZipBy[int32](k.Whole)
	case out.DType == I64 && k.Whole != nil:
		f = simd.ZipBy[int64](k.Whole)
	default:
		panic(unsupported(k, out.DType))
	}
	return zipLoop(simd.Zips{Rows: f}, out, in)
}
