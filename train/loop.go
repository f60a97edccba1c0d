package train

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

// Runner runs one step: a tape.VM, or another engine on the same graph.
type Runner interface {
	Run(ctx context.Context, feed tape.Feed) error
}

// Loop runs training steps on an engine whose program does them.
type Loop struct {
	VM    Runner
	Steps int
	// Feed gives what is fed in step t besides the scheduled scalars; nil where
	// there is nothing. The loop does not change it.
	Feed func(t int) (tape.Feed, error)
	// Scheduled float scalars are set before each step.
	Scheduled map[*graph.Node]Schedule
	// After is called when step t has been committed; done ends the loop early.
	After func(t int) (done bool, err error)
}

// Run runs the steps, until they are done, After says so, ctx ends, or
// something fails. It gives the number of steps committed.
func (l Loop) Run(ctx context.Context) (steps int, err error) {
	if l.VM == nil {
		return 0, errors.New("loop: no VM to run")
	}
	scalars := map[*graph.Node]*tensor.Dense{}
	for n, s := range l.Scheduled {
		if !n.IsValid() || n.Rank() != 0 || !n.DType().IsFloat() || s.IsZero() {
			return 0, fmt.Errorf("loop: the schedule of %v: want a float scalar and a schedule", n)
		}
		scalars[n] = tape.Scalar(n.DType(), 0)
	}
	feed := tape.Feed{}
	for t := range l.Steps {
		clear(feed)
		if l.Feed != nil {
			own, err := l.Feed(t)
			if err != nil {
				return t, err
			}
			maps.Copy(feed, own)
		}
		for n, s := range l.Scheduled {
			setScalar(scalars[n], s.At(t, l.Steps))
			feed[n] = scalars[n]
		}
		if err := l.VM.Run(ctx, feed); err != nil {
			return t, err
		}
		if l.After != nil {
			if done, err := l.After(t); done || err != nil {
				return t + 1, err
			}
		}
	}
	return max(0, l.Steps), nil
}

// setScalar changes a scalar tensor in place.
func setScalar(t *tensor.Dense, v float64) {
	if t.Dtype() == tensor.Float32 {
		t.Float32s()[0] = float32(v)
	} else {
		t.Float64s()[0] = v
	}
}
