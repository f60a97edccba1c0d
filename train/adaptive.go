package train

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

var adamDefaults = settings{β1: 0.9, β2: 0.999, ε: 1e-8}

// Adam returns the optimiser of Kingma & Ba (2015), Algorithm 1, with β₁ = 0.9, β₂ = 0.999 and ε =
// 1e-8 unless [Betas] and [Epsilon] say otherwise:
//
//	m ← β₁m + (1−β₁)g,  v ← β₂v + (1−β₂)g²,  p ← p − rate·m̂/(√v̂ + ε)
//
// where m̂ = m/(1−β₁ᵗ) and v̂ = v/(1−β₂ᵗ) in step t. The moments are the states "adam/m/PATH" and
// "adam/v/PATH", where PATH is the parameter's; 1−β₁ᵗ and 1−β₂ᵗ are "adam/m-decay" and
// "adam/v-decay".
func Adam(rate float64, options ...Option) Optimiser {
	return newOptimiser(Optimiser{name: "adam", rate: rate, set: adamDefaults,
		update: func(r *run, p, dp *graph.Node) (*graph.Node, graph.Step) {
			by, states := r.adam(p, r.decayed(p, dp))
			return r.move(p, by), states
		}}, options, takesBetas, takesEpsilon)
}

// AdamW returns [Adam] with decoupled weight decay (Loshchilov & Hutter, 2019): how much a weight
// shrinks does not depend on its past gradients.
//
//	p ← p − rate·(m̂/(√v̂ + ε) + λp)
//
// λ is 0.01 unless [WeightDecay] says otherwise. Its states are "adamw/m/PATH" and "adamw/v/PATH".
func AdamW(rate float64, options ...Option) Optimiser {
	set := adamDefaults
	set.decay, set.decays, set.decoupled = 0.01, true, true
	return newOptimiser(Optimiser{name: "adamw", rate: rate, set: set,
		update: func(r *run, p, dp *graph.Node) (*graph.Node, graph.Step) {
			by, states := r.adam(p, dp)
			return r.move(p, by), states
		}}, options, takesBetas, takesEpsilon)
}

// adam returns m̂/(√v̂ + ε), and the updates of the moments.
func (r *run) adam(p, dp *graph.Node) (*graph.Node, graph.Step) {
	moment := func(name string, β float64, g *graph.Node) (unbiased *graph.Node, u graph.Update) {
		now, u := r.smooth(name, β, p, g)
		power := r.shared(name+"-decay", func(old *graph.Node) *graph.Node {
			// old is 1 − βᵗ⁻¹, which starts at 0; 1 − βᵗ = 1 − β + β·old.
			return ops.Shift(ops.Scale(old, β), 1-β)
		})
		return ops.Div(now, ops.Cast(power, p.DType())), u
	}
	m, um := moment("m", r.set.β1, dp)
	v, uv := moment("v", r.set.β2, ops.Square(dp))
	return ops.Div(m, ops.Shift(ops.Sqrt(v), r.set.ε)), graph.Step{um, uv}
}

// smooth returns the exponential moving average of g, the state NAME of the parameter, and its
// update.
func (r *run) smooth(name string, β float64, p, g *graph.Node) (now *graph.Node, u graph.Update) {
	s := r.state(name, p)
	u = r.assign(s, ops.Add(ops.Scale(s, β), ops.Scale(g, 1-β)))
	return u.Value, u
}

// RMSProp divides the gradient by the root of a moving average of its square (Tieleman & Hinton,
// 2012), with β = 0.99 ([Smoothing]) and ε = 1e-8 ([Epsilon]):
//
//	v ← βv + (1−β)g²,  p ← p − rate·g/(√v + ε)
//
// The average is the state "rmsprop/v/PATH". PyTorch computes the same; gorgonia and TensorFlow
// have ε under the root, g/√(v + ε), as [EpsilonInside] has, and gorgonia has β = 0.999.
func RMSProp(rate float64, options ...Option) Optimiser {
	return newOptimiser(Optimiser{name: "rmsprop", rate: rate, set: settings{β2: 0.99, ε: 1e-8},
		update: func(r *run, p, dp *graph.Node) (*graph.Node, graph.Step) {
			g := r.decayed(p, dp)
			v, u := r.smooth("v", r.set.β2, p, ops.Square(g))
			return r.move(p, r.rooted(g, v)), graph.Step{u}
		}}, options, takesEpsilon, takesInside, takesSmoothing)
}

// Adagrad divides the gradient by the root of the sum of the squares of all gradients so far
// (Duchi, Hazan & Singer, 2011), with ε = 1e-10 ([Epsilon]):
//
//	s ← s + g²,  p ← p − rate·g/(√s + ε)
//
// The sum is the state "adagrad/sum/PATH".
func Adagrad(rate float64, options ...Option) Optimiser {
	return newOptimiser(Optimiser{name: "adagrad", rate: rate, set: settings{ε: 1e-10},
		update: func(r *run, p, dp *graph.Node) (*graph.Node, graph.Step) {
			g := r.decayed(p, dp)
			s := r.state("sum", p)
			sum := r.assign(s, ops.Add(s, ops.Square(g)))
			return r.move(p, r.rooted(g, sum.Value)), graph.Step{sum}
		}}, options, takesEpsilon, takesInside)
}

// rooted returns g/(√v + ε), or g/√(v + ε).
func (r *run) rooted(g, v *graph.Node) *graph.Node {
	if r.set.inside {
		return ops.Div(g, ops.Sqrt(ops.Shift(v, r.set.ε)))
	}
	return ops.Div(g, ops.Shift(ops.Sqrt(v), r.set.ε))
}
