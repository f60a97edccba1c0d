package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"unsafe"
)

// eachLevel runs f once per level.
func eachLevel(t *testing.T, f func(t *testing.T, level Level)) {
	for _, l := range levels() {
		t.Run(l.String(), func(t *testing.T) { f(t, l) })
	}
}

// apply runs a Map on a slice.
func apply[D, S any](m Map, dst []D, x []S) { m(pointer(dst), pointer(x), 1, len(x), 0, 0) }

// references are the functions in float64, with the bounds of their errors in units in the last
// place.
var references = map[Function]struct {
	name string
	of   func(float64) float64
	ulps float64
}{
	Neg:        {"neg", func(x float64) float64 { return -x }, 0},
	Abs:        {"abs", math.Abs, 0},
	Sign:       {"sign", signOf, 0},
	Square:     {"square", func(x float64) float64 { return x * x }, 0.5},
	Relu:       {"relu", func(x float64) float64 { return max(x, 0) }, 0},
	Sqrt:       {"sqrt", math.Sqrt, 0.5},
	Rsqrt:      {"rsqrt", rsqrt, 1.5},
	Reciprocal: {"reciprocal", func(x float64) float64 { return 1 / x }, 0.5},
	Exp:        {"exp", math.Exp, 1.5},
	Expm1:      {"expm1", math.Expm1, 1.5},
	Log:        {"log", logOf, 1.5},
	Log1p:      {"log1p", math.Log1p, 1.5},
	Tanh:       {"tanh", math.Tanh, 1.5},
	Sigmoid:    {"sigmoid", sigmoid, 2.5},
	Softplus:   {"softplus", softplus, 2.5},
	LogSigmoid: {"logSigmoid", logSigmoid, 2.5},
	Erf:        {"erf", math.Erf, 1.5},
	Asinh:      {"asinh", math.Asinh, 2.5},
	Atan:       {"atan", math.Atan, 1.5},
	Exp2:       {"exp2", math.Exp2, 1.5},
	Log2:       {"log2", binaryLog, 2.5},
	Log10:      {"log10", decimalLog, 2.5},
	Sinh:       {"sinh", hyperbolicSine, 2.5},
	Cosh:       {"cosh", hyperbolicCosine, 2.5},
	Acosh:      {"acosh", math.Acosh, 2.5},
	Atanh:      {"atanh", math.Atanh, 2.5},
	Asin:       {"asin", arcSine, 2.5},
	Acos:       {"acos", arcCosine, 2.5},
	Sin:        {"sin", math.Sin, 1.5},
	Cos:        {"cos", math.Cos, 1.5},
}

// logOf is math.Log, which is wrong for subnormal numbers on amd64.
func logOf(x float64) float64 {
	if f, e := math.Frexp(x); 0 < x && x < 0x1p-1022 {
		return math.Log(f) + float64(e)*math.Ln2
	}
	return math.Log(x)
}

func signOf(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	case x == 0:
		return 0
	}
	return x
}

// errorOf returns the error of got in units in the last place of want as a T, infinite where
// special values or the signs of zeros differ.
func errorOf[T Float](got T, want float64) float64 {
	w := T(want)
	switch {
	case w != w || got != got:
		if w != w && got != got {
			return 0
		}
		return math.Inf(1)
	case math.Signbit(float64(got)) != math.Signbit(want):
		return math.Inf(1)
	case got == w && (w == 0 || math.IsInf(float64(w), 0)):
		return 0
	}
	// Inf counts as the number that would follow the greatest.
	last := greatest[T]()
	if math.IsInf(float64(w), 0) {
		return (last-math.Abs(float64(got)))/unitOf(T(last)) + 1
	}
	if math.IsInf(float64(got), 0) {
		return (last-math.Abs(want))/unitOf(T(last)) + 1
	}
	return math.Abs(float64(got)-want) / unitOf(w)
}

