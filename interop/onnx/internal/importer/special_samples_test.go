package importer

import (
	"math"

	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

const (
	u8 = format.Uint8
	i8 = format.Int8
)

// scale adds positive numbers, as scales are.
func (s *sample) scale(sizes ...int) {
	s.put(f32, sizes, func() float64 { return 0.01 + 0.1*s.Float64() })
}

// quantum adds a scale and a zero of a type.
func (s *sample) quantum(elem format.DataType, sizes ...int) {
	s.scale(sizes...)
	s.put(elem, sizes, s.whole(elem))
}

// whole draws integers of 8 bits, or as small.
func (s *sample) whole(elem format.DataType) func() float64 {
	return func() float64 {
		if elem == u8 {
			return float64(s.IntN(256))
		}
		return float64(s.IntN(256) - 128)
	}
}

// weight draws an operand of a product of bytes. ONNX Runtime adds pairs of products of bytes of
// which one has a sign in 16 bits where the processor has no instruction for more (AVX2 and
// AVX-512 without VNNI), and a larger sum stays at 32767; with 7 bits none is larger. What all 8
// give is in TestProductsOfBytes.
func (s *sample) weight(elem format.DataType) func() float64 {
	if elem == i8 {
		return s.within(-64, 64)
	}
	return s.whole(elem)
}

// dims draws sizes that are not 0.
func (s *sample) dims(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = 1 + s.IntN(5)
	}
	return out
}

func (s *sample) linear() {
	s.version = one[int64](s, 10, 13, 17)
}

var quantisedSamples = map[string]func(s *sample){
	"QuantizeLinear": func(s *sample) {
		s.linear()
		x, e := s.dims(1+s.IntN(3)), one(s, u8, i8)
		s.put(f32, x, s.finite)
		if s.version >= 13 && s.sometimes(2) {
			axis := s.IntN(len(x))
			s.int("axis", s.either(axis, len(x)))
			s.quantum(e, x[axis])
			return
		}
		s.quantum(e)
	},
	"DequantizeLinear": func(s *sample) {
		s.linear()
		x, e := s.dims(1+s.IntN(3)), one(s, u8, i8)
		s.put(e, x, s.whole(e))
		if s.version >= 13 && s.sometimes(2) {
			axis := s.IntN(len(x))
			s.int("axis", s.either(axis, len(x)))
			s.quantum(e, x[axis])
			return
		}
		s.quantum(e)
	},
	"DynamicQuantizeLinear": func(s *sample) {
		s.version = 17
		s.outs = 3
		s.put(f32, s.dims(1+s.IntN(3)), func() float64 { return one(s, 1.0, -1, 0) * s.positive() })
	},
	"MatMulInteger": func(s *sample) {
		s.version = 17
		a, b := one(s, u8, i8), one(s, u8, i8)
		d := s.dims(4)
		s.put(a, []int{d[0], d[1], d[2]}, s.whole(a))
		s.put(b, []int{d[2], d[3]}, s.weight(b))
		if s.sometimes(2) {
			s.put(a, nil, s.whole(a))
			s.put(b, nil, s.whole(b))
		}
	},
	"QLinearMatMul": func(s *sample) {
		s.version = 17
		d := s.dims(4)
		s.put(u8, []int{d[0], d[1], d[2]}, s.whole(u8))
		s.quantum(u8)
		b := one(s, u8, i8)
		s.put(b, []int{d[2], d[3]}, s.weight(b))
		s.fix()
		s.quantum(b)
		s.quantum(u8)
	},
	"ConvInteger": func(s *sample) {
		s.version = 17
		s.images(u8, s.whole(u8), u8, s.whole(u8))
		if s.sometimes(2) {
			s.put(u8, nil, s.whole(u8))
			if s.sometimes(2) {
				s.put(u8, nil, s.whole(u8))
			}
		}
	},
	"QLinearConv": func(s *sample) {
		s.version = 17
		x, w := u8, one(s, u8, i8)
		out := s.images(x, s.whole(x), w, s.weight(w))
		kernel := s.in[1]
		s.in, s.fixed = s.in[:1], s.fixed[:1]
		s.quantum(x)
		s.in, s.fixed = append(s.in, kernel), append(s.fixed, true)
		if s.sometimes(2) && w == i8 {
			s.scale(out)
			s.fix()
			s.put(w, []int{out}, func() float64 { return 0 })
		} else {
			s.scale()
			s.fix()
			s.put(w, nil, s.whole(w))
		}
		s.fix()
		s.quantum(x)
		if s.sometimes(2) {
			s.put(i32, []int{out}, func() float64 { return float64(s.IntN(2000) - 1000) })
			s.fix()
		}
	},
}

