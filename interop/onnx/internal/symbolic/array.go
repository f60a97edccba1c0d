package symbolic

import (
	"math"
	"slices"
)

// array is a constant of one size.
type array struct {
	dims []int64
	v    []float64
}

func sameDims(arrays []array) bool {
	return !slices.ContainsFunc(arrays, func(a array) bool { return !slices.Equal(a.dims, arrays[0].dims) })
}

// strides returns by how much the place in v changes with that along each axis.
func (a array) strides() []int {
	out, stride := make([]int, len(a.dims)), 1
	for i := len(a.dims) - 1; i >= 0; i-- {
		out[i] = stride
		stride *= int(a.dims[i])
	}
	return out
}

// place returns the indices of element at.
func (a array) place(at int) []int {
	out := make([]int, len(a.dims))
	for i, stride := range a.strides() {
		out[i] = at / stride % int(a.dims[i])
	}
	return out
}

// equalAlong reports whether nothing changes along an axis, which has elements.
func (a array) equalAlong(axis int) bool {
	stride, size := a.strides()[axis], int(a.dims[axis])
	if len(a.v) == 0 {
		return false
	}
	for at, v := range a.v {
		if first := a.v[at-at/stride%size*stride]; v != first && !(math.IsNaN(v) && math.IsNaN(first)) {
			return false
		}
	}
	return true
}

// first returns what stands at place 0 of an axis.
func (a array) first(axis int) array {
	stride, size := a.strides()[axis], int(a.dims[axis])
	out := array{dims: slices.Clone(a.dims)}
	out.dims[axis] = 1
	for at, v := range a.v {
		if at/stride%size == 0 {
			out.v = append(out.v, v)
		}
	}
	return out
}
