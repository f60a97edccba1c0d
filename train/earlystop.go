package train

import (
	"errors"
	"fmt"
	"math"

	"gorgonia.org/tensor"
)

// Values are parameters and states by path, as a tape.Store has them.
type Values interface {
	Paths() []string
	Get(path string) (*tensor.Dense, error) // a copy
	Set(path string, t *tensor.Dense) error // copies t
}

// EarlyStop ends training when a value measured on held-out data no longer falls,
// and keeps the parameters of the best step (the notes on early stopping, which
// regularises as a penalty does):
//
//	stop := &train.EarlyStop{Value: validate, Store: vm.Store(), Patience: 10}
//	loop.After = stop.After
//	… loop.Run(ctx) …
//	err := stop.Restore()
//
// It asks nothing of the engine that runs the steps. The zero value of a field but
// Value has a meaning; an EarlyStop serves one run.
type EarlyStop struct {
	// Value is measured after a step; smaller is better, and NaN is never better.
	Value func() (float64, error)
	// Store holds what is kept and brought back: all of it, so that running
	// statistics and moments fit the parameters. Without one nothing is kept.
	Store Values
	// Patience is how many measurements in a row may fail to be better.
	Patience int
	// Every is the number of steps from one measurement to the next; 0 is 1.
	Every int
	// Margin is by how much a value must fall to be better.
	Margin float64

	found   bool
	step    int
	best    float64
	waiting int
	kept    map[string]*tensor.Dense
}

// After measures the value when step t is done, and says whether to stop. It is for
// [Loop.After].
func (e *EarlyStop) After(t int) (done bool, err error) {
	if e == nil || e.Value == nil {
		return true, errors.New("early stop: no value to watch")
	}
	if (t+1)%max(1, e.Every) != 0 {
		return false, nil
	}
	v, err := e.Value()
	if err != nil {
		return true, fmt.Errorf("early stop: after step %d: %w", t, err)
	}
	if _, err := e.take(t, v); err != nil {
		return true, err
	}
	return e.waiting > e.Patience, nil
}

// take takes the value measured after step t, and says whether it is the best.
func (e *EarlyStop) take(t int, v float64) (best bool, err error) {
	if !e.better(v) {
		e.waiting++
		return false, nil
	}
	if err := e.keep(); err != nil {
		return false, err
	}
	e.found, e.step, e.best, e.waiting = true, t, v, 0
	return true, nil
}

func (e *EarlyStop) better(v float64) bool {
	if !e.found {
		return !math.IsNaN(v)
	}
	return v < e.best-e.Margin
}

// keep copies the store. What was kept before stays until all is copied.
func (e *EarlyStop) keep() error {
	if e.Store == nil {
		return nil
	}
	kept := map[string]*tensor.Dense{}
	for _, path := range e.Store.Paths() {
		t, err := e.Store.Get(path)
		if err != nil {
			return fmt.Errorf("early stop: %w", err)
		}
		kept[path] = t
	}
	e.kept = kept
	return nil
}

// Best is the step with the smallest value, and the value; ok is false before the
// first.
func (e *EarlyStop) Best() (step int, value float64, ok bool) { return e.step, e.best, e.found }

// Restore brings the store back to where it was after the best step.
func (e *EarlyStop) Restore() error {
	switch {
	case e == nil || e.Store == nil:
		return errors.New("early stop: no store to restore")
	case !e.found:
		return errors.New("early stop: no step was measured as a number")
	}
	for _, path := range e.Store.Paths() {
		if t := e.kept[path]; t != nil {
			if err := e.Store.Set(path, t); err != nil {
				return fmt.Errorf("early stop: %w", err)
			}
		}
	}
	return nil
}