// greatest returns the greatest finite T.
func greatest[T Float]() float64 {
	if unsafe.Sizeof(T(0)) == 4 {
		return math.MaxFloat32
	}
	return math.MaxFloat64
}

// unitOf returns the distance from the greatest power of two that is not above w to the next T.
func unitOf[T Float](w T) float64 {
	_, e := math.Frexp(min(math.Abs(float64(w)), greatest[T]()))
	if unsafe.Sizeof(w) == 4 {
		return math.Ldexp(1, max(e-24, -149))
	}
	return math.Ldexp(1, max(e-53, -1074))
}

// worst returns the greatest error of a loop over x, and where it is.
func worst[T Float](m Map, of func(float64) float64, x, dst []T) (ulps float64, at T) {
	apply(m, dst, x)
	for i, v := range x {
		if e := errorOf(dst[i], of(float64(v))); e > ulps {
			ulps, at = e, v
		}
	}
	return ulps, at
}

// Every float32 of which the bits are a multiple of a prime, or every one; and many of those that
// are common.
func TestFunctionsOfFloat32(t *testing.T) {
	step := uint64(1009)
	if os.Getenv("TAPESTRY_LONG") == "1" {
		step = 1
	}
	eachLevel(t, func(t *testing.T, level Level) {
		for f, ref := range references {
			t.Run(ref.name, func(t *testing.T) {
				m := MapOf[float32](level, f)
				x, dst := make([]float32, 0, 4096), make([]float32, 4096)
				ulps, at := 0.0, float32(0)
				flush := func() {
					if e, v := worst(m, ref.of, x, dst); e > ulps {
						ulps, at = e, v
					}
					x = x[:0]
				}
				for b := uint64(0); b < 1<<32; b += step {
					if x = append(x, math.Float32frombits(uint32(b))); len(x) == cap(x) {
						flush()
					}
				}
				r := rand.New(rand.NewPCG(1, 2))
				for range 1 << 18 {
					if x = append(x, 1.5*float32(r.NormFloat64())); len(x) == cap(x) {
						flush()
					}
				}
				flush()
				if ulps > ref.ulps {
					t.Errorf("%v of %v errs by %v units in the last place, not %v", ref.name, at, ulps, ref.ulps)
				}
				t.Logf("%.3f units in the last place at %v", ulps, at)
			})
		}
	})
}

// Random float64, against functions that err by some units in the last place themselves.
func TestFunctionsOfFloat64(t *testing.T) {
	const n = 1 << 16
	r := rand.New(rand.NewPCG(1, 2))
	var x []float64
	for range n {
		x = append(x, math.Float64frombits(r.Uint64()), r.NormFloat64(), 20*r.NormFloat64(), r.Float64(), math.Ldexp(r.NormFloat64(), -r.IntN(60)), -1+math.Ldexp(r.Float64(), -r.IntN(60)))
	}
	dst := make([]float64, len(x))
	eachLevel(t, func(t *testing.T, level Level) {
		for f, ref := range references {
			t.Run(ref.name, func(t *testing.T) {
				bound := ref.ulps
				if bound > 0.5 {
					bound++
				}
				ulps, at := worst(MapOf[float64](level, f), ref.of, x, dst)
				if ulps > bound {
					t.Errorf("%v of %v errs by %v units in the last place, not %v", ref.name, at, ulps, bound)
				}
				t.Logf("%.3f units in the last place at %v", ulps, at)
			})
		}
	})
}

