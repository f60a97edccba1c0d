package importer

import (
	"slices"

	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// layerSamples are of convolutions, pools, products and recurrent layers.
var layerSamples = map[string]func(s *sample){
	"MatMul": func(s *sample) {
		e := one(s, f32, f64)
		batch := s.full(0, 2)
		m, k, n := 1+s.IntN(4), 1+s.IntN(4), 1+s.IntN(4)
		a, b := append(s.narrower(batch), m, k), append(s.narrower(batch), k, n)
		if s.sometimes(5) {
			a = []int{k}
		}
		if s.sometimes(5) {
			b = []int{k}
		}
		s.put(e, a, s.finite)
		s.put(e, b, s.finite)
	},
	"Gemm": func(s *sample) {
		e := one(s, f32, f64)
		m, k, n := 1+s.IntN(4), 1+s.IntN(4), 1+s.IntN(4)
		a, b := []int{m, k}, []int{k, n}
		if s.sometimes(2) {
			s.int("transA", 1)
			slices.Reverse(a)
		}
		if s.sometimes(2) {
			s.int("transB", 1)
			slices.Reverse(b)
		}
		s.put(e, a, s.finite)
		s.put(e, b, s.finite)
		if s.version < 11 || s.sometimes(2) {
			s.put(e, s.narrower([]int{m, n}), s.finite)
		}
		if s.sometimes(2) {
			s.float("alpha", s.finite())
			s.float("beta", s.finite())
		}
	},
	"Conv": func(s *sample) {
		x, w, groups := s.windows(3, true)
		s.put(f32, x, s.finite)
		s.put(f32, w, s.finite)
		s.int("group", groups)
		if s.sometimes(2) {
			s.put(f32, w[:1], s.finite)
		}
	},
	"ConvTranspose": func(s *sample) {
		axes := 1 + s.IntN(2)
		groups := 1 + s.IntN(2)
		in, out := groups*(1+s.IntN(2)), 1+s.IntN(2)
		x, w := []int{1 + s.IntN(2), in}, []int{in, out}
		var strides, pads, dilations, extra []int
		for range axes {
			k := 1 + s.IntN(3)
			x, w = append(x, 3+s.IntN(3)), append(w, k)
			strides, dilations = append(strides, 1+s.IntN(3)), append(dilations, 1+s.IntN(2))
			pads = append(pads, s.IntN(k))
			extra = append(extra, s.IntN(max(strides[len(strides)-1], 1)))
		}
		s.put(f32, x, s.finite)
		s.put(f32, w, s.finite)
		s.int("group", groups)
		s.ints("strides", strides...)
		switch s.IntN(3) {
		case 0:
			s.ints("pads", append(pads, pads...)...)
			s.ints("dilations", dilations...)
			if s.sometimes(2) {
				s.ints("output_padding", extra...)
			}
		case 1:
			s.text("auto_pad", one(s, "SAME_UPPER", "SAME_LOWER", "VALID"))
		case 2:
			var to []int
			for i := range axes {
				to = append(to, (x[2+i]-1)*strides[i]+w[2+i]-s.IntN(w[2+i]))
			}
			s.ints("output_shape", to...)
		}
		if s.sometimes(2) {
			s.put(f32, []int{out * groups}, s.finite)
		}
	},
	"MaxPool": func(s *sample) {
		x, _, _ := s.windows(3, false)
		s.put(f32, x, s.finite)
		if s.version >= 10 && s.sometimes(3) {
			s.int("ceil_mode", 1)
		}
		if s.sometimes(3) {
			s.outs = 2
			s.int("storage_order", 0)
		}
	},
	"AveragePool": func(s *sample) {
		x, _, _ := s.windows(3, false)
		s.put(f32, x, s.finite)
		include := s.IntN(2)
		s.int("count_include_pad", include)
		if s.version >= 10 && s.sometimes(4) && include == 0 { // otherwise ONNX Runtime counts what is behind the padding too
			s.int("ceil_mode", 1)
		}
	},
	"LpPool": func(s *sample) {
		x, _, _ := s.windows(2, false)
		s.put(f32, x, s.finite)
		s.int("p", 1+s.IntN(3))
	},
	"GlobalAveragePool": func(s *sample) { s.put(f32, s.full(3, 5), s.finite) },
	"GlobalMaxPool":     func(s *sample) { s.put(f32, s.full(3, 5), s.finite) },
	"GlobalLpPool": func(s *sample) {
		s.put(f32, s.full(3, 5), s.finite)
		s.int("p", 1+s.IntN(3))
	},
	"BatchNormalization": func(s *sample) {
		sizes := s.full(2, 5)
		s.put(f32, sizes, s.finite)
		for i := range 4 {
			f := s.finite
			if i == 3 {
				f = s.positive
			}
			s.put(f32, sizes[1:2], f)
		}
		s.float("epsilon", one(s, 1e-5, 0.1))
	},
	"Dropout": func(s *sample) {
		s.put(f32, s.full(1, 3), s.finite)
		if s.version >= 12 && s.sometimes(2) {
			s.put(f32, nil, func() float64 { return 0.9 * s.Float64() })
			s.fix()
		}
		if s.version >= 12 { // the mask of older ones is not defined
			s.outs = one(s, 1, 2)
		}
	},
	"Upsample": func(s *sample) {
		x := s.full(4, 4)
		s.version = one(s, int64(7), 8, 9)
		s.put(f32, x, s.finite)
		scales := []float64{1, 1, 1 + float64(s.IntN(3)), 1 + float64(s.IntN(3))}
		s.text("mode", one(s, "nearest", "linear"))
		if s.version < 9 {
			a := &format.Attr{Name: "scales", Type: format.AttrFloats}
			for _, v := range scales {
				a.Floats = append(a.Floats, float32(v))
			}
			s.attr(a)
			return
		}
		s.floats(scales...)
	},
	"Resize": func(s *sample) {
		s.version = one(s, int64(10), 11, 13)
		mode := one(s, "nearest", "linear", "cubic")
		if s.version == 10 {
			mode = one(s, "nearest", "linear")
		}
		x := s.full(4, 4)
		x[2]++
		x[3]++
		s.put(f32, x, s.finite)
		s.text("mode", mode)
		scales := []float64{1, 1, one(s, 0.5, 0.6, 1, 1.5, 2, 3), one(s, 0.5, 0.8, 1, 1.7, 2)}
		if s.version == 10 {
			s.floats(scales...)
			return
		}
		coordinates := one(s, "half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
		s.text("coordinate_transformation_mode", coordinates)
		s.text("nearest_mode", one(s, "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"))
		if mode == "cubic" {
			s.float("cubic_coeff_a", one(s, -0.75, -0.5))
			s.int("exclude_outside", s.IntN(2))
		}
		s.skip()
		if s.sometimes(2) && coordinates != "align_corners" { // for which ONNX Runtime rounds the size down, and ONNX does not
			s.floats(scales...)
		} else {
			s.skip()
			s.list(x[0], x[1], 1+s.IntN(6), 1+s.IntN(6))
		}
	},
	"RNN":  func(s *sample) { s.recurrent(1, 2) },
	"GRU":  func(s *sample) { s.recurrent(3, 2) },
	"LSTM": func(s *sample) { s.recurrent(4, 3) },
}

// floats adds numbers as an initialiser.
func (s *sample) floats(v ...float64) {
	i := 0
	s.put(f32, []int{len(v)}, func() float64 { i++; return v[i-1] })
	s.fix()
}

// windows draws the attributes of windows, and the sizes of an image and of a kernel for them.
func (s *sample) windows(most int, kernel bool) (x, w []int, groups int) {
	axes := 1 + s.IntN(most)
	groups = 1 + s.IntN(2)
	x, w = []int{1 + s.IntN(2), groups * (1 + s.IntN(2))}, []int{groups * (1 + s.IntN(2))}
	w = append(w, x[1]/groups)
	var sizes, strides, lo, hi, dilations []int
	for range axes {
		k := 1 + s.IntN(3)
		stride := 1 + s.IntN(3)
		if !kernel { // with larger ones ONNX Runtime takes SAME for a negative padding
			stride = min(stride, k)
		}
		sizes, strides = append(sizes, k), append(strides, stride)
		x, w = append(x, 5+s.IntN(4)), append(w, k)
		lo, hi = append(lo, s.IntN(k)), append(hi, s.IntN(k))
		dilations = append(dilations, 1+s.IntN(2))
	}
	s.ints("kernel_shape", sizes...)
	s.ints("strides", strides...)
	dilated := s.sometimes(2) && (kernel || s.node.Op == "MaxPool" && s.version >= 10)
	switch s.IntN(3) {
	case 0:
		s.text("auto_pad", one(s, "SAME_UPPER", "SAME_LOWER", "VALID"))
		dilated = dilated && kernel
	case 1:
		s.ints("pads", append(lo, hi...)...)
	}
	if dilated {
		s.ints("dilations", dilations...)
	}
	return x, w, groups
}

// recurrent draws a recurrent layer with as many gates.
func (s *sample) recurrent(gates, outs int) {
	steps, batch, in, hidden := 1+s.IntN(3), 1+s.IntN(2), 1+s.IntN(3), 1+s.IntN(3)
	direction := one(s, "forward", "reverse", "bidirectional")
	d := 1
	if direction == "bidirectional" {
		d = 2
	}
	s.text("direction", direction)
	s.int("hidden_size", hidden)
	s.put(f32, []int{steps, batch, in}, s.finite)
	s.put(f32, []int{d, gates * hidden, in}, s.finite)
	s.put(f32, []int{d, gates * hidden, hidden}, s.finite)
	if s.sometimes(2) {
		s.put(f32, []int{d, 2 * gates * hidden}, s.finite)
	} else {
		s.skip()
	}
	if s.sometimes(3) {
		s.put(format.Int32, []int{batch}, s.within(1, steps))
	} else {
		s.skip()
	}
	if s.sometimes(2) {
		s.put(f32, []int{d, batch, hidden}, s.finite)
		if gates == 4 {
			s.put(f32, []int{d, batch, hidden}, s.finite)
			if s.sometimes(2) {
				s.put(f32, []int{d, 3 * hidden}, s.finite)
			}
		}
	}
	if s.sometimes(4) {
		s.float("clip", s.positive())
	}
	if gates == 3 {
		s.int("linear_before_reset", s.IntN(2))
	}
	if gates == 1 && s.sometimes(2) {
		s.attr(&format.Attr{Name: "activations", Type: format.AttrStrings, Strings: slices.Repeat([]string{one(s, "Relu", "Sigmoid", "Tanh")}, d)})
	}
	s.outs = outs
}
