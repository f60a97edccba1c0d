package exporter

import (
	"slices"

	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

func reshape(s site) value {
	v := s.in(0)
	if v.pack == nil && (len(v.dims) == 0 || s.n.Shape().SameSizes(s.n.In(0).Shape())) {
		return v // one number, repeated, or other names of axes
	}
	return s.reshape(s.whole(0), s.sizes()...)
}

func transpose(s site) value {
	v := s.in(0)
	if len(v.dims) == 0 && v.pack == nil {
		return v
	}
	order, _ := match.Permuted(s.n)
	return s.spread(0).turned(order)
}

func concat(s site) value {
	in := make([]value, s.n.NumIn())
	for i := range in {
		in[i] = s.whole(i)
	}
	in = slices.DeleteFunc(in, func(v value) bool { return product(v.dims) == 0 })
	return s.concat(s.axis(), in...)
}

func slice(s site) value {
	v := s.in(0)
	if len(v.dims) == 0 && v.pack == nil {
		return v
	}
	start, step, _ := match.Strided(s.n)
	if v.pack != nil {
		if part, ok := v.pack.sliced(s, start[0], s.n.Dim(0)); ok {
			return part
		}
	}
	return s.slice(s.whole(0), start, step, s.sizes())
}

// place lays an array into zeros. Elements that are not neighbours are first moved apart: each gets zeros
// behind it, along an axis of its own.
func place(s site) value {
	start, step, _ := match.Strided(s.n)
	to := s.sizes()
	v := s.whole(0)
	back := false
	for i, by := range step {
		if by < 0 && v.dims[i] > 1 {
			back = true
			start[i], step[i] = start[i]+by*(v.dims[i]-1), -by
		} else {
			step[i] = max(by, 1)
		}
	}
	if back { // turn it round first
		from, by, size := make([]int, len(to)), slices.Repeat([]int{1}, len(to)), slices.Clone(v.dims)
		_, old, _ := match.Strided(s.n)
		for i := range to {
			if old[i] < 0 && size[i] > 1 {
				from[i], by[i] = size[i]-1, -1
			}
		}
		v = s.slice(v, from, by, size)
	}
	mask := v.elem == format.Bool
	if mask {
		v = s.cast(v, format.Int32)
	}
	for i, by := range step {
		if n := v.dims[i]; by > 1 && n > 1 {
			apart := slices.Insert(slices.Clone(v.dims), i+1, 1)
			after := make([]int, len(apart))
			after[i+1] = by - 1
			merged := slices.Clone(v.dims)
			merged[i] = n * by
			v = s.reshape(s.pad(s.reshape(v, apart...), make([]int, len(apart)), after), merged...)
			v = s.part(v, i, 0, (n-1)*by+1)
		}
	}
	before, after := make([]int, len(to)), make([]int, len(to))
	for i := range to {
		before[i], after[i] = start[i], to[i]-start[i]-v.dims[i]
	}
	v = s.pad(v, before, after)
	if mask {
		v = s.cast(v, format.Bool)
	}
	return v
}
