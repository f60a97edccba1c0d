package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/interop/mpi"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// rank trains the nets as one of the ranks of a job. Rank 0 says what came of it.
func rank(ctx context.Context, l *lesson.Lesson, nets []net, at, place string, lanes int) error {
	t, err := connected(ctx, at, place)
	if err != nil {
		return err
	}
	ranks, err := parallel.Join(ctx, t, parallel.Config{Lanes: lanes})
	if err != nil {
		return err
	}
	defer ranks.Close()
	for _, n := range nets {
		o, err := n.train(ctx, l, ranks)
		if err != nil {
			ranks.Abort(err) // or the others would wait for this one
			return fmt.Errorf("rank %d: %w", ranks.Rank(), err)
		}
		if ranks.Rank() == 0 {
			fmt.Println(o)
		}
	}
	return nil
}

// connected connects this process to the other ranks.
func connected(ctx context.Context, at, place string) (parallel.Transport, error) {
	if at == "mpi" {
		return mpi.Open(ctx, mpi.Options{})
	}
	var own, all int
	if n, err := fmt.Sscanf(place, "%d/%d", &own, &all); n != 2 || err != nil {
		return nil, fmt.Errorf("-rank %q: want the number of this rank, from 0, and that of all, as 0/2", place)
	}
	return parallel.Dial(ctx, at, own, all)
}

// train trains a net as one of some ranks. Beside Ranks, nothing differs from a training on one.
func (n net) train(ctx context.Context, l *lesson.Lesson, ranks *parallel.Ranks) (outcome, error) {
	t := &train.Trainer{Build: n.build, Optimiser: n.optimiser, Seed: l.Seed, Workers: l.Workers, Ranks: ranks}
	defer t.Close()
	o := outcome{name: n.name, ranks: ranks.Count(), steps: n.steps}
	batches, err := n.batches(l.Seed)
	if err != nil {
		return o, err
	}
	plan := l.Plan(n.name, train.Plan{Data: batches, Steps: n.steps})
	if ranks.Rank() > 0 {
		plan.Observers = nil // the bar and the log are those of rank 0
	}
	plan.Observers = append(plan.Observers, train.ObserverFunc(func(e train.Event) error {
		if e.Kind == train.Stepped {
			o.loss = e.Loss
		}
		return nil
	}))
	begun := time.Now()
	if err := t.Fit(ctx, plan); err != nil {
		return o, err
	}
	o.seconds = time.Since(begun).Seconds()
	o.bits, err = bits(t.Store())
	return o, err
}

// outcome is what a training came to.
type outcome struct {
	name         string
	ranks, steps int
	loss         float64 // of the last step
	bits         string  // a hash of all parameters and of the optimiser's states
	seconds      float64
}

// String is what rank 0 says, and what read reads.
func (o outcome) String() string {
	return fmt.Sprintf("%s, step %4d on %-7s  loss %-8.6g  bits %s  %5.2f s", o.name, o.steps, plural.Count(o.ranks, "rank"), o.loss, o.bits, o.seconds)
}

// read is the inverse of String.
func read(line string) (o outcome, err error) {
	var ranks string
	_, err = fmt.Sscanf(line, "%s step %d on %d %s loss %g bits %s %g s", &o.name, &o.steps, &o.ranks, &ranks, &o.loss, &o.bits, &o.seconds)
	o.name = o.name[:max(0, len(o.name)-1)] // without the comma
	return o, err
}

// bits returns a hash of everything that a store has.
func bits(store *tape.Store) (string, error) {
	h := sha256.New()
	for _, path := range store.Paths() {
		v, err := store.Get(path)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(h, path, v.Shape())
		if err := binary.Write(h, binary.LittleEndian, v.Data()); err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:6]), nil
}
