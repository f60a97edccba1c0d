package importer

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

const (
	f32 = format.Float
	f64 = format.Double
	i32 = format.Int32
	i64 = format.Int64
)

// generators draw the operands and attributes of operators.
var generators = func() map[string]func(s *sample) {
	t := map[string]func(s *sample){}
	for _, part := range []map[string]func(s *sample){elementwiseSamples, reductionSamples, layoutSamples, indexSamples, normSamples, layerSamples, quantisedSamples, signalSamples, regionSamples, fusionSamples} {
		maps.Copy(t, part)
	}
	return t
}()

func unarySample(f func(s *sample) func() float64, elems ...format.DataType) func(s *sample) {
	return func(s *sample) {
		s.put(one(s, elems...), s.sizes(0, 3), f(s))
	}
}

func anyNumber(s *sample) func() float64 { return s.normal }
func inUnit(s *sample) func() float64    { return func() float64 { return 2*s.Float64() - 1 } }

// orPositive draws positive numbers for a function that has no derivative elsewhere.
func orPositive(s *sample) func() float64 {
	if s.plain {
		return s.positive
	}
	return s.finite
}

// eachSample is of an operator on all numbers of some types.
func eachSample(elems ...format.DataType) func(s *sample) {
	return func(s *sample) {
		e := one(s, elems...)
		s.put(e, s.sizes(0, 3), s.of(e))
	}
}

// twoSample is of an operator on two arrays that broadcast.
func twoSample(elems ...format.DataType) func(s *sample) {
	return func(s *sample) {
		e := one(s, elems...)
		s.two(e, s.of(e), e, s.of(e))
	}
}

// two adds two operands that broadcast.
func (s *sample) two(a format.DataType, fa func() float64, b format.DataType, fb func() float64) {
	sizes := s.sizes(0, 3)
	x, y := sizes, s.narrower(sizes)
	if s.sometimes(3) {
		x = s.narrowed(x)
	}
	if s.sometimes(2) {
		x, y = y, x
	}
	s.put(a, x, fa)
	s.put(b, y, fb)
	if s.sometimes(4) {
		s.fix()
	}
}

// narrowed returns sizes of which some are 1.
func (s *sample) narrowed(sizes []int) []int {
	out := slices.Clone(sizes)
	for i := range out {
		if s.sometimes(3) {
			out[i] = 1
		}
	}
	return out
}

// divisors draws integers that are not 0 and not −1.
func (s *sample) divisors(elem format.DataType) func() float64 {
	if elem.IsFloat() {
		return s.normal
	}
	lo, _ := bounds(elem)
	return func() float64 {
		for {
			if v := max(lo, float64(s.IntN(21)-10)); v != 0 && v != -1 {
				return v
			}
		}
	}
}

func manySample(elems ...format.DataType) func(s *sample) {
	return func(s *sample) {
		e, sizes := one(s, elems...), s.sizes(1, 3)
		f := s.of(e)
		if e.IsFloat() {
			f = s.finite // of NaN the runtime gives the other number, or not
		}
		for i := range 1 + s.IntN(3) {
			if s.version < 8 || i == 0 {
				s.put(e, sizes, f)
			} else {
				s.put(e, s.narrower(sizes), f)
			}
		}
	}
}

