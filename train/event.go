package train

import (
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
)

// EventKind says what has happened.
type EventKind uint8

// The kinds of events, in the order in which they come.
const (
	Begun     EventKind = iota // training begins, or goes on; [Trainer.Prepare] gives the store values before
	Stepped                    // a step was committed
	Validated                  // the model was measured
	Saved                      // a checkpoint was written
	Ended                      // training has ended, well or not
)

var eventNames = [...]string{Begun: "begun", Stepped: "stepped", Validated: "validated", Saved: "saved", Ended: "ended"}

// String gives begun, stepped, validated, saved or ended; "" for what is none of the kinds.
func (k EventKind) String() string {
	if int(k) >= len(eventNames) {
		return ""
	}
	return eventNames[k]
}

// Event is something that happens in a training. An observer must not keep Scores.
type Event struct {
	Kind     EventKind
	Step     int           // steps committed so far
	Steps    int           // that are to be; 0 if it is not known
	Position data.Position // of the next batch
	Epochs   int           // that are to be; 0 without a limit
	Loss     float64       // of the batch, before its update: Stepped
	Rate     float64       // the learning rate of the step: Stepped
	Scores   metric.Scores // Validated
	Best     Best          // measurement so far; the zero value before the first
	Path     string        // of the checkpoint: Saved; Begun, where training goes on from one
	Err      error         // why it ended: Ended; what is wrong with newer checkpoints, which were passed over: Begun
}

// Best is the measurement whose first score is the least.
type Best struct {
	Step  int // steps committed then
	Score float64
}

// Observer looks on: a progress bar, a log, a plot. An error of Observe ends the training
// as one of its own would.
type Observer interface{ Observe(e Event) error }

// ObserverFunc is a function as an observer.
type ObserverFunc func(e Event) error

// Observe calls f.
func (f ObserverFunc) Observe(e Event) error {
	if f == nil {
		return nil
	}
	return f(e)
}
