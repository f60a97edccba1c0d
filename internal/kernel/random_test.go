package kernel

import (
	"math"
	"slices"
	"testing"
)

// The known answers of the authors' reference implementation (Random123, kat_vectors).
func TestPhilox(t *testing.T) {
	const ones = math.MaxUint64
	for _, c := range []struct {
		block, step, key uint64
		want             [4]uint32
	}{
		{0, 0, 0, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{ones, ones, ones, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{0x85a308d3243f6a88, 0x0370734413198a2e, 0x299f31d0a4093822, [4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		if got := philox(c.block, c.step, c.key); got != c.want {
			t.Errorf("philox(%#x, %#x, %#x) is %#x, want %#x", c.block, c.step, c.key, got, c.want)
		}
	}
}

// Element i of a draw is what the functions say.
func TestRandomIsTheFunction(t *testing.T) {
	const key, seed, step = 11, 7, 3 // seed and step are check's
	for _, dims := range [][]int{{}, {1}, {2}, {3}, {4}, {5}, {67}, {1027}, {5000}, {30, 41}, {0}} {
		for dt, laws := range map[DType][]Law{
			F32: {LawUniform, LawNormal, LawGumbel, LawTruncated}, F64: {LawUniform, LawNormal, LawGumbel, LawTruncated},
			I32: {LawWhole}, I64: {LawWhole},
		} {
			for _, law := range laws {
				k, i := Random{Key: key, Law: law, Lo: -1, Hi: 7}, -1
				check(t, k, dt, dims, nil, 0, func([]int) float64 {
					i++
					return k.Draw(dt, seed, step, uint64(i))
				})
			}
		}
	}
}

func TestMoments(t *testing.T) {
	const n, euler = 100000, 0.5772156649015329
	of := func(dt DType, law Law, lo, hi float64) func(i uint64) float64 {
		return func(i uint64) float64 { return Random{Key: 1, Law: law, Lo: lo, Hi: hi}.Draw(dt, 2, 3, i) }
	}
	normal := func(key, seed, step, i uint64) float64 {
		return Random{Key: key, Law: LawNormal}.Draw(F64, seed, step, i)
	}
	for name, c := range map[string]struct {
		f              func(i uint64) float64
		mean, variance float64
		fourth         float64 // central moment, in units of the variance squared
	}{
		"uniform F64":   {of(F64, LawUniform, 0, 0), 0.5, 1. / 12, 1.8},
		"uniform F32":   {of(F32, LawUniform, 0, 0), 0.5, 1. / 12, 1.8},
		"normal F64":    {of(F64, LawNormal, 0, 0), 0, 1, 3},
		"normal F32":    {of(F32, LawNormal, 0, 0), 0, 1, 3},
		"gumbel F64":    {of(F64, LawGumbel, 0, 0), euler, math.Pi * math.Pi / 6, 5.4},
		"gumbel F32":    {of(F32, LawGumbel, 0, 0), euler, math.Pi * math.Pi / 6, 5.4},
		"truncated F64": {of(F64, LawTruncated, -1, 1), 0, .29112509, 1.99},
		"truncated F32": {of(F32, LawTruncated, -1, 1), 0, .29112509, 1.99},
		"whole I32":     {of(I32, LawWhole, -3, 8), 2, 10, 1.78},
		"whole I64":     {of(I64, LawWhole, -3, 8), 2, 10, 1.78},
		// Steps, runs, seeds and keys give independent draws too.
		"steps": {func(i uint64) float64 { return normal(1, 2, i, 0) }, 0, 1, 3},
		"runs":  {func(i uint64) float64 { return normal(1, Stream(2, i), 3, 0) }, 0, 1, 3},
		"seeds": {func(i uint64) float64 { return normal(1, i, 3, 0) }, 0, 1, 3},
		"keys":  {func(i uint64) float64 { return normal(i, 2, 3, 0) }, 0, 1, 3},
	} {
		var mean, variance, fourth, lag float64
		x := make([]float64, n)
		for i := range x {
			x[i] = (c.f(uint64(i)) - c.mean) / math.Sqrt(c.variance)
			mean += x[i] / n
			variance += x[i] * x[i] / n
			fourth += x[i] * x[i] * x[i] * x[i] / n
			if i > 0 {
				lag += x[i] * x[i-1] / n
			}
		}
		// Five standard errors: those of the moments are at most 1, 1.42 and 9.8 over √n, and of the
		// skew Gumbel law, whose eighth moment is large, 2.1 and 32.
		se := 5 / math.Sqrt(n)
		second, fourth4 := 1.42, 9.8
		if c.mean == euler {
			second, fourth4 = 2.1, 32
		}
		if math.Abs(mean) > se || math.Abs(variance-1) > second*se || math.Abs(fourth-c.fourth) > fourth4*se || math.Abs(lag) > se {
			t.Errorf("%s: mean %v, variance %v, fourth moment %v, correlation %v", name, mean, variance, fourth, lag)
		}
	}
}

// The ends of the ranges: uniform numbers stay below 1, normal ones finite and symmetric.
func TestRandomExtremes(t *testing.T) {
	if u := uniform64(math.MaxUint64); u != 1-0x1p-53 {
		t.Errorf("the greatest uniform float64 is %v", u)
	}
	if u := uniform32(math.MaxUint32); u != 1-0x1p-24 {
		t.Errorf("the greatest uniform float32 is %v", u)
	}
	if z := normal64(math.MaxUint64); z != -normal64(0) || math.Abs(z-8.21) > 0.01 {
		t.Errorf("the extreme normal float64 are %v and %v", normal64(0), z)
	}
	if z := normal32(math.MaxUint32); z != -normal32(0) || math.Abs(float64(z)-6.34) > 0.01 {
		t.Errorf("the extreme normal float32 are %v and %v", normal32(0), z)
	}
}

// TestTruncated: far in a tail the numbers keep within the bounds, and have the mean that the density
// says.
func TestTruncated(t *testing.T) {
	for _, c := range []struct{ lo, hi, mean float64 }{
		{5, 6, 5.1772}, {-6, -5, -5.1772}, {0, math.Inf(1), 0.7979}, {math.Inf(-1), 1, -0.2876}, {-30, -29, -29.0344},
	} {
		for _, dt := range []DType{F32, F64} {
			k, mean := Random{Key: 5, Law: LawTruncated, Lo: c.lo, Hi: c.hi}, 0.
			for i := range 100000 {
				x := k.Draw(dt, 1, 2, uint64(i))
				if x < c.lo || x > c.hi || x != x {
					t.Fatalf("%v from %v to %v", x, c.lo, c.hi)
				}
				mean += x / 100000
			}
			if math.Abs(mean-c.mean) > .011 {
				t.Errorf("from %v to %v the mean is %v, want %v", c.lo, c.hi, mean, c.mean)
			}
		}
	}
}

// TestNormalQuantile: it inverts Φ to 13 digits from the far tail to the middle.
func TestNormalQuantile(t *testing.T) {
	for x := -37.; x < 5; x += .37 {
		p := normalBelow(x)
		if got := normalBelow(normalQuantile(p)); math.Abs(got/p-1) > 1e-13*max(1, x*x) {
			t.Errorf("Φ(Φ⁻¹(%g)) is %g", p, got)
		}
	}
}

// TestWhole: every number of the range comes up as often as any other, and none besides; ranges as
// long as I64's hold.
func TestWhole(t *testing.T) {
	count := map[float64]int{}
	for i := range 60000 {
		count[Random{Key: 9, Law: LawWhole, Lo: -2, Hi: 4}.Draw(I32, 1, 2, uint64(i))]++
	}
	for v := -2.; v < 4; v++ {
		if c := count[v]; math.Abs(float64(c)-10000) > 500 {
			t.Errorf("%v comes up %d times of 60000", v, c)
		}
	}
	if len(count) != 6 {
		t.Errorf("%v", count)
	}
	wide := Random{Law: LawWhole, Lo: -0x1p53, Hi: 0x1p53}
	if lo, hi := wide.whole(0), wide.whole(math.MaxUint64); lo != -1<<53 || hi != 1<<53-1 {
		t.Errorf("the ends of a wide range are %d and %d", lo, hi)
	}
}

func TestKeyOf(t *testing.T) {
	if k := KeyOf(""); k != 0xcbf29ce484222325 {
		t.Errorf("the key of nothing is %#x", k)
	}
	if k := KeyOf("foobar"); k != 0x85944171f73967e8 {
		t.Errorf("the key of foobar is %#x", k)
	}
	keys := []uint64{KeyOf("a"), KeyOf("b"), KeyOf("ab"), KeyOf("ba")}
	slices.Sort(keys)
	if len(slices.Compact(keys)) != 4 {
		t.Error("names share a key")
	}
}

// The streams of a seed are the outputs of SplitMix64: those of its authors' implementation for the
// seed 0.
func TestStream(t *testing.T) {
	for run, want := range []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f, 0xf88bb8a8724c81ec} {
		if got := mixKey(0, Stream(0, uint64(run))); got != want {
			t.Errorf("stream %d of the seed 0 is %#x, want %#x", run, got, want)
		}
	}
	if Stream(7, 0) != 7 {
		t.Error("the first run has another seed than its step")
	}
	// Two seeds have no stream in common where n·gamma stays away from 0. It comes nearest at the
	// Fibonacci numbers, as the convergents of the golden ratio's continued fraction are the best
	// approximations there are.
	for n, next := uint64(1), uint64(2); n < 1<<31; n, next = next, n+next {
		if d := int64(n * gamma); d < 1<<31 && d > -1<<31 {
			t.Errorf("%d·gamma is %d", n, d)
		}
	}
}