var elementwiseSamples = map[string]func(s *sample){
	"Abs": eachSample(f32, f64, format.Int8, i32, i64), "Neg": eachSample(f32, f64, format.Int8, i32, i64), "Sign": eachSample(f32, f64, format.Int8, i32, i64, format.Uint8),
	"Acos": unarySample(inUnit, f32), "Asin": unarySample(inUnit, f32), "Atanh": unarySample(inUnit, f32),
	"Acosh": unarySample(func(s *sample) func() float64 { return func() float64 { return 1 + s.positive() } }, f32),
	"Asinh": unarySample(anyNumber, f32), "Atan": unarySample(anyNumber, f32), "Ceil": unarySample(anyNumber, f32, f64), "Floor": unarySample(anyNumber, f32, f64),
	"Round": unarySample(anyNumber, f32, f64), "Cos": unarySample(func(s *sample) func() float64 { return s.finite }, f32, f64), "Sin": unarySample(func(s *sample) func() float64 { return s.finite }, f32, f64),
	"Tan": unarySample(inUnit, f32), "Cosh": unarySample(func(s *sample) func() float64 { return s.finite }, f32), "Sinh": unarySample(func(s *sample) func() float64 { return s.finite }, f32),
	"Tanh": unarySample(anyNumber, f32, f64), "Exp": unarySample(anyNumber, f32, f64), "Log": unarySample(orPositive, f32, f64), "Sqrt": unarySample(orPositive, f32, f64),
	"Erf": unarySample(func(s *sample) func() float64 { return s.finite }, f32), "Reciprocal": unarySample(anyNumber, f32, f64), "Sigmoid": unarySample(func(s *sample) func() float64 { return s.finite }, f32, f64),
	"Relu": eachSample(f32, f64, format.Int8, i32), "Softplus": unarySample(func(s *sample) func() float64 { return s.finite }, f32), "Softsign": unarySample(func(s *sample) func() float64 { return s.finite }, f32), "HardSwish": unarySample(func(s *sample) func() float64 { return s.finite }, f32),
	"IsNaN": unarySample(anyNumber, f32), "Not": eachSample(format.Bool),
	"IsInf": func(s *sample) {
		s.put(f32, s.sizes(0, 3), func() float64 { return one(s, 1, math.Inf(1), math.Inf(-1), math.NaN()) })
		s.int("detect_negative", s.IntN(2))
		s.int("detect_positive", s.IntN(2))
	},
	"Gelu of version 20": func(s *sample) { // beside that of ONNX Runtime's own domain
		s.node.Op, s.version = "Gelu", 20
		s.put(f32, s.sizes(0, 3), s.finite)
		s.text("approximate", one(s, "none", "tanh"))
	},
	"Mish": func(s *sample) {
		s.version = 18
		s.put(f32, s.sizes(0, 3), s.finite)
	},
	"Celu":            withAlpha("alpha", f32),
	"Elu":             withAlpha("alpha", f32),
	"LeakyRelu":       withAlpha("alpha", f32),
	"ThresholdedRelu": withAlpha("alpha", f32),
	"Selu": func(s *sample) {
		s.put(f32, s.sizes(0, 3), s.finite)
		if s.sometimes(2) {
			s.float("alpha", s.positive())
			s.float("gamma", s.positive())
		}
	},
	"HardSigmoid": func(s *sample) {
		s.put(f32, s.sizes(0, 3), s.finite)
		if s.sometimes(2) {
			s.float("alpha", s.positive())
			s.float("beta", s.finite())
		}
	},
	"Shrink": func(s *sample) {
		e := one(s, f32, i32, format.Int8) // ONNX Runtime computes float64 in float32
		f := s.finite
		if !e.IsFloat() {
			f = s.within(-9, 9)
		}
		s.put(e, s.sizes(0, 3), f)
		s.float("lambd", float64(s.IntN(4)))
		s.float("bias", float64(s.IntN(3)))
	},
	"PRelu": func(s *sample) {
		sizes := s.sizes(1, 3)
		s.put(f32, sizes, s.finite)
		s.put(f32, s.narrower(sizes), s.finite)
	},
	"Add": twoSample(f32, f64, i32, i64), "Sub": twoSample(f32, f64, i32, i64), "Mul": twoSample(f32, f64, i32, i64),
	"Div": func(s *sample) {
		e := one(s, f32, f64, i32, i64)
		s.two(e, s.of(e), e, s.divisors(e))
	},
	"Mod": func(s *sample) {
		e := one(s, f32, f64, format.Int8, format.Uint8, format.Int16, format.Uint16, i32, format.Uint32, i64, format.Uint64)
		f, g := s.of(e), s.divisors(e)
		if e.IsFloat() {
			f, g = s.finite, s.finite
		}
		s.two(e, f, e, g)
		if e.IsFloat() || s.sometimes(2) {
			s.int("fmod", 1)
		}
	},
	"Pow": func(s *sample) {
		a, b := one(s, f32, f64, i32, i64), one(s, f32, f64, i32, i64)
		if s.version < 12 {
			a = one(s, f32, f64)
			b = a
		}
		f, g := s.positive, s.finite
		if !a.IsFloat() {
			f = s.within(-5, 5)
		} else if !s.plain && s.sometimes(3) {
			f = s.normal
		}
		if !b.IsFloat() || !a.IsFloat() {
			g = s.within(0, 6)
		}
		s.two(a, f, b, g)
	},
	"Max": manySample(f32, f64, i32, i64, format.Uint32, format.Uint64), "Min": manySample(f32, f64, i32, i64, format.Uint32, format.Uint64),
	"Sum": manySample(f32, f64), "Mean": manySample(f32),
	"And": twoSample(format.Bool), "Or": twoSample(format.Bool), "Xor": twoSample(format.Bool),
	"Equal": twoSample(f32, f64, i32, i64, format.Bool), "Greater": twoSample(f32, f64, i32, i64), "Less": twoSample(f32, f64, i32, i64),
	"GreaterOrEqual": twoSample(f32, f64, i32, i64), "LessOrEqual": twoSample(f32, f64, i32, i64),
	"Where": func(s *sample) {
		e, sizes := one(s, f32, i64, format.Uint8, i32), s.sizes(0, 3)
		s.put(format.Bool, s.narrower(sizes), s.truth)
		s.put(e, s.narrower(sizes), s.of(e))
		s.put(e, s.narrowed(sizes), s.of(e))
	},
	"BitShift": func(s *sample) {
		e := one(s, format.Uint8, format.Uint32, format.Uint64)
		s.two(e, s.of(e), e, s.within(0, int(bits(e))-1))
		s.text("direction", one(s, "LEFT", "RIGHT"))
	},
	"Clip": func(s *sample) {
		e := f32
		if s.version >= 12 {
			e = one(s, f32, f64, format.Int8, format.Uint8, i64, i32)
		}
		f := s.finite
		if !e.IsFloat() {
			f = s.of(e)
		}
		s.put(e, s.sizes(0, 3), f)
		lo, hi := float64(s.IntN(5)), float64(1+s.IntN(6))
		if s.version < 11 {
			if s.sometimes(2) {
				s.float("min", lo)
			}
			if s.sometimes(2) {
				s.float("max", hi)
			}
			return
		}
		if s.sometimes(2) {
			s.put(e, nil, func() float64 { return lo })
		} else {
			s.skip()
		}
		if s.sometimes(2) {
			s.put(e, nil, func() float64 { return hi })
		}
	},
	"Cast": func(s *sample) {
		all := []format.DataType{f32, f64, format.Float16, format.Int8, format.Uint8, format.Int16, format.Uint16, i32, format.Uint32, i64, format.Uint64, format.Bool}
		from, to := one(s, all...), one(s, all...)
		f := s.of(from)
		if to == format.Uint64 { // those beyond 2⁶³ have no type here
			f = s.within(0, 100)
			if from == format.Bool {
				f = s.truth
			}
		}
		if from.IsFloat() && !to.IsFloat() && to != format.Bool { // other numbers have no meaning
			lo, hi := bounds(to)
			lo, hi = max(lo, -2000), min(hi, 2000)
			f = func() float64 { return lo + s.Float64()*(hi-lo) }
		}
		s.put(from, s.sizes(0, 3), f)
		s.int("to", int(to))
	},
	"CastLike": func(s *sample) {
		all := []format.DataType{f32, f64, format.Int8, i32, i64, format.Bool}
		from, to := one(s, all...), one(s, all...)
		s.put(from, s.sizes(0, 3), s.within(0, 1))
		s.put(to, []int{1}, s.within(0, 1))
	},
}

