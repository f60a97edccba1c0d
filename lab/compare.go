package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// Comparison is the outcome of [Compare]: the trainings of every variant by every optimiser from
// every start and seed, and what each measures.
type Comparison struct {
	Config   Config // with the defaults filled in
	Variants []Compared
	// Metrics lists what trainings are measured by: the variant's own loss at the end ([History.End]),
	// then the loss of each variant, then the probes.
	Metrics []Metric
	cells   []Cell // seeds vary fastest, then starts, rates, optimisers, variants
}

// Compared is a variant of a comparison.
type Compared struct {
	Name    string
	Model   *builders.Model // as built, without the nodes that training adds
	Program *tape.Program   // of a training step by the first optimiser
	Trained []*graph.Node   // the parameters that the optimiser changes
	Task    int             // index of the variant whose examples it is trained on; often its own
	// Replaced tells that its own examples are others than those of Task, which it is trained on and
	// measured by all the same.
	Replaced bool
	// Reads says in words what its inputs are fed of the Table, if there are several; "" for others.
	Reads string
	// Own is the optimiser that trains it in place of that of the Config, whose Optimisers were left
	// open, and OwnRate the schedule of its rate; zero values for a variant without ([Config.Own]).
	Own     train.Optimiser
	OwnRate train.Schedule
	Cost    Cost // of that program
}

// Metric is a measure of trainings.
type Metric struct {
	Name   string
	Higher bool   // larger is better
	needs  string // what a variant must have to be measured: parameters by path, or in words
	judge  bool   // it is the loss of a model
}

// Setting is an optimiser, a schedule of its rate and a start, by their indices in the [Config] of a
// comparison.
type Setting struct{ Optimiser, Rate, Start int }

// Cell is one training of a comparison.
type Cell struct {
	History
	// Diverged is the step, from 1, at which training ended because the loss was not finite, or was
	// more than 10⁹ times as large as the first loss and as 1; 0 if it did not.
	Diverged int
	Measures []float64 // by the index of the metric; NaN where that does not apply
}

