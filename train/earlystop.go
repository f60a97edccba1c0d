package train

import (
	"errors"
	"fmt"
	"math"

	"gorgonia.org/tensor"
)

// Values are parameters and states by path. A *tape.Store is one.
type Values interface {
	Paths() []string
	Get(path string) (*tensor.Dense, error) // a copy
	Set(path string, t *tensor.Dense) error // copies t
}

// EarlyStop is an [Observer] that ends training when a value measured on held-out data no longer
// falls, and keeps the parameters and states of the best step. Early stopping regularises, much as
// a penalty on the norm of the weights does:
//
//	stop := &train.EarlyStop{Value: validate, Store: t.Store(), Patience: 10}
//	run := &train.Run{Trainer: t, Data: data, Steps: 1000, Observers: []train.Observer{stop}}
//	… run.Do(ctx) …
//	err := stop.Restore()
//
// Every field but Value may be left zero. An EarlyStop observes one run. A [Plan] with Patience
// does the same, and keeps it in checkpoints.
type EarlyStop struct {
	// Value is measured after a step; smaller is better, and NaN is never better. Its error ends
	// training.
	Value func() (float64, error)
	// Store is where the values are copied from and restored to: all of them, so that running
	// statistics and moments fit the parameters. If it is nil nothing is kept.
	Store Values
	// Patience is the number of measurements in a row that may fail to improve; one more ends
	// training. 0 ends it at the first.
	Patience int
	// Every is the number of steps between two measurements; 0 is 1.
	Every int
	// Margin is the amount by which a value must fall below the best to be better.
	Margin float64

	found   bool
	step    int
	best    float64
	waiting int
	kept    map[string]*tensor.Dense
}

// Observe measures the value after a step where it is due, and returns [ErrStop] when it has failed
// to improve more than Patience times in a row.
func (e *EarlyStop) Observe(event Event) error {
	switch {
	case e == nil || e.Value == nil:
		return errors.New("early stop: no value to watch")
	case event.Kind != Stepped || event.Step%max(1, e.Every) != 0:
		return nil
	}
	v, err := e.Value()
	if err != nil {
		return fmt.Errorf("early stop: after step %d: %w", event.Step, err)
	}
	if _, err := e.take(event.Step, v); err != nil {
		return err
	}
	if e.waiting > e.Patience {
		return ErrStop
	}
	return nil
}

// take takes the value measured after t steps, and reports whether it is the best so far.
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

// keep copies the store. The previous copy stays until the new one is complete.
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

// Best returns the number of steps after which the value was smallest, and that value; ok is false
// before the first measurement that is a number.
func (e *EarlyStop) Best() (step int, value float64, ok bool) { return e.step, e.best, e.found }

// Restore sets the values of Store back to those after the best step. Entries that the store has
// gained since then stay as they are. It is an error if there is no Store, or if no measurement was
// a number.
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