func withAlpha(name string, e format.DataType) func(s *sample) {
	return func(s *sample) {
		s.put(e, s.sizes(0, 3), s.finite)
		if s.sometimes(2) {
			s.float(name, s.positive())
		}
	}
}

// reduceSample is of a reduction. Its axes are an operand since a version.
func reduceSample(since int64, f func(s *sample, e format.DataType) func() float64, elems ...format.DataType) func(s *sample) {
	return func(s *sample) {
		e, sizes := one(s, elems...), s.full(1, 4) // ONNX Runtime gives reductions of no elements other shapes
		s.put(e, sizes, f(s, e))
		axes := s.axes(len(sizes))
		switch {
		case len(axes) == 0 && s.version >= since && s.sometimes(2):
			s.list()
		case len(axes) > 0:
			s.listed(since, "axes", axes...)
		}
		if s.sometimes(2) {
			s.int("keepdims", s.IntN(2))
		}
		if s.version >= since && s.sometimes(3) {
			s.int("noop_with_empty_axes", s.IntN(2))
		}
	}
}

func small(s *sample, e format.DataType) func() float64 {
	if e.IsFloat() {
		return s.finite
	}
	return s.within(-5, 9)
}

func smallPositive(s *sample, e format.DataType) func() float64 {
	if e.IsFloat() {
		return s.positive
	}
	return s.within(1, 9)
}

