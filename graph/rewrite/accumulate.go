package rewrite

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// accumulating returns the rules for sums of arrays as large as parameters, such as the derivative
// by a table that a net both reads by rows and multiplies by: the first summand is made where the sum
// lies, in its order, and the others are added there. shared reports whether others read a node, which
// then has to stay as it is; nil stands for no.
func accumulating(shared func(n *graph.Node) bool) []Rule {
	if shared == nil {
		shared = func(*graph.Node) bool { return false }
	}
	return slices.Concat([]Rule{
		{"transposed product", "(A·B)ᵀ = Bᵀ·Aᵀ, where it meets another array element by element, which reads both in one order", func(n *graph.Node) *graph.Node {
			if n.NumIn() < 2 || !trait.IsElementwise(n.Op()) && !match.Is(n, match.Scatter) {
				return nil
			}
			var in []*graph.Node
			for i := range n.NumIn() {
				x := n.In(i)
				if !transposedProduct(x) || shared(x) || shared(x.In(0)) {
					continue
				}
				if in == nil {
					in = n.Inputs()
				}
				p := x.In(0)
				in[i] = ops.ReshapeTo(ops.MatMul(ops.Transpose(p.In(1), 1, 0), ops.Transpose(p.In(0), 1, 0)), x.Shape())
			}
			if in == nil {
				return nil
			}
			return ops.ReshapeTo(n.Graph().Apply(n.Op(), in...), n.Shape())
		}},
		{"scatter onto a sum", "x + scatter(k, v) = addAt(x, k, v) where x is a product that is made for this sum alone: slices are added where it lies", func(n *graph.Node) *graph.Node {
			if !match.Is(n, match.Add) {
				return nil
			}
			for i := range n.NumIn() {
				s, x := n.In(i), n.In(1-i)
				op, ok := s.Op().(trait.Scattering)
				if !ok || !match.Is(s, match.ScatterAdd) || shared(s) || !ofMatrices(x) || shared(x) {
					continue
				}
				return ops.ReshapeTo(ops.AddAt(x, s.In(0), s.In(1), op.Scatters()), n.Shape())
			}
			return nil
		}},
	}, layouts)
}

// accumulates reports whether a graph or one of its bodies has what the rules for sums are about.
func accumulates(g *graph.Graph) bool {
	return holds(func(n *graph.Node) bool {
		return transposedProduct(n) || match.Is(n, match.ScatterAdd) || n.Body() != nil && accumulates(n.Body().Graph())
	})(g)
}

// transposedProduct reports whether x is (A·B)ᵀ.
func transposedProduct(x *graph.Node) bool {
	if x.Rank() != 2 || x.NumIn() == 0 || !match.Is(x.In(0), match.MatMul) {
		return false
	}
	order, ok := match.Permuted(x)
	return ok && slices.Equal(order, []int{1, 0})
}

// ofMatrices reports whether x is a product of matrices, or one transposed.
func ofMatrices(x *graph.Node) bool {
	if match.Is(x, match.Transpose) {
		x = x.In(0)
	}
	return match.Is(x, match.MatMul)
}
