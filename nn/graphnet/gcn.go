package graphnet

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// GCN is a graph-convolutional layer, which sums over neighbours weighted by the degrees of both
// nodes (Kipf & Welling, 2017; the notes on graph networks):
//
//	y = D^{−½} A D^{−½} x W + b
//
// The caller applies the activation.
type GCN struct{ nn.Linear }

// NewGCN adds the parameters NAME/w[in out] and NAME/b[out].
func NewGCN(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis) GCN {
	return GCN{nn.NewLinear(g, name, dt, in, out)}
}

// Of returns y[… i out] for nodes x[… i in]. A node hears itself only if it is its own neighbour;
// see [Neighbours.WithSelf].
func (l GCN) Of(x *graph.Node, n Neighbours) *graph.Node {
	defer build.Within(l.Name, x, l.W)()
	if n == nil {
		return graph.Of(x, l.W).Fail("GCN", build.ErrNoOperand, x)
	}
	y := n.Sum(Normalised(n), ops.MatMul(x, l.W))
	if l.B != nil {
		y = ops.Add(y, l.B)
	}
	return y.As("y")
}

// Normalised returns Â_ij = s_i A_ij s_j over the pairs, with s = d^{−½} for the degrees d: powers
// of this adjacency neither grow nor vanish (Kipf & Welling, 2017). A node without neighbours has
// zeros.
func Normalised(n Neighbours) *graph.Node {
	if n == nil {
		return graph.Of().Fail("Normalised", build.ErrNoOperand)
	}
	d := n.Degree()
	if !d.IsValid() {
		return d
	}
	defer d.Graph().Scope("normalise")()
	d = d.As("d")
	alone := ops.LessEqual(d, ops.Lit(d, 0))
	root := ops.Select(alone, ops.Lit(d, 0), ops.Div(ops.Lit(d, 1), ops.Sqrt(ops.Select(alone, ops.Lit(d, 1), d)))).As("s")
	root = ops.Expand(root, -1, "")
	return ops.Mul(ops.Mul(ops.Squeeze(n.Me(root), -1), n.Strength()), ops.Squeeze(n.Them(root), -1)).As("Â")
}
