package train

import (
	"context"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/cone"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

// searching is an engine that runs a step with the rate that a line search finds. It has three
// programs over one store: where the step leads, loss and slope at places along it, and the step.
type searching struct {
	store *tape.Store
	rate  *graph.Node
	loss  *graph.Node
	step  *tape.VM
	start *tape.VM // the loss, its slope, and the direction of each parameter
	trial *tape.VM // the loss and its slope at given parameters, along given directions

	ahead, there           map[*graph.Node]*graph.Node // from the step's leaves to those of start and trial
	slope0, φ0, φ, slope   *graph.Node
	params                 []*graph.Node // of the step
	away, places, bearings []*graph.Node // by parameter: the direction in start; place and direction in trial
	at                     []*tensor.Dense
}

// newSearch makes an engine for a step that moves every parameter by the rate times a direction
// that does not depend on it.
func newSearch(workers int) NewEngine {
	return func(ctx context.Context, g *graph.Graph, loss *graph.Node, step graph.Step, store *tape.Store) (Engine, error) {
		return searchOf(ctx, workers, g, loss, step, store)
	}
}

func searchOf(ctx context.Context, workers int, g *graph.Graph, loss *graph.Node, step graph.Step, store *tape.Store) (Engine, error) {
	e := &searching{store: store, loss: loss, rate: LBFGS().Rate(g)}
	roots, next := []*graph.Node{loss}, []*graph.Node(nil)
	for _, u := range step {
		if e.rate != nil && u.Target.Role() == graph.RoleParam {
			e.params, next = append(e.params, u.Target), append(next, u.Value)
		}
	}
	compile := func(g *graph.Graph, options ...tape.Option) (*tape.VM, error) {
		if err := g.Err(); err != nil {
			return nil, err
		}
		p, err := tape.CompileContext(ctx, g, options...)
		if err != nil {
			return nil, err
		}
		return p.NewVM(store, tape.Workers(workers))
	}
	var err error
	defer func() {
		if err != nil {
			e.Close()
		}
	}()
	if e.step, err = compile(g, tape.Fetch(loss), tape.Do(step), tape.CheckFinite(loss)); err != nil || len(next) == 0 {
		return e, err
	}
	sg, start := cone.Copy("start", nil, append(roots, next...)...)
	e.ahead, e.φ0 = start, start[loss]
	ends, from := make([]*graph.Node, len(next)), make([]*graph.Node, len(next))
	for i, n := range next {
		ends[i], from[i] = start[n], start[e.params[i]]
	}
	for _, end := range ends {
		e.away = append(e.away, grad.JVP([]*graph.Node{end}, []*graph.Node{start[e.rate]}, []*graph.Node{ops.Lit(start[e.rate], 1)})...)
	}
	e.slope0 = along(e.φ0, from, e.away)
	if e.start, err = compile(sg, tape.Fetch(append([]*graph.Node{e.φ0, e.slope0}, e.away...)...)); err != nil {
		return e, err
	}
	tg, there := cone.Copy("trial", e.params, loss)
	e.there, e.φ = there, there[loss]
	for _, p := range e.params {
		e.places = append(e.places, there[p])
		e.bearings = append(e.bearings, tg.Input("lbfgs/direction/"+p.Path(), p.DType(), p.Shape().Axes()...))
		e.at = append(e.at, tape.Tensor(graph.NewValue(p.Type())))
	}
	e.slope = along(e.φ, e.places, e.bearings)
	e.trial, err = compile(tg, tape.Fetch(e.φ, e.slope))
	return e, err
}

// along returns the derivative of the loss in a direction.
func along(loss *graph.Node, params, direction []*graph.Node) *graph.Node {
	grads := grad.Of(loss, params...)
	var sum *graph.Node
	for i, g := range grads {
		s := ops.Cast(ops.Sum(ops.Mul(g, direction[i])), loss.DType())
		if i > 0 {
			s = ops.Add(sum, s)
		}
		sum = s
	}
	return sum
}

// Run finds the length of the step and takes it.
func (e *searching) Run(ctx context.Context, feed tape.Feed) error {
	if e.start == nil { // the model trains by its own step alone
		return e.step.Run(ctx, feed)
	}
	length, err := e.length(ctx, feed)
	if err != nil {
		return err
	}
	with := tape.Feed{}
	for n, v := range feed {
		with[n] = v
	}
	with[e.rate] = tape.Scalar(e.rate.DType(), length)
	return e.step.Run(ctx, with)
}

// length returns the rate that satisfies the conditions of Wolfe. The runs that it takes do not
// count: all draw the numbers that the step draws.
func (e *searching) length(ctx context.Context, feed tape.Feed) (float64, error) {
	seed, step, runs := e.store.Seed(), e.store.Step(), e.store.Runs()
	values := func(vm *tape.VM, feed tape.Feed, f, s *graph.Node) (p place, err error) {
		err = vm.Run(ctx, feed)
		e.store.Resume(seed, step, runs)
		if err == nil {
			p.f, err = vm.Float(f)
		}
		if err == nil {
			p.slope, err = vm.Float(s)
		}
		return p, err
	}
	from, err := values(e.start, translated(feed, e.ahead), e.φ0, e.slope0)
	if err != nil || !from.finite() {
		return 0, err // the step will say what is not finite
	}
	to := translated(feed, e.there)
	params, ways := make([]*tensor.Dense, len(e.params)), make([]*tensor.Dense, len(e.params))
	for i, p := range e.params {
		if ways[i], err = e.start.Value(e.away[i]); err != nil {
			return 0, err
		}
		if params[i], err = e.store.View(p.Path()); err != nil {
			return 0, err
		}
		to[e.bearings[i]], to[e.places[i]] = ways[i], e.at[i]
	}
	noise := 1e-15
	if e.loss.DType() != graph.F64 {
		noise = 5e-7
	}
	return wolfe(from, e.first(feed), noise, func(α float64) (place, error) {
		for i := range params {
			move(e.at[i], params[i], α, ways[i])
		}
		p, err := values(e.trial, to, e.φ, e.slope)
		p.α = α
		return p, err
	})
}

// first returns the length to try first: what the rate is fed, or its default.
func (e *searching) first(feed tape.Feed) float64 {
	if t := feed[e.rate]; t != nil {
		if a, err := tape.ArrayOf(e.rate.Type(), t); err == nil {
			return a.At(0)
		}
	}
	v, _ := e.rate.Default()
	return v
}

// Float returns the loss of the last step, before its update.
func (e *searching) Float(n *graph.Node) (float64, error) { return e.step.Float(n) }

// Close closes the programs.
func (e *searching) Close() {
	for _, vm := range []*tape.VM{e.step, e.start, e.trial} {
		if vm != nil {
			vm.Close()
		}
	}
}

// translated returns what the copies of the nodes are fed.
func translated(feed tape.Feed, copies map[*graph.Node]*graph.Node) tape.Feed {
	out := tape.Feed{}
	for n, v := range feed {
		if c := copies[n]; c != nil {
			out[c] = v
		}
	}
	return out
}

// move sets to = from + α·way.
func move(to, from *tensor.Dense, α float64, way *tensor.Dense) {
	if to.Dtype() == tensor.Float32 {
		out, p, d := to.Float32s(), from.Float32s(), way.Float32s()
		for i := range out {
			out[i] = p[i] + float32(α)*d[i]
		}
		return
	}
	out, p, d := to.Float64s(), from.Float64s(), way.Float64s()
	for i := range out {
		out[i] = p[i] + α*d[i]
	}
}

// place is a point of a line: how far it is, the loss and its derivative along the line.
type place struct{ α, f, slope float64 }

func (p place) finite() bool {
	return !math.IsNaN(p.f+p.slope) && !math.IsInf(p.f, 0) && !math.IsInf(p.slope, 0)
}

// The constants of the conditions of Wolfe, and the most places that a search looks at.
const (
	decrease   = 1e-4
	flatness   = 0.9
	mostPlaces = 25
)

// wolfe returns a length at which the loss φ is lower by at least 10⁻⁴ of what its slope at 0
// promises and its slope at most 0.9 of that at 0 (Nocedal & Wright, 2006, Algorithms 3.5 and
// 3.6). Where differences of losses are below noise·|φ(0)|, their rounding errors, the slopes
// decide alone (the approximate conditions of Hager & Zhang, 2005). It returns the best length
// found where the places run out, 0 if none lowers the loss.
func wolfe(from place, first, noise float64, φ func(α float64) (place, error)) (float64, error) {
	if !(from.slope < 0) || !(first > 0) {
		return 0, nil
	}
	noise *= math.Abs(from.f)
	low := func(p place) bool {
		return p.finite() && (p.f <= from.f+decrease*p.α*from.slope || p.f <= from.f+noise && p.slope <= (2*decrease-1)*from.slope)
	}
	flat := func(p place) bool { return math.Abs(p.slope) <= -flatness*from.slope }
	lo, hi, bracketed := from, place{}, false
	for α, n := first, 0; n < mostPlaces; n++ {
		p, err := φ(α)
		if err != nil {
			return 0, err
		}
		switch {
		case !low(p) || lo.α > 0 && p.f > lo.f+noise || bracketed && p.f > lo.f+noise:
			hi, bracketed = p, true
		case flat(p):
			return p.α, nil
		case !bracketed && p.slope >= 0:
			lo, hi, bracketed = p, lo, true
		case !bracketed:
			lo, α = p, 2*α
			continue
		default:
			if p.slope*(hi.α-lo.α) >= 0 {
				hi = lo
			}
			lo = p
		}
		if α = between(lo, hi); α == lo.α || α == hi.α {
			break
		}
	}
	return lo.α, nil
}

// between returns where a cubic through two places with their slopes is lowest, at least a tenth of
// the interval from its ends; the middle where there is no such place.
func between(a, b place) float64 {
	middle := a.α + (b.α-a.α)/2
	if !b.finite() {
		return middle
	}
	d1 := a.slope + b.slope - 3*(a.f-b.f)/(a.α-b.α)
	root := d1*d1 - a.slope*b.slope
	if !(root >= 0) {
		return middle
	}
	d2 := math.Copysign(math.Sqrt(root), b.α-a.α)
	α := b.α - (b.α-a.α)*(b.slope+d2-d1)/(b.slope-a.slope+2*d2)
	edge := 0.1 * math.Abs(b.α-a.α)
	if lo, hi := min(a.α, b.α), max(a.α, b.α); !(α >= lo+edge && α <= hi-edge) {
		return middle
	}
	return α
}
