package train

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// Optimiser turns the gradients of a loss into updates of its parameters, as nodes of the same
// graph. [SGD], [Momentum], [SmoothedMomentum], [Nesterov], [NesterovPeek], [Adam], [AdamW],
// [RMSProp], [Adagrad] and [Named] return one.
type Optimiser struct {
	name string
	rate float64
	set  settings
	text []string // the options, as String prints them
	err  error    // a setting that is refused
	// update returns the new value of a parameter, and the updates of the states that it needs. The
	// current scope is the optimiser's.
	update func(o *run, p, dp *graph.Node) (*graph.Node, graph.Step)
	// ahead gives where the gradient is taken; nil for the parameter itself.
	ahead func(o *run, p *graph.Node) *graph.Node
}

// run is one call of Minimize.
type run struct {
	g     *graph.Graph
	set   settings
	rate  *graph.Node            // of the loss's element type
	decay *graph.Node            // of weights, likewise; nil for none
	once  map[string]*graph.Node // states by name, and the updated values of those that the parameters share
	step  graph.Step
	full  *graph.Node                 // whether this run updates; nil if every run does
	at    map[*graph.Node]*graph.Node // where each parameter's gradient is taken; nil for the parameters themselves
}

// Minimize adds to the graph the gradient of the loss by the parameters, and returns their updates,
// for tape.Do. Without params it takes all parameters that the loss depends on. Mistakes are
// recorded in the graph.
//
// What may vary during training is a scalar input of the loss's element type with a default:
// "NAME/rate", where NAME is the optimiser's (see [Optimiser.Rate]), and with the options that need
// them "NAME/weight-decay", "NAME/clip-norm", "NAME/clip-value" and "NAME/ema-decay".
//
// Two optimisers of one name in one graph, as of a generator and a discriminator, need a scope
// each:
//
//	end := g.Scope("generator")
//	step := train.Adam(2e-4).Minimize(loss, params...) // its rate is generator/adam/rate
//	end()
func (o Optimiser) Minimize(loss *graph.Node, params ...*graph.Node) graph.Step {
	g := graph.Of(append([]*graph.Node{loss}, params...)...)
	if len(params) == 0 && loss.IsValid() {
		for _, n := range graph.Reachable(loss) {
			if n.Role() == graph.RoleParam {
				params = append(params, n)
			}
		}
	}
	err := o.err
	idle := slices.IndexFunc(o.set.decaying, func(n *graph.Node) bool { return !slices.Contains(params, n) })
	switch {
	case len(params) == 0:
		err = errors.New("the loss depends on no parameter")
	case o.IsZero():
		err = errors.New("the optimiser is the zero value, which makes no step: give the call, or Trainer.Optimiser, one such as train.SGD(0.1) or train.Adam(0.001)")
	case idle >= 0:
		err = fmt.Errorf("weight decay of %v, which is not among the parameters", o.set.decaying[idle])
	case math.IsNaN(o.rate) || math.IsInf(o.rate, 0):
		err = fmt.Errorf("a learning rate of %v: want a finite number", o.rate)
	}
	if err != nil {
		g.Fail("Minimize", err, loss)
		return nil
	}
	var grads []*graph.Node
	if o.ahead == nil || !loss.IsValid() {
		grads = grad.Of(loss, params...)
	}
	end := g.Scope(o.name)
	r := &run{g: g, set: o.set, once: map[string]*graph.Node{}}
	if loss.IsValid() {
		if r.rate = g.Scalar("rate", o.rate, loss.DType()); !r.rate.IsValid() {
			end()
			return nil // another optimiser has the name
		}
		if o.set.decays {
			r.decay = g.Scalar("weight-decay", o.set.decay, loss.DType())
		}
		if o.ahead != nil {
			grads = r.peek(loss, params, o.ahead)
		}
		if o.set.runs > 1 {
			grads = r.gather(params, grads)
		}
		for _, c := range o.set.clips {
			grads = c.clip(r, grads)
		}
	}
	for i, p := range params {
		if !grads[i].IsValid() {
			continue
		}
		next, states := o.update(r, p, grads[i])
		r.step = append(r.step, r.assign(p, next))
		r.step = append(r.step, states...)
	}
	end()
	if o.set.averages {
		r.average(o)
	}
	return r.step
}

