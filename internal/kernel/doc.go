// Package kernel holds the loops that do the arithmetic, for float32 and float64 and, where it
// makes sense, int32, int64 and bool. The innermost loops are package simd's, for the instruction
// set in use. Float16, bfloat16, int8 and uint8 are types for storage: [Cast] converts them, and
// kernels that only move elements take them ([Moves]).
//
// A [Kernel] says what is computed. Bind fixes the shapes: it takes the [Layout] of the result and
// of every operand and returns a [Bound] kernel, which has no memory yet. A [Ctx] then supplies
// memory ([Mem]) and scratch, and Bound.Run computes any range of its units:
//
//	mul := kernel.MatMul{}.Bind(out, []kernel.Layout{x, w})
//	c := kernel.NewCtx()
//	c.Out, c.In = kernel.Of(y), []kernel.Mem{kernel.Of(xs), kernel.Of(ws)}
//	mul.Run(c, 0, mul.Units)
//
// Three words have one meaning here: a loop goes over elements, a run is one call of Bound.Run, and
// a fold combines the elements along an axis into one (sum, product, least, greatest).
//
// A [View] is a change of layout that moves no data: transposition, broadcasting, slicing, some
// reshapes.
//
// The package promises:
//
//   - Run allocates nothing, writes only the elements of its units, and reads only the operands.
//   - Units may run in any order and on any worker, one Ctx each: the result is bitwise the same.
//     The order of every sum is fixed by the shapes and strides alone.
//   - Elementwise kernels give an element the same bits wherever it lies and however its array is
//     cut. Arithmetic is rounded once; functions err by a few units in the last place, as package
//     simd says.
//   - Sums and products of many terms may differ between instruction sets in their last bits, and
//     so may functions between portable Go and assembly: assembly fuses multiplication with
//     addition where portable Go rounds in between (T(x*y)+z).
//   - Results are always dense, in row-major order. An operand may repeat elements (stride 0) or
//     run backwards (negative stride). Where the kernel is elementwise, it may have a lower rank or
//     axes of size 1, which broadcast from the right as in NumPy.
//
// The caller checks shapes and dtypes: Bind panics on a dtype without a loop, and layouts that do
// not fit each other are a bug of the caller, not of the user.
package kernel
