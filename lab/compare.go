package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"sync"
	"sync/atomic"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// Comparison is the outcome of [Compare]: every training of the matrix variants ×
// optimisers × starts × seeds, and what each measures.
type Comparison struct {
	Plan     Plan // as used: with the defaults
	Variants []Compared
	// Yardsticks are what trainings are measured by: first the loss at the end, then the
	// loss of every variant in turn, then the probes.
	Metrics []Metric
	cells   []Cell // seeds vary fastest, then starts, optimisers, variants
}

// Compared is a variant with what was made of it.
type Compared struct {
	Name    string
	Model   *builders.Model // as built, without what training adds
	Program *tape.Program   // of training by the first optimiser
	Trained []*graph.Node   // the parameters that the optimiser changes
	Task    int             // the variant whose examples it is trained on: itself, or one that has all of its inputs
	Cost    Cost
}

// Metric is what trainings are measured by.
type Metric struct {
	Name   string
	Higher bool // larger is better
}

// Setting picks an optimiser and a start of the plan.
type Setting struct{ Optimiser, Start int }

// Cell is one training.
type Cell struct {
	History
	// Diverged is the step, from 1, at which training ended because its loss was not
	// finite, or more than a billion times the first one and 1; 0 if there was none.
	Diverged int
	Measures []float64 // by yardstick; NaN where it does not apply
}

