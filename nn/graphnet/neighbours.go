package graphnet

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// Neighbours describes which nodes of a graph hear which others: by an adjacency matrix
// ([Adjacency]) or by a list of edges ([Edges]). Layers are written once over the pairs (me, them)
// and run on both. The axes of the pairs, P, are [… i j] or [e].
type Neighbours interface {
	// Me returns, for each pair, x[… i d] at the node that hears: [P d].
	Me(x *graph.Node) *graph.Node
	// Them returns, for each pair, x[… i d] at the node that is heard: [P d].
	Them(x *graph.Node) *graph.Node
	// Strength returns the strength of each pair: [P].
	Strength() *graph.Node
	// Degree returns the sum of the strengths with which each node hears others: [… i].
	Degree() *graph.Node
	// Softmax returns the softmax of scores[P] over the nodes that each node hears: [P].
	Softmax(scores *graph.Node) *graph.Node
	// Sum returns Σ_j w_ij x_j for weights w[P] and x[… i d]: [… i d].
	Sum(w, x *graph.Node) *graph.Node
	// Aggregate returns the aggregate of the messages[P d] to each node: [… i d].
	Aggregate(how Aggregation, messages *graph.Node) *graph.Node
	// WithSelf returns the graph in which each node hears itself as well.
	WithSelf() Neighbours
}

// Adjacency is a dense graph A[… i j] of floats: node i hears node j if A_ij ≠ 0, with that
// strength. Leading axes are a batch of graphs; a padding node is a row and a column of zeros.
type Adjacency struct{ A *graph.Node }

// FullyConnected returns the graph without a topology, in which every node hears every other, along
// the axis senders: A_ij = 1 for i ≠ j. mask[… i] is true for nodes that exist; the others hear none
// and none hears them. Which nodes were linked may stand in the labels of the pairs; see
// [MessagePassing.OfLabelled] (the notes on graphs of different topology).
func FullyConnected(mask *graph.Node, senders graph.Axis, dt graph.DType) Adjacency {
	if !mask.IsValid() || mask.Rank() < 1 {
		return Adjacency{graph.Of(mask).Fail("FullyConnected", graphMistake("want the nodes that exist, mask[… i]"), mask)}
	}
	defer mask.Graph().Scope("fully connected")()
	is := ops.Cast(mask, dt)
	pairs := ops.Mul(ops.Expand(is, -1, ""), ops.Expand(ops.Rename(is, -1, senders.Name), -2, ""))
	self := build.Identity(mask.Graph(), graph.Bool, build.Last(mask), graph.Axis{Name: senders.Name, Size: build.Last(mask).Size})
	return Adjacency{ops.Select(self, ops.Lit(pairs, 0), pairs).As("A")}
}

// receivers and senders are the axes of A.
func (a Adjacency) receivers() graph.Axis { return a.A.Shape().Axis(a.A.Rank() - 2) }

func (a Adjacency) senders() graph.Axis { return a.A.Shape().Axis(a.A.Rank() - 1) }

// pairs lays x[… i d] out over [… i j d], repeated along the axis that has size 1.
func (a Adjacency) pairs(x *graph.Node, own, other graph.Axis, place int) *graph.Node {
	if !a.A.IsValid() || !x.IsValid() || x.Rank() < 2 {
		return graph.Of(x, a.A).Fail("Adjacency", graphMistake("want an adjacency matrix A[… i j] and values x[… i d]"), x, a.A)
	}
	return ops.Expand(ops.Rename(x, -2, own.Name), place, other.Name)
}

// Me returns x_i for every j, [… i j d].
func (a Adjacency) Me(x *graph.Node) *graph.Node {
	if !a.A.IsValid() {
		return a.pairs(x, graph.Axis{}, graph.Axis{}, 0)
	}
	return a.pairs(x, a.receivers(), a.senders(), -2)
}

// Them returns x_j for every i, [… i j d].
func (a Adjacency) Them(x *graph.Node) *graph.Node {
	if !a.A.IsValid() {
		return a.pairs(x, graph.Axis{}, graph.Axis{}, 0)
	}
	return a.pairs(x, a.senders(), a.receivers(), -3)
}

// Strength returns A.
func (a Adjacency) Strength() *graph.Node { return a.A }

// Degree returns Σ_j A_ij, [… i].
func (a Adjacency) Degree() *graph.Node { return ops.Sum(a.A, -1) }

// mask returns the mask of where i hears j: [… i j].
func (a Adjacency) mask() *graph.Node { return ops.NotEqual(a.A, ops.Lit(a.A, 0)) }

// Softmax returns the softmax of scores[… i j] along j, over the nodes that i hears; a node that
// hears none has zeros.
func (a Adjacency) Softmax(scores *graph.Node) *graph.Node {
	return nn.MaskedSoftmax(scores, a.mask())
}

