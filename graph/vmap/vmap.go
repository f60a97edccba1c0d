package vmap

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/derive"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// RuleOf returns an operation's rule for batches; ok is false if it has none. A [trait.Elementwise]
// operation needs no method Batch: its operands are broadcast.
func RuleOf(op graph.Op) (rule trait.Batched, ok bool) {
	if b, ok := op.(trait.Batched); ok {
		return b, true
	}
	return elementwise{}, trait.IsElementwise(op)
}

// elementwise is the rule of [trait.Elementwise] operations without one of their own.
type elementwise struct{}

func (elementwise) Batch(y *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return ops.Elementwise(y.Op(), in...)
}

// Over pairs a node X with a Batch of values for it: the type of Batch is that of X with the axis
// of the examples before the others.
type Over struct{ X, Batch *graph.Node }

// Map returns outs for every example: [b a…] for a result [a…], where b is the first axis of the
// batches, also if it is the same for all examples. The results are computed from each Batch in
// place of its X. All batches must have the same first axis, and no node between may have an axis
// of its name.
//
// Every draw that outs depend on, below the nodes that are replaced, is made anew for every
// example; see [MapSameDraws].
//
// It is a mistake, recorded in the graph, if a batch does not fit, if a node has no room for
// another axis, or if an operation has no rule. The results that depend on it are then invalid
// nodes.
func Map(outs []*graph.Node, over ...Over) []*graph.Node { return mapped(outs, over, true) }

// MapSameDraws is [Map] with random draws that all examples share. It is for examples that are not
// data, such as the unit vectors by which a derivative is multiplied.
func MapSameDraws(outs []*graph.Node, over ...Over) []*graph.Node { return mapped(outs, over, false) }

func mapped(outs []*graph.Node, over []Over, draws bool) []*graph.Node {
	var all []*graph.Node
	for _, o := range over {
		all = append(all, o.X, o.Batch)
	}
	defer graph.Beside(append(all, outs...)...)()
	g := graph.Of(append(all, outs...)...)
	b, err := axisOf(g, outs, over)
	if err != nil {
		return slices.Repeat([]*graph.Node{g.Fail("vmap", err, all...)}, len(outs))
	}
	m := &mapper{b: b, draws: draws, batch: make([]*graph.Node, g.Len())}
	for _, o := range over {
		m.batch[o.X.ID()] = o.Batch
	}
	given := func(n *graph.Node) bool { return m.batch[n.ID()] != nil }
	for _, n := range graph.ReachableUntil(given, outs...) {
		if !given(n) {
			m.add(n)
		}
	}
	results := make([]*graph.Node, len(outs))
	for i, n := range outs {
		results[i] = m.result(n)
	}
	return results
}

// Each returns the results of f for every example. It calls f once, with nodes that stand for one
// example of each batch in xs, and maps the results as [Map] does. The batches have their examples
// along the first axis.
//
//	norms := vmap.Each(func(x []*graph.Node) []*graph.Node {
//		return []*graph.Node{ops.Sum(ops.Square(x[0]))}
//	}, xs)
//
// A derivative that f takes is mapped as written: if its loss overflows, as log(1 + exp x) does, it
// is NaN, although compiling makes the loss stable. Write ops.Softplus(x), or differentiate the sum
// of the mapped losses; see package grad, "Formulas that overflow".
func Each(f func(x []*graph.Node) []*graph.Node, xs ...*graph.Node) []*graph.Node {
	_, xs = graph.Join(xs...)
	one := make([]*graph.Node, len(xs))
	over := make([]Over, len(xs))
	for i, x := range xs {
		if x.IsValid() && x.Rank() == 0 {
			x = x.Graph().Fail("vmap", fmt.Errorf("a batch without an axis for the examples"), x)
		}
		one[i] = example(x)
		over[i] = Over{one[i], x}
	}
	if f == nil {
		graph.Of(xs...).Fail("vmap", fmt.Errorf("want a function of one example, got nil"), xs...)
		return nil
	}
	return Map(f(one), over...)
}

// example returns a node of the type of an example of x: the first, or, of no examples, one that no
// other node depends on.
func example(x *graph.Node) *graph.Node {
	if !x.IsValid() || x.Dim(0) > 0 {
		return ops.Squeeze(ops.Slice(x, 0, 0, 1), 0)
	}
	first := x.Graph().Len()
	one := ops.Zeros(x.Graph(), x.DType(), x.Shape().Axes()[1:]...)
	for one.IsValid() && one.ID() < first {
		one = ops.StopGradient(one)
	}
	return one
}

// axisOf returns the axis that the batches have in common, or an error if they do not fit.
func axisOf(g *graph.Graph, outs []*graph.Node, over []Over) (b graph.Axis, err error) {
	if len(over) == 0 {
		return b, fmt.Errorf("want a node to map over")
	}
	for i, o := range over {
		switch {
		case o.X == nil || o.Batch == nil:
			return b, fmt.Errorf("want a node and its batch, got nil")
		case !o.X.IsValid() || !o.Batch.IsValid():
			return b, fmt.Errorf("follows from an earlier mistake") // not recorded: its cause is
		case o.X.Graph() != g || o.Batch.Graph() != g:
			return b, &graph.Mistake{Problem: "the nodes belong to different graphs", Fix: "build all in one graph"}
		}
		if slices.ContainsFunc(over[:i], func(p Over) bool { return p.X == o.X }) {
			return b, fmt.Errorf("two batches for %v", o.X)
		}
		if i == 0 {
			if o.Batch.Rank() == 0 {
				return b, fmt.Errorf("a batch of type %v for %v: want an axis more", o.Batch.Type(), o.X.Type())
			}
			b = o.Batch.Shape().Axis(0)
		}
		want, err := typeWith(b, o.X)
		if err != nil {
			return b, err
		}
		if o.Batch.Type() != want {
			return b, fmt.Errorf("a batch of type %v for %v: want %v", o.Batch.Type(), o.X.Type(), want)
		}
	}
	for _, n := range outs {
		switch {
		case n == nil:
			return b, fmt.Errorf("want a node to map, got nil")
		case n.IsValid() && n.Graph() != g:
			return b, &graph.Mistake{Problem: "the nodes belong to different graphs", Fix: "build all in one graph"}
		}
	}
	return b, nil
}

