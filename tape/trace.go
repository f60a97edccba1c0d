package tape

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// event is a line of a trace, in the words of Chrome's trace format.
type event struct {
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Phase    string         `json:"ph"` // X for spans, M for names of processes and threads
	Time     float64        `json:"ts"` // in µs, as the duration
	Duration float64        `json:"dur"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"` // the worker
	Args     map[string]any `json:"args,omitempty"`
}

// Trace runs the program as [VM.Profile] does, on a copy of the store, and writes what every worker
// did in the given number of runs: every call of an instruction's kernel, within its stage, within
// the run. The format is the JSON of chrome://tracing and Perfetto. Times are as the clock showed
// them: the gap between two calls includes reading the clock twice, some 50 ns.
func (vm *VM) Trace(ctx context.Context, feed Feed, runs int, w io.Writer) error {
	if runs < 1 {
		return fmt.Errorf("trace: %d runs: want at least 1", runs)
	}
	if w == nil {
		return errors.New("trace: want a writer, got nil")
	}
	c, err := vm.onCopy(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	epoch := time.Now()
	record, observed := newRecorder(c, func() time.Duration { return time.Since(epoch) })
	c.watch, c.prog = &observer{record: record}, observed
	var ran []span
	const warmUp = 2
	for i := range warmUp + runs {
		record.tracing = i >= warmUp
		begin := record.now()
		if err := c.Run(ctx, feed); err != nil {
			return fmt.Errorf("trace: run %d: %w", i+1, err)
		}
		if record.tracing {
			ran = append(ran, span{i - warmUp, begin, record.now()})
		}
	}
	return writeTrace(w, record.events(observed, ran))
}

// events lists the recorded spans by time, enclosing spans before those that they enclose.
func (r *recorder) events(p *Program, runs []span) []event {
	var events []event
	zero := runs[0].begin
	add := func(name, category string, worker int, s span, args map[string]any) {
		µs := func(d time.Duration) float64 { return float64(d) / 1e3 }
		events = append(events, event{name, category, "X", µs(s.begin - zero), µs(s.end - s.begin), 1, worker, args})
	}
	for _, s := range runs {
		add(fmt.Sprint("run ", s.of), "run", 0, s, nil)
	}
	for _, s := range r.spans {
		st, args := &p.stages[s.of], map[string]any{"stage": s.of}
		if st.rows > 0 {
			args["rows"] = st.text()
		}
		add(p.stageText(s.of), "stage", 0, s, args)
	}
	rows := p.Rows()
	args := make([]map[string]any, len(rows)) // maps are shared: a large run has many blocks
	for i, row := range rows {
		args[i] = map[string]any{
			"instruction": i, "stage": row.Stage, "result": row.Result, "in": row.In, "line": row.Pos.String(), "scope": row.Scope}
	}
	for k := range r.workers {
		for _, s := range r.workers[k].spans {
			add(rows[s.of].Op+" "+rows[s.of].Node.Label(), "instruction", k, s, args[s.of])
		}
	}
	slices.SortStableFunc(events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(b.Duration, a.Duration))
	})
	names := []event{{Name: "process_name", Phase: "M", Process: 1, Args: map[string]any{"name": p.source.Name()}}}
	for k := range r.workers {
		args := map[string]any{"name": fmt.Sprint("worker ", k)}
		names = append(names, event{Name: "thread_name", Phase: "M", Process: 1, Thread: k, Args: args})
	}
	return append(names, events...)
}

// writeTrace writes an event a line.
func writeTrace(w io.Writer, events []event) error {
	b := bufio.NewWriter(w)
	b.WriteString(`{"displayTimeUnit":"ns","traceEvents":[`)
	for i, e := range events {
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
