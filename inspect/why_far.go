package inspect

import (
	"context"
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/tape"
)

// Sources explains one element of n by every recorded value that it is computed from, back to the
// inputs and parameters, in the order in which they are computed. Each share counts all ways from
// the value to the element; those of an input have a Part for each row of data that takes part.
// Mistakes are those of [Record.Why], and an operation on the way that has no derivative.
func (r *Record) Sources(ctx context.Context, n *graph.Node, at, most int) ([]Share, error) {
	entry, err := r.element(n, at)
	if err != nil {
		return nil, err
	}
	var from []*graph.Node
	for _, x := range graph.Reachable(n) {
		_, constant := x.Constant()
		if x != n && x.DType().IsFloat() && !constant && r.Value(x).Type.DType != graph.InvalidDType {
			from = append(from, x)
		}
	}
	if len(from) == 0 {
		return nil, nil
	}
	copied, err := rewrite.RunContext(ctx, n.Graph(), append([]*graph.Node{n}, from...), copying)
	if err != nil {
		return nil, err
	}
	y := pick(copied.Node(n), at)
	copies := make([]*graph.Node, len(from))
	for i, x := range from {
		copies[i] = copied.Node(x)
	}
	adjoints := grad.OrZero(y, copies...)
	if err := copied.Graph.Err(); err != nil {
		return nil, err
	}
	values, err := valuesOf(ctx, r.feed, r.store, append(slices.Clone(adjoints), y), func(tape.Feed) {})
	if err != nil {
		return nil, err
	}
	if got := values[len(adjoints)].At(0); !near(got, entry.Value) {
		return nil, fmt.Errorf("inspect: %v is %v when it is computed again", entry, got)
	}
	var out []Share
	for i, x := range from {
		if s := r.share(x, values[i], most); s.Count > 0 {
			s.Exact = !slices.Contains(graph.Reachable(adjoints[i]), copies[i])
			out = append(out, s)
		}
	}
	return out, nil
}

// Effects tells what one element x of n has to do with every recorded value y that is computed from
// it, the nearest first: the parts of a Share are elements of its Node, each with its value and
// with the contribution ∂y/∂x·x of x to it. Exact says that y is linear in x. Mistakes are those of
// [Record.Sources].
func (r *Record) Effects(ctx context.Context, n *graph.Node, at, most int) ([]Share, error) {
	entry, err := r.element(n, at)
	if err != nil {
		return nil, err
	}
	reached := map[*graph.Node]bool{n: true}
	var to []*graph.Node
	for _, y := range r.nodes {
		if y != n && slices.ContainsFunc(y.Inputs(), func(x *graph.Node) bool { return reached[x] }) {
			reached[y] = true
			if y.DType().IsFloat() {
				to = append(to, y)
			}
		}
	}
	if len(to) == 0 {
		return nil, nil
	}
	copied, err := rewrite.RunContext(ctx, n.Graph(), append([]*graph.Node{n}, to...), copying)
	if err != nil {
		return nil, err
	}
	x := copied.Node(n)
	only := graph.NewValue(x.Type())
	only.Data[at] = entry.Value
	direction := x.Graph().Constant(x.DType(), only.Data, x.Shape().Axes()...)
	copies := make([]*graph.Node, len(to))
	for i, y := range to {
		copies[i] = copied.Node(y)
	}
	tangents := grad.JVP(copies, []*graph.Node{x}, []*graph.Node{direction})
	if err := copied.Graph.Err(); err != nil {
		return nil, err
	}
	values, err := valuesOf(ctx, r.feed, r.store, tangents, func(tape.Feed) {})
	if err != nil {
		return nil, err
	}
	var out []Share
	for i, y := range to {
		if s := r.sum(y, most, values[i].At); s.Count > 0 {
			s.Exact = !slices.Contains(graph.Reachable(tangents[i]), x)
			out = append(out, s)
		}
	}
	return out, nil
}