func argSample(s *sample) {
	e, sizes := one(s, f32, i32), s.full(1, 4)
	f := s.finite
	if e == i32 {
		f = s.within(0, 3)
	}
	s.put(e, sizes, f)
	s.int("axis", s.either(s.IntN(len(sizes)), len(sizes)))
	if s.sometimes(2) {
		s.int("keepdims", s.IntN(2))
	}
	if s.version >= 12 {
		s.int("select_last_index", s.IntN(2))
	}
}

func softSample(s *sample) {
	sizes := s.sizes(1, 4)
	s.put(f32, sizes, s.finite)
	if s.sometimes(4) && (len(sizes) > 1 || s.version >= 13) {
		return
	}
	s.int("axis", s.either(s.IntN(len(sizes)), len(sizes)))
}

// axesOperand is the version since which all reductions have their axes as an operand.
const axesOperand = 18

var reductionSamples = map[string]func(s *sample){
	"ArgMax": argSample, "ArgMin": argSample,
	"ReduceL1": reduceSample(axesOperand, small, f32, i32), "ReduceL2": reduceSample(axesOperand, small, f32, i32),
	"ReduceLogSum": reduceSample(axesOperand, smallPositive, f32, i32), "ReduceLogSumExp": reduceSample(axesOperand, small, f32, f64),
	"ReduceMax": reduceSample(axesOperand, small, f32, f64, i32, i64), "ReduceMin": reduceSample(axesOperand, small, f32, f64, i32, i64),
	"ReduceMean": reduceSample(axesOperand, small, f32, f64, i32), "ReduceProd": reduceSample(axesOperand, small, f32, i32, i64),
	"ReduceSum": reduceSample(13, small, f32, f64, i32, i64), "ReduceSumSquare": reduceSample(axesOperand, small, f32, f64, i32),
	"Softmax": softSample, "LogSoftmax": softSample, "Hardmax": softSample,
}

