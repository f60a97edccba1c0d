package graphnet

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// MessagePassing is a layer of a graph network, in which each node depends on itself, on its
// neighbours, and on a state of the whole graph (the notes on graph networks; Gilmer et al., 2017;
// Battaglia et al., 2018):
//
//	m_ij = relu(x_i·W_me + x_j·W_them + l_ij·W_label + b)
//	m_i  = aggregate over the neighbours j of m_ij
//	x′_i = relu(x_i·W_self + m_i·W_heard + u·W_global + b)
//	u′   = relu(u·V_u + (mean_i x′_i)·V_x + b)
//
// All nodes share the weights. Labels l_ij of the pairs are there if [MessagePassing.Labelled] has
// added their weights.
type MessagePassing struct {
	Name        string
	How         Aggregation
	Me, Them    nn.Linear // of the message
	Label       nn.Linear // of the message by the pair's label; no W: there are no labels
	Self, Heard nn.Linear // of the update
	Global      nn.Linear // of the update by the global state; no W: there is none
	State, Mean nn.Linear // of the global state
}

// NewMessagePassing adds the weights of a layer from nodes x[… i in] and a global state u[… state]
// to nodes with features out. If state has size 0, there is no global state.
func NewMessagePassing(g *graph.Graph, name string, dt graph.DType, how Aggregation, in, out, state graph.Axis) MessagePassing {
	defer g.Scope(name)()
	l := MessagePassing{
		Name:  name,
		How:   how,
		Me:    nn.NewLinear(g, "me", dt, in, out),
		Them:  nn.NewProjection(g, "them", dt, in, out),
		Self:  nn.NewLinear(g, "self", dt, in, out),
		Heard: nn.NewProjection(g, "heard", dt, graph.Axis{Size: out.Size}, out),
	}
	if state.Size > 0 {
		l.Global = nn.NewProjection(g, "global", dt, state, out)
		l.State = nn.NewLinear(g, "state", dt, graph.Axis{Size: state.Size}, state)
		l.Mean = nn.NewProjection(g, "pooled", dt, out, state)
	}
	return l
}

// Labelled returns the layer with messages that depend on labels of the pairs, too; it adds the
// weights NAME/label/w[label out].
func (l MessagePassing) Labelled(label graph.Axis) MessagePassing {
	g := graph.Of(l.Me.W)
	if !l.Me.W.IsValid() {
		g.Fail("MessagePassing", build.ErrNoOperand, l.Me.W)
		return l
	}
	defer g.Scope(l.Name)()
	l.Label = nn.NewProjection(g, "label", build.DType(l.Me.W), label, build.Last(l.Me.W))
	return l
}

// Of returns the next values [… i out] of nodes x[… i in], and the next global state [… state] of
// u[… state]. A layer without a global state does not use u, which may be nil, and returns it.
func (l MessagePassing) Of(x, u *graph.Node, n Neighbours) (next, state *graph.Node) {
	return l.OfLabelled(x, u, n, nil)
}

// OfLabelled is like [MessagePassing.Of] for pairs with labels[P label], where P are the axes of the
// pairs: [… i j label] or [e label]. labels is nil for a layer without labels.
func (l MessagePassing) OfLabelled(x, u *graph.Node, n Neighbours, labels *graph.Node) (next, state *graph.Node) {
	defer build.Within(l.Name, x, l.Me.W)()
	if n == nil {
		bad := graph.Of(x, l.Me.W).Fail("MessagePassing", build.ErrNoOperand, x)
		return bad, bad
	}
	pair := ops.Add(n.Me(l.Me.Of(x)), n.Them(l.Them.Of(x)))
	switch {
	case (l.Label.W == nil) != (labels == nil):
		bad := graph.Of(x, labels).Fail("MessagePassing", &graph.Mistake{Problem: "labels of the pairs and their weights belong together", Fix: "give OfLabelled labels, of a layer that is Labelled"}, x, labels)
		return bad, bad
	case labels != nil:
		pair = ops.Add(pair, l.Label.Of(labels))
	}
	m := ops.ReLU(pair).As("m")
	heard := n.Aggregate(l.How, m).As("heard")
	y := ops.Add(l.Self.Of(x), l.Heard.Of(heard))
	if l.Global.W == nil {
		return ops.ReLU(y).As("x′"), u
	}
	if !u.IsValid() || u.Rank() < 1 {
		bad := graph.Of(x, u).Fail("MessagePassing", graphMistake("want a global state u[… s]"), x, u)
		return bad, bad
	}
	u = ops.Expand(u, -2, "")
	next = ops.ReLU(ops.Add(y, l.Global.Of(u))).As("x′")
	state = ops.ReLU(ops.Add(l.State.Of(u), l.Mean.Of(ops.Mean(next, -2, ops.Keep))))
	return next, ops.Squeeze(state, -2).As("u′")
}

// Readout aggregates the nodes x[… i d] of each graph to one vector [… d], whatever their order;
// mask[… i] is true for nodes that exist (nil: all).
func Readout(how Aggregation, x, mask *graph.Node) *graph.Node {
	if !x.IsValid() || x.Rank() < 2 {
		return graph.Of(x, mask).Fail("Readout", graphMistake("want nodes x[… i d]"), x)
	}
	defer x.Graph().Scope("readout")()
	if mask == nil {
		all := ops.Lit(x, 0)
		mask = ops.Equal(ops.BroadcastTo(all, ops.Sum(x, -1).Shape()), all)
	}
	return aggregate(how, x, ops.Expand(mask, -1, ""), -2)
}

// ReadoutBlocks is like [Readout] for a batch by blocks: node i of x[i d] belongs to graph of[i] of
// the axis graphs, a whole number, or to none if that is −1. It returns [graphs d].
func ReadoutBlocks(how Aggregation, x, of *graph.Node, graphs graph.Axis) *graph.Node {
	defer graph.Of(x, of).Scope("readout")()
	return aggregateSegments(how, x, of, graphs)
}
