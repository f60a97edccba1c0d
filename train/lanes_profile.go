package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/memory"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/internal/trace"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// LanesProfile tells where the time of a step in lanes goes on one rank. All times are medians over
// the runs. Its text form has the profiles of both programs behind a table:
//
//	a step takes 1910.0 µs; medians of 50 runs
//	       time  share
//	  1640.0 µs  85.9%  8 lanes
//	   180.0 µs   9.4%  sum over lanes: 5 arrays, 9.0 KiB of each lane
//	    90.0 µs   4.7%  update
type LanesProfile struct {
	Lane, Update *tape.Profile // of the rank's first lane, by itself on one core, and of the update
	Runs         int           // measured
	Lanes, Ranks int           // the lanes of this rank, and all ranks
	Arrays       int           // that are summed up
	Bytes        int           // of them, of each lane
	// Terms is the time of computing the terms of this rank's lanes. Sum is that of adding them, and of
	// exchanging sums with other ranks, which includes waiting for these. While some workers add
	// terms, others compute theirs; that time is shared out as the workers' time is.
	Terms, Sum time.Duration
	Updates    time.Duration // the time of the update
	// Parameters is the time of sending updated parameters to all ranks, where states are shared out.
	Parameters time.Duration
}

// Time returns the time of a step.
func (p *LanesProfile) Time() time.Duration {
	if p == nil {
		return 0
	}
	return p.Terms + p.Sum + p.Updates + p.Parameters
}

// ProfileLanes runs the step of a batch, or of this rank's rows of one, and measures so many runs
// after some warm-up. It takes no step of the trainer: parameters and states stay as they are. All
// ranks call it, each with rows of one batch and with the same number of runs; an error of one ends
// the job of all. In the profile of a lane, sums over lanes within the loss are copies; in Terms they
// are as in training. It is an error if the trainer has no Ranks, or if this rank has no rows.
func (t *Trainer) ProfileLanes(ctx context.Context, b data.Batch, runs int) (*LanesProfile, error) {
	l, times, err := t.measure(ctx, b, runs, "profile")
	if err != nil {
		return nil, err
	}
	c := l.kinds[0].cut
	out := &LanesProfile{
		Runs: runs, Lanes: len(l.failed), Ranks: l.ranks.Count(), Arrays: c.sums(), Bytes: c.bytes(),
		Terms:   median(times, func(x *laneTimes) time.Duration { return x.took(termsComputed) - x.adding() }),
		Sum:     median(times, func(x *laneTimes) time.Duration { return x.adding() + x.took(termsSummed) }),
		Updates: median(times, func(x *laneTimes) time.Duration { return x.took(stepUpdated) }),
	}
	if c.shards != nil {
		out.Parameters = median(times, func(x *laneTimes) time.Duration { return x.took(parametersSent) })
	}
	// The update is fed the sums of the last run or, where parameters were sent, the parameters that
	// lie in their place: the time is the same.
	if out.Update, err = l.update.Profile(ctx, l.sums, runs); err != nil {
		return nil, fmt.Errorf("train: the update: %w", err)
	}
	if out.Lane, err = l.profile(ctx, runs); err != nil {
		return nil, fmt.Errorf("train: a lane: %w", err)
	}
	return out, nil
}

// TraceLanes runs the step as ProfileLanes does, and writes what each worker of this rank did in so
// many runs: the lanes, the sum over lanes (in the category of that name, with its bytes) and the
// update, within the run. A lane ends with adding its terms to the sums. The format is the JSON of
// chrome://tracing and Perfetto, where rank 0 is process 1. Instructions are not in it: see
// [tape.VM.Trace].
func (t *Trainer) TraceLanes(ctx context.Context, b data.Batch, runs int, w io.Writer) error {
	if w == nil {
		return errors.New("train: a trace without a writer: it is nil")
	}
	l, times, err := t.measure(ctx, b, runs, "trace")
	if err != nil {
		return err
	}
	var events []trace.Event
	for i, x := range times {
		events = append(events, l.events(i, x, times[0].at[stepBegun])...)
	}
	return trace.Write(w, l.names(), events)
}

