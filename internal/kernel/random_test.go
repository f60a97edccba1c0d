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
		for _, dt := range []DType{F32, F64} {
			for _, normal := range []bool{false, true} {
				i := -1
				check(t, Random{Key: key, Normal: normal}, dt, dims, nil, 0, func([]int) float64 {
					i++
					return Draw(dt, normal, key, seed, step, uint64(i))
				})
			}
		}
	}
}

func TestMoments(t *testing.T) {
	const n = 100000
	for name, c := range map[string]struct {
		f              func(i uint64) float64
		mean, variance float64
		fourth         float64 // central moment, in units of the variance squared
	}{
		"Uniform":   {func(i uint64) float64 { return Uniform(1, 2, 3, i) }, 0.5, 1. / 12, 1.8},
		"Uniform32": {func(i uint64) float64 { return float64(Uniform32(1, 2, 3, i)) }, 0.5, 1. / 12, 1.8},
		"Normal":    {func(i uint64) float64 { return Normal(1, 2, 3, i) }, 0, 1, 3},
		"Normal32":  {func(i uint64) float64 { return float64(Normal32(1, 2, 3, i)) }, 0, 1, 3},
		// Steps, runs, seeds and keys give independent draws too.
		"steps": {func(i uint64) float64 { return Normal(1, 2, i, 0) }, 0, 1, 3},
		"runs":  {func(i uint64) float64 { return Normal(1, Stream(2, i), 3, 0) }, 0, 1, 3},
		"seeds": {func(i uint64) float64 { return Normal(1, i, 3, 0) }, 0, 1, 3},
		"keys":  {func(i uint64) float64 { return Normal(i, 2, 3, 0) }, 0, 1, 3},
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
		// Five standard errors: those of the moments are at most 1, 1.42 and 9.8 over √n.
		se := 5 / math.Sqrt(n)
		if math.Abs(mean) > se || math.Abs(variance-1) > 1.42*se || math.Abs(fourth-c.fourth) > 9.8*se || math.Abs(lag) > se {
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
