package ops

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/derive"
)

// Bodies of functions mapped over examples.

// mapBody starts a body for so many examples, in which some inputs of a body are the examples' own.
// It returns the inputs, and the results for all examples.
func mapBody(g *graph.Graph, body *graph.Body, examples int, own func(k int) bool) (b *graph.Graph, inputs, results []*graph.Node) {
	inside := graph.Axis{Size: examples} // without a name, which the body might have
	var names []string
	var types []graph.Type
	for k, x := range body.In() {
		typ := x.Type()
		if own(k) {
			typ.Shape = inFront(inside, x.Shape())
		}
		names, types = append(names, x.Name()), append(types, typ)
	}
	b, inputs = g.BodyGraph(body.Graph().Name(), names, types)
	one := slices.Clone(inputs)
	var from, to []*graph.Node
	for k, x := range body.In() {
		if own(k) {
			one[k] = b.Input("one "+inputs[k].Path(), x.DType(), x.Shape().Axes()...)
			from, to = append(from, one[k]), append(to, inputs[k])
		}
	}
	return b, inputs, derive.Map(copyBody(b, body, one), from, to, true)
}

// together makes, of the vectors of examples, [b n], one vector in which all examples of each array
// lie together.
func together(x *graph.Node, like []*graph.Node) *graph.Node {
	if !x.IsValid() || len(like) == 1 {
		return x
	}
	var parts []*graph.Node
	at := 0
	for _, n := range like {
		size := n.Shape().Len()
		parts = append(parts, stretch(x, 1, at, size))
		at += size
	}
	return endToEnd(parts)
}

// apart is the inverse of together.
func apart(x *graph.Node, like []*graph.Node, b graph.Axis) *graph.Node {
	if !x.IsValid() || len(like) == 1 {
		return x
	}
	var parts []*graph.Node
	at := 0
	for _, n := range like {
		size := b.Size * n.Shape().Len()
		parts = append(parts, Reshape(stretch(x, 0, at, size), b.Size, n.Shape().Len()))
		at += size
	}
	return Concat(1, parts...)
}
