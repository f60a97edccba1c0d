package watch

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/tapestry-ml/tapestry/internal/terminal"
	"github.com/tapestry-ml/tapestry/train"
)

// How the bar is drawn.
const (
	redraw = 100 * time.Millisecond // the shortest time between two drawings
	recent = 3 * time.Second        // the time over which the rate is averaged
	width  = 20                     // of the bar, in characters
)

// Bar returns an observer that shows the progress of training, its rate, the time left and the
// loss, as in the package's comment: on a terminal a line that is redrawn and removed in the end,
// elsewhere a line for each measurement. Training that is resumed begins with a line that names the
// checkpoint, and one for each newer checkpoint that was skipped because it is damaged. The loss is
// the mean over the steps since the last drawing. Errors of w are ignored, and training goes on.
func Bar(w io.Writer, options ...Option) train.Observer {
	return &bar{w: w, settings: settle(w, options)}
}

type bar struct {
	settings
	w      io.Writer
	drawn  time.Time
	shown  bool
	past   [recent / redraw]sample // a ring of the last drawings
	count  int                     // samples taken since training began
	sum    float64                 // of the losses of n steps
	n      int
	loss   float64
	scores string
}

// sample is the number of steps that were done at a time.
type sample struct {
	at   time.Time
	step int
}

// Observe shows the event.
func (b *bar) Observe(e train.Event) error {
	if b.w == nil {
		return errNoWriter
	}
	switch e.Kind {
	case train.Begun:
		b.count, b.sum, b.n, b.scores, b.shown = 0, 0, 0, "", false
		b.drawn = b.clock()
		b.take(sample{b.drawn, e.Step})
		if e.Path != "" {
			fmt.Fprintf(b.w, "step %d: goes on from %s\n", e.Step, onTerminal(e.Path))
		}
		if e.Err != nil {
			fmt.Fprintf(b.w, "passed over: %s\n", strings.ReplaceAll(terminal.Clean(e.Err.Error()), "\n", "\npassed over: "))
		}
	case train.Stepped:
		if !b.terminal {
			return nil
		}
		b.sum += e.Loss
		b.n++
		b.draw(e)
	case train.Validated:
		b.scores = onTerminal(e.Scores.String())
		if !b.terminal {
			epochs := "epochs"
			if e.Position.Epoch == 1 {
				epochs = "epoch"
			}
			fmt.Fprintf(b.w, "step %d, after %d %s: %s\n", e.Step, e.Position.Epoch, epochs, b.scores)
			return nil
		}
		b.draw(e)
	case train.Ended:
		if b.shown {
			fmt.Fprint(b.w, "\r\x1b[K")
		}
	}
	return nil
}

// onTerminal returns a name of unknown origin, made safe as part of a line.
func onTerminal(s string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(terminal.Clean(s))
}

func (b *bar) take(s sample) {
	b.past[b.count%len(b.past)] = s
	b.count++
}

// rate returns the recent number of steps per second, or 0 if it is unknown.
func (b *bar) rate(now sample) float64 {
	oldest := b.past[b.count%len(b.past)]
	if b.count < len(b.past) {
		oldest = b.past[0]
	}
	long := now.at.Sub(oldest.at).Seconds()
	if b.count == 0 || long <= 0 || now.step <= oldest.step {
		return 0
	}
	return float64(now.step-oldest.step) / long
}

// draw draws the line, unless it was drawn less than redraw ago.
func (b *bar) draw(e train.Event) {
	now := b.clock()
	if now.Sub(b.drawn) < redraw {
		return
	}
	at := sample{now, e.Step}
	rate := b.rate(at)
	b.take(at)
	b.drawn = now
	if b.n > 0 {
		b.loss, b.sum, b.n = b.sum/float64(b.n), 0, 0
	}
	// A narrower terminal cuts the line off instead of wrapping it.
	if _, err := fmt.Fprintf(b.w, "\r\x1b[?7l%s\x1b[K\x1b[?7h", b.text(e, rate)); err == nil {
		b.shown = true
	}
}

// text returns the line.
func (b *bar) text(e train.Event, rate float64) string {
	var parts []string
	head := ""
	if e.Epochs > 0 {
		head = fmt.Sprintf("epoch %d of %d ", min(e.Position.Epoch+1, e.Epochs), e.Epochs)
	}
	if e.Steps > 0 {
		done := min(width, width*e.Step/e.Steps)
		head += strings.Repeat("━", done) + strings.Repeat("╌", width-done) + " "
		parts = append(parts, fmt.Sprintf("%d of %d", e.Step, e.Steps))
	} else {
		parts = append(parts, fmt.Sprintf("step %d", e.Step))
	}
	if rate > 0 {
		parts = append(parts, fmt.Sprintf("%s steps/s", plain(rate, 3)))
		if e.Steps > e.Step {
			parts = append(parts, clock(float64(e.Steps-e.Step)/rate)+" left")
		}
	}
	parts = append(parts, "loss "+plain(b.loss, 4))
	line := head + strings.Join(parts, ", ")
	if b.scores != "" {
		line += "; measured: " + b.scores
	}
	return line
}

// plain formats a number with so many digits, without an exponent below ten million.
func plain(v float64, digits int) string {
	text := fmt.Sprintf("%.*g", digits, v)
	if strings.Contains(text, "e+") && math.Abs(v) < 1e7 {
		return fmt.Sprintf("%.0f", v)
	}
	return text
}

// clock formats a duration as 0:04, 12:30, 1:02:03 or 3 d 4 h.
func clock(seconds float64) string {
	s := int64(min(seconds, 1e15) + 0.5)
	switch {
	case s < 3600:
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	case s < 24*3600:
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d d %d h", s/(24*3600), s/3600%24)
}
