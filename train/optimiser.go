package train

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/lanes"
	"github.com/tapestry-ml/tapestry/ops"
)

// Optimiser turns the gradients of a loss into updates of its parameters, as nodes of the same
// graph. [SGD], [Momentum], [SmoothedMomentum], [Nesterov], [NesterovPeek], [Adam], [AdamW],
// [LazyAdam], [RMSProp], [Adagrad], [LBFGS] and [Named] return one, and [Custom] one of your own.
type Optimiser struct {
	name string
	rate float64
	set  settings
	text []string // the options, as String prints them
	err  error    // a setting that is refused
	// update returns the new value of a parameter, and the updates of the states that it needs. The
	// current scope is the optimiser's.
	update func(o *run, p, dp *graph.Node) (*graph.Node, graph.Step)
	// all, in place of update, returns by what each parameter moves, the rate times: it sees all
	// gradients at once.
	all func(o *run, params, grads []*graph.Node) []*graph.Node
	// search makes the engine that finds the length of a step on at most so many cores, 0 for all;
	// nil where the rate is the length.
	search func(workers int) NewEngine
	// ahead gives where the gradient is taken; nil for the parameter itself.
	ahead func(o *run, p *graph.Node) *graph.Node
}

// run is one call of Minimize.
type run struct {
	g     *graph.Graph
	set   settings
	rate  *graph.Node            // of the loss's element type
	decay *graph.Node            // of weights, likewise; nil for none
	l1    *graph.Node            // the factor of Σ|p|, likewise; nil for none
	once  map[string]*graph.Node // states by name, and the updated values of those that the parameters share
	step  graph.Step
	rows  *graph.Node                 // mask of the rows of the parameter that are updated; nil for all
	full  *graph.Node                 // whether this run updates; nil if every run does
	at    map[*graph.Node]*graph.Node // where each parameter's gradient is taken; nil for the parameters themselves
	of    map[*graph.Node]*graph.Node // by state: the parameter that it is kept for
	sums  map[*graph.Node]*graph.Node // by parameter: the sum of its gradients over lanes; nil where there are none
}

// Minimize adds to the graph the gradient of the loss by the parameters, and returns their updates,
// for tape.Do. Without params it takes all parameters that the loss depends on. Mistakes are
// recorded in the graph. Parameters and loss are f32 or f64: f16 and bf16 are for what is computed
// of a parameter after ops.Cast, whose derivative comes back as f32.
//
// What may vary during training is a scalar input of the loss's element type with a default:
// "NAME/rate", where NAME is the optimiser's (see [Optimiser.Rate]), and with the options that need
// them "NAME/weight-decay", "NAME/l1", "NAME/clip-norm", "NAME/clip-value" and "NAME/ema-decay".
//
// Two optimisers of one name in one graph, as of a generator and a discriminator, need a scope
// each:
//
//	end := g.Scope("generator")
//	step := train.Adam(2e-4).Minimize(loss, params...) // its rate is generator/adam/rate
//	end()
func (o Optimiser) Minimize(loss *graph.Node, params ...*graph.Node) graph.Step {
	r := o.minimize(loss, params, false)
	if r == nil {
		return nil
	}
	return r.step
}