// images adds an array [n c h w] and a kernel for it, and returns the number of its channels.
func (s *sample) images(x format.DataType, fx func() float64, k format.DataType, fk func() float64) (out int) {
	groups := 1 + s.IntN(2)
	c, o := groups*(1+s.IntN(2)), groups*(1+s.IntN(2))
	s.put(x, []int{1 + s.IntN(2), c, 4 + s.IntN(4), 4 + s.IntN(4)}, fx)
	s.put(k, []int{o, c / groups, 1 + s.IntN(3), 1 + s.IntN(3)}, fk)
	s.int("group", groups)
	if s.sometimes(2) {
		s.ints("pads", s.IntN(2), s.IntN(2), s.IntN(2), s.IntN(2))
	}
	if s.sometimes(2) {
		s.ints("strides", 1+s.IntN(2), 1+s.IntN(2))
	}
	return o
}

var signalSamples = map[string]func(s *sample){
	"HannWindow":     windowSample,
	"HammingWindow":  windowSample,
	"BlackmanWindow": windowSample,
	"MelWeightMatrix": func(s *sample) {
		s.version = 17
		s.scalar(1 + s.IntN(10))
		s.scalar(16 << s.IntN(3))
		s.scalar(8192)
		for _, f := range []float64{float64(s.IntN(100)), 3000 + float64(s.IntN(1000))} {
			s.put(f32, nil, func() float64 { return f })
			s.fix()
		}
	},
	"DFT": func(s *sample) {
		s.version = 17
		x := append(s.dims(2+s.IntN(2)), 1+s.IntN(2))
		x[1] = 1 + s.IntN(6)
		s.put(f32, x, s.finite)
		if s.sometimes(2) {
			s.scalar(1 + s.IntN(6))
		}
		switch s.IntN(3) {
		case 0:
			s.int("inverse", 1)
		case 1:
			if x[len(x)-1] == 1 {
				s.int("onesided", 1)
			}
		}
	},
	"STFT": func(s *sample) {
		s.version = 17
		length := 2 + s.IntN(3)
		s.put(f32, []int{1 + s.IntN(2), length + s.IntN(20), 1}, s.finite)
		s.scalar(1 + s.IntN(4))
		switch s.IntN(3) {
		case 0:
			s.put(f32, []int{length}, s.finite)
		case 1:
			s.put(f32, []int{length}, s.finite)
			s.scalar(length)
		default:
			s.skip()
			s.scalar(length)
		}
		s.int("onesided", s.IntN(2))
	},
}

func windowSample(s *sample) {
	s.version = 17
	s.scalar(3 + s.IntN(12))
	s.int("periodic", s.IntN(2))
}

var regionSamples = map[string]func(s *sample){
	"GridSample": func(s *sample) {
		s.version = 16
		d := s.dims(6)
		s.put(f32, []int{d[0], d[1], 1 + d[2], 1 + d[3]}, s.finite) // of an axis of one element the runtime mirrors nothing
		s.put(f32, []int{d[0], d[4], d[5], 2}, func() float64 { return 3 * (s.Float64() - 0.5) })
		s.text("mode", one(s, "nearest", "bilinear", "bicubic"))
		s.text("padding_mode", one(s, "zeros", "border", "reflection"))
		s.int("align_corners", s.IntN(2))
	},
	"RoiAlign": func(s *sample) {
		s.version = one[int64](s, 10, 16)
		x := []int{1 + s.IntN(3), 1 + s.IntN(3), 3 + s.IntN(6), 3 + s.IntN(6)}
		s.put(f32, x, s.finite)
		r := 1 + s.IntN(3)
		rois := s.put(f32, []int{r, 4}, func() float64 { return 0 })
		var b []byte
		for range r {
			x0, y0 := 6*s.Float64()-1, 6*s.Float64()-1
			b = appendFloats(b, x0, y0, x0+0.5+6*s.Float64(), y0+0.5+6*s.Float64())
		}
		rois.Raw = format.Bytes(b)
		s.put(i64, []int{r}, func() float64 { return float64(s.IntN(x[0])) })
		s.int("output_height", 1+s.IntN(3))
		s.int("output_width", 1+s.IntN(3))
		if s.sometimes(2) {
			s.int("sampling_ratio", 1+s.IntN(3))
		} else {
			s.fixed[1] = true
		}
		s.float("spatial_scale", one(s, 1, 0.5))
		if s.version >= 16 {
			s.text("coordinate_transformation_mode", one(s, "half_pixel", "output_half_pixel"))
		}
	},
	"NonMaxSuppression": func(s *sample) {
		s.version = one[int64](s, 10, 11, 17)
		n, classes, b := 1+s.IntN(2), 1+s.IntN(2), 1+s.IntN(6)
		s.put(f32, []int{n, b, 4}, func() float64 { return math.Abs(s.finite()) })
		s.fix()
		s.put(f32, []int{n, classes, b}, s.Float64)
		s.fix()
		s.list(s.IntN(4))
		s.put(f32, []int{1}, s.Float64)
		s.fix()
		if s.sometimes(2) {
			s.put(f32, []int{1}, s.Float64)
			s.fix()
		}
		s.int("center_point_box", s.IntN(2))
	},
}

