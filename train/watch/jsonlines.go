package watch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/tapestry-ml/tapestry/train"
)

// Version is the version of the log's format. It increases when older readers would misread a log.
const Version = 1

// The longest time that lines wait to be written together, and the most bytes.
const (
	patience = 200 * time.Millisecond
	room     = 16 << 10
)

// stamp is the format of times, of fixed width.
const stamp = "2006-01-02T15:04:05.000000Z"

// JSONLines returns an observer that writes a line for each event, in the format of the package's
// comment. Steps may wait a moment to be written together; every other event is written at once,
// with those before it. An error of w ends the training.
func JSONLines(w io.Writer, options ...Option) train.Observer {
	return &jsonLines{w: w, settings: settle(w, options)}
}

type jsonLines struct {
	settings
	w       io.Writer
	line    []byte // not written yet
	written time.Time
}

// errNoWriter is the error of an observer whose writer is nil.
var errNoWriter = errors.New("watch: there is no writer to write to")

// Observe logs the event.
func (l *jsonLines) Observe(e train.Event) error {
	if l.w == nil {
		return errNoWriter
	}
	if e.Kind.String() == "" || e.Kind == train.Stepped && e.Step%l.every != 0 {
		return nil
	}
	now := l.clock()
	l.append(e, now)
	if e.Kind == train.Stepped && len(l.line) < room && now.Sub(l.written) < patience && !now.Before(l.written) {
		return nil
	}
	l.written = now
	_, err := l.w.Write(l.line)
	l.line = l.line[:0] // after an error too, because half of it may be written
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	return nil
}

// append appends the line of an event.
func (l *jsonLines) append(e train.Event, now time.Time) {
	b := l.line
	if e.Kind == train.Begun && e.Step > 0 {
		b = append(b, '\n') // the run before may have been killed in the middle of a line
	}
	b = append(b, `{"event":"`...)
	b = append(append(b, e.Kind.String()...), '"')
	whole := func(key string, v int) { b = strconv.AppendInt(appendKey(b, key), int64(v), 10) }
	text := func(key, v string) {
		if v != "" {
			b = appendText(appendKey(b, key), v)
		}
	}
	if e.Kind == train.Begun {
		whole("version", Version)
	}
	whole("step", e.Step)
	whole("epoch", e.Position.Epoch)
	whole("batch", e.Position.Batch)
	switch e.Kind {
	case train.Begun:
		whole("steps", e.Steps)
		whole("epochs", e.Epochs)
		text("path", e.Path)
		text("error", messageOf(e.Err))
		text("about", l.about)
		text("folder", l.folder)
		if len(l.chosen) > 0 {
			b = append(appendKey(b, "settings"), '{')
			for i, name := range slices.Sorted(maps.Keys(l.chosen)) {
				if i > 0 {
					b = append(b, ',')
				}
				b = appendText(append(appendText(b, name), ':'), l.chosen[name])
			}
			b = append(b, '}')
		}
	case train.Stepped:
		b = appendNumber(appendKey(b, "loss"), e.Loss)
		b = appendNumber(appendKey(b, "rate"), e.Rate)
	case train.Validated:
		b = append(appendKey(b, "scores"), '{')
		for i, s := range e.Scores {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendNumber(append(appendText(b, s.Name), ':'), s.Value)
		}
		b = append(b, '}')
	case train.Saved:
		text("path", e.Path)
	case train.Ended:
		text("error", messageOf(e.Err))
	}
	if l.timed {
		b = append(appendKey(b, "time"), '"')
		b = append(now.UTC().AppendFormat(b, stamp), '"')
	}
	l.line = append(b, "}\n"...)
}

// messageOf returns the text of an error, or "" for nil.
func messageOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func appendKey(b []byte, key string) []byte {
	return append(append(append(b, `,"`...), key...), `":`...)
}

// appendNumber appends as many digits as it takes to read the same number back.
func appendNumber(b []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(b, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(b, `"+Inf"`...)
	case math.IsInf(v, -1):
		return append(b, `"-Inf"`...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

func appendText(b []byte, text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil {
		return append(b, `""`...) // never: every string has a JSON form
	}
	return append(b, quoted...)
}
