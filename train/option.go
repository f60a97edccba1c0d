package train

import (
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
)

// Option is a setting of an optimiser: train.Adam(1e-3, train.Betas(0.9, 0.98)).
// One that the optimiser has no use for, or a value out of range, is a mistake
// that Minimize records.
type Option struct {
	kind string // which optimisers take it; "" for all
	text string
	err  error
	set  func(*settings)
}

// settings holds what the options set.
type settings struct {
	β1, β2, ε float64
	decay     float64 // of weights
	decays    bool
	decaying  []*graph.Node // those that decay; nil for all
	clips     []clipping    // in the order given
	ema       float64
	averages  bool
	runs      int // that make a move; 0 is 1
}

// The options that not every optimiser takes.
const (
	takesBetas     = "betas"
	takesEpsilon   = "epsilon"
	takesSmoothing = "smoothing"
)

// newOptimiser applies the options to the defaults.
func newOptimiser(o Optimiser, options []Option, takes ...string) Optimiser {
	for _, p := range options {
		switch {
		case p.set == nil:
			continue
		case p.kind != "" && !slices.Contains(takes, p.kind):
			p.err = fmt.Errorf("%s has no %s", o.name, p.kind)
		}
		if p.err != nil {
			if o.err == nil {
				o.err = p.err
			}
			continue
		}
		p.set(&o.set)
		o.text = append(o.text, p.text)
	}
	return o
}

// Betas are how much of the old averages Adam and AdamW keep in each step: of the
// gradient (0.9 unless set) and of its square (0.999). Both lie in [0, 1).
func Betas(β1, β2 float64) Option {
	err := fraction("β₁", β1)
	if err == nil {
		err = fraction("β₂", β2)
	}
	return Option{takesBetas, fmt.Sprintf("betas %v %v", β1, β2), err, func(s *settings) { s.β1, s.β2 = β1, β2 }}
}

// Epsilon is added to the root that adaptive optimisers divide by, so that a
// gradient of zero divides by something. It is 1e-8 unless set, 1e-10 for Adagrad.
func Epsilon(ε float64) Option {
	return Option{takesEpsilon, fmt.Sprintf("epsilon %v", ε), atLeastZero("ε", ε), func(s *settings) { s.ε = ε }}
}

// Smoothing is how much of the old average of squares RMSProp keeps in each step:
// 0.99 unless set, in [0, 1).
func Smoothing(β float64) Option {
	return Option{takesSmoothing, fmt.Sprintf("smoothing %v", β), fraction("smoothing", β), func(s *settings) { s.β2 = β }}
}

// WeightDecay pulls the weights to zero. AdamW shrinks them by rate·λ in each
// step, whatever the gradient (its own default is 0.01); all others add λ·p to
// the gradient, as the penalty ½λ‖p‖² would (coupled decay, which an adaptive optimiser
// scales as it does gradients). λ is the scalar input
// "NAME/weight-decay".
//
// Only the given parameters decay, or all if none is given: biases, gains of norms
// and embeddings are commonly left out.
func WeightDecay(λ float64, only ...*graph.Node) Option {
	text := fmt.Sprintf("weight decay %v", λ)
	if len(only) > 0 {
		text += fmt.Sprintf(" of %d", len(only))
	}
	return Option{"", text, atLeastZero("weight decay", λ), func(s *settings) {
		s.decay, s.decays, s.decaying = λ, true, slices.Clone(only)
	}}
}

func fraction(what string, v float64) error {
	if !(v >= 0 && v < 1) {
		return fmt.Errorf("%s = %v: want a number from 0 to below 1", what, v)
	}
	return nil
}

func atLeastZero(what string, v float64) error {
	if !(v >= 0) || math.IsInf(v, 0) {
		return fmt.Errorf("%s = %v: want a finite number of at least 0", what, v)
	}
	return nil
}
