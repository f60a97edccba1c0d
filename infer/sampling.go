package infer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// Sampling describes how a token is chosen from logits z. The zero value chooses the likeliest.
type Sampling struct {
	// Temperature divides the logits: p = softmax(z/temperature). Below 1 the likely
	// becomes likelier. At 0 the largest logit is taken, of equal ones the first, and
	// nothing else counts.
	Temperature float64
	// TopK leaves only the k largest logits, of equal ones the first (Fan, Lewis &
	// Dauphin, 2018); 0 leaves all.
	TopK int
	// TopP leaves only the fewest likeliest tokens that together have at least this
	// probability (Holtzman et al., 2020), among those that TopK leaves; 0 leaves all.
	TopP float64
	// Seed fixes all draws.
	Seed uint64
}

// String returns "greedy" at temperature 0, and else the settings: temperature 0.8, top 10, seed 1.
func (s Sampling) String() string {
	if s.Temperature == 0 {
		return "greedy"
	}
	parts := []string{fmt.Sprintf("temperature %v", s.Temperature)}
	if s.TopK > 0 {
		parts = append(parts, fmt.Sprintf("top %d", s.TopK))
	}
	if s.TopP > 0 {
		parts = append(parts, fmt.Sprintf("top %v", s.TopP))
	}
	return strings.Join(append(parts, fmt.Sprintf("seed %d", s.Seed)), ", ")
}

// Err returns an error for a setting out of range.
func (s Sampling) Err() error {
	switch {
	case !(s.Temperature >= 0) || math.IsInf(s.Temperature, 0):
		return fmt.Errorf("sampling: temperature = %v: want a finite number of at least 0", s.Temperature)
	case s.TopK < 0:
		return fmt.Errorf("sampling: top k = %d: want at least 1, or 0 for all", s.TopK)
	case !(s.TopP >= 0 && s.TopP <= 1):
		return fmt.Errorf("sampling: top p = %v: want a probability, or 0 for all", s.TopP)
	}
	return nil
}

// Sampler chooses tokens, one after the other, with its own random numbers: PCG of math/rand/v2,
// one number for each token, none at temperature 0. It may be used by one goroutine at a time.
type Sampler struct {
	sampling Sampling
	rng      *rand.Rand
	weight   []float64 // by token, of the one at hand
	order    []int     // tokens from the likeliest on
}

// NewSampler returns a sampler. Settings out of range are an error.
func NewSampler(s Sampling) (*Sampler, error) {
	if err := s.Err(); err != nil {
		return nil, err
	}
	return &Sampler{sampling: s, rng: rand.New(rand.NewPCG(s.Seed, 0))}, nil
}

// Choose returns a token, an index of logits. A logit of −∞ has probability 0. NaN, +∞, −∞
// throughout, and no logits at all are errors, for which no random number is drawn.
func (s *Sampler) Choose(logits []float64) (token int32, err error) {
	best, err := likeliest(logits)
	if err != nil || s.sampling.Temperature == 0 {
		return int32(best), err
	}
	s.weight, s.order = s.weight[:0], s.order[:0]
	total := 0.0
	for i, z := range logits {
		w := math.Exp((z - logits[best]) / s.sampling.Temperature) // 0/temperature is 0, however small
		s.weight, s.order = append(s.weight, w), append(s.order, i)
		total += w
	}
	total = s.narrow(logits, total)
	rest := s.rng.Float64() * total
	for _, i := range s.order {
		if w := s.weight[i]; w > 0 {
			token = int32(i) // the last one, if rounding has left something
			if rest -= w; rest < 0 {
				break
			}
		}
	}
	return token, nil
}

// narrow leaves in order the tokens that are to choose from, and gives the sum of their weights.
func (s *Sampler) narrow(logits []float64, total float64) float64 {
	k, p := s.sampling.TopK, s.sampling.TopP
	if (k == 0 || k >= len(logits)) && p == 0 {
		return total
	}
	slices.SortFunc(s.order, func(i, j int) int {
		switch {
		case logits[i] > logits[j]:
			return -1
		case logits[i] < logits[j]:
			return 1
		}
		return i - j
	})
	sum := func() (sum float64) {
		for _, i := range s.order {
			sum += s.weight[i]
		}
		return sum
	}
	if k > 0 {
		s.order = s.order[:min(k, len(s.order))]
	}
	if total = sum(); p == 0 {
		return total
	}
	part := 0.0
	for n, i := range s.order {
		if part += s.weight[i]; part >= p*total {
			s.order = s.order[:n+1]
			break
		}
	}
	return part
}

// likeliest is the place of the largest logit, the first of equal ones.
func likeliest(logits []float64) (best int, err error) {
	if len(logits) == 0 {
		return 0, fmt.Errorf("sampling: no logits to choose from")
	}
	for i, z := range logits {
		if math.IsNaN(z) || math.IsInf(z, 1) {
			return 0, fmt.Errorf("sampling: the logit of token %d is %v: want finite numbers or -Inf", i, z)
		}
		if z > logits[best] {
			best = i
		}
	}
	if math.IsInf(logits[best], -1) {
		return 0, fmt.Errorf("sampling: all %d logits are -Inf: nothing to choose from", len(logits))
	}
	return best, nil
}