var layoutSamples = map[string]func(s *sample){
	"Concat": func(s *sample) {
		e, sizes := one(s, f32, i64, format.Bool), s.sizes(1, 4)
		axis := s.IntN(len(sizes))
		for range 1 + s.IntN(3) {
			sizes = slices.Clone(sizes)
			sizes[axis] = s.IntN(4)
			s.put(e, sizes, s.of(e))
		}
		s.int("axis", s.either(axis, len(sizes)))
	},
	"DepthToSpace": func(s *sample) {
		b := 1 + s.IntN(3)
		s.put(f32, []int{1 + s.IntN(2), b * b * (1 + s.IntN(3)), 1 + s.IntN(3), 1 + s.IntN(3)}, s.finite)
		s.int("blocksize", b)
		if s.version >= 11 && s.sometimes(2) {
			s.text("mode", one(s, "DCR", "CRD"))
		}
	},
	"SpaceToDepth": func(s *sample) {
		b := 1 + s.IntN(3)
		s.put(f32, []int{1 + s.IntN(2), 1 + s.IntN(3), b * (1 + s.IntN(3)), b * (1 + s.IntN(3))}, s.finite)
		s.int("blocksize", b)
	},
	"Expand": func(s *sample) {
		e, sizes := one(s, f32, i64, format.Bool), s.sizes(0, 4)
		s.put(e, s.narrower(sizes), s.of(e))
		s.list(s.narrowed(sizes)...)
	},
	"Flatten": func(s *sample) {
		sizes := s.sizes(0, 4)
		s.put(f32, sizes, s.finite)
		if s.sometimes(3) && len(sizes) > 0 {
			return
		}
		s.int("axis", s.IntN(len(sizes)+1))
	},
	"Pad": func(s *sample) {
		sizes := s.sizes(1, 4)
		mode := one(s, "constant", "reflect", "edge")
		pads := make([]int, 2*len(sizes))
		for i := range pads {
			n := sizes[i%len(sizes)]
			pads[i] = s.IntN(3)
			if mode == "reflect" {
				pads[i] = min(pads[i], max(0, n-1))
			}
			if mode == "constant" && s.sometimes(4) {
				pads[i] = -min(1, n/2)
			}
		}
		if mode != "constant" && product(sizes) == 0 {
			mode = "constant"
		}
		e := f32
		if s.version >= 11 {
			e = one(s, f32, f64, i64, i32)
		}
		s.put(e, sizes, s.of(e))
		s.listed(11, "pads", pads...)
		s.text("mode", mode)
		switch {
		case s.version < 11:
			s.float("value", s.finite())
		case s.sometimes(2):
			s.put(e, nil, s.within(0, 9))
			s.fix()
		}
	},
	"Reshape": func(s *sample) {
		sizes := s.sizes(0, 4)
		s.put(f32, sizes, s.finite)
		n := product(sizes)
		var to []int
		switch {
		case n > 0 && s.sometimes(2):
			to = slices.Clone(sizes)
			s.Shuffle(len(to), func(i, j int) { to[i], to[j] = to[j], to[i] })
			for i := range to {
				if to[i] == sizes[i] && s.sometimes(2) {
					to[i] = 0
				}
			}
			if len(to) > 0 && s.sometimes(2) {
				to[s.IntN(len(to))] = -1
			}
		case n > 0:
			to = []int{-1, 1}
		default:
			to = slices.Clone(sizes)
			if s.version >= 14 {
				s.int("allowzero", s.IntN(2))
			}
		}
		s.list(to...)
	},
	"ReverseSequence": func(s *sample) {
		sizes := s.sizes(2, 4)
		sizes[0], sizes[1] = max(1, sizes[0]), max(1, sizes[1])
		s.put(f32, sizes, s.finite)
		batch := s.IntN(2)
		s.put(i64, []int{sizes[batch]}, s.within(1, sizes[1-batch])) // of length 0 ONNX Runtime writes nothing
		s.int("batch_axis", batch)
		s.int("time_axis", 1-batch)
	},
	"Shape": func(s *sample) {
		s.put(f32, s.sizes(0, 4), s.finite)
		if s.version >= 15 && s.sometimes(2) {
			s.int("start", s.IntN(9)-4)
			s.int("end", s.IntN(9)-4)
		}
	},
	"Size": unarySample(anyNumber, f32),
	"Slice": func(s *sample) {
		e, sizes := one(s, f32, i64), s.sizes(1, 4)
		s.put(e, sizes, s.of(e))
		var starts, ends, axes, steps []int
		for a := range sizes {
			if s.sometimes(3) {
				continue
			}
			step := 1
			if s.version >= 10 {
				step = one(s, 1, 1, 2, -1, -2, 3)
			}
			end := one(s, s.IntN(9)-4, s.IntN(9)-4, -100, math.MaxInt32, 100)
			if step < 0 && end == math.MaxInt32 { // which ONNX Runtime takes for the place before the first
				end = 100
			}
			starts, ends = append(starts, one(s, s.IntN(9)-4, s.IntN(9)-4, -100, 100)), append(ends, end)
			axes, steps = append(axes, s.either(a, len(sizes))), append(steps, step)
		}
		if len(starts) == 0 {
			starts, ends, axes, steps = []int{0}, []int{1}, []int{0}, []int{1}
		}
		s.listed(10, "starts", starts...)
		s.listed(10, "ends", ends...)
		s.listed(10, "axes", axes...)
		if s.version >= 10 {
			s.list(steps...)
		}
	},
	"Split": func(s *sample) {
		sizes := s.sizes(1, 4)
		axis := s.IntN(len(sizes))
		s.outs = 1 + s.IntN(3)
		parts := make([]int, s.outs)
		sizes[axis] = 0
		each := s.IntN(3) + 1
		equal := s.sometimes(2)
		for i := range parts {
			parts[i] = each
			if !equal {
				parts[i] = s.IntN(4)
			}
			sizes[axis] += parts[i]
		}
		s.put(f32, sizes, s.finite)
		if !equal {
			s.listed(13, "split", parts...)
		} else if s.version >= 18 {
			s.int("num_outputs", s.outs)
		}
		s.int("axis", s.either(axis, len(sizes)))
	},
	"Squeeze": func(s *sample) {
		sizes := s.narrowed(s.sizes(1, 4))
		s.put(f32, sizes, s.finite)
		var axes []int
		for a, n := range sizes {
			if n == 1 && s.sometimes(2) {
				axes = append(axes, s.either(a, len(sizes)))
			}
		}
		if axes != nil {
			s.listed(13, "axes", axes...)
		}
	},
	"Unsqueeze": func(s *sample) {
		sizes := s.sizes(0, 3)
		s.put(f32, sizes, s.finite)
		n := 1 + s.IntN(2)
		axes := s.Perm(len(sizes) + n)[:n]
		if s.version < 11 {
			slices.Sort(axes)
		}
		for i := range axes {
			axes[i] = s.either(axes[i], len(sizes)+n)
		}
		s.listed(13, "axes", axes...)
	},
	"Tile": func(s *sample) {
		sizes := s.sizes(1, 4)
		s.put(one(s, f32, i64), sizes, s.finite)
		times := make([]int, len(sizes))
		for i := range times {
			times[i] = s.IntN(4)
		}
		s.list(times...)
	},
	"Transpose": func(s *sample) {
		sizes := s.sizes(0, 5)
		s.put(one(s, f32, i64), sizes, s.finite)
		if s.sometimes(3) {
			return
		}
		s.ints("perm", s.Perm(len(sizes))...)
	},
	"Trilu": func(s *sample) {
		s.put(one(s, f32, i64), s.sizes(2, 4), s.finite)
		if s.sometimes(2) {
			s.scalar(s.IntN(13) - 6)
		}
		s.int("upper", s.IntN(2))
	},
	"ConstantOfShape": func(s *sample) {
		s.list(s.sizes(0, 3)...)
		if s.sometimes(2) {
			s.attr(&format.Attr{Name: "value", Type: format.AttrTensor, Tensor: tensorOf(one(s, f32, i64, format.Bool, format.Uint8), []int{1}, []float64{1})})
		}
	},
	"EyeLike": func(s *sample) {
		s.put(one(s, f32, i64), s.sizes(2, 2), s.finite)
		s.int("k", s.IntN(9)-4)
		if s.sometimes(2) {
			s.int("dtype", int(one(s, f32, f64, i64)))
		}
	},
	"Range": func(s *sample) {
		e := one(s, f32, i32, i64)
		for i := range 3 {
			s.put(e, nil, func() float64 {
				if i == 2 {
					return one(s, 1.0, 2, -1, -3)
				}
				return float64(s.IntN(21) - 10)
			})
			s.fix()
		}
	},
	"OneHot": func(s *sample) {
		e, sizes, n := one(s, f32, i64, i32), s.full(0, 3), 1+s.IntN(5) // without indices ONNX Runtime ends the process
		if e == i32 {
			e = i64
		}
		s.put(e, sizes, s.within(-n-1, n))
		s.put(i64, []int{1}[:s.IntN(2)], func() float64 { return float64(n) })
		s.fix()
		s.put(one(s, f32, i64), []int{2}, s.finite)
		s.int("axis", s.either(s.IntN(len(sizes)+1), len(sizes)+1))
	},
	"Einsum": func(s *sample) {
		size := map[string]int{"i": 2, "j": 3, "k": 4, "b": 2}
		equation := one(s, "ij,jk->ik", "ij,jk", "bij,bjk->bik", "ii->i", "ij->ji", "ij->", "i,j->ij", "...ij,...jk->...ik", "...ij->...ji", "bij,kj->bik", "ij,ij->i", "ii", "i,i->", "ba,ca->bc", "ij...,jk->ik...")
		size["a"], size["c"] = 3, 2
		left, _, _ := strings.Cut(equation, "->")
		e := one(s, f32, f64, i64)
		more := s.sizes(0, 1)
		for _, term := range strings.Split(left, ",") {
			var sizes []int
			before, after, dots := strings.Cut(term, "...")
			for _, l := range before {
				sizes = append(sizes, size[string(l)])
			}
			if dots {
				sizes = append(sizes, s.narrowed(more)...)
				for _, l := range after {
					sizes = append(sizes, size[string(l)])
				}
			}
			s.put(e, sizes, s.within(-4, 4))
		}
		s.text("equation", equation)
	},
}

