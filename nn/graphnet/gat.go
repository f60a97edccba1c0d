package graphnet

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// GATHead is one head of graph attention, in which similar neighbours count most (Veličković et
// al., 2018; the notes on graph networks):
//
//	h = x W,  e_ij = leakyrelu(a_me·h_i + a_them·h_j)
//	α = softmax of e_ij over the neighbours j,  y_i = Σ_j α_ij h_j
//
// The slope of the leaky ReLU is 0.2. The caller applies the activation.
type GATHead struct {
	Name     string
	W        *graph.Node // w[in e]
	Me, Them *graph.Node // a_me[e], a_them[e]
}

// NewGATHead adds the parameters NAME/w[in e], NAME/a_me[e] and NAME/a_them[e].
func NewGATHead(g *graph.Graph, name string, dt graph.DType, in, e graph.Axis) GATHead {
	defer g.Scope(name)()
	start := initial.Normal(0, 0.3)
	return GATHead{name, g.Param("w", dt, in, e), g.Param("a_me", dt, e).Init(start), g.Param("a_them", dt, e).Init(start)}
}

// Of returns the attention α over the pairs and the sums y[… i e] for nodes x[… i in]. A node
// without neighbours gets zeros.
func (l GATHead) Of(x *graph.Node, n Neighbours) (α, y *graph.Node) {
	defer build.Within(l.Name, x, l.W)()
	if n == nil {
		bad := graph.Of(x, l.W).Fail("GAT", build.ErrNoOperand, x)
		return bad, bad
	}
	h := ops.MatMul(x, l.W).As("h")
	score := func(a *graph.Node) *graph.Node { return ops.Sum(ops.Mul(h, a), -1, ops.Keep) }
	e := ops.LeakyReLU(ops.Squeeze(ops.Add(n.Me(score(l.Me)), n.Them(score(l.Them))), -1), 0.2).As("e")
	α = n.Softmax(e).As("α")
	return α, n.Sum(α, h).As("y")
}

// GAT is graph attention with several heads side by side (Veličković et al., 2018).
type GAT struct {
	Name  string
	Heads []GATHead
}

// NewGAT adds the parameters of the heads, which share the features out: the number of heads must
// divide that of features.
func NewGAT(g *graph.Graph, name string, dt graph.DType, heads int, in, out graph.Axis) GAT {
	defer g.Scope(name)()
	l := GAT{Name: name}
	if heads < 1 || out.Size%heads != 0 {
		g.Fail("GAT", fmt.Errorf("%d features cannot be shared by %d heads", out.Size, heads))
		return l
	}
	for k := range heads {
		l.Heads = append(l.Heads, NewGATHead(g, fmt.Sprintf("head%d", k+1), dt, in, graph.Axis{Name: out.Name, Size: out.Size / heads}))
	}
	return l
}

// Of returns the sums of all heads side by side, [… i out], for nodes x[… i in].
func (l GAT) Of(x *graph.Node, n Neighbours) *graph.Node {
	defer build.Within(l.Name, x)()
	if len(l.Heads) == 0 {
		return graph.Of(x).Fail("GAT", fmt.Errorf("no heads"), x)
	}
	var ys []*graph.Node
	for _, head := range l.Heads {
		_, y := head.Of(x, n)
		ys = append(ys, y)
	}
	if len(ys) == 1 {
		return ys[0]
	}
	return ops.Concat(-1, ys...)
}
