package infer_test

import (
	"math"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/infer"
)

func sampler(t testing.TB, s infer.Sampling) *infer.Sampler {
	t.Helper()
	r, err := infer.NewSampler(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var inf = math.Inf(1)

// TestFrequencies: tokens are as frequent as their probabilities say.
func TestFrequencies(t *testing.T) {
	z := []float64{1, 3, -inf, 2, 3, 0}
	e := func(z float64) float64 { return math.Exp(z) }
	for _, c := range []struct {
		s infer.Sampling
		p []float64 // up to a factor
	}{
		{infer.Sampling{Temperature: 1}, []float64{e(1), e(3), 0, e(2), e(3), 1}},
		{infer.Sampling{Temperature: 2}, []float64{e(0.5), e(1.5), 0, e(1), e(1.5), 1}},
		{infer.Sampling{Temperature: 0.5}, []float64{e(2), e(6), 0, e(4), e(6), 1}},
		{infer.Sampling{Temperature: 1e300}, []float64{1, 1, 0, 1, 1, 1}},
		{infer.Sampling{Temperature: 5e-324}, []float64{0, 1, 0, 0, 1, 0}},
		{infer.Sampling{}, []float64{0, 1, 0, 0, 0, 0}},
		{infer.Sampling{Seed: 9, TopP: 0.1, TopK: 3}, []float64{0, 1, 0, 0, 0, 0}},
		{infer.Sampling{Temperature: 1, TopK: 1}, []float64{0, 1, 0, 0, 0, 0}},
		{infer.Sampling{Temperature: 1, TopK: 3}, []float64{0, e(3), 0, e(2), e(3), 0}},
		{infer.Sampling{Temperature: 1, TopK: 99}, []float64{e(1), e(3), 0, e(2), e(3), 1}},
		{infer.Sampling{Temperature: 1, TopP: 1}, []float64{e(1), e(3), 0, e(2), e(3), 1}},
		{infer.Sampling{Temperature: 1, TopP: 1e-300}, []float64{0, 1, 0, 0, 0, 0}},
		{infer.Sampling{Temperature: 1, TopP: 0.78}, []float64{0, 1, 0, 0, 1, 0}},                // 0.392 + 0.392
		{infer.Sampling{Temperature: 1, TopP: 0.79}, []float64{0, e(1), 0, 1, e(1), 0}},          // and 0.144
		{infer.Sampling{Temperature: 1, TopK: 3, TopP: 0.84}, []float64{0, 1, 0, 0, 1, 0}},       // 0.422 + 0.422 of the three
		{infer.Sampling{Temperature: 1, TopK: 3, TopP: 0.85}, []float64{0, e(1), 0, 1, e(1), 0}}, // which is less than 0.85
	} {
		const n = 20000
		r, count, total := sampler(t, c.s), make([]float64, len(z)), 0.0
		for range n {
			i, err := r.Choose(z)
			if err != nil {
				t.Fatal(err)
			}
			count[i]++
		}
		for _, p := range c.p {
			total += p
		}
		for i, p := range c.p {
			p /= total
			if off := math.Abs(count[i]/n - p); off > 5*math.Sqrt(p*(1-p)/n) {
				t.Errorf("%v: token %d comes %v of %d times, want %v", c.s, i, count[i], n, n*p)
			}
		}
	}
}

// TestEqualLogits: of equal logits the first are the likeliest.
func TestEqualLogits(t *testing.T) {
	z := make([]float64, 100)
	for _, s := range []infer.Sampling{{}, {Temperature: 1, TopK: 1}, {Temperature: 1, TopP: 0.005}} {
		if i, err := sampler(t, s).Choose(z); i != 0 || err != nil {
			t.Errorf("%v: token %d, %v", s, i, err)
		}
	}
	r := sampler(t, infer.Sampling{Temperature: 1, TopK: 3})
	for range 100 {
		if i, _ := r.Choose(z); i > 2 {
			t.Fatalf("token %d is among the first three", i)
		}
	}
}

// TestSeeds: the same seed gives the same tokens, also if choices without a random number come in
// between.
func TestSeeds(t *testing.T) {
	draw := func(seed uint64) (list []int32) {
		r := sampler(t, infer.Sampling{Temperature: 1, Seed: seed})
		for range 50 {
			i, _ := r.Choose(make([]float64, 10))
			list = append(list, i)
			r.Choose([]float64{math.NaN()})
		}
		return list
	}
	first := draw(1)
	if again := draw(1); !slices.Equal(first, again) {
		t.Errorf("%v, then %v", first, again)
	}
	if other := draw(2); slices.Equal(first, other) {
		t.Error("another seed draws the same")
	}
	if want := []int32{2, 5, 0, 4, 7, 5, 1, 0, 7, 2}; !slices.Equal(first[:10], want) {
		t.Errorf("the first tokens are %v, and were once %v", first[:10], want)
	}
}

func TestSamplingMistakes(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		s    infer.Sampling
		z    []float64
		want string
	}{
		{infer.Sampling{Temperature: -1}, nil, "sampling: temperature = -1: want a finite number of at least 0"},
		{infer.Sampling{Temperature: nan}, nil, "sampling: temperature = NaN: want a finite number of at least 0"},
		{infer.Sampling{Temperature: inf}, nil, "sampling: temperature = +Inf: want a finite number of at least 0"},
		{infer.Sampling{TopK: -1}, nil, "sampling: top k = -1: want at least 1, or 0 for all"},
		{infer.Sampling{TopP: 1.5}, nil, "sampling: top p = 1.5: want a probability, or 0 for all"},
		{infer.Sampling{TopP: nan}, nil, "sampling: top p = NaN: want a probability, or 0 for all"},
		{infer.Sampling{}, nil, "sampling: no logits to choose from"},
		{infer.Sampling{}, []float64{0, nan}, "sampling: the logit of token 1 is NaN: want finite numbers or -Inf"},
		{infer.Sampling{Temperature: 1}, []float64{nan, 0}, "sampling: the logit of token 0 is NaN: want finite numbers or -Inf"},
		{infer.Sampling{Temperature: 1}, []float64{-inf, inf}, "sampling: the logit of token 1 is +Inf: want finite numbers or -Inf"},
		{infer.Sampling{Temperature: 1}, []float64{-inf, -inf}, "sampling: all 2 logits are -Inf: nothing to choose from"},
	} {
		r, err := infer.NewSampler(c.s)
		if err == nil {
			_, err = r.Choose(c.z)
		}
		if err == nil || err.Error() != c.want {
			t.Errorf("%v of %v: got %v, want %s", c.s, c.z, err, c.want)
		}
	}
}

func TestSamplingText(t *testing.T) {
	for want, s := range map[string]infer.Sampling{
		"greedy":                                {TopK: 3, Seed: 4},
		"temperature 0.8, top 10, seed 1":       {Temperature: 0.8, TopK: 10, Seed: 1},
		"temperature 1, top 5, top 0.9, seed 0": {Temperature: 1, TopK: 5, TopP: 0.9},
	} {
		if got := s.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func FuzzChoose(f *testing.F) {
	f.Add(1.0, 2.0, -3.0, 1.0, 2, 0.5)
	f.Fuzz(func(t *testing.T, a, b, c, temperature float64, k int, p float64) {
		r, err := infer.NewSampler(infer.Sampling{Temperature: temperature, TopK: k, TopP: p})
		if err != nil {
			return
		}
		z := []float64{a, b, c}
		if i, err := r.Choose(z); err == nil && (i < 0 || i > 2 || math.IsInf(z[i], -1)) {
			t.Errorf("%v of %v: token %d", infer.Sampling{Temperature: temperature, TopK: k, TopP: p}, z, i)
		}
	})
}
