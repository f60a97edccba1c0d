package look

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/tape"
	"gonum.org/v1/gonum/mat"
)

// Spectrum is the graph that a model reads, with the eigenbasis of its Laplacian L = I − D^(−½)AD^(−½).
type Spectrum struct {
	Nodes int
	A     [][]float64 // the adjacency matrix
	// Values are the eigenvalues of L, ascending, and Vectors its eigenvectors.
	Values  []float64
	Vectors [][]float64
	Filters []Filter
}

// Filter is a linear map of the model from the features of the nodes to other ones: for each pair of
// features a matrix F of n×n.
type Filter struct {
	Name string
	// Commutes has ‖FM − MF‖ relative to 2‖F‖‖M‖, the largest of all pairs, for the adjacency
	// matrix A, for D^(−½)AD^(−½), and for that of A + I. It is 0 for a filter with the eigenvectors
	// of M, and 1 at most.
	A, Normalised, WithSelf float64
	// Response is the largest |vᵀFv| of all pairs for each eigenvector v of L.
	Response []float64
}

// Spectrum returns the graph of the first example with its eigenbasis, and how nearly the linear maps
// of the model commute with it; nil for a model that reads no graph. A graph is a symmetric matrix of
// links, an input or a constant, or two lists of nodes that edges join. A linear map is a node whose
// derivative by the features of the nodes depends on no feature, and that mixes nodes.
func (r *Run) Spectrum(ctx context.Context) (*Spectrum, error) {
	if ok, err := r.measurable(); !ok {
		return nil, err
	}
	a, n, from, err := r.adjacency(ctx)
	if err != nil || a == nil {
		return nil, err
	}
	s := &Spectrum{Nodes: n}
	for i := range n {
		s.A = append(s.A, a[i*n:(i+1)*n])
	}
	normalised := normalise(a, n)
	l := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			v := -normalised.At(i, j)
			if i == j {
				v++
			}
			l.SetSym(i, j, v)
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(l, true) {
		return nil, fmt.Errorf("%s: the eigenvalues of the graph do not converge", r.name())
	}
	s.Values = eigen.Values(nil)
	for k, v := range s.Values {
		if math.Abs(v) < 1e-12 {
			s.Values[k] = 0
		}
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	for k := range n {
		v := mat.Col(nil, k, &vectors)
		turn(v)
		s.Vectors = append(s.Vectors, v)
	}
	return s, r.filters(ctx, s, a, from, normalised)
}

// turn gives an eigenvector, whose sign is free, a positive largest element; of those that differ by
// rounding alone the first.
func turn(v []float64) {
	largest := 0
	for i, x := range v {
		if math.Abs(x) > math.Abs(v[largest])*(1+1e-9) {
			largest = i
		}
	}
	if v[largest] < 0 {
		for i := range v {
			v[i] = -v[i]
		}
	}
}

// normalise returns D^(−½)AD^(−½).
func normalise(a []float64, n int) *mat.Dense {
	scale := make([]float64, n)
	for i := range n {
		for _, v := range a[i*n : (i+1)*n] {
			scale[i] += v
		}
		if scale[i] > 0 {
			scale[i] = 1 / math.Sqrt(scale[i])
		}
	}
	out := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			out.Set(i, j, scale[i]*a[i*n+j]*scale[j])
		}
	}
	return out
}

// adjacency returns the matrix of the links of the first example, and the node that has it; nil for a
// list of edges.
func (r *Run) adjacency(ctx context.Context) (a []float64, n int, from *graph.Node, err error) {
	var gathered, scattered []*graph.Node
	for _, node := range r.nodes() {
		switch {
		case match.Is(node, match.Gather):
			gathered = append(gathered, node.In(1))
		case match.Is(node, match.ScatterAdd):
			if i := slices.IndexFunc(node.Inputs(), func(x *graph.Node) bool { return x.DType().IsInt() }); i >= 0 && len(scattered) == 0 {
				scattered, n = append(scattered, node.In(i)), node.Dim(0)
			}
		}
		if !node.DType().IsFloat() || node.Rank() < 2 || node.Role() == graph.RoleOp || node.Role() == graph.RoleParam {
			continue
		}
		d := node.Dim(node.Rank() - 1)
		if node.Dim(node.Rank()-2) != d || d < 3 || node.Rank() > 3 {
			continue
		}
		v, err := r.take(ctx, r.End(), r.Feeds[0], node)
		if err != nil {
			return nil, 0, nil, err
		}
		if first := v[0][:d*d]; links(first, d) {
			return first, d, node, nil
		}
	}
	if len(scattered) == 0 {
		return nil, 0, nil, nil
	}
	target := scattered[0]
	i := slices.IndexFunc(gathered, func(x *graph.Node) bool { return x != target && x.Rank() == 1 && x.Shape().SameSizes(target.Shape()) })
	if i < 0 {
		return nil, 0, nil, nil
	}
	v, err := r.take(ctx, r.End(), r.Feeds[0], gathered[i], target)
	if err != nil {
		return nil, 0, nil, err
	}
	a = make([]float64, n*n)
	for e := range v[0] {
		if i, j := int(v[1][e]), int(v[0][e]); i >= 0 && j >= 0 && i < n && j < n && i != j {
			a[i*n+j]++
		}
	}
	if !links(a, n) {
		return nil, 0, nil, nil
	}
	return a, n, nil, nil
}

