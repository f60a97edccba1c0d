// Package vacant makes gorgonia's tensors without elements, which gorgonia itself refuses.
package vacant

import "gorgonia.org/tensor"

// Dense returns a tensor of elements of a type, and of a shape with an axis of size 0. Its memory is
// that of one element, which the shape leaves out: gorgonia reads the first of each tensor. Options
// may give it an engine.
func Dense(dt tensor.Dtype, shape []int, options ...tensor.ConsOpt) *tensor.Dense {
	d := tensor.New(append(options, tensor.Of(dt), tensor.WithShape(1))...)
	sizes := tensor.Shape(shape).Clone()
	*d.Info() = tensor.MakeAP(sizes, sizes.CalcStrides(), 0, 0)
	return d
}

// Is reports whether a tensor has no elements.
func Is(t *tensor.Dense) bool { return t.Shape().TotalSize() == 0 }
