package digits

import (
	"fmt"
	"io"

	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// Curve records a training as its observer.
type Curve struct {
	Loss       []float64 // the mean over the steps of each epoch
	Accuracy   []float64 // measured after each
	Validation float64   // the loss that was last measured

	sum   float64
	steps int
}

// Observe takes losses and accuracies.
func (c *Curve) Observe(e train.Event) error {
	switch e.Kind {
	case train.Stepped:
		c.sum, c.steps = c.sum+e.Loss, c.steps+1
		if e.Position.Batch == 0 { // the next batch is of another epoch
			c.Loss = append(c.Loss, c.sum/float64(c.steps))
			c.sum, c.steps = 0, 0
		}
	case train.Validated:
		if v, ok := e.Scores.Get("accuracy"); ok {
			c.Accuracy = append(c.Accuracy, v)
		}
		c.Validation, _ = e.Scores.Get("loss")
	}
	return nil
}

// Final is the accuracy at the end; 0 if it was not measured.
func (c *Curve) Final() float64 {
	if len(c.Accuracy) == 0 {
		return 0
	}
	return c.Accuracy[len(c.Accuracy)-1]
}

// Errors returns the per cent of the digits that were read wrongly after each epoch.
func (c *Curve) Errors() []float64 {
	v := make([]float64, len(c.Accuracy))
	for i, right := range c.Accuracy {
		v[i] = 100 * (1 - right)
	}
	return v
}

// Learning draws the losses and the errors of some trainings that differ by their seeds.
func Learning(curves []*Curve) func(w io.Writer) error {
	return func(w io.Writer) error {
		lines := func(id, title, y string, of func(*Curve) []float64) chart.Lines {
			l := chart.Lines{Frame: chart.Frame{ID: id, Title: title}, X: "epoch", Y: y}
			var middle []float64
			for epoch := range of(curves[0]) {
				var all []float64
				for _, c := range curves {
					all = append(all, of(c)[epoch])
				}
				middle = append(middle, lab.Median(all))
			}
			epochs := make([]float64, len(middle))
			for i := range epochs {
				epochs[i] = float64(i + 1)
			}
			for i, c := range curves {
				l.Series = append(l.Series, chart.Series{Name: fmt.Sprintf("run %d", i+1), X: epochs, Y: of(c), Faint: true})
			}
			l.Series = append(l.Series, chart.Series{Name: "median", X: epochs, Y: middle})
			return l
		}
		loss := lines("loss", "Loss while training", "cross-entropy, nats", func(c *Curve) []float64 { return c.Loss })
		loss.LogY = true
		errors := lines("errors", "Errors on digits not trained on", "read wrongly, %", (*Curve).Errors)
		errors.LogY = true
		return chart.Panels(w, 2, loss, errors)
	}
}