// Compare trains every variant by every optimiser from every start and seed, and
// measures what each leaves by the loss of every variant that has its parameters, by
// path and type, and by the probes. Trainings run side by side, one core each, and
// their results do not depend on the order. A training whose loss explodes, or becomes infinite
// or NaN, is noted as diverged, and the others go on. Compare ends early with ctx's error.
func Compare(ctx context.Context, p Plan, variants ...Variant) (*Comparison, error) {
	p, err := p.withDefaults()
	if err != nil {
		return nil, err
	}
	if len(variants) == 0 {
		return nil, errors.New("compare: no variant to train")
	}
	x, err := newMatrix(ctx, p, append([]Variant(nil), variants...))
	if err != nil {
		return nil, err
	}
	if err := x.run(ctx); err != nil {
		return nil, err
	}
	for i := range x.res.Variants {
		v, a := &x.res.Variants[i], x.arms[i*len(p.Optimisers)]
		feed, err := a.feed.feeds(p.Seed)(0)
		if err != nil {
			return nil, err
		}
		if v.Cost, err = a.cost(ctx, p.Optimisers[0], p.Seed, feed); err != nil {
			return nil, fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	return x.res, nil
}

// matrix is a comparison at work.
type matrix struct {
	res    *Comparison
	arms   []arm // variants × optimisers
	judges []*judge
}

// arm trains one variant by one optimiser.
type arm struct {
	*Learned
	feed      feeder
	scheduled map[*graph.Node]train.Schedule // inputs of the objective
	rates     map[*graph.Node]train.Schedule // of the optimiser
	rest      *Settling
}

func newMatrix(ctx context.Context, p Plan, variants []Variant) (*matrix, error) {
	x := &matrix{res: &Comparison{Plan: p}}
	judges := append([]Variant(nil), variants...)
	for _, probe := range p.Probes {
		if probe.judge != nil {
			judges = append(judges, *probe.judge)
		}
	}
	models, names, err := built(p, judges)
	if err != nil {
		return nil, err
	}
	if name, twice := twiceNamed(names[:len(variants)], func(s string) string { return s }); twice {
		return nil, fmt.Errorf("compare: two variants are named %s", name)
	}
	feeders, task, err := p.feeders(names, models, len(variants))
	if err != nil {
		return nil, err
	}
	for i, m := range models {
		j, err := newJudge(ctx, names[i], m, feeders[i], p.lastOf)
		if err != nil {
			return nil, err
		}
		x.judges = append(x.judges, j)
	}
	x.yardsticks(names, len(variants))
	x.arms = make([]arm, len(variants)*len(p.Optimisers))
	for o, optimiser := range p.Optimisers {
		models, _, err := built(p, judges)
		if err != nil {
			return nil, err
		}
		feeders, _, err := p.feeders(names, models, len(variants))
		if err != nil {
			return nil, err
		}
		for v := range variants {
			l, _, err := compiled(ctx, names[v], models[v], optimiser)
			if err != nil {
				return nil, err
			}
			a := arm{Learned: l, feed: feeders[v], scheduled: p.ScheduledOf(models[v])}
			if p.Falling || !p.Rate.IsZero() {
				a.rates = falls(models[v].Graph, optimiser, p.Rate, p.Steps)
			}
			if a.rest, err = NewSettling(ctx, models[v]); err != nil {
				return nil, fmt.Errorf("%s: %w", names[v], err)
			}
			x.arms[v*len(p.Optimisers)+o] = a
		}
	}
	for v := range variants {
		l := x.arms[v*len(p.Optimisers)].Learned
		x.res.Variants = append(x.res.Variants, Compared{Name: names[v], Model: models[v], Program: l.Program, Trained: l.Trained, Task: task[v]})
	}
	return x, nil
}

// built makes the models, and gives their names.
func built(p Plan, variants []Variant) (models []*builders.Model, names []string, err error) {
	for _, v := range variants {
		m, err := v.model(p.DType)
		if err != nil {
			return nil, nil, err
		}
		models, names = append(models, m), append(names, v.Name)
	}
	return models, names, nil
}

// yardsticks names what is measured, by the names of the judges, of which the first
// are variants.
func (x *matrix) yardsticks(judges []string, variants int) {
	x.res.Metrics = []Metric{{Name: "loss at the end"}}
	for _, name := range judges[:variants] {
		x.res.Metrics = append(x.res.Metrics, Metric{Name: "loss of " + name})
	}
	judges = judges[variants:]
	for _, p := range x.res.Plan.Probes {
		if p.judge != nil {
			p.Name, judges = "loss of "+judges[0], judges[1:]
		}
		x.res.Metrics = append(x.res.Metrics, Metric{p.Name, p.Higher})
	}
}

// run trains all cells, on as many goroutines as the plan says.
func (x *matrix) run(ctx context.Context) error {
	p := x.res.Plan
	x.res.cells = make([]Cell, len(x.res.Variants)*len(p.Optimisers)*len(p.Starts)*p.Seeds)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	var report sync.Mutex
	done := 0
	for range min(p.Workers, len(x.res.cells)) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(x.res.cells) || ctx.Err() != nil {
					return
				}
				name, err := x.cell(ctx, i)
				if err != nil {
					cancel(err)
					return
				}
				report.Lock()
				if done++; p.Progress != nil {
					p.Progress(done, len(x.res.cells), name)
				}
				report.Unlock()
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// cell does one training and measures it.
func (x *matrix) cell(ctx context.Context, i int) (name string, err error) {
	p := x.res.Plan
	s, start, o, v := i%p.Seeds, i/p.Seeds%len(p.Starts), i/p.Seeds/len(p.Starts)%len(p.Optimisers), i/p.Seeds/len(p.Starts)/len(p.Optimisers)
	a, seed := x.arms[v*len(p.Optimisers)+o], p.Seed+uint64(s)
	name = x.res.Variants[v].Name
	store, err := p.Starts[start].store(a.Model, seed)
	if err != nil {
		return name, fmt.Errorf("%s, start %v: %w", name, p.Starts[start], err)
	}
	vm, err := a.Program.NewVM(store, tape.Workers(1))
	if err != nil {
		return name, fmt.Errorf("%s: %w", name, err)
	}
	c := Cell{}
	scheduled := maps.Clone(a.rates)
	if scheduled == nil {
		scheduled = map[*graph.Node]train.Schedule{}
	}
	maps.Copy(scheduled, a.scheduled)
	c.History, err = follow(ctx, vm, a.Model.Loss, seed, train.Loop{Steps: p.Steps, Feed: a.feed.feeds(seed), Scheduled: scheduled},
		a.rest.Follow(p.Steps, p.size(a.Model)), store, a.held(seed, p), named(p.Stepped, name), exploded)
	for _, s := range a.scheduled {
		c.Rest.Changing = c.Rest.Changing || changes(s, p.Steps)
	}
	if bad := (*tape.NotFinite)(nil); errors.As(err, &bad) {
		c.Diverged, err = len(c.Loss)+1, nil
	} else if exploded(c.Loss) {
		c.Diverged = len(c.Loss)
	}
	if err == nil {
		c.Measures, err = x.measures(ctx, a, c, store)
	}
	if err != nil {
		if errors.Is(err, ctx.Err()) {
			return name, err
		}
		return name, fmt.Errorf("%s, %v, %v, seed %d: %w", name, p.Optimisers[o], p.Starts[start], seed, err)
	}
	x.res.cells[i] = c
	return name, nil
}

// held are the examples on which the gradient at the end is taken, with the last value of
// what is scheduled.
func (a arm) held(seed uint64, p Plan) Feeds {
	return a.feed.settled(seed).with(p.lastOf(a.Model))
}

// measures applies all yardsticks. What diverged is as bad as can be by each that
// applies.
func (x *matrix) measures(ctx context.Context, a arm, c Cell, final *tape.Store) ([]float64, error) {
	out := make([]float64, len(x.res.Metrics))
	judge := func(j *judge) (float64, error) {
		switch {
		case !j.applies(a.Model):
			return math.NaN(), nil
		case c.Diverged > 0:
			return math.Inf(1), nil
		}
		m, err := j.measure(ctx, final, c.Seed)
		if math.IsNaN(m) && err == nil {
			m = math.Inf(1) // the last update went where the loss is none
		}
		return m, err
	}
	out[0] = c.end()
	n := len(x.res.Variants)
	judges := x.judges
	for k := 1; k < len(out); k++ {
		var err error
		var probe Probe
		if k > n {
			probe = x.res.Plan.Probes[k-1-n]
		}
		switch {
		case k <= n || probe.judge != nil:
			out[k], err = judge(judges[0])
			judges = judges[1:]
		case probe.of == nil:
			err = fmt.Errorf("the probe %q measures nothing", probe.Name)
		default:
			out[k], err = probe.of(a.Model, final)
			if worst := worstOf(probe.Higher); err == nil && c.Diverged > 0 && !math.IsNaN(out[k]) {
				out[k] = worst
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// explosion is how many times the first loss, or 1 if that is more, a loss may be: means
// and variances over the seeds say nothing any more where one is on its way to infinity.
const explosion = 1e9

// exploded reports whether the last of the losses is beyond all measure.
func exploded(losses []float64) bool {
	n := len(losses)
	return n > 0 && math.Abs(losses[n-1]) > explosion*max(1, math.Abs(losses[0]))
}

// worstOf is the worst value of a yardstick.
func worstOf(higher bool) float64 {
	if higher {
		return math.Inf(-1)
	}
	return math.Inf(1)
}

// end is the loss at the end; infinite if there is none.
func (c Cell) end() float64 {
	if c.Diverged > 0 {
		return math.Inf(1)
	}
	return c.End()
}
