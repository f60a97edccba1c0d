package inspect

import (
	"context"
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/tape"
)

// Enter returns the record of an iteration of a loop, which holds the values of the nodes of its
// body, [graph.Node.Body]; the loop must be among the nodes of r. The body is run once, from the
// carries that the loop computed before this iteration, so any iteration takes equally long. In a
// loop that runs backwards, iteration 0 is the last time. To see into a loop in the body, enter it
// in turn. What loops of derivatives sum up (trait.Loop) is the term of this iteration.
//
// It is an error if n was not recorded, is not a loop, has no such iteration, or did not run it
// because its gate was 0.
func (r *Record) Enter(ctx context.Context, n *graph.Node, iteration int) (*Record, error) {
	switch {
	case n == nil || r.Value(n).Type.DType == graph.InvalidDType:
		return nil, fmt.Errorf("inspect: the node was not recorded")
	case trait.LoopBody(n) == nil:
		return nil, fmt.Errorf("inspect: %v is not a loop", n)
	}
	record, _, err := enterLoop(ctx, n, func(k int) tape.Array { return r.values[n.In(k)] }, r.values[n], iteration, nil)
	return record, err
}

// enterLoop runs an iteration of a loop whose operands and value are given, and records the nodes
// that the results of its body and more nodes depend on. It also returns the time of the iteration.
func enterLoop(ctx context.Context, n *graph.Node, operand func(int) tape.Array, value tape.Array, iteration int, more []*graph.Node) (*Record, int, error) {
	l, body := n.Op().(trait.Looped).Loop(), n.Body()
	if iteration < 0 || iteration >= l.Steps {
		return nil, 0, fmt.Errorf("inspect: there is no iteration %d: the loop has 0 to %d", iteration, l.Steps-1)
	}
	time, before, _ := l.At(iteration)
	feed := tape.Feed{}
	parts := l.Parts(body)
	for k, x := range body.In() {
		from, at := operand(k), 0
		switch size := x.Shape().Len(); {
		case k < l.Carries:
			from, at = value, parts[k].At+before*size
		case k < l.Carries+l.Sequences:
			at = time * size
		}
		if gate, ok := l.Gated(); ok && gate == k && from.At(at) == 0 {
			return nil, 0, fmt.Errorf("inspect: iteration %d of the loop was not run: its gate is 0", iteration)
		}
		feed[x] = cut(x.Type(), from, at)
	}
	roots := append(append(body.Out(), more...), body.In()...)
	rec, err := newRecorder(ctx, graph.Reachable(roots...))
	if err != nil {
		return nil, 0, err
	}
	record, err := rec.Take(ctx, feed, tape.NewStore(nil))
	return record, time, err
}