// minimize is Minimize; in lanes the gradients are those of a lane, whose sums over all lanes the
// optimiser sees. It returns nil where there is a mistake.
func (o Optimiser) minimize(loss *graph.Node, params []*graph.Node, inLanes bool) *run {
	g := graph.Of(append([]*graph.Node{loss}, params...)...)
	if len(params) == 0 && loss.IsValid() {
		for _, n := range graph.Reachable(loss) {
			if n.Role() == graph.RoleParam {
				params = append(params, n)
			}
		}
	}
	err := o.err
	stranger := func(n *graph.Node) bool { return !slices.Contains(params, n) }
	idle, thin := slices.IndexFunc(o.set.decaying, stranger), slices.IndexFunc(o.set.sparse, stranger)
	switch {
	case len(params) == 0:
		err = errors.New("the loss depends on no parameter")
	case o.IsZero():
		err = errors.New("the optimiser is the zero value, which makes no step: want one such as train.Adam(0.001), or one of your own by train.Custom")
	case idle >= 0:
		err = fmt.Errorf("weight decay of %v, which is not among the parameters", o.set.decaying[idle])
	case thin >= 0:
		err = fmt.Errorf("L1 of %v, which is not among the parameters", o.set.sparse[thin])
	case math.IsNaN(o.rate) || math.IsInf(o.rate, 0):
		err = fmt.Errorf("a learning rate of %v: want a finite number", o.rate)
	}
	if err == nil {
		err = wide(loss, params)
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
	r := &run{g: g, set: o.set, once: map[string]*graph.Node{}, of: map[*graph.Node]*graph.Node{}}
	if loss.IsValid() {
		if r.rate = g.Scalar("rate", o.rate, loss.DType()); !r.rate.IsValid() {
			end()
			return nil // another optimiser has the name
		}
		if o.set.decays {
			r.decay = g.Scalar("weight-decay", o.set.decay, loss.DType())
		}
		if o.set.thins {
			r.l1 = g.Scalar("l1", o.set.l1, loss.DType())
		}
		if o.ahead != nil {
			grads = r.peek(loss, params, o.ahead)
		}
		if inLanes {
			grads = r.sum(params, grads)
		}
		if o.set.runs > 1 {
			grads = r.gather(params, grads)
		}
		for _, c := range o.set.clips {
			grads = c.clip(r, grads)
		}
	}
	r.updates(o, params, grads)
	end()
	if o.set.averages {
		r.average(o)
	}
	return r
}

// sum returns the sums of gradients over the lanes of a step.
func (r *run) sum(params, grads []*graph.Node) []*graph.Node {
	r.sums = map[*graph.Node]*graph.Node{}
	out := slices.Clone(grads)
	for i, g := range grads {
		if g.IsValid() { // else the mistake is recorded
			out[i] = lanes.Sum(params[i], g)
			r.sums[params[i]] = out[i]
		}
	}
	return out
}

// wide returns a mistake if the loss or a parameter has a type that small steps and moments of
// gradients get lost in.
func wide(loss *graph.Node, params []*graph.Node) error {
	if loss.IsValid() && loss.DType().IsHalf() {
		return &graph.Mistake{Problem: fmt.Sprintf("a loss of type %v, which has too few digits for it", loss.DType()),
			Fix: "compute it in f32: ops.Cast what it is made of to graph.F32"}
	}
	for _, p := range params {
		if p.IsValid() && p.DType().IsHalf() {
			return &graph.Mistake{Problem: fmt.Sprintf("parameter %s is of type %v, in which small steps get lost", p.Path(), p.DType()),
				Fix: fmt.Sprintf("make it f32, and ops.Cast it to graph.%s where it is used", strings.ToUpper(p.DType().String()))}
		}
	}
	return nil
}

// updates adds the updates of the parameters. The current scope is the optimiser's.
func (r *run) updates(o Optimiser, params, grads []*graph.Node) {
	var by []*graph.Node
	if o.all != nil {
		if slices.ContainsFunc(grads, func(n *graph.Node) bool { return !n.IsValid() }) {
			return // the mistake is recorded
		}
		by = o.all(r, params, grads)
	}
	for i, p := range params {
		if !grads[i].IsValid() {
			continue
		}
		var next *graph.Node
		var states graph.Step
		if by != nil {
			next = r.move(p, by[i])
		} else {
			next, states = o.update(r, p, grads[i])
		}
		r.step = append(r.step, r.assign(p, r.shrunk(p, next)))
		r.step = append(r.step, states...)
		r.rows = nil
	}
}

// Rate returns the learning rate's scalar input in a graph on which Minimize was called at the top
// level, or nil if there is none. That of a call in a scope is g.Lookup("SCOPE/NAME/rate").
func (o Optimiser) Rate(g *graph.Graph) *graph.Node {
	if g == nil {
		return nil
	}
	return g.Lookup(o.name + "/rate")
}

// move returns p − rate·by, and where the decay of weights is decoupled p − rate·(by + λp).
func (r *run) move(p, by *graph.Node) *graph.Node {
	if r.set.decoupled && r.decays(p) {
		by = ops.Add(by, ops.Mul(ops.Cast(r.decay, p.DType()), p))
	}
	return r.along(p, by)
}

// along returns p − rate·by.
func (r *run) along(p, by *graph.Node) *graph.Node {
	return ops.Sub(p, ops.Mul(ops.Cast(r.rate, p.DType()), by))
}

// decays reports whether a parameter decays.
func (r *run) decays(p *graph.Node) bool {
	return r.decay != nil && (len(r.set.decaying) == 0 || slices.Contains(r.set.decaying, p))
}

// decayed returns the gradient of the loss with the penalty ½λ‖p‖², dp + λp; dp without weight
// decay, and where that is decoupled. p is where dp was taken.
func (r *run) decayed(p, dp *graph.Node) *graph.Node {
	if r.set.decoupled || !r.decays(p) {
		return dp
	}
	if at := r.at[p]; at != nil {
		p = at
	}
	return ops.Add(dp, ops.Mul(ops.Cast(r.decay, p.DType()), p))
}

// state returns a state that the optimiser keeps for a parameter, "NAME/KIND/PATH", zeros at first.
// Without axes it has those of the parameter.
func (r *run) state(kind string, p *graph.Node, axes ...graph.Axis) *graph.Node {
	name := kind + "/" + p.Path()
	if len(axes) == 0 {
		axes = p.Shape().Axes()
	}
	if r.once[name] == nil {
		r.once[name] = r.g.State(name, p.DType(), axes...)
		r.of[r.once[name]] = p
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
func (o Optimiser) IsZero() bool { return o.update == nil && o.all == nil }

// Name returns the optimiser's name, such as adam.
func (o Optimiser) Name() string { return o.name }

// Searches reports whether the optimiser finds the length of its steps by a line search, as [LBFGS]
// does. A training by it is not what a program of its step alone computes.
func (o Optimiser) Searches() bool { return o.search != nil }

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
	{"lazyadam", LazyAdam},
	{"rmsprop", RMSProp},
	{"adagrad", Adagrad},
	{"lbfgs", func(_ float64, o ...Option) Optimiser { return LBFGS(o...) }},
}

// Named returns the optimiser called sgd, momentum, smoothed-momentum, nesterov, nesterov-peek
// (these four with β = 0.9), adam, adamw, lazyadam, rmsprop, adagrad or lbfgs, which finds the length of
// its steps and whose rate stays 1, the length that it tries first ([Optimiser.WithRate] sets another). It is an error if no optimiser has
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
