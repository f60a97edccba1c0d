package tape

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tapestry-ml/tapestry/internal/trace"
)

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
	var workers []string
	for k := range record.workers {
		workers = append(workers, fmt.Sprint("worker ", k))
	}
	return trace.Write(w, trace.Names(1, observed.source.Name(), workers...), record.events(observed, ran))
}

// events lists the recorded spans.
func (r *recorder) events(p *Program, runs []span) []trace.Event {
	var events []trace.Event
	zero := runs[0].begin
	add := func(name, category string, worker int, s span, args map[string]any) {
		events = append(events, trace.Span(name, category, 1, worker, s.begin-zero, s.end-zero, args))
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
		if row.Lanes {
			args[i]["sum over lanes"], args[i]["bytes"] = row.Site, row.Bytes
		}
	}
	for k := range r.workers {
		for _, s := range r.workers[k].spans {
			category := "instruction"
			if rows[s.of].Lanes {
				category = "sum over lanes"
			}
			add(rows[s.of].Op+" "+rows[s.of].Node.Label(), category, k, s, args[s.of])
		}
	}
	return events
}
