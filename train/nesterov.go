package train

import (
	"path"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// Nesterov returns [Momentum] with a look ahead (Nesterov, 1983; the notes on momentum), in
// PyTorch's form, with β in [0, 1): it moves by g + βv, the gradient and the move that the velocity
// is about to make.
//
//	v ← βv + g,  p ← p − rate·(g + βv),  g at p
//
// While the rate is constant it computes the same as [NesterovPeek], but needs the loss at one
// place only: its parameters p are the places at which NesterovPeek takes its gradients, p = θ −
// rate·βv for parameters θ of the latter. Indeed, with βv = v′ − g,
//
//	θ′ − rate·βv′ = θ − rate·v′ − rate·βv′ = p + rate·βv − rate·(1+β)v′ = p − rate·(g + βv′)
//
// At the optimum, where v vanishes, p and θ are equal. The velocity is the state "nesterov/v/PATH".
func Nesterov(rate, β float64, options ...Option) Optimiser {
	return withVelocity("nesterov", rate, β, options, func(g, v *graph.Node) *graph.Node { return ops.Add(g, ops.Scale(v, β)) })
}

// NesterovPeek returns [Momentum] with the gradient taken where momentum alone would move the
// parameters (Nesterov, 1983, as Sutskever et al., 2013, write it; the notes on momentum), with β
// in [0, 1):
//
//	g at p − rate·βv,  v ← βv + g,  p ← p − rate·v
//
// The loss is in the graph twice, at p and where the gradient is taken; a step that does not fetch
// the one at p does not compute it. [Nesterov] has the same trajectory with only one. The velocity
// is the state "nesterov-peek/v/PATH".
func NesterovPeek(rate, β float64, options ...Option) Optimiser {
	o := withVelocity("nesterov-peek", rate, β, options, func(_, v *graph.Node) *graph.Node { return v })
	o.ahead = func(r *run, p *graph.Node) *graph.Node { return r.along(p, ops.Scale(r.state("v", p), β)) }
	return o
}

// peek returns the gradients where ahead takes the parameters, which it keeps in r.at. The loss
// there is a copy of what depends on the parameters, with the lines and scopes of the original
// inside the optimiser's scope; draws of noise, which depend on no parameter, are those of the
// loss.
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
