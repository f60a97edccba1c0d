package inspect

import (
	"context"
	"errors"
	"fmt"

	"github.com/tapestry-ml/tapestry/tape"
)

// snapshots keep what training had come to at steps that are multiples of every,
// in bounded memory: when it is used up, every other one is dropped, the first never.
type snapshots struct {
	every int
	most  int // of them; at least 2
	at    map[int]*tape.Store
}

// mostSnapshots is enough to be never far from one.
const mostSnapshots = 1024

func newSnapshots(limit int, first *tape.Store) snapshots {
	return snapshots{every: 1, most: min(max(2, limit/max(1, storeBytes(first))), mostSnapshots), at: map[int]*tape.Store{0: first.Clone()}}
}

// storeBytes is what the values of a store take.
func storeBytes(s *tape.Store) (n int) {
	for _, path := range s.Paths() {
		if t, err := s.Get(path); err == nil {
			n += int(t.MemSize())
		}
	}
	return n
}

// note keeps a copy of the store of a step, if it is one of those kept.
func (k *snapshots) note(step int, store *tape.Store) {
	if step%k.every != 0 || k.at[step] != nil {
		return
	}
	for len(k.at) >= k.most {
		k.every *= 2
		for at := range k.at {
			if at%k.every != 0 {
				delete(k.at, at)
			}
		}
		if step%k.every != 0 {
			return
		}
	}
	k.at[step] = store.Clone()
}

// before is the latest kept step that is not after the given one.
func (k *snapshots) before(step int) (int, *tape.Store) {
	best := 0
	for at := range k.at {
		if at <= step {
			best = max(best, at)
		}
	}
	return best, k.at[best].Clone()
}

var errNotTrained = errors.New("inspect: the session has no training step: nothing is updated")

// Train runs so many steps of training. The session stands before the same
// instruction as before, in the step that follows. A step that fails changes nothing:
// the session stands where the steps before it have led.
func (s *Session) Train(ctx context.Context, steps int) error {
	if err := s.whole(); err != nil {
		return err
	}
	if steps > 0 && len(s.subject.Step) == 0 {
		return errNotTrained
	}
	for range steps {
		feed, err := s.now()
		if err != nil {
			return err
		}
		if err := s.vm.Run(ctx, feed); err != nil {
			return fmt.Errorf("training step %d: %w", s.step, err)
		}
		s.step++
		s.moved()
		s.snapshots.note(s.step, s.store)
	}
	return nil
}

// Rewind goes to a training step, earlier or later. It restores the nearest step
// before it that is kept and runs on from there: since runs are pure, parameters
// and values are those of the first time, bit for bit. On an error the session stays
// where it was.
func (s *Session) Rewind(ctx context.Context, step int) error {
	if err := s.whole(); err != nil {
		return err
	}
	switch {
	case step < 0:
		return fmt.Errorf("inspect: there is no training step %d", step)
	case step >= s.step:
		return s.Train(ctx, step-s.step)
	}
	was, now := s.step, s.store.Clone()
	from, store := s.snapshots.before(step)
	if err := s.stand(store, from); err != nil {
		return err
	}
	if err := s.Train(ctx, step-from); err != nil {
		return errors.Join(err, s.stand(now, was))
	}
	return nil
}
