package exporter

import (
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// recurrence is CumSum where all factors are 1, and otherwise a Scan along the axis.
func recurrence(s site) value {
	axis, b := s.axis(), s.whole(1)
	reverse := 0
	if s.flag("Reverse") {
		reverse = 1
	}
	if v, ok := s.n.In(0).Constant(); ok && !slices.ContainsFunc(v.Data, func(x float64) bool { return x != 1 }) {
		return s.op("CumSum", b.elem, b.dims, []value{b, s.array("axis", format.Int64, nil, []float64{float64(axis)})}, attrInt("reverse", reverse))
	}
	a := s.whole(0)
	be := s.builder.emitter(s.emitter)
	be.graph.Name = "recurrence"
	row := slices.Delete(slices.Clone(b.dims), axis, axis+1)
	t := &format.Type{Elem: b.elem, Ranked: true}
	for _, d := range row {
		t.Dims = append(t.Dims, format.Dim{Size: int64(d)})
	}
	input := func(name string) value {
		v := value{name: be.fresh(name), elem: b.elem, dims: row}
		be.graph.Inputs = append(be.graph.Inputs, &format.Value{Name: v.name, Type: t})
		return v
	}
	before, factor, term := input("before"), input("factor"), input("term")
	next := be.add2(be.mul(factor, before), term)
	for range 2 {
		out := be.fresh("next")
		be.add("Identity", []string{next.name}, out)
		be.graph.Outputs = append(be.graph.Outputs, &format.Value{Name: out, Type: t})
	}
	start := s.filled(b.elem, 0, row)
	last, all := s.fresh("last"), s.fresh("Scan")
	n := s.add("Scan", []string{start.name, a.name, b.name}, last, attrGraph("body", &be.graph), attrInt("num_scan_inputs", 2),
		attrInts("scan_input_axes", axis, axis), attrInts("scan_input_directions", reverse, reverse),
		attrInts("scan_output_axes", axis), attrInts("scan_output_directions", reverse))
	n.Outputs = append(n.Outputs, all)
	s.makers[last], s.makers[all] = n, n
	return value{name: all, elem: b.elem, dims: b.dims}
}

// fft is DFT, which divides by the size on the way back; there is no factor here. ONNX Runtime computes it with
// the digits of f32, so for f64 short ones are products with a matrix.
func fft(s site) value {
	x := s.whole(0)
	axis := s.axis()
	if n := x.dims[axis]; x.elem == format.Double && n <= 512 {
		return s.fourier(x, axis, n)
	}
	v := s.reshape(x, append([]int{1}, x.dims...)...)
	attrs := []*format.Attr{attrInt("axis", axis+1)}
	if s.flag("Inverse") {
		attrs = append(attrs, attrInt("inverse", 1))
	}
	y := s.reshape(s.op("DFT", v.elem, v.dims, []value{v}, attrs...), x.dims...)
	if s.flag("Inverse") {
		y = s.mul(y, s.lit(y.elem, float64(x.dims[axis])))
	}
	return y
}

// fourier multiplies by cosines and sines: [n 2 n 2], from a number to another.
func (s site) fourier(x value, axis, n int) value {
	sign := -1.0
	if s.flag("Inverse") {
		sign = 1
	}
	m := make([]float64, 0, 4*n*n)
	for j := range n {
		for part := range 2 {
			for k := range n {
				sin, cos := math.Sincos(2 * math.Pi * float64(j*k%n) / float64(n))
				if part == 0 {
					m = append(m, cos, sign*sin)
				} else {
					m = append(m, -sign*sin, cos)
				}
			}
		}
	}
	before, after := product(x.dims[:axis]), product(x.dims[axis+1:len(x.dims)-1])
	v := s.reshape(x, before, n, after, 2)
	y := s.einsum("bjcp,jpkq->bkcq", v.dims, v, s.array("fourier", x.elem, []int{n, 2, n, 2}, m))
	return s.reshape(y, x.dims...)
}
