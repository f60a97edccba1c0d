package importer

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
)

// The most elements of results that are computed while the graph is built: of integers, which shapes
// are made of, and of floats.
const (
	foldedInts   = 1 << 16
	foldedFloats = 1 << 10
)

// largest is the most elements of an array that is computed on the way, or for a rule.
const largest = 1 << 24

// bounded ends a rule that would compute an array of so many elements while the graph is built.
func (c *call) bounded(elements int) {
	if elements > largest {
		c.fail("%d elements are more than are computed while the graph is built", elements)
	}
}

// leafOf returns a leaf or a draw that n depends on; nil if there is none.
func leafOf(n *graph.Node) *graph.Node {
	for _, m := range graph.Reachable(n) {
		if _, constant := m.Constant(); !constant && m.NumIn() == 0 {
			return m
		}
	}
	return nil
}

// fold makes a result that depends on constants a constant. What nothing else needs, such as the
// computation of a shape, is then no part of the graph.
func (c *call) fold(v *value) {
	n := v.node
	if v.kind != array || !n.IsValid() || n.Graph() != c.g || n.NumIn() == 0 {
		return
	}
	if limit := map[bool]int{true: foldedFloats, false: foldedInts}[n.DType().IsFloat()]; n.Shape().Len() > limit {
		return
	}
	if len(c.in) > 0 && c.allConstant() == nil {
		return
	}
	if c.folds(n) {
		if out, err := ref.Eval(trait.Env{}, nil, n); err == nil && n.DType().Check(out[0].Data...) == nil {
			v.node = c.g.ConstantValue(out[0])
		}
	}
}

// folds reports whether n depends on constants alone, over few nodes: those of its operator.
func (c *call) folds(n *graph.Node) bool {
	const few = 200
	seen := map[*graph.Node]bool{}
	var visit func(n *graph.Node) bool
	visit = func(n *graph.Node) bool {
		if seen[n] {
			return true
		}
		if seen[n] = true; len(seen) > few {
			return false
		}
		if _, constant := n.Constant(); constant {
			return true
		}
		if n.NumIn() == 0 || n.Shape().Len() > largest {
			return false
		}
		for i := range n.NumIn() {
			if !visit(n.In(i)) {
				return false
			}
		}
		return true
	}
	return visit(n)
}
