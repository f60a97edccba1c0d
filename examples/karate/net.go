package main

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/graphnet"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/data/edges"
	"gorgonia.org/tensor"
)

const (
	hidden   = 16
	heads    = 2 // of GAT's first layer, which share the hidden features
	factions = 2
	unknown  = -1
)

// network is a model of the club: it predicts the faction of each member.
type network struct {
	name  string
	layer func(g *graph.Graph, x *graph.Node, n graphnet.Neighbours) (scores *graph.Node)
	hears string // what tells how strongly i hears j in the second layer, [i j]
}

// gcn is relu(Â x W₁ + b₁) followed by Â h W₂ + b₂: the degrees decide how strongly a member hears
// another.
var gcn = network{"GCN", func(g *graph.Graph, x *graph.Node, n graphnet.Neighbours) *graph.Node {
	i, h, c := x.Shape().Axis(1), graph.Ax("h", hidden), graph.Ax("c", factions)
	y := ops.ReLU(graphnet.NewGCN(g, "gcn1", graph.F32, i, h).Of(x, n))
	return graphnet.NewGCN(g, "gcn2", graph.F32, h, c).Of(y, n)
}, "Â"}

// gat is elu(Σ_j α_ij h_j) with two heads side by side, and one head on top of it: how strongly a
// member hears another is learnt.
var gat = network{"GAT", func(g *graph.Graph, x *graph.Node, n graphnet.Neighbours) *graph.Node {
	i, h, c := x.Shape().Axis(1), graph.Ax("h", hidden), graph.Ax("c", factions)
	y := ops.ELU(graphnet.NewGAT(g, "gat1", graph.F32, heads, i, h).Of(x, n))
	_, scores := graphnet.NewGATHead(g, "gat2", graph.F32, h, c).Of(y, n)
	return scores
}, "gat2/α"}

// net is the network for so many members.
func (m network) net(members int, _ train.Mode) *train.Net {
	g := graph.New("karate: " + m.name)
	i := graph.Ax("i", members)
	x := g.Input("x", graph.F32, i, graph.Ax("d", members))
	A := g.Input("A", graph.F32, i, graph.Ax("j", members))
	label := g.Input("label", graph.I32, i)
	scores := m.layer(g, x, graphnet.Adjacency{A: A}.WithSelf()).As("scores")
	return &train.Net{Loss: nn.CrossEntropy(scores, label, nn.Ignoring(unknown)).As("loss"), Output: scores}
}

// columns are the data of the club, a member per row: the features x, which only identify him, his
// friends A, the labels of the instructor (member 0) and the officer (member 33) alone, and the
// faction of everyone, to compare with.
func columns(club *edges.Network, faction []int) (*data.Set, error) {
	n := club.Nodes
	A, err := club.Adjacency(tensor.Float32)
	if err != nil {
		return nil, err
	}
	x, label, truth := make([]float32, n*n), make([]int32, n), make([]int32, n)
	for i := range n {
		x[i*n+i], label[i], truth[i] = 1, unknown, int32(faction[i])
	}
	for _, i := range labelled(n) {
		label[i] = truth[i]
	}
	return data.NewSet(map[string]*tensor.Dense{
		"A":       A,
		"x":       tensor.New(tensor.WithShape(n, n), tensor.WithBacking(x)),
		"label":   tensor.New(tensor.WithShape(n), tensor.WithBacking(label)),
		"faction": tensor.New(tensor.WithShape(n), tensor.WithBacking(truth)),
	})
}

// labelled are the members whose faction the network is told.
func labelled(members int) []int { return []int{0, members - 1} }
