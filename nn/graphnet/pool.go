package graphnet

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// Pooling makes a coarser graph of clusters of nodes (the notes on graph
// networks). Which nodes belong together is computed beforehand ([Matching]), or learnt with the rest.

// Clusters returns the assignment S[i c] of nodes to given clusters, cluster[i], whole numbers
// below the size of the axis c. Its columns sum to 1, so that a cluster takes the mean of its
// nodes. A cluster without nodes has zeros.
func Clusters(cluster *graph.Node, c graph.Axis, dt graph.DType) *graph.Node {
	defer graph.Of(cluster).Calling("Clusters", cluster)()
	defer graph.Of(cluster).Scope("clusters")()
	member := ops.OneHot(cluster, -1, c, dt)
	if !member.IsValid() {
		return member
	}
	count := ops.Sum(member, -2, ops.Keep)
	return ops.Div(member, ops.Maximum(count, ops.Lit(count, 1))).As("S")
}

// Coarsen returns the graph of the clusters to which S[… i c] assigns the nodes (Ying et al.,
// 2018):
//
//	x′ = Sᵀ·x,  A′ = Sᵀ·A·S
//
// for nodes x[… i d] and adjacency A[… i j]: x′[… c d] and A′[… c c′].
func Coarsen(x, A, S *graph.Node) (nodes, adjacency *graph.Node) {
	g := graph.Of(x, A, S)
	for _, n := range []*graph.Node{x, A, S} {
		if !n.IsValid() || n.Rank() < 2 {
			bad := g.Fail("Coarsen", graphMistake("want nodes x[… i d], an adjacency A[… i j] and an assignment S[… i c]"), x, A, S)
			return bad, bad
		}
	}
	defer g.Scope("coarsen")()
	j, c := build.Last(A).Name, build.Last(S).Name
	them := ops.Rename(S, -2, "")
	if c != "" {
		them = ops.Rename(them, -1, c+"′")
	}
	them = ops.Rename(them, -2, j)
	Sᵀ := build.Swapped(S, -1, -2)
	nodes = ops.MatMul(Sᵀ, x).As("x′")
	adjacency = ops.MatMul(Sᵀ, ops.MatMul(A, them)).As("A′")
	return nodes, adjacency
}

// DiffPool coarsens a graph by learnt clusters (Ying et al., 2018): one GCN decides which cluster
// each node belongs to, another which features it has there.
//
//	S = softmax over the clusters of GCN_pool(x),  z = relu(GCN_embed(x)),  x′ = Sᵀ·z,  A′ = Sᵀ·A·S
type DiffPool struct {
	Name        string
	Pool, Embed GCN
}

// NewDiffPool adds the weights of pooling from nodes with features in to clusters c with features
// out.
func NewDiffPool(g *graph.Graph, name string, dt graph.DType, in, c, out graph.Axis) DiffPool {
	defer g.Scope(name)()
	return DiffPool{name, NewGCN(g, "pool", dt, in, c), NewGCN(g, "embed", dt, in, out)}
}

// Of returns the nodes x′[… c out] and the adjacency A′[… c c′] of the coarser graph, and the
// assignment S[… i c], for nodes x[… i in] and adjacency A[… i j].
func (l DiffPool) Of(x, A *graph.Node) (nodes, adjacency, S *graph.Node) {
	defer build.Within(l.Name, x, A)()
	n := Adjacency{A}.WithSelf()
	S = ops.Softmax(l.Pool.Of(x, n), -1).As("S")
	z := ops.ReLU(l.Embed.Of(x, n)).As("z")
	nodes, adjacency = Coarsen(z, A, S)
	return nodes, adjacency, S
}