// typeWith returns the type of n for all examples.
func typeWith(b graph.Axis, n *graph.Node) (graph.Type, error) {
	if b.Name != "" && n.Shape().Index(b.Name) >= 0 {
		return graph.Type{}, &graph.Mistake{
			Problem: fmt.Sprintf("%v has an axis called %q, as the batch has", n, b.Name),
			Fix:     "rename the batch's with ops.Rename",
		}
	}
	if n.Rank() == graph.MaxRank {
		return graph.Type{}, fmt.Errorf("%v has %d axes: there is no room for the batch's", n, graph.MaxRank)
	}
	s, err := graph.NewShape(append([]graph.Axis{b}, n.Shape().Axes()...)...)
	return graph.Type{DType: n.DType(), Shape: s}, err
}

// mapper is one sweep from the batches to the nodes asked for.
type mapper struct {
	b     graph.Axis
	draws bool          // every example makes its own
	batch []*graph.Node // the batch for a node, by its number; nil if it is the same for all examples
}

// of returns the node that stands for n, and whether it has the batch's axis. Nodes that the sweep
// adds stand for themselves; an origin may be one.
func (m *mapper) of(n *graph.Node) (x *graph.Node, batched bool) {
	if n.IsValid() && n.ID() < len(m.batch) && m.batch[n.ID()] != nil {
		return m.batch[n.ID()], true
	}
	return n, false
}

// add makes the node for all examples, if it depends on any batch or is a draw.
func (m *mapper) add(n *graph.Node) {
	rule, ok := RuleOf(n.Op())
	in, batched := make([]*graph.Node, n.NumIn()), make([]bool, n.NumIn())
	depends := ok && m.draws && (len(in) == 0 || match.Draws(n))
	for i := range in {
		in[i], batched[i] = m.of(n.In(i))
		depends = depends || batched[i]
	}
	if !depends {
		return
	}
	g := n.Graph()
	g.During(n.First(), m.origin(n.First().Origin), func() {
		if !ok {
			err := &graph.Mistake{Problem: n.Op().Name() + " has no rule for batches", Fix: "give it a method Batch"}
			m.batch[n.ID()] = g.Fail("vmap", err, in...)
			return
		}
		m.batch[n.ID()] = m.apply(rule, n, in, batched)
	})
	for _, o := range n.Occurrences() {
		if o.Name != "" {
			o.Origin = m.origin(o.Origin)
			g.Occur(m.batch[n.ID()], o)
		}
	}
}

// apply returns the result of the rule, of the type that it must have.
func (m *mapper) apply(rule trait.Batched, n *graph.Node, in []*graph.Node, batched []bool) *graph.Node {
	g := n.Graph()
	want, err := typeWith(m.b, n)
	for i := range in {
		if err == nil && !batched[i] && m.b.Name != "" && in[i].Shape().Index(m.b.Name) >= 0 {
			_, err = typeWith(m.b, in[i])
		}
	}
	if err != nil {
		return g.Fail("vmap", err, in...)
	}
	if want.Shape.Len() == 0 {
		return ops.Zeros(g, want.DType, want.Shape.Axes()...)
	}
	batch := rule.Batch
	if same, ok := rule.(derive.Sharing); ok && !m.draws {
		batch = same.BatchSameDraws
	}
	y := batch(n, in, batched, m.b)
	switch {
	case y == nil:
		y = g.Fail("vmap", fmt.Errorf("the rule of %s for batches returns nothing", n.Op().Name()), in...)
	case y.Graph() != g:
		y = g.Fail("vmap", fmt.Errorf("the rule of %s for batches returns a node of graph %q", n.Op().Name(), y.Graph().Name()), in...)
	case !y.IsValid():
	case y.DType() == want.DType && y.Shape().SameSizes(want.Shape):
		y = ops.ReshapeTo(y, want.Shape)
	default:
		y = g.Fail("vmap", fmt.Errorf("the rule of %s for batches returns type %v, not %v", n.Op().Name(), y.Type(), want), in...)
	}
	return y
}

// origin returns the origin of a node for all examples. If it is the whole derivative of a node
// that is the same for all examples, the mapped one is of another type, and no longer that
// derivative.
func (m *mapper) origin(o graph.Origin) graph.Origin {
	if o.Kind == graph.FromUser {
		return o
	}
	of, batched := m.of(o.Of)
	if o.Kind == graph.FromAdjoint && !batched {
		o.Kind = graph.FromGrad
	}
	if loss, _ := m.of(o.Loss); of.IsValid() && loss.IsValid() {
		o.Of, o.Loss = of, loss
	}
	return o
}

// result returns a result for all examples, repeated if it is the same for all.
func (m *mapper) result(n *graph.Node) *graph.Node {
	if !n.IsValid() {
		return n
	}
	x, batched := m.of(n)
	if batched {
		return x
	}
	want, err := typeWith(m.b, n)
	if err != nil {
		return n.Graph().Fail("vmap", err, n)
	}
	return ops.BroadcastTo(n, want.Shape)
}
