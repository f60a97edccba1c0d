package inspect

import (
	"context"
	"errors"
	"fmt"

	"github.com/tapestry-ml/tapestry/tape"
)

var errNotTrained = errors.New("inspect: the session has no training step: nothing is updated")

// Train runs the given number of training steps. The session stands before the same instruction
// as before, in the step reached. A step that fails changes nothing: the session stays where the
// steps before it have led.
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
		s.snapshots.Note(s.step, s.store)
	}
	return nil
}

// Rewind goes to a training step, earlier or later. It restores the nearest earlier step that is
// kept and runs on from there. Since runs are pure, parameters and values are the same as the
// first time, bit for bit. On an error the session stays where it was.
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
	store, err := s.StoreAt(ctx, step)
	if err != nil {
		return err
	}
	return s.stand(store, step)
}

// StoreAt returns a copy of the store as it is before a training step, earlier or later than the
// present one. It runs on from the nearest earlier step that is kept. The session stays where it
// is.
func (s *Session) StoreAt(ctx context.Context, step int) (*tape.Store, error) {
	if err := s.whole(); err != nil {
		return nil, err
	}
	if step < 0 {
		return nil, fmt.Errorf("inspect: there is no training step %d", step)
	}
	from, store := s.snapshots.Before(step)
	if from == step {
		return store, nil
	}
	if len(s.subject.Step) == 0 {
		return nil, errNotTrained
	}
	vm, err := s.prog.NewVM(store)
	if err != nil {
		return nil, fmt.Errorf("inspect: %w", err)
	}
	defer vm.Close()
	for t := from; t < step; t++ {
		feed, err := s.subject.Feed(t)
		if err == nil {
			err = vm.Run(ctx, feed)
		}
		if err != nil {
			return nil, fmt.Errorf("training step %d: %w", t, err)
		}
		s.snapshots.Note(t+1, store)
	}
	return store, nil
}