// Where functions turn: special values, the ends of their ranges, and where their formulas change.
// (Beyond 709.4 math.Exp on amd64 gives Inf too early.)
func TestFunctionsAtEdges(t *testing.T) {
	x := []float64{0, 5e-324, 1e-310, 0x1p-1022, 0x1p-149, 0x1p-126, 1e-40, 1e-30, 1e-17, 1e-8, 0.34657, 0.3466, 0.5, 0.5999999, 0.6, 0.6000001,
		0.62499999, 0.625, math.Sqrt2 / 2, 0.99999999, 1, 1.00000001, math.Sqrt2, 1.5, 3.99999, 4, 5.9, 6, 18, 20, 37, 40, 87.3, 88.02, 88.72283,
		88.722839, 88.73, 89, 103.9, 104, 105, 127, 128, 700, 709.4, 709.79, 710, 745.13, 745.14, 746, 1000,
		1 << 24, 1<<24 + 2, 1 << 53, 1<<53 + 2, 3.4e38, math.MaxFloat32, 1e300, math.MaxFloat64, math.Inf(1), math.NaN()}
	var x32 []float32
	for _, v := range x[:len(x):len(x)] {
		x = append(x, -v)
	}
	for _, v := range x {
		x32 = append(x32, float32(v))
	}
	eachLevel(t, func(t *testing.T, level Level) {
		for f, ref := range references {
			got, got32 := make([]float64, len(x)), make([]float32, len(x))
			apply(MapOf[float64](level, f), got, x)
			apply(MapOf[float32](level, f), got32, x32)
			for i, v := range x {
				if e := errorOf(got[i], ref.of(v)); e > ref.ulps+1 {
					t.Errorf("%s of %v is %v, want %v", ref.name, v, got[i], ref.of(v))
				}
				if tiny := 0 < v && v < 1e-30; tiny && (f == Expm1 || f == Log1p || f == Tanh || f == Asinh) && got[i] != v {
					t.Errorf("%s of %v is %v", ref.name, v, got[i])
				}
				if v := x32[i]; errorOf(got32[i], ref.of(float64(v))) > ref.ulps {
					t.Errorf("%s of float32 %v is %v, want %v", ref.name, v, got32[i], ref.of(float64(v)))
				}
			}
		}
	})
}

// Logarithms of the powers of their base are whole, and powers of 2 exact.
func TestPowersOfTheBase(t *testing.T) {
	eachLevel(t, func(t *testing.T, level Level) {
		testPowersOfTheBase[float32](t, level, 10, 127)
		testPowersOfTheBase[float64](t, level, 22, 1023)
	})
}

func testPowersOfTheBase[T Float](t *testing.T, level Level, tens, twos int) {
	whole := func(f Function, x, want []T) {
		got := make([]T, len(x))
		apply(MapOf[T](level, f), got, x)
		for i, v := range want {
			if got[i] != v {
				t.Errorf("%s of %T %v is %v, want %v", references[f].name, v, x[i], got[i], v)
			}
		}
	}
	var power, exponent []T
	for n := range tens + 1 {
		power, exponent = append(power, T(math.Pow10(n))), append(exponent, T(n))
	}
	whole(Log10, power, exponent)
	power, exponent = nil, nil
	for n := 1 - twos; n <= twos; n++ {
		power, exponent = append(power, T(math.Ldexp(1, n))), append(exponent, T(n))
	}
	whole(Log2, power, exponent)
	whole(Exp2, exponent, power)
}

func BenchmarkFunction(b *testing.B) {
	for _, level := range levels() {
		for f := range functions {
			name := references[f].name
			b.Run(fmt.Sprintf("%v/%s32", level, name), func(b *testing.B) { benchmarkMap[float32](b, MapOf[float32](level, f)) })
			b.Run(fmt.Sprintf("%v/%s64", level, name), func(b *testing.B) { benchmarkMap[float64](b, MapOf[float64](level, f)) })
		}
	}
}

// benchmarkMap times a loop over elements that stay in the L1 cache.
func benchmarkMap[T Float](b *testing.B, m Map) {
	const n = 16384 / 8
	x, dst := make([]T, n), make([]T, n)
	for i := range x {
		x[i] = T(i%997)*0.01 + 0.1
	}
	for b.Loop() {
		apply(m, dst, x)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/element")
}
