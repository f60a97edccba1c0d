package train

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tapestry-ml/tapestry/internal/trace"
)

// laneTimes says what happened when in a step in lanes. Its methods do nothing where it is nil, as in
// a step that is not measured.
type laneTimes struct {
	at    [moments]time.Time
	lanes []laneTime // by own lane
}

// moment is a part of a step, at its end.
type moment int

const (
	stepBegun moment = iota
	termsComputed
	termsSummed
	stepUpdated
	parametersSent
	moments
)

// laneTime says what happened when in a lane.
type laneTime struct {
	worker             int
	begin, adds, added time.Time
	within             []sumTime // sums over lanes within the loss
}

type sumTime struct {
	site, bytes int
	begin, end  time.Time
}

func (t *laneTimes) mark(m moment) {
	if t != nil {
		t.at[m] = time.Now()
	}
}

// lane is called when a worker begins an own lane, adds and added before and after its terms are added
// to the sums.
func (t *laneTimes) lane(i, worker int) {
	if t != nil {
		t.lanes[i].worker, t.lanes[i].begin = worker, time.Now()
	}
}

func (t *laneTimes) adds(i int) {
	if t != nil {
		t.lanes[i].adds = time.Now()
	}
}

func (t *laneTimes) added(i int) {
	if t != nil {
		t.lanes[i].added = time.Now()
	}
}

// within is called after a sum over lanes within the loss of an own lane.
func (t *laneTimes) within(i, site, bytes int, begin time.Time) {
	t.lanes[i].within = append(t.lanes[i].within, sumTime{site, bytes, begin, time.Now()})
}

// took returns the time of a part of the step.
func (t *laneTimes) took(m moment) time.Duration { return t.at[m].Sub(t.at[m-1]) }

// adding returns the time in which the lanes' terms were added, of the time in which they were
// computed and added: its part of the workers' time.
func (t *laneTimes) adding() time.Duration {
	var all, adding time.Duration
	for _, l := range t.lanes {
		all, adding = all+l.added.Sub(l.begin), adding+l.added.Sub(l.adds)
	}
	if all <= 0 {
		return 0
	}
	return time.Duration(float64(t.took(termsComputed)) * float64(adding) / float64(all))
}

// events returns what happened in run number n of the engine, from a time on.
func (l *laneEngine) events(n int, t *laneTimes, zero time.Time) (out []trace.Event) {
	process := l.ranks.Rank() + 1
	add := func(name, category string, worker int, begin, end time.Time, args map[string]any) {
		out = append(out, trace.Span(name, category, process, worker, begin.Sub(zero), end.Sub(zero), args))
	}
	add(fmt.Sprint("run ", n), "run", 0, t.at[stepBegun], t.at[parametersSent], nil)
	bytes := l.kinds[0].cut.bytes()
	from, _ := l.ranks.Own()
	for i, x := range t.lanes {
		first, end := l.ranks.Rows(from+i, l.rows)
		lane := map[string]any{"lane": from + i, "rows": end - first}
		add(fmt.Sprint("lane ", from+i), "lane", x.worker, x.begin, x.added, lane)
		for _, s := range x.within {
			args := maps.Clone(lane)
			args["sum over lanes"], args["bytes"] = s.site, s.bytes
			add(fmt.Sprint("sum ", s.site), sumCategory, x.worker, s.begin, s.end, args)
		}
		args := maps.Clone(lane)
		args["bytes"] = bytes
		add(fmt.Sprint("add lane ", from+i), sumCategory, x.worker, x.adds, x.added, args)
	}
	add("sum over lanes"+l.andRanks(), sumCategory, 0, t.at[termsComputed], t.at[termsSummed], map[string]any{"bytes": bytes, "arrays": l.kinds[0].cut.sums()})
	add("update", "update", 0, t.at[termsSummed], t.at[stepUpdated], nil)
	if l.kinds[0].cut.shards != nil {
		add("parameters to all ranks", "parameters", 0, t.at[stepUpdated], t.at[parametersSent], nil)
	}
	return out
}

// sumCategory is the category of sums over lanes in a trace, as in those of [tape.VM.Trace].
const sumCategory = "sum over lanes"

// names returns the names of the rank and its workers.
func (l *laneEngine) names() []trace.Event {
	name := l.kinds[0].net.graph().Name()
	if l.ranks.Count() > 1 {
		name += fmt.Sprintf(", rank %d", l.ranks.Rank())
	}
	workers := make([]string, len(l.vms))
	for w := range workers {
		workers[w] = fmt.Sprint("worker ", w)
	}
	return trace.Names(l.ranks.Rank()+1, name, workers...)
}

func (l *laneEngine) andRanks() string {
	if l.ranks.Count() > 1 {
		return " and ranks"
	}
	return ""
}

// median returns the median of a time over the runs, the lower one of two.
func median(runs []*laneTimes, of func(*laneTimes) time.Duration) time.Duration {
	all := make([]time.Duration, len(runs))
	for i, t := range runs {
		all[i] = of(t)
	}
	slices.Sort(all)
	return all[(len(all)-1)/2]
}
