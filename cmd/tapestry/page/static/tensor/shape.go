package tensor

import "slices"

// Shape is the sizes of the axes of a tensor.
type Shape []int

// Clone returns a copy.
func (s Shape) Clone() Shape { return append(make(Shape, 0, len(s)), s...) }

// TotalSize returns the number of elements: 1 of a shape without axes.
func (s Shape) TotalSize() int {
	n := 1
	for _, size := range s {
		n *= size
	}
	return n
}

// CalcStrides returns the distance of neighbours along each axis, in elements, of a tensor in row order.
func (s Shape) CalcStrides() []int {
	strides := make([]int, len(s))
	n := 1
	for i, size := range slices.Backward(s) {
		strides[i] = n
		n *= size
	}
	return strides
}

// DataOrder says how the elements lie in memory: in row order.
type DataOrder byte

// IsRowMajor reports whether the last axis is the one whose elements are neighbours.
func (DataOrder) IsRowMajor() bool { return true }

// IsColMajor reports whether the first axis is.
func (DataOrder) IsColMajor() bool { return false }

// Triangle says which half of a matrix is stored: there is none that is.
type Triangle byte

// AP is how the elements of a tensor are reached: its shape.
type AP struct{ shape Shape }

// MakeAP returns the access to elements in row order.
func MakeAP(shape Shape, _ []int, _ DataOrder, _ Triangle) AP { return AP{shape: shape} }
