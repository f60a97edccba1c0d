// Package trace writes what happened when, in Chrome's trace format: the JSON of chrome://tracing
// and Perfetto.
package trace

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"time"
)

// Event is a line of a trace.
type Event struct {
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Phase    string         `json:"ph"` // X for spans, M for names of processes and threads
	Time     float64        `json:"ts"` // in µs, as the duration
	Duration float64        `json:"dur"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"` // the worker
	Args     map[string]any `json:"args,omitempty"`
}

// Span returns an event that lasts from begin to end.
func Span(name, category string, process, thread int, begin, end time.Duration, args map[string]any) Event {
	µs := func(d time.Duration) float64 { return float64(d) / 1e3 }
	return Event{name, category, "X", µs(begin), µs(end - begin), process, thread, args}
}

// Names returns the events that name a process and its threads.
func Names(process int, name string, threads ...string) []Event {
	out := []Event{{Name: "process_name", Phase: "M", Process: process, Args: map[string]any{"name": name}}}
	for k, name := range threads {
		out = append(out, Event{Name: "thread_name", Phase: "M", Process: process, Thread: k, Args: map[string]any{"name": name}})
	}
	return out
}

// Write writes names, then spans by time, enclosing ones before those that they enclose, an event a
// line. It sorts the spans.
func Write(w io.Writer, names, spans []Event) error {
	slices.SortStableFunc(spans, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(b.Duration, a.Duration))
	})
	b := bufio.NewWriter(w)
	b.WriteString(`{"displayTimeUnit":"ns","traceEvents":[`)
	for i, e := range slices.Concat(names, spans) {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		b.Write(line)
	}
	b.WriteString("\n]}\n")
	return b.Flush()
}
