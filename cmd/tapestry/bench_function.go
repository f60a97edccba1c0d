package main

import (
	"context"
	"fmt"

	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/simd"
)

// function is a kernel over arrays of one shape.
type function struct {
	name   string
	kernel kernel.Kernel
	in     int     // number of operands
	lo, hi float64 // the range of their elements
}

// rowLength is the length of rows for kernels that reduce or normalise rows.
const rowLength = 64

var functions = []function{
	{"exp", kernel.Unary{Function: simd.Exp}, 1, -8, 8}, {"log", kernel.Unary{Function: simd.Log}, 1, 0.1, 8},
	{"log1p", kernel.Unary{Function: simd.Log1p}, 1, -0.9, 8}, {"expm1", kernel.Unary{Function: simd.Expm1}, 1, -8, 8},
	{"tanh", kernel.Unary{Function: simd.Tanh}, 1, -4, 4}, {"sigmoid", kernel.Unary{Function: simd.Sigmoid}, 1, -8, 8}, {"softplus", kernel.Unary{Function: simd.Softplus}, 1, -8, 8}, {"erf", kernel.Unary{Function: simd.Erf}, 1, -3, 3},
	{"sqrt", kernel.Sqrt, 1, 0, 8}, {"relu", kernel.Relu, 1, -1, 1},
	{"add", kernel.Add, 2, -1, 1}, {"mul", kernel.Mul, 2, -1, 1}, {"div", kernel.Div, 2, 1, 2}, {"maximum", kernel.Max, 2, -1, 1},
	{"softmax", kernel.Softmax{Axis: 1}, 1, -8, 8}, {"sum", kernel.Reduce{Op: kernel.ReduceSum, Axes: 1 << 1}, 1, -1, 1},
	{"max", kernel.Reduce{Op: kernel.ReduceMax, Axes: 1 << 1}, 1, -1, 1},
}

// functionSizes are numbers of elements: within the L1 cache, within the L2 cache, and beyond both.
var functionSizes = []int{1 << 12, 1 << 16, 1 << 20}

// functionFigure is one line of --vec.
type functionFigure struct {
	Peer     string  `json:"peer"`
	Kernel   string  `json:"kernel"`
	DType    string  `json:"dtype"`
	ISA      string  `json:"isa"`
	Elements int     `json:"elements"`
	Time     float64 `json:"ns_per_element"`
}

const functionHeading = "function   dtype    elements ns per element"

// String returns a row of the table under functionHeading.
func (f functionFigure) String() string {
	return fmt.Sprintf("%-10s %-7s %9d %14.3f", f.Kernel, f.DType, f.Elements, f.Time)
}

func (b *bench) timeFunctions(ctx context.Context) error {
	if err := b.heading(functionHeading); err != nil {
		return err
	}
	for _, dt := range b.types {
		for _, elements := range functionSizes {
			for _, f := range functions {
				run := f.over(kernel.DType(dt), elements)
				t, err := perCall(ctx, b.duration(), run)
				if err != nil {
					return err
				}
				each := to3(t[0] / float64(elements) * 1e9)
				if err := b.row(functionFigure{b.peer(), f.name, dtypeName(dt), simd.Active().String(), elements, each}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// over returns a call of the function on the given number of elements.
func (f function) over(dt kernel.DType, elements int) func() {
	rows := elements / rowLength
	result := []int{rows, rowLength}
	if _, ok := f.kernel.(kernel.Reduce); ok {
		result = result[:1]
	}
	in := make([]timedArray, f.in)
	for i := range in {
		in[i] = filled(dt, f.lo, f.hi, rows, rowLength)
	}
	run, _ := bound(f.kernel, filled(dt, 0, 0, result...), in...)
	return run
}
