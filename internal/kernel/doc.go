// Package kernel holds the loops that do the arithmetic: portable Go over slices, for float32 and float64 and, where it
// makes sense, int32, int64 and bool.
//
// A [Kernel] says what is computed. Bind fixes the shapes: it takes the [Layout] of the result and of every operand and
// gives a [Loop], still open in memory. A [Ctx] then supplies memory ([Mem]) and scratch, and Loop.Run computes any range of
// the loop's units:
//
//	loop := kernel.MatMul{}.Bind(out, []kernel.Layout{x, w})
//	c := kernel.NewCtx()
//	c.Out, c.In = kernel.Of(y), []kernel.Mem{kernel.Of(xs), kernel.Of(ws)}
//	loop.Run(c, 0, loop.Units)
//
// A [View] is a change of layout that moves no data: transposition, broadcasting, slicing, some reshapes.
//
// The package promises:
//
//   - Run allocates nothing, writes only the elements of its units, and reads nothing but the operands.
//   - Units may run in any order and on any worker, one Ctx each: the result is bitwise the same. The order of every sum is
//     fixed by the shapes and strides alone.
//   - Products are rounded before they are added (T(x*y)+z), so no compiler contracts them to fused multiply-adds.
//   - Results are always dense, in row-major order. An operand may repeat elements (stride 0), run backwards (negative
//     stride), or have a lower rank or axes of size 1, which broadcast from the right as NumPy does, where the kernel is
//     elementwise.
//
// Shapes and dtypes are the caller's to check: Bind panics on a dtype for which there is no loop, and layouts that do not fit
// each other are a bug of the caller, not of the user.
package kernel