// Compare trains every variant by every optimiser, at every rate, from every start and seed. It measures what each
// training ends with by the loss of every variant whose parameters it has, by path and type, and by
// the probes. A clustering also measures the keys of a variant that looks up rows of the Table. Trainings run side by side on one core each, and results do not depend on their
// order. A training whose loss explodes, or becomes infinite or NaN, is noted as diverged, and the
// others go on. Compare ends early with ctx's error.
//
// If there is a Table and one of the variants is a clustering, then all are trained as [Cluster]
// trains by default: centres start as there, γ is annealed, rates fall, and the default steps and
// optimiser are those of Cluster.
func Compare(ctx context.Context, c Config, variants ...Variant) (*Comparison, error) {
	if len(variants) == 0 {
		return nil, errors.New("compare: no variant to train")
	}
	x, err := newMatrix(ctx, c, append([]Variant(nil), variants...))
	if err != nil {
		return nil, err
	}
	if err := x.run(ctx); err != nil {
		return nil, err
	}
	p := x.res.Config
	for i := range x.res.Variants {
		v, a := &x.res.Variants[i], x.arms[i*len(p.Optimisers)]
		if v.Cost, err = a.cost(ctx, p.Seed, a.feed.source(p.Seed)); err != nil {
			return nil, fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	return x.res, nil
}

// matrix is a comparison while it is made.
type matrix struct {
	res    *Comparison
	arms   []arm    // variants × optimisers
	judges []*judge // the variants, then the judges among the probes
}

// arm trains one variant by one optimiser.
type arm struct {
	*trainer
	feed      feeder
	rates     []train.Schedule          // of each of the Rates
	scheduled map[string]train.Schedule // of the inputs of the model, by path
}

// newMatrix checks the configuration, builds the models, and compiles the programs of all trainings
// and judges.
func newMatrix(ctx context.Context, p Config, variants []Variant) (*matrix, error) {
	if err := p.check("Compare"); err != nil {
		return nil, err
	}
	if p.DType == graph.InvalidDType {
		p.DType = graph.F64
	}
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
	if err := p.checkScheduled("Compare", models...); err != nil {
		return nil, err
	}
	if p, err = p.forModels(names[:len(variants)], models[:len(variants)]); err != nil {
		return nil, err
	}
	x := &matrix{res: &Comparison{Config: p}}
	feeders, task, err := p.feeders(names, models, len(variants))
	if err != nil {
		return nil, err
	}
	own := make([]Config, len(variants))
	for v, m := range models[:len(variants)] {
		if own[v], err = p.For(m); err != nil {
			return nil, err
		}
	}
	for i, m := range models {
		j, err := newJudge(ctx, names[i], m, feeders[i], p.lastOf(m))
		if err != nil {
			return nil, err
		}
		x.judges = append(x.judges, j)
	}
	x.metrics(names, len(variants))
	x.arms = make([]arm, len(variants)*len(p.Optimisers))
	for o := range p.Optimisers {
		models, _, err := built(p, judges)
		if err != nil {
			return nil, err
		}
		feeders, _, err := p.feeders(names, models, len(variants))
		if err != nil {
			return nil, err
		}
		for v := range variants {
			a := arm{feed: feeders[v], scheduled: p.scheduled(models[v])}
			optimiser := own[v].Optimisers[o]
			if a.trainer, err = newTrainer(ctx, names[v], models[v], optimiser, ways{}); err != nil {
				return nil, err
			}
			for _, rate := range p.rates() {
				c := own[v]
				if !rate.IsZero() {
					c.Rate, c.Falling = rate, false
				}
				a.rates = append(a.rates, c.rate(models[v].Graph, optimiser, p.Steps))
			}
			x.arms[v*len(p.Optimisers)+o] = a
		}
	}
	for v := range variants {
		t := x.arms[v*len(p.Optimisers)].trainer
		prog, err := t.program(ctx)
		if err != nil {
			return nil, err
		}
		c := Compared{Name: names[v], Model: models[v], Program: prog, Trained: t.trained, Task: task[v]}
		if f, is := feeders[v].(exampleFeeder); is && f.from != nil && models[v].Examples != nil {
			c.Replaced = !sameExamples(models[v], f.from, f.inputs)
		}
		if f, is := feeders[v].(rowFeeder); is && len(f.reads.rows) > 1 {
			c.Reads = f.reads.text()
		}
		if p.unnamed && !own[v].unnamed {
			c.Own, c.OwnRate = own[v].Optimisers[0], own[v].Rate
		}
		x.res.Variants = append(x.res.Variants, c)
	}
	return x, nil
}

// rates returns the schedules of the rate that every optimiser trains by: one that is zero, if there
// are no Rates.
func (c Config) rates() []train.Schedule {
	if len(c.Rates) == 0 {
		return []train.Schedule{{}}
	}
	return c.Rates
}

// built makes the models of variants and returns them with their names.
func built(p Config, variants []Variant) (models []*builders.Model, names []string, err error) {
	for _, v := range variants {
		m, err := v.model(p.DType)
		if err != nil {
			return nil, nil, err
		}
		models, names = append(models, m), append(names, v.Name)
	}
	return models, names, nil
}

// metrics lists the metrics, given the names of the judges, of which the first are the variants.
func (x *matrix) metrics(judges []string, variants int) {
	x.res.Metrics = []Metric{{Name: "loss at the end"}}
	of := x.judges
	for _, name := range judges[:variants] {
		x.res.Metrics = append(x.res.Metrics, Metric{Name: "loss of " + name, needs: of[0].needs(), judge: true})
		of = of[1:]
	}
	judges = judges[variants:]
	for _, p := range x.res.Config.Probes {
		m := Metric{Name: p.Name, Higher: p.Higher, needs: p.needs}
		if p.judge != nil {
			m.Name, m.needs, m.judge = "loss of "+judges[0], of[0].needs(), true
			judges, of = judges[1:], of[1:]
		}
		x.res.Metrics = append(x.res.Metrics, m)
	}
}

// run trains all cells, on as many goroutines as Workers says.
func (x *matrix) run(ctx context.Context) error {
	p := x.res.Config
	x.res.cells = make([]Cell, len(x.res.Variants)*len(x.res.Settings())*p.Seeds)
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

// cell runs training i and measures it.
func (x *matrix) cell(ctx context.Context, i int) (name string, err error) {
	p := x.res.Config
	settings := x.res.Settings()
	s, set, v := i%p.Seeds, settings[i/p.Seeds%len(settings)], i/p.Seeds/len(settings)
	start, a, seed := set.Start, x.arms[v*len(p.Optimisers)+set.Optimiser], p.Seed+uint64(s)
	name = x.res.Variants[v].Name
	store, err := p.Starts[start].store(a.model, seed, a.feed.begin(seed))
	if err != nil {
		return name, fmt.Errorf("%s, start %v: %w", name, p.Starts[start], err)
	}
	c := Cell{}
	c.History, err = a.run(ctx, course{
		seed: seed, store: store, steps: p.Steps, source: a.feed.source(seed), rate: a.rates[set.Rate], scheduled: a.scheduled,
		size: p.size(a.model), settled: a.feed.settled(seed).with(p.lastOf(a.model)), workers: 1, goesOn: true,
		observers: append(stepped(p.Stepped, name), &explosion{}),
	})
	switch {
	case errors.As(err, new(*tape.NotFinite)):
		c.Diverged, err = len(c.Loss)+1, nil
	case errors.Is(err, errExploded):
		c.Diverged, err = len(c.Loss), nil
	}
	if err == nil {
		c.Measures, err = x.measures(ctx, a, c, store)
	}
	if err != nil {
		if errors.Is(err, ctx.Err()) {
			return name, err
		}
		return name, fmt.Errorf("%s, %s, %v, seed %d: %w", name, x.res.OptimiserName(v, set), p.Starts[start], seed, err)
	}
	x.res.cells[i] = c
	return name, nil
}

// measures applies all metrics that apply to a training. One that diverged has the worst value of
// each.
func (x *matrix) measures(ctx context.Context, a arm, c Cell, final *tape.Store) ([]float64, error) {
	out := make([]float64, len(x.res.Metrics))
	judge := func(j *judge) (float64, error) {
		switch {
		case !j.applies(a.model):
			return j.measureKeys(ctx, a.feed, c.Seed)
		case c.Diverged > 0:
			return math.Inf(1), nil
		}
		m, err := j.measure(ctx, final, c.Seed)
		if math.IsNaN(m) && err == nil {
			m = math.Inf(1) // by the last update
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
			probe = x.res.Config.Probes[k-1-n]
		}
		switch {
		case k <= n || probe.judge != nil:
			out[k], err = judge(judges[0])
			judges = judges[1:]
		case probe.of == nil:
			err = fmt.Errorf("the probe %q measures nothing", probe.Name)
		default:
			out[k], err = probe.of(a.model, final)
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

// beyond is how many times as large as the first loss, or as 1 if that is larger, a loss may become.
// A larger one is on its way to infinity, and would spoil means and variances over the seeds.
const beyond = 1e9

var errExploded = errors.New("the loss explodes")

// explosion ends a training whose loss is too large.
type explosion struct {
	most float64 // the largest loss allowed; 0 before the first step
}

// Observe checks the loss of a step.
func (x *explosion) Observe(e train.Event) error {
	switch {
	case e.Kind != train.Stepped:
		return nil
	case x.most == 0:
		x.most = beyond * max(1, math.Abs(e.Loss))
	}
	if math.Abs(e.Loss) > x.most {
		return errExploded
	}
	return nil
}

// worstOf returns the worst value of a metric.
func worstOf(higher bool) float64 {
	if higher {
		return math.Inf(-1)
	}
	return math.Inf(1)
}

// end returns the loss at the end, which is infinite for a training that diverged.
func (c Cell) end() float64 {
	if c.Diverged > 0 {
		return math.Inf(1)
	}
	return c.End()
}