// Sum returns the matrix product w·x, [… i d].
func (a Adjacency) Sum(w, x *graph.Node) *graph.Node {
	if !a.A.IsValid() || !x.IsValid() || x.Rank() < 2 {
		return graph.Of(w, x).Fail("Adjacency", graphMistake("want an adjacency matrix A[… i j] and values x[… i d]"), w, x, a.A)
	}
	return ops.MatMul(w, ops.Rename(x, -2, a.senders().Name))
}

// Aggregate returns the aggregate [… i d] over j of messages[… i j d].
func (a Adjacency) Aggregate(how Aggregation, messages *graph.Node) *graph.Node {
	return aggregate(how, messages, ops.Expand(a.mask(), -1, ""), -2)
}

// WithSelf returns the graph with ones on the diagonal of A.
func (a Adjacency) WithSelf() Neighbours {
	if !a.A.IsValid() || a.A.Rank() < 2 || a.senders().Size != a.receivers().Size {
		return Adjacency{graph.Of(a.A).Fail("Adjacency", graphMistake("want a square adjacency matrix A[… i j]"), a.A)}
	}
	self := build.Identity(a.A.Graph(), graph.Bool, a.receivers(), a.senders())
	return Adjacency{ops.Select(self, ops.Lit(a.A, 1), a.A).As("Ã")}
}

// Edges is a list of edges: node Target[e] hears node Source[e], whole numbers below the size of
// the axis Nodes. An edge with target −1 is absent, so that lists of different lengths fit one
// program; its source is −1 or any node. Other numbers are a [trait.IndexError] when the program
// runs. Parts that are not connected are graphs of their own: a batch by blocks. DT is the type of
// the edges' strength, which is 1.
type Edges struct {
	Source, Target *graph.Node
	Nodes          graph.Axis
	DT             graph.DType
}

// at returns x at the indices, and at 0 where the index is −1: the value of an absent edge goes
// nowhere, but must be finite.
func (e Edges) at(x, index *graph.Node) *graph.Node {
	if !index.IsValid() {
		return graph.Of(x, index).Fail("Edges", build.ErrNoOperand, x, index)
	}
	return build.Rows("Edges", x, somewhere(index))
}

// Me returns x at each edge's target, [e d].
func (e Edges) Me(x *graph.Node) *graph.Node { return e.at(x, e.Target) }

// Them returns x at each edge's source, [e d].
func (e Edges) Them(x *graph.Node) *graph.Node { return e.at(x, e.Source) }

// Strength returns 1 for every edge, [e].
func (e Edges) Strength() *graph.Node {
	if !e.Target.IsValid() {
		return graph.Of(e.Target).Fail("Edges", build.ErrNoOperand, e.Target)
	}
	return e.Target.Graph().ConstantFunc(e.DT, func(ones []float64) {
		for p := range ones {
			ones[p] = 1
		}
	}, e.Target.Shape().Axes()...)
}

// Degree returns the number of edges that end in each node, [i].
func (e Edges) Degree() *graph.Node { return addSegments(e.Strength(), e.Target, e.Nodes) }

// Softmax returns the softmax of scores[e] over the edges that end in the same node; absent edges
// have 0. It makes one array of nodes × edges, to find the greatest score of each node.
func (e Edges) Softmax(scores *graph.Node) *graph.Node {
	return softmaxSegments(scores, e.Target, e.Nodes)
}

// Sum returns, for each node, the sum of w_e·x over the sources of the edges that end in it, [i d].
func (e Edges) Sum(w, x *graph.Node) *graph.Node {
	return aggregateSegments(AggregateSum, ops.Mul(ops.Expand(w, -1, ""), e.Them(x)), e.Target, e.Nodes)
}

// Aggregate returns the aggregate [i d] of messages[e d] over the edges that end in the same node.
func (e Edges) Aggregate(how Aggregation, messages *graph.Node) *graph.Node {
	return aggregateSegments(how, messages, e.Target, e.Nodes)
}

// WithSelf returns the graph with an edge from every node to itself; an edge that exists already
// counts twice.
func (e Edges) WithSelf() Neighbours {
	if !e.Source.IsValid() || !e.Target.IsValid() {
		bad := graph.Of(e.Source, e.Target).Fail("Edges", build.ErrNoOperand, e.Source, e.Target)
		return Edges{bad, bad, e.Nodes, e.DT}
	}
	loops := func(index *graph.Node) *graph.Node {
		return ops.Concat(0, index, build.Places(index.Graph(), index.DType(), graph.Axis{Name: build.Last(index).Name, Size: e.Nodes.Size}))
	}
	return Edges{loops(e.Source), loops(e.Target), e.Nodes, e.DT}
}

// graphMistake returns the mistake in the operands of a layer.
func graphMistake(problem string) error { return &graph.Mistake{Problem: problem} }