// indices draws indices of an axis with n elements, of either sign since version 11.
func (s *sample) indices(n int) func() float64 {
	lo := 0
	if s.version >= 11 {
		lo = -n
	}
	return s.within(lo, n-1)
}

// full draws sizes none of which is 0.
func (s *sample) full(lo, hi int) []int {
	out := s.sizes(lo, hi)
	for i := range out {
		out[i] = max(1, out[i])
	}
	return out
}

func scatterSample(s *sample) {
	e, sizes := one(s, f32, i64), s.full(1, 3)
	axis := s.IntN(len(sizes))
	s.put(e, sizes, s.within(-9, 9))
	at := slices.Clone(sizes)
	for a := range at {
		at[a] = 1 + s.IntN(at[a])
	}
	reduction := "none"
	if s.version >= 16 && s.node.Op == "ScatterElements" {
		reduction = one(s, "none", "add", "mul")
		s.text("reduction", reduction)
	}
	if reduction == "none" { // of equal places any may count
		at[axis] = 1
	}
	s.put(one(s, i32, i64), at, s.indices(sizes[axis]))
	if s.sometimes(2) || reduction == "mul" {
		s.fix()
	}
	s.put(e, at, s.within(-9, 9))
	s.int("axis", s.either(axis, len(sizes)))
}

