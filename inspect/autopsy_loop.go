package inspect

import (
	"context"
	"errors"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/tape"
)

// errFound ends a loop at the iteration that was looked for.
var errFound = errors.New("found")

// inLoop runs the body of a loop iteration by iteration until a value in it is not finite, and
// explains that value. It returns nil if n is not a loop, or its body stays finite.
func (r *Record) inLoop(ctx context.Context, n *graph.Node) (f *Finding, step int, err error) {
	loop, ok := n.Op().(trait.Iterated)
	if !ok {
		return nil, 0, nil
	}
	in := make([]graph.Value, n.NumIn())
	for i, x := range n.Inputs() {
		in[i] = r.wide(x)
	}
	step = -1
	_, err = loop.Iterate(n, in, func(b *graph.Body, in []graph.Value) ([]graph.Value, error) {
		step++
		feed := tape.Feed{}
		for i, x := range b.In() {
			feed[x] = tape.Tensor(in[i])
		}
		inner, err := Take(ctx, feed, tape.NewStore(b.Graph()), b.Out()...)
		if err != nil {
			return nil, err
		}
		if f, err = inner.firstBad(ctx, b.Out()); err != nil {
			return nil, err
		}
		if f != nil && !f.Harmless() {
			return nil, errFound
		}
		out := make([]graph.Value, len(b.Out()))
		for i, x := range b.Out() {
			out[i] = inner.wide(x)
		}
		return out, nil
	})
	if !errors.Is(err, errFound) {
		return nil, 0, err
	}
	return f, step, nil
}
