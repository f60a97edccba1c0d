package train

import (
	"path"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// Nesterov is [Momentum] with a look ahead, in PyTorch's form: it moves by g + βv, where the
// velocity is about to take the parameter (Nesterov, 1983; the notes on momentum):
//
//	v ← βv + g,  p ← p − rate·(g + βv),  g at p
//
// Its parameters are those at which [NesterovPeek] takes its gradients, one move of momentum ahead
// of the other's parameters, as long as the rate stays. With θ for the other's, p = θ − rate·βv:
//
//	θ′ − rate·βv′ = θ − rate·v′ − rate·βv′ = p + rate·βv − rate·(1+β)v′ = p − rate·(g + βv′)
//
// by βv = v′ − g. So both train alike, and this one needs the loss at one place only. When v
// vanishes, at the optimum, p and θ are the same. The velocity is the state "nesterov/v/PATH".
func Nesterov(rate, β float64, options ...Option) Optimiser {
	return withVelocity("nesterov", rate, β, options, func(g, v *graph.Node) *graph.Node { return ops.Add(g, ops.Scale(v, β)) })
}

// NesterovPeek is [Momentum] that peeks into the future: it takes the gradient where momentum alone
// would move the parameters (Nesterov, 1983, as Sutskever et al., 2013, write it; the notes on
// momentum):
//
//	g at p − rate·βv,  v ← βv + g,  p ← p − rate·v
//
// The loss is in the graph twice, at p and where the gradient is taken; a step that does not fetch
// the one at p does not compute it. [Nesterov] has the same trajectory at the cost of one. The
// velocity is the state "nesterov-peek/v/PATH".
func NesterovPeek(rate, β float64, options ...Option) Optimiser {
	o := withVelocity("nesterov-peek", rate, β, options, func(_, v *graph.Node) *graph.Node { return v })
	o.ahead = func(r *run, p *graph.Node) *graph.Node { return r.move(p, ops.Scale(r.state("v", p), β)) }
	return o
}

// peek returns the gradients where ahead takes the parameters, which it keeps in r.at. The loss
// there is a copy of what depends on the parameters, with the lines and scopes of the original
// inside the optimiser's scope; draws of noise, which depend on no parameter, are those of the loss.
func (r *run) peek(loss *graph.Node, params []*graph.Node, ahead func(r *run, p *graph.Node) *graph.Node) []*graph.Node {
	reached := graph.Reachable(loss)
	places := make([]*graph.Node, len(params))
	moved := map[*graph.Node]*graph.Node{}
	for i, p := range params {
		if !slices.Contains(reached, p) || !p.DType().IsFloat() {
			return grad.Of(loss, params...) // records why not
		}
		places[i] = ahead(r, p).As("ahead")
		moved[p] = places[i]
	}
	r.at = moved
	there := map[*graph.Node]*graph.Node{}
	for _, n := range reached {
		if m := moved[n]; m != nil {
			there[n] = m
			continue
		}
		in, same := n.Inputs(), true
		for i, x := range in {
			in[i] = there[x]
			same = same && in[i] == x
		}
		if same {
			there[n] = n
			continue
		}
		at := n.First()
		at.Scope, at.Origin = path.Join(r.rate.First().Scope, at.Scope), graph.Origin{}
		r.g.During(at, at.Origin, func() { there[n] = r.g.Copy(n, in) })
		r.g.Occur(there[n], at)
	}
	return grad.Of(there[loss], places...)
}