// links reports whether a matrix is that of an undirected graph: symmetric, without negative
// elements, with some links, and not diagonal.
func links(a []float64, n int) bool {
	some := false
	for i := range n {
		for j := range n {
			if v := a[i*n+j]; v < 0 || v != a[j*n+i] {
				return false
			} else if i != j && v != 0 {
				some = true
			}
		}
	}
	return some
}

// filters finds the linear maps of the model and measures them.
func (r *Run) filters(ctx context.Context, s *Spectrum, a []float64, from *graph.Node, normalised *mat.Dense) error {
	var x *graph.Node
	for _, n := range r.Model.Inputs() {
		if n != from && n.DType().IsFloat() && features(n, s.Nodes) {
			x = n
			break
		}
	}
	if x == nil {
		return nil
	}
	self := slices.Clone(a)
	for i := range s.Nodes {
		self[i*s.Nodes+i]++
	}
	plain, withSelf := mat.NewDense(s.Nodes, s.Nodes, a), normalise(self, s.Nodes)
	for _, y := range r.linear(x, s.Nodes) {
		matrices, err := r.jacobian(ctx, y, x)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(matrices, mixes) {
			continue
		}
		f := Filter{Name: place(y), Response: make([]float64, s.Nodes)}
		for _, m := range matrices {
			f.A = max(f.A, apart(m, plain))
			f.Normalised = max(f.Normalised, apart(m, normalised))
			f.WithSelf = max(f.WithSelf, apart(m, withSelf))
			for k, v := range s.Vectors {
				u := mat.NewVecDense(s.Nodes, v)
				f.Response[k] = max(f.Response[k], math.Abs(mat.Inner(u, m, u)))
			}
		}
		s.Filters = append(s.Filters, f)
	}
	return nil
}

// features reports whether a node has features of n nodes, of one graph or of a batch of graphs.
func features(x *graph.Node, n int) bool {
	last := x.Rank() - 1
	return (last == 1 || last == 2) && x.Dim(last-1) == n
}

// mixes reports whether a matrix has an element off its diagonal.
func mixes(f *mat.Dense) bool {
	n, _ := f.Dims()
	for i := range n {
		for j := range n {
			if i != j && f.At(i, j) != 0 {
				return true
			}
		}
	}
	return false
}

// linear returns the nodes that are linear in x, of several on the way to one another the last.
func (r *Run) linear(x *graph.Node, n int) []*graph.Node {
	nodes := r.nodes()
	is := map[*graph.Node]bool{}
	for _, y := range nodes {
		if y.Role() != graph.RoleOp || !y.DType().IsFloat() || y.Rank() != x.Rank() || y.Dim(0) != x.Dim(0) || !features(y, n) || y.Dim(y.Rank()-1) == n || !slices.Contains(graph.Reachable(y), x) {
			continue
		}
		m := r.copied(nil, y)
		v := m.graph.Input("direction", x.DType(), x.Shape().Axes()...)
		moved := grad.JVP([]*graph.Node{m.copies[y]}, []*graph.Node{m.copies[x]}, []*graph.Node{v})[0]
		is[y] = !slices.Contains(graph.Reachable(moved), m.copies[x])
	}
	used := map[*graph.Node]bool{}
	for _, y := range nodes {
		for _, in := range y.Inputs() {
			if is[y] {
				used[in] = true
			}
		}
	}
	return slices.DeleteFunc(nodes, func(y *graph.Node) bool { return !is[y] || used[y] })
}

// jacobian returns ∂y/∂x for each pair of features, n×n each.
func (r *Run) jacobian(ctx context.Context, y, x *graph.Node) ([]*mat.Dense, error) {
	m := r.copied(nil, y)
	defer m.close()
	v := m.graph.Input("direction", x.DType(), x.Shape().Axes()...)
	moved := grad.JVP([]*graph.Node{m.copies[y]}, []*graph.Node{m.copies[x]}, []*graph.Node{v})[0]
	if err := m.compile(ctx, r.End(), moved); err != nil {
		return nil, err
	}
	feed := m.feed(r.Feeds[0])
	n, in, out := x.Dim(x.Rank()-2), x.Dim(x.Rank()-1), y.Dim(y.Rank()-1)
	matrices := make([]*mat.Dense, in*out)
	for i := range matrices {
		matrices[i] = mat.NewDense(n, n, nil)
	}
	unit := graph.NewValue(x.Type())
	for j := range n {
		for c := range in {
			unit.Data[j*in+c] = 1
			feed[v] = tape.Tensor(unit)
			got, err := m.values(ctx, feed, moved)
			if err != nil {
				return nil, err
			}
			unit.Data[j*in+c] = 0
			for i := range n {
				for o := range out {
					matrices[c*out+o].Set(i, j, got[0][i*out+o])
				}
			}
		}
	}
	return matrices, nil
}

// apart returns ‖FM − MF‖/(2‖F‖‖M‖) by the norms of Frobenius.
func apart(f, m *mat.Dense) float64 {
	var fm, mf mat.Dense
	fm.Mul(f, m)
	mf.Mul(m, f)
	fm.Sub(&fm, &mf)
	if size := mat.Norm(f, 2) * mat.Norm(m, 2); size > 0 {
		return mat.Norm(&fm, 2) / (2 * size)
	}
	return 0
}
