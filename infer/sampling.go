package infer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// Sampling says how a token is chosen from logits z. The zero value chooses the most probable
// token.
type Sampling struct {
	// Temperature divides the logits: p = softmax(z/temperature). Below 1 it favours probable
	// tokens. At 0 the token of the largest logit is chosen, the first among equals, whatever the
	// other settings.
	Temperature float64
	// TopK restricts the choice to the k largest logits, the first among equals (Fan, Lewis &
	// Dauphin, 2018); 0 does not restrict it.
	TopK int
	// TopP restricts the choice to the fewest most probable tokens whose probabilities,
	// renormalised after TopK, add up to at least this (Holtzman et al., 2020); 0 does not restrict
	// it.
	TopP float64
	// Seed is the seed of all draws.
	Seed uint64
}

// String returns "greedy" at temperature 0, and otherwise the settings: temperature 0.8, top 10,
// seed 1.
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

// Err returns an error if a setting is out of range.
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

// Sampler chooses one token after the other, with random numbers of its own: PCG of math/rand/v2,
// one number for each token, none at temperature 0. It may be used by one goroutine at a time.
type Sampler struct {
	sampling Sampling
	rng      *rand.Rand
	weight   []float64 // by token, not normalised
	order    []int     // the tokens to choose from; sorted by descending logit if they are restricted
}

// NewSampler returns a sampler. A setting out of range is an error.
func NewSampler(s Sampling) (*Sampler, error) {
	if err := s.Err(); err != nil {
		return nil, err
	}
	return &Sampler{sampling: s, rng: rand.New(rand.NewPCG(s.Seed, 0))}, nil
}

// Choose returns a token, an index of logits. A logit of −∞ has probability 0. A logit that is NaN
// or +∞, logits that are all −∞, and no logits at all are errors, and draw no random number.
func (s *Sampler) Choose(logits []float64) (token int32, err error) {
	best, err := likeliest(logits)
	if err != nil || s.sampling.Temperature == 0 {
		return int32(best), err
	}
	s.weight, s.order = s.weight[:0], s.order[:0]
	total := 0.0
	for i, z := range logits {
		w := math.Exp((z - logits[best]) / s.sampling.Temperature) // of the best 1, as 0/temperature is 0, however small the temperature
		s.weight, s.order = append(s.weight, w), append(s.order, i)
		total += w
	}
	total = s.narrow(logits, total)
	rest := s.rng.Float64() * total
	for _, i := range s.order {
		if w := s.weight[i]; w > 0 {
			token = int32(i) // the last one, if rounding leaves a rest
			if rest -= w; rest < 0 {
				break
			}
		}
	}
	return token, nil
}

// narrow restricts order to the tokens to choose from, and returns the sum of their weights.
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

// likeliest returns the index of the largest logit, the first among equals.
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
