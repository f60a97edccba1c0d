package train

import (
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
)

// EventKind is the kind of an [Event].
type EventKind uint8

// The kinds of events, in the order in which they come.
const (
	Begun     EventKind = iota // training begins or resumes; the store of a new trainer is empty, unless [Trainer.Prepare] filled it
	Stepped                    // a step was committed
	Validated                  // the model was measured
	Saved                      // a checkpoint was written
	Ended                      // training has ended, well or not
)

var eventNames = [...]string{Begun: "begun", Stepped: "stepped", Validated: "validated", Saved: "saved", Ended: "ended"}

// String returns begun, stepped, validated, saved or ended; "" for a number that is no kind.
func (k EventKind) String() string {
	if int(k) >= len(eventNames) {
		return ""
	}
	return eventNames[k]
}

// Event is something that happens in a training. Where a comment ends with kinds, only events of
// these kinds have the field set. An observer must not keep Scores.
type Event struct {
	Kind     EventKind
	Step     int           // number of steps committed so far
	Steps    int           // number of steps planned; 0 if it is not known
	Position data.Position // of the next batch
	Epochs   int           // number of epochs planned; 0 without a limit
	Loss     float64       // of the batch, before its update: Stepped
	Rate     float64       // the learning rate of the step: Stepped
	Scores   metric.Scores // what was measured: Validated
	Best     Best          // the best measurement so far; the zero value before the first
	Path     string        // of the checkpoint written: Saved; of that resumed from, if any: Begun
	Err      error         // why training ended, nil if it was done: Ended; why newer checkpoints were skipped: Begun
}

// Best is the measurement whose first score is the smallest.
type Best struct {
	Step  int     // number of steps committed then
	Score float64 // the first score
}

// Observer is told each [Event] of a training: a progress bar, a log, a plot. An error of Observe
// ends the training; [ErrStop] ends it as if its plan were done. The observers of several ranks are
// told the same events; where one returns ErrStop, all must.
type Observer interface{ Observe(e Event) error }

// ObserverFunc makes an Observer of a function.
type ObserverFunc func(e Event) error

// Observe calls f, unless f is nil.
func (f ObserverFunc) Observe(e Event) error {
	if f == nil {
		return nil
	}
	return f(e)
}