// measure returns the engine for a batch, and the times of so many runs.
func (t *Trainer) measure(ctx context.Context, b data.Batch, runs int, what string) (*laneEngine, []*laneTimes, error) {
	if err := t.inLanes(ctx); err != nil {
		return nil, nil, err
	}
	if runs < 1 {
		return nil, nil, fmt.Errorf("train: a %s of %d runs: want at least 1", what, runs)
	}
	p, err := t.program(ctx, size{rows: max(b.Of, b.Rows), sizes: b.Sizes, mode: Training})
	if err != nil {
		return nil, nil, t.abort(err)
	}
	times, err := p.measure(ctx, b, runs)
	if err != nil {
		return nil, nil, t.abort(fmt.Errorf("train: a %s: %w", what, err))
	}
	return p.lanes, times, nil
}

// measure runs a step in lanes, whose update changes a copy of the store.
func (p *program) measure(ctx context.Context, b data.Batch, runs int) (out []*laneTimes, err error) {
	l := p.lanes
	update := l.update
	if l.update, err = l.kinds[0].cut.update.NewVM(l.store.Clone(), tape.Workers(l.cores)); err != nil {
		l.update = update
		return nil, err
	}
	defer func() {
		l.update.Close()
		l.update, l.times = update, nil
	}()
	p.fill(b)
	const warmUp = 3
	for i := range warmUp + runs {
		l.times = &laneTimes{lanes: make([]laneTime, len(l.failed))}
		if err := p.run(ctx, b); err != nil {
			return nil, err
		}
		if i >= warmUp {
			out = append(out, l.times)
		}
	}
	return out, nil
}

// profile returns the profile of the rank's first lane, alone.
func (l *laneEngine) profile(ctx context.Context, runs int) (*tape.Profile, error) {
	at := l.kindOf(0)
	if at < 0 {
		return nil, errors.New("train: a profile of a rank without rows: want a larger batch, or fewer lanes")
	}
	k := &l.kinds[at]
	from, to := l.span(0)
	feed := tape.Feed{}
	for in, t := range k.feed {
		if isColumn(in) {
			t = rowsOf(in, t, from, to)
		}
		feed[in] = t
	}
	vm, err := k.cut.lane.NewVM(l.store.Share(), tape.Workers(1))
	if err != nil {
		return nil, err
	}
	defer vm.Close()
	return vm.Profile(ctx, feed, runs)
}

// rowsOf returns some rows of what an input is fed, over the same memory.
func rowsOf(in *graph.Node, t *tensor.Dense, from, to int) *tensor.Dense {
	each := in.Shape().Len() / max(1, in.Dim(0))
	if each == 0 {
		return tape.Tensor(graph.NewValue(in.Type()))
	}
	rows := reflect.ValueOf(t.Data()).Slice(from*each, to*each).Interface()
	return tensor.New(tensor.WithShape(in.Shape().Sizes()...), tensor.WithBacking(rows))
}

// String returns the table and the profiles.
func (p *LanesProfile) String() string {
	if p == nil || p.Lane == nil || p.Update == nil {
		return ""
	}
	var b strings.Builder
	µs := func(d time.Duration) float64 { return float64(d) / 1e3 }
	all := p.Time()
	fmt.Fprintf(&b, "a step takes %.1f µs; medians of %s\n%11s %6s\n", µs(all), plural.Count(p.Runs, "run"), "time", "share")
	row := func(d time.Duration, what string) {
		fmt.Fprintf(&b, "%8.1f µs %5.1f%%  %s\n", µs(d), 100*float64(d)/float64(max(1, all)), what)
	}
	row(p.Terms, plural.Count(p.Lanes, "lane"))
	over := "lanes"
	if p.Ranks > 1 {
		over += " and ranks"
	}
	row(p.Sum, fmt.Sprintf("sum over %s: %s, %s of each lane", over, plural.Count(p.Arrays, "array"), memory.Text(int64(p.Bytes))))
	row(p.Updates, "update")
	if p.Parameters > 0 {
		row(p.Parameters, "parameters to all ranks")
	}
	fmt.Fprintf(&b, "\neach lane: %vupdate: %v", p.Lane, p.Update)
	return b.String()
}