// Rate returns the learning rate's scalar input in a graph on which Minimize was called at the top
// level, or nil if there is none. That of a call in a scope is g.Lookup("SCOPE/NAME/rate").
func (o Optimiser) Rate(g *graph.Graph) *graph.Node {
	if g == nil {
		return nil
	}
	return g.Lookup(o.name + "/rate")
}

// move returns p − rate·by.
func (r *run) move(p, by *graph.Node) *graph.Node {
	return ops.Sub(p, ops.Mul(ops.Cast(r.rate, p.DType()), by))
}

// decayed returns the gradient of the loss with the penalty ½λ‖p‖², dp + λp; dp without weight
// decay. p is where dp was taken.
func (r *run) decayed(p, dp *graph.Node) *graph.Node {
	if r.decay == nil || len(r.set.decaying) > 0 && !slices.Contains(r.set.decaying, p) {
		return dp
	}
	if at := r.at[p]; at != nil {
		p = at
	}
	return ops.Add(dp, ops.Mul(ops.Cast(r.decay, p.DType()), p))
}

// state returns a state that the optimiser keeps for a parameter, "NAME/KIND/PATH", zeros at first.
func (r *run) state(kind string, p *graph.Node) *graph.Node {
	name := kind + "/" + p.Path()
	if r.once[name] == nil {
		r.once[name] = r.g.State(name, p.DType(), p.Shape().Axes()...)
	}
	return r.once[name]
}

// shared returns a scalar state that all parameters share, made and updated at the first call.
func (r *run) shared(name string, next func(old *graph.Node) *graph.Node) (now *graph.Node) {
	if n := r.once[name]; n != nil {
		return n
	}
	s := r.g.State(name, r.rate.DType())
	n := next(s)
	r.once[name] = n
	r.step = append(r.step, r.assign(s, n))
	return n
}

// IsZero reports whether the optimiser is the zero value, which has no updates and which Minimize
// refuses.
func (o Optimiser) IsZero() bool { return o.update == nil }

// Name returns the optimiser's name, such as adam.
func (o Optimiser) Name() string { return o.name }

// WithRate returns the optimiser with another learning rate.
func (o Optimiser) WithRate(rate float64) Optimiser {
	o.rate = rate
	return o
}

// String returns the optimiser as a call with its rate and the options given: adam(0.05, clip-norm
// 1).
func (o Optimiser) String() string { return o.call(fmt.Sprintf("%.3g", o.rate)) }

// Under returns the text of the optimiser with a schedule in place of its rate:
// adam(cosine(0.05,200)). That of the zero schedule is String.
func (o Optimiser) Under(rate Schedule) string {
	if rate.IsZero() {
		return o.String()
	}
	return o.call(rate.String())
}

// call returns the optimiser as a call with the text of its rate.
func (o Optimiser) call(rate string) string {
	return fmt.Sprintf("%s(%s)", o.name, strings.Join(append([]string{rate}, o.text...), ", "))
}

// named lists the optimisers that can be called by name, with their usual settings.
var named = []struct {
	name string
	make func(rate float64, options ...Option) Optimiser
}{
	{"sgd", SGD},
	{"momentum", func(rate float64, o ...Option) Optimiser { return Momentum(rate, 0.9, o...) }},
	{"smoothed-momentum", func(rate float64, o ...Option) Optimiser { return SmoothedMomentum(rate, 0.9, o...) }},
	{"nesterov", func(rate float64, o ...Option) Optimiser { return Nesterov(rate, 0.9, o...) }},
	{"nesterov-peek", func(rate float64, o ...Option) Optimiser { return NesterovPeek(rate, 0.9, o...) }},
	{"adam", Adam},
	{"adamw", AdamW},
	{"rmsprop", RMSProp},
	{"adagrad", Adagrad},
}

// Named returns the optimiser called sgd, momentum, smoothed-momentum, nesterov, nesterov-peek
// (these four with β = 0.9), adam, adamw, rmsprop or adagrad. It is an error if no optimiser has
// the name, or if this one refuses an option.
func Named(name string, rate float64, options ...Option) (Optimiser, error) {
	for _, n := range named {
		if n.name == name {
			o := n.make(rate, options...)
			return o, o.err
		}
	}
	names := Names()
	last := len(names) - 1
	return Optimiser{}, fmt.Errorf("%q: want %s or %s", name, strings.Join(names[:last], ", "), names[last])
}

// Names returns the names that [Named] takes.
func Names() []string {
	out := make([]string, len(named))
	for i, n := range named {
		out[i] = n.name
	}
	return slices.Clip(out)
}