var indexSamples = map[string]func(s *sample){
	"Gather": func(s *sample) {
		e, sizes := one(s, f32, i64, format.Bool), s.full(1, 4)
		axis := s.IntN(len(sizes))
		s.put(e, sizes, s.of(e))
		s.put(one(s, i32, i64), s.sizes(0, 2), s.indices(sizes[axis]))
		if s.sometimes(2) {
			s.fix()
		}
		s.int("axis", s.either(axis, len(sizes)))
	},
	"GatherElements": func(s *sample) {
		e, sizes := one(s, f32, i64), s.full(1, 3)
		axis := s.IntN(len(sizes))
		s.put(e, sizes, s.of(e))
		at := slices.Clone(sizes)
		for a := range at {
			at[a] = 1 + s.IntN(at[a])
		}
		at[axis] = 1 + s.IntN(6)
		s.put(one(s, i32, i64), at, s.indices(sizes[axis]))
		if s.sometimes(2) {
			s.fix()
		}
		s.int("axis", s.either(axis, len(sizes)))
	},
	"GatherND": func(s *sample) {
		e, sizes := one(s, f32, i64), s.full(1, 4)
		s.put(e, sizes, s.of(e))
		batch := 0
		if s.version >= 12 {
			batch = s.IntN(len(sizes))
			s.int("batch_dims", batch)
		}
		k := 1 + s.IntN(len(sizes)-batch)
		at := append(slices.Clone(sizes[:batch]), s.full(0, 2)...)
		i := -1
		s.put(i64, append(at, k), func() float64 {
			i++
			return s.indices(sizes[batch+i%k])()
		})
		if s.sometimes(2) {
			s.fix()
		}
	},
	"Scatter":         scatterSample,
	"ScatterElements": scatterSample,
	"ScatterND": func(s *sample) {
		e, sizes := one(s, f32, i64), s.full(1, 4)
		s.put(e, sizes, s.within(-9, 9))
		k := 1 + s.IntN(len(sizes))
		lists := []int{1}
		reduction := "none"
		if s.version >= 16 {
			reduction = one(s, "none", "add", "mul")
			s.text("reduction", reduction)
		}
		if reduction != "none" {
			lists = s.full(1, 2)
		}
		i := -1
		s.put(i64, append(slices.Clone(lists), k), func() float64 {
			i++
			return s.indices(sizes[i%k])()
		})
		if s.sometimes(2) || reduction == "mul" {
			s.fix()
		}
		s.put(e, append(lists, sizes[k:]...), s.within(-9, 9))
	},
	"Compress": func(s *sample) {
		sizes := s.full(1, 3)
		s.put(one(s, f32, i64), sizes, s.finite)
		n := product(sizes)
		if s.sometimes(2) {
			axis := s.IntN(len(sizes))
			n = sizes[axis]
			s.int("axis", s.either(axis, len(sizes)))
		}
		s.put(format.Bool, []int{1 + s.IntN(n)}, s.truth)
		s.fix()
	},
	"NonZero": func(s *sample) {
		s.put(one(s, f32, i64, format.Bool), s.sizes(1, 3), s.truth)
		s.fix()
	},
	"Unique": func(s *sample) {
		sizes := s.full(1, 3)
		s.put(one(s, f32, i64), sizes, s.within(0, 2))
		s.fix()
		if s.sometimes(2) {
			s.int("axis", s.either(s.IntN(len(sizes)), len(sizes)))
		}
		s.int("sorted", s.IntN(2))
		s.outs = 4
	},
	"TopK": func(s *sample) {
		e, sizes := f32, s.full(1, 3)
		if s.version >= 11 {
			e = one(s, f32, i64)
		}
		axis := s.IntN(len(sizes))
		s.put(e, sizes, s.within(-5, 5))
		k := s.IntN(sizes[axis]) + 1
		if s.version < 10 {
			s.int("k", k)
		} else {
			s.list(k)
		}
		s.int("axis", s.either(axis, len(sizes)))
		if s.version >= 11 {
			s.int("largest", s.IntN(2))
		}
		s.outs = 2
	},
	"CumSum": func(s *sample) {
		sizes := s.sizes(1, 3)
		s.put(one(s, f32, f64, i32, i64), sizes, s.within(-9, 9))
		s.scalar(s.either(s.IntN(len(sizes)), len(sizes)))
		s.int("exclusive", s.IntN(2))
		s.int("reverse", s.IntN(2))
	},
}