func appendFloats(b []byte, v ...float64) []byte {
	for _, x := range v {
		bits := math.Float32bits(float32(x))
		b = append(b, byte(bits), byte(bits>>8), byte(bits>>16), byte(bits>>24))
	}
	return b
}

// fused is a sample of an operator of ONNX Runtime's own domain.
func fused(f func(s *sample)) func(s *sample) {
	return func(s *sample) {
		s.version, s.node.Domain = 17, "com.microsoft"
		f(s)
	}
}

// quantised adds an array of 8 bits with its scale and zero.
func (s *sample) quantised(e format.DataType, sizes []int) {
	s.put(e, sizes, s.whole(e))
	s.quantum(e)
}

var fusionSamples = map[string]func(s *sample){
	"Gelu":      fused(func(s *sample) { s.put(f32, s.dims(2), s.finite) }),
	"QuickGelu": fused(func(s *sample) { s.put(f32, s.dims(2), s.positive); s.float("alpha", s.positive()) }),
	"BiasGelu":  fused(biasSample),
	"FastGelu":  fused(biasSample),
	"FusedMatMul": fused(func(s *sample) {
		d := s.dims(4)
		a, b := []int{d[0], d[1], d[2]}, []int{d[0], d[2], d[3]}
		if s.sometimes(2) {
			a[1], a[2] = a[2], a[1]
			s.int("transA", 1)
		}
		if s.sometimes(2) {
			b[1], b[2] = b[2], b[1]
			s.int("transB", 1)
		}
		s.put(f32, a, s.finite)
		s.put(f32, b, s.finite)
		s.float("alpha", s.positive())
	}),
	"FusedConv": fused(func(s *sample) {
		out := s.images(f32, s.finite, f32, s.finite)
		if s.sometimes(2) {
			s.put(f32, []int{out}, s.finite)
		}
		switch a := one(s, "Relu", "Tanh", "Sigmoid", "LeakyRelu", "Clip", "HardSigmoid"); a {
		case "LeakyRelu":
			s.text("activation", a)
			s.attr(&format.Attr{Name: "activation_params", Type: format.AttrFloats, Floats: []float32{0.3}})
		case "Clip", "HardSigmoid":
			s.text("activation", a)
			s.attr(&format.Attr{Name: "activation_params", Type: format.AttrFloats, Floats: []float32{0.25, 0.75}})
		default:
			s.text("activation", a)
		}
	}),
	"FusedGemm": fused(func(s *sample) {
		d := s.dims(3)
		s.put(f32, []int{d[0], d[1]}, s.finite)
		s.put(f32, []int{d[1], d[2]}, s.finite)
		s.put(f32, []int{d[2]}, s.finite)
		s.float("alpha", s.positive())
		s.text("activation", one(s, "Relu", "Tanh", "LeakyRelu"))
		s.float("activation_alpha", 0.2)
	}),
	"SkipLayerNormalization": fused(func(s *sample) {
		d := []int{1 + s.IntN(2), 1 + s.IntN(3), 2 + s.IntN(5)}
		s.put(f32, d, s.finite)
		s.put(f32, d, s.finite)
		s.put(f32, d[2:], s.finite)
		s.put(f32, d[2:], s.finite)
		if s.sometimes(2) {
			s.put(f32, d[2:], s.finite)
		}
		s.float("epsilon", 1e-3)
	}),
	"SkipSimplifiedLayerNormalization": fused(func(s *sample) {
		d := []int{1 + s.IntN(2), 1 + s.IntN(3), 2 + s.IntN(5)}
		s.put(f32, d, s.finite)
		s.put(f32, d, s.finite)
		s.put(f32, d[2:], s.finite)
		if s.sometimes(2) {
			s.put(f32, d[2:], s.finite)
		}
		s.float("epsilon", 1e-3)
	}),
	"SimplifiedLayerNormalization": func(s *sample) {
		s.version = 17
		x := s.dims(3)
		s.put(f32, x, s.finite)
		s.put(f32, x[2:], s.finite)
		s.float("epsilon", 1e-3)
	},
	"Attention": fused(func(s *sample) {
		h := 1 + s.IntN(3)
		b, t, n := 1+s.IntN(2), 1+s.IntN(4), h*(1+s.IntN(3))
		s.put(f32, []int{b, t, n}, s.finite)
		s.put(f32, []int{n, 3 * n}, s.finite)
		s.put(f32, []int{3 * n}, s.finite)
		s.int("num_heads", h)
		switch s.IntN(4) {
		case 0:
			s.put(i32, []int{b, t}, func() float64 { return float64(s.IntN(2)) })
		case 1:
			s.put(i32, []int{b}, func() float64 { return float64(1 + s.IntN(t)) })
		case 2:
			s.int("unidirectional", 1)
		}
	}),
	"MultiHeadAttention": fused(func(s *sample) {
		h := 1 + s.IntN(3)
		b, q, t, n := 1+s.IntN(2), 1+s.IntN(4), 1+s.IntN(4), h*(1+s.IntN(3))
		s.put(f32, []int{b, q, n}, s.finite)
		s.put(f32, []int{b, t, n}, s.finite)
		s.put(f32, []int{b, t, n}, s.finite)
		s.int("num_heads", h)
		if s.sometimes(2) {
			s.put(f32, []int{3 * n}, s.finite) // no mask: the runtime applies it to the first query alone
		}
	}),
	"MatMulIntegerToFloat": fused(func(s *sample) {
		d := s.dims(3)
		s.put(u8, d[:2], s.whole(u8))
		s.put(u8, d[1:], s.whole(u8))
		s.scale()
		s.scale()
		s.put(u8, nil, s.whole(u8))
		s.put(u8, nil, s.whole(u8))
		if s.sometimes(2) {
			s.put(f32, d[2:], s.finite)
		}
	}),
	"DynamicQuantizeMatMul": fused(func(s *sample) {
		d := s.dims(3)
		s.put(f32, d[:2], s.finite)
		s.put(u8, d[1:], s.whole(u8))
		s.scale()
		s.put(u8, nil, s.whole(u8))
		if s.sometimes(2) {
			s.put(f32, d[2:], s.finite)
		}
	}),
	"QGemm": fused(func(s *sample) {
		e, d := one(s, u8, i8), s.dims(3)
		a, b := []int{d[0], d[1]}, []int{d[1], d[2]}
		if s.sometimes(2) {
			a[0], a[1] = a[1], a[0]
			s.int("transA", 1)
		}
		if s.sometimes(2) {
			b[0], b[1] = b[1], b[0]
			s.int("transB", 1)
		}
		s.quantised(u8, a)
		s.put(e, b, s.weight(e))
		s.quantum(e)
		if s.sometimes(2) {
			s.put(i32, d[2:], s.within(-1000, 1000))
		} else {
			s.skip()
		}
		if s.sometimes(2) {
			s.quantum(u8)
		}
	}),
	"QLinearAveragePool": fused(func(s *sample) {
		e := one(s, u8, i8)
		s.quantised(e, []int{1 + s.IntN(2), 1 + s.IntN(2), 4 + s.IntN(3), 4 + s.IntN(3)})
		s.quantum(e)
		s.ints("kernel_shape", 1+s.IntN(3), 1+s.IntN(3))
		s.ints("strides", 1+s.IntN(2), 1+s.IntN(2))
	}),
	"QLinearSoftmax": fused(func(s *sample) {
		s.quantised(u8, []int{1 + s.IntN(4), 2 + s.IntN(4)})
		s.put(f32, nil, func() float64 { return 1.0 / 256 }) // the runtime has a table for this scale alone
		s.fix()
		s.put(u8, nil, func() float64 { return 0 })
		s.fix()
		s.int("axis", -1)
		s.int("opset", 13)
	}),
	"QLinearWhere": fused(func(s *sample) {
		e, x := one(s, u8, i8), s.dims(3)
		s.put(format.Bool, x, s.truth)
		s.quantised(e, x)
		s.fix()
		s.quantised(e, x)
		s.quantum(e)
	}),
	"EmbedLayerNormalization": fused(func(s *sample) {
		s.outs = 2
		b, t, d := 1+s.IntN(3), 1+s.IntN(4), 2+s.IntN(5)
		s.put(i32, []int{b, t}, s.within(0, 6))
		segments := s.sometimes(2)
		if segments {
			s.put(i32, []int{b, t}, s.within(0, 1))
		} else {
			s.skip()
		}
		s.put(f32, []int{7, d}, s.finite)
		s.put(f32, []int{5, d}, s.finite)
		if segments {
			s.put(f32, []int{2, d}, s.finite)
		} else {
			s.skip()
		}
		s.put(f32, []int{d}, s.finite)
		s.put(f32, []int{d}, s.finite)
		if s.sometimes(2) {
			s.put(i32, []int{b, t}, func() float64 { return 1 })
		}
		s.float("epsilon", 1e-3)
	}),
	"RotaryEmbedding": fused(func(s *sample) {
		b, t, h, half := 1+s.IntN(2), 1+s.IntN(4), 1+s.IntN(3), 1+s.IntN(3)
		if s.sometimes(2) {
			s.put(f32, []int{b, t, 2 * h * half}, s.finite)
		} else {
			s.put(f32, []int{b, h, t, 2 * half}, s.finite)
		}
		if s.sometimes(2) {
			s.put(i64, []int{b, t}, s.within(0, 7))
		} else {
			s.put(i64, []int{1}, s.within(0, 3))
		}
		s.put(f32, []int{8, half}, s.finite)
		s.put(f32, []int{8, half}, s.finite)
		s.int("interleaved", s.IntN(2))
	}),
	"MatMulNBits": fused(func(s *sample) {
		k, n, block := 1+s.IntN(60), 1+s.IntN(4), 16
		blocks := (k + block - 1) / block
		s.put(f32, []int{1 + s.IntN(3), k}, s.finite)
		s.put(u8, []int{n, blocks, block / 2}, s.whole(u8))
		s.fix()
		s.scale(n * blocks)
		s.fix()
		if s.sometimes(2) {
			s.put(u8, []int{n * ((blocks + 1) / 2)}, s.whole(u8))
			s.fix()
		}
		s.int("K", k)
		s.int("N", n)
		s.int("bits", 4)
		s.int("block_size", block)
	}),
	"Inverse": fused(func(s *sample) {
		n := 1 + s.IntN(3)
		i := 0
		s.put(f32, []int{1 + s.IntN(2), n, n}, func() float64 {
			i++
			if (i-1)%(n*n)/n == (i-1)%n {
				return 10
			}
			return s.finite()
		})
	}),
	"QLinearAdd": fused(func(s *sample) {
		e, x := one(s, u8, i8), s.dims(3)
		s.quantised(e, x)
		s.quantised(e, s.narrower(x))
		s.quantum(e)
	}),
	"QLinearMul": fused(func(s *sample) {
		e, x := one(s, u8, i8), s.dims(3)
		s.quantised(e, x)
		s.quantised(e, s.narrower(x))
		s.quantum(e)
	}),
	"QLinearSigmoid": fused(func(s *sample) {
		e := one(s, u8, i8)
		s.quantised(e, s.dims(3))
		s.quantum(e)
	}),
	"QLinearLeakyRelu": fused(func(s *sample) {
		e := one(s, u8, i8)
		s.quantised(e, s.dims(3))
		s.quantum(e)
		s.float("alpha", 0.3)
	}),
	"QLinearGlobalAveragePool": fused(func(s *sample) {
		e := one(s, u8, i8)
		s.quantised(e, s.dims(4))
		s.quantum(e)
	}),
	"QLinearConcat": fused(func(s *sample) {
		e, x := one(s, u8, i8), s.dims(3)
		s.int("axis", 1)
		s.quantum(e)
		s.quantised(e, x)
		s.quantised(e, []int{x[0], 1 + s.IntN(4), x[2]})
	}),
}

func biasSample(s *sample) {
	x := s.dims(3)
	s.put(f32, x, s.positive) // far below 0 the digits of the runtime are others
	s.put(f32, x[2:], s.positive)
}
