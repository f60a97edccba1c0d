package exporter

import (
	"slices"

	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// ONNX Runtime slides windows over f32 alone. For f64, the elements of all windows are gathered by constant
// indices, and sums of products are taken of them.

// taps lists, for every window of an array of sizes in, and every element of the window, the place of the
// element in the array; product(in) stands for padding.
func (s site) taps(in, windows, size []int) [][]int {
	stride, dilation := s.list("Stride"), s.dilation()
	before, _ := s.pads()
	out := make([][]int, product(windows))
	for q := range out {
		out[q] = make([]int, product(size))
		for k := range out[q] {
			at, qq, kk, scale := 0, q, k, 1
			for a := len(in) - 1; a >= 0; a-- {
				p := qq%windows[a]*stride[a] + kk%size[a]*dilation[a] - before[a]
				qq, kk = qq/windows[a], kk/size[a]
				if p < 0 || p >= in[a] {
					at = product(in)
					break
				}
				at, scale = at+p*scale, scale*in[a]
			}
			out[q][k] = at
		}
	}
	return out
}

// indices returns lists of one length as a constant, the short ones filled up.
func (e *emitter) indices(name string, lists [][]int, fill int) value {
	most := 1
	for _, l := range lists {
		most = max(most, len(l))
	}
	data := make([]float64, 0, len(lists)*most)
	for _, l := range lists {
		for k := range most {
			if k < len(l) {
				data = append(data, float64(l[k]))
			} else {
				data = append(data, float64(fill))
			}
		}
	}
	return e.array(name, format.Int64, []int{len(lists), most}, data)
}

// atIndices gathers along the middle axis of [b n c], behind which a row of zeros stands for what is outside.
func (s site) atIndices(v, index value) value {
	zeros := s.filled(v.elem, 0, []int{v.dims[0], 1, v.dims[2]})
	return s.gather(s.concat(1, v, zeros), index, 1)
}

// planes brings [… h w c] to [b h·w c], and returns h and w.
func (s site) planes(i int) (value, []int) {
	v, k := s.whole(i), s.spatial()
	r := len(v.dims)
	in := slices.Clone(v.dims[r-1-k : r-1])
	return s.reshape(v, product(v.dims[:r-1-k]), product(in), v.dims[r-1]), in
}

// spatialOf returns h and w of [… h w c].
func (s site) spatialOf(sizes []int) []int {
	r := len(sizes)
	return sizes[r-1-s.spatial() : r-1]
}

// windows gathers the elements of all windows of [b n c]: [b q k c].
func (s site) windows(v value, in, windows, size []int) value {
	return s.atIndices(v, s.indices("windows", s.taps(in, windows, size), product(in)))
}

// unfolded adds up [b q·k c] where elements of windows are one element of the array: [b n c].
func (s site) unfolded(v value, in, windows, size []int, each bool) value {
	lists := make([][]int, product(in))
	for q, list := range s.taps(in, windows, size) {
		for k, at := range list {
			if at < len(lists) {
				from := q
				if each {
					from = q*len(list) + k
				}
				lists[at] = append(lists[at], from)
			}
		}
	}
	taken := s.atIndices(v, s.indices("windows around", lists, v.dims[1]))
	return s.reduce("ReduceSum", taken, []int{2}, false)
}

func (s site) einsum(equation string, dims []int, in ...value) value {
	return s.op("Einsum", in[0].elem, dims, in, attrString("equation", equation))
}

func conv64(s site) value {
	groups, k := attribute[int](s, "Groups"), s.spatial()
	x, in := s.planes(0)
	w := s.whole(1)
	size, out := w.dims[:k], s.spatialOf(s.sizes())
	b, q, taps, c, o := x.dims[0], product(out), product(size), w.dims[k], w.dims[k+1]
	t := s.reshape(s.windows(x, in, out, size), b, q, taps, groups, c)
	y := s.einsum("bqkgc,kcgo->bqgo", []int{b, q, groups, o / groups}, t, s.reshape(w, taps, c, groups, o/groups))
	return s.reshape(y, s.sizes()...)
}

func convKernel64(s site) value {
	groups, k := attribute[int](s, "Groups"), s.spatial()
	x, in := s.planes(0)
	y, out := s.planes(1)
	size := s.sizes()[:k]
	b, q, taps, c, o := x.dims[0], y.dims[1], product(size), x.dims[2]/groups, y.dims[2]
	t := s.reshape(s.windows(x, in, out, size), b, q, taps, groups, c)
	w := s.einsum("bqkgc,bqgo->kcgo", []int{taps, c, groups, o / groups}, t, s.reshape(y, b, q, groups, o/groups))
	return s.reshape(w, s.sizes()...)
}

func convInput64(s site) value {
	groups, k := attribute[int](s, "Groups"), s.spatial()
	y, out := s.planes(0)
	w := s.whole(1)
	size, in := w.dims[:k], s.spatialOf(s.sizes())
	b, q, taps, o, c := y.dims[0], y.dims[1], product(size), w.dims[k], w.dims[k+1]
	t := s.einsum("bqgo,kgoc->bqkgc", []int{b, q, taps, groups, c}, s.reshape(y, b, q, groups, o/groups), s.reshape(w, taps, groups, o/groups, c))
	return s.reshape(s.unfolded(s.reshape(t, b, q*taps, groups*c), in, out, size, true), s.sizes()...)
}

func sumPool64(s site) value {
	x, in := s.planes(0)
	t := s.windows(x, in, s.spatialOf(s.sizes()), s.list("Size"))
	return s.reshape(s.reduce("ReduceSum", t, []int{2}, false), s.sizes()...)
}

func sumUnpool64(s site) value {
	y, out := s.planes(0)
	return s.reshape(s.unfolded(y, s.spatialOf(s.sizes()), out, s.list("Size"), false), s.sizes()...)
}

// in64 returns another rule for f64.
func in64(f64, others rule) rule {
	return func(s site) value {
		if s.elem() == format.Double {
			return f64(s)
		}
		return others(s)
	}
}
