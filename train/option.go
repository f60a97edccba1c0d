package train

import (
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// Option is a setting of an optimiser: train.Adam(1e-3, train.Betas(0.9, 0.98)). An option that the
// optimiser does not have, or a value out of range, is a mistake that [Optimiser.Minimize] records
// and [Named] returns.
type Option struct {
	kind string // which optimisers take it; "" for all
	text string
	err  error
	set  func(*settings)
}

type settings struct {
	β1, β2, ε float64
	inside    bool    // ε is under the root
	decay     float64 // of weights
	decays    bool
	decoupled bool          // the decay does not pass through the gradient
	decaying  []*graph.Node // those that decay; nil for all
	l1        float64
	thins     bool          // by l1
	sparse    []*graph.Node // those that l1 thins; nil for all
	history   int           // pairs that L-BFGS remembers
	clips     []clipping    // in the order given
	ema       float64
	averages  bool
	runs      int // whose gradients one update takes; 0 is 1
}

// The kinds of the options that not every optimiser takes.
const (
	takesBetas     = "betas"
	takesEpsilon   = "epsilon"
	takesInside    = "epsilon inside the root"
	takesSmoothing = "smoothing"
	takesHistory   = "history"
)

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

// Betas sets the decay rates of the moving averages of Adam and AdamW, the part of the old average
// that each step keeps: β1 of the gradient (0.9 unless set) and β2 of its square (0.999). Both are
// in [0, 1).
func Betas(β1, β2 float64) Option {
	err := fraction("β₁", β1)
	if err == nil {
		err = fraction("β₂", β2)
	}
	return Option{takesBetas, fmt.Sprintf("betas %v %v", β1, β2), err, func(s *settings) { s.β1, s.β2 = β1, β2 }}
}

// Epsilon sets ε, which adaptive optimisers add to the root that they divide by, so that a gradient
// of zero is not divided by zero. It is at least 0; the default is 1e-8, and 1e-10 for Adagrad.
func Epsilon(ε float64) Option {
	return Option{takesEpsilon, fmt.Sprintf("epsilon %v", ε), atLeastZero("ε", ε), func(s *settings) { s.ε, s.inside = ε, false }}
}

// EpsilonInside sets ε under the root of RMSProp and Adagrad, g/√(v + ε), as TensorFlow has it,
// where [Epsilon] has it outside, g/(√v + ε), as PyTorch does. It is at least 0.
func EpsilonInside(ε float64) Option {
	return Option{takesInside, fmt.Sprintf("epsilon inside %v", ε), atLeastZero("ε", ε), func(s *settings) { s.ε, s.inside = ε, true }}
}

// Smoothing sets the decay rate of RMSProp's moving average of squares, the part of the old average
// that each step keeps: 0.99 unless set, in [0, 1).
func Smoothing(β float64) Option {
	return Option{takesSmoothing, fmt.Sprintf("smoothing %v", β), fraction("smoothing", β), func(s *settings) { s.β2 = β }}
}

// WeightDecay pulls the weights towards zero; λ is at least 0. AdamW shrinks them by rate·λ in each
// step, whatever the gradient (decoupled decay; its default is 0.01). All other optimisers add λ·p
// to the gradient, as the penalty ½λ‖p‖² would (coupled decay, which an adaptive optimiser rescales
// with the gradient; 0 by default); [DecoupledDecay] makes them decay as AdamW does. λ is the scalar input "NAME/weight-decay", where NAME is the
// optimiser's.
//
// Only the given parameters decay, or all if none is given: biases, gains of norms and embeddings
// are commonly left out.
func WeightDecay(λ float64, only ...*graph.Node) Option {
	text := fmt.Sprintf("weight decay %v", λ)
	if len(only) > 0 {
		text += fmt.Sprintf(" of %d", len(only))
	}
	return Option{"", text, atLeastZero("weight decay", λ), func(s *settings) {
		s.decay, s.decays, s.decaying = λ, true, slices.Clone(only)
	}}
}

// DecoupledDecay shrinks the weights by rate·λ in each step, whatever the gradient (Loshchilov &
// Hutter, 2019), with any optimiser that takes [WeightDecay]; λ is at least 0:
//
//	p ← p − rate·(by + λp)
//
// where the optimiser alone would move p by −rate·by. Adam with it is AdamW; with SGD it computes
// the same as WeightDecay. The input and the parameters that decay are those of WeightDecay, whose
// place it takes.
func DecoupledDecay(λ float64, only ...*graph.Node) Option {
	o := WeightDecay(λ, only...)
	couple := o.set
	o.text = "decoupled " + o.text
	o.set = func(s *settings) {
		couple(s)
		s.decoupled = true
	}
	return o
}

// L1 adds the penalty λ·Σ|p| to the loss that is minimised, by the proximal step (Daubechies,
// Defrise & De Mol, 2004; FOBOS of Duchi & Singer, 2009): after the optimiser's move,
//
//	p ← sign(p)·max(|p| − rate·λ, 0)
//
// so that weights that do not matter become exactly 0, where the subgradient λ·sign(p) of a penalty
// in the loss (nn.L1Norm) lets them jump about it. Plain gradient descent with it is ISTA, and ends
// at the minimum of loss + λ·Σ|p|; an adaptive optimiser has another length for each weight, and
// ends elsewhere. λ is at least 0; it is the scalar input "NAME/l1". Only the given parameters
// are thinned, or all if none is given.
func L1(λ float64, only ...*graph.Node) Option {
	text := fmt.Sprintf("l1 %v", λ)
	if len(only) > 0 {
		text += fmt.Sprintf(" of %d", len(only))
	}
	return Option{"", text, atLeastZero("L1", λ), func(s *settings) {
		s.l1, s.thins, s.sparse = λ, true, slices.Clone(only)
	}}
}

// shrunk returns the next value of a parameter, moved towards zero where there is [L1].
func (r *run) shrunk(p, next *graph.Node) *graph.Node {
	if r.l1 == nil || len(r.set.sparse) > 0 && !slices.Contains(r.set.sparse, p) {
		return next
	}
	by := ops.Cast(ops.Mul(r.rate, r.l1), p.DType())
	return ops.Sub(next, ops.Maximum(ops.Minimum(next, by), ops.Neg(by)))
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