// classes adds classes and, at times, weights for scores of some sizes.
func (s *sample) classes(sizes []int) {
	c := sizes[1]
	at := append([]int{sizes[0]}, sizes[2:]...)
	lo, ignored := 0, one(s, 0, -1, 200)
	if s.sometimes(2) {
		s.int("ignore_index", ignored)
		if ignored == -1 {
			lo = -1
		}
	}
	s.put(one(s, i32, i64), at, s.within(lo, c-1))
	if s.sometimes(2) {
		s.put(f32, []int{c}, s.positive)
	}
	s.text("reduction", one(s, "none", "mean", "sum"))
}

var normSamples = map[string]func(s *sample){
	"NegativeLogLikelihoodLoss": func(s *sample) {
		sizes := s.full(2, 4)
		s.put(f32, sizes, s.finite)
		s.classes(sizes)
	},
	"SoftmaxCrossEntropyLoss": func(s *sample) {
		sizes := s.full(2, 4)
		s.put(f32, sizes, s.finite)
		s.classes(sizes)
		s.outs = 1 + s.IntN(2)
	},
	"LayerNormalization": func(s *sample) {
		sizes := s.full(2, 4) // of one axis ONNX Runtime gives a mean without axes
		e := f32              // and float64 is computed in float32
		axis := s.IntN(len(sizes))
		s.put(e, sizes, s.finite)
		s.put(e, sizes[axis:], s.finite)
		if s.sometimes(2) {
			s.put(e, sizes[axis:], s.finite)
		}
		s.int("axis", s.either(axis, len(sizes)))
		s.float("epsilon", one(s, 1e-5, 0.1))
		s.outs = one(s, 1, 3)
	},
	"InstanceNormalization": func(s *sample) {
		sizes := s.full(3, 5)
		sizes[2]++ // of one element ONNX Runtime has the rounding of a difference of squares
		s.put(f32, sizes, s.finite)
		s.put(f32, sizes[1:2], s.finite)
		s.put(f32, sizes[1:2], s.finite)
		s.float("epsilon", one(s, 1e-5, 0.1))
	},
	"GroupNormalization": func(s *sample) {
		sizes, groups := s.full(3, 4), 1+s.IntN(2)
		s.version = one[int64](s, 18, 21)
		sizes[1] = groups * (1 + s.IntN(3))
		sizes[2] += 2
		n := groups
		if s.version >= 21 {
			n = sizes[1]
		}
		s.put(f32, sizes, s.finite)
		s.put(f32, []int{n}, s.finite)
		s.put(f32, []int{n}, s.finite)
		s.int("num_groups", groups)
	},
	"LRN": func(s *sample) {
		s.put(f32, s.full(4, 4), s.finite)
		s.int("size", 1+2*s.IntN(3))
		if s.sometimes(2) {
			s.float("alpha", s.positive())
			s.float("beta", s.positive())
			s.float("bias", s.positive())
		}
	},
	"LpNormalization": func(s *sample) {
		sizes := s.full(1, 3)
		s.put(one(s, f32, f64), sizes, s.finite)
		s.int("axis", s.either(s.IntN(len(sizes)), len(sizes)))
		s.int("p", 1+s.IntN(2))
	},
	"MeanVarianceNormalization": func(s *sample) {
		sizes := s.full(4, 4)
		for a := range sizes { // where all elements are equal ONNX Runtime gives NaN, and its definition 0
			sizes[a] += 2 // and of two elements the derivative is rounding
		}
		s.put(f32, sizes, s.finite)
		if s.version >= 9 && s.sometimes(2) {
			s.ints("axes", one(s, []int{0, 2, 3}, []int{2, 3}, []int{1}, []int{0, 1, 2, 3})...)
		}
	},
}
