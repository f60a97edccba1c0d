package lab

import (
	"context"
	"math"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/lab/linear"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/metric"
)

// Clusterings is the outcome of [Cluster].
type Clusterings struct {
	Config    Config        // with the defaults filled in
	Variants  []Clustering  // one for each of Config.Objectives
	Baselines []Clustering  // Lloyd's algorithm, SGD on the nearest centre; none with Config.Alone
	Gamma     []SweepPoint  // the sweep over γ, which is constant in each training
	K         []SweepPoint  // the sweep over the number of clusters
	Plane     *linear.Plane // of the first two principal components of the data
}

// Clustering is one objective with all its runs.
type Clustering struct {
	Name    string
	Model   *builders.Model
	Program *tape.Program   // of a training step
	Config  Config          // of the trainings, with the defaults filled in
	Runs    []ClusterRun    // one for each seed
	Held    []metric.Scores // of each run, loss and inertia on Config.Held; nil without it
	Cost    Cost            // of a training step
}

// rounding is the share of the least inertia by which another run's may exceed it and be equal to it:
// the digits that another processor rounds otherwise make smaller differences.
const rounding = 1e-6

// Best returns the run of least inertia, the first among those that are equal up to rounding, or the
// zero ClusterRun if there are no runs.
func (v Clustering) Best() ClusterRun {
	least := math.Inf(1)
	for _, r := range v.Runs {
		if v := r.Inertia(); v < least { // NaN is not
			least = v
		}
	}
	for _, r := range v.Runs {
		if r.Inertia() <= least*(1+rounding) {
			return r
		}
	}
	if len(v.Runs) == 0 {
		return ClusterRun{}
	}
	return v.Runs[0]
}

// Moving returns the number of runs that have not converged, including those that diverged.
func (v Clustering) Moving() int {
	n := 0
	for _, r := range v.Runs {
		if !r.Rest.Converged() {
			n++
		}
	}
	return n
}

// Diverged returns the number of runs whose training ended because the loss was not finite.
func (v Clustering) Diverged() int {
	n := 0
	for _, r := range v.Runs {
		if r.Diverged > 0 {
			n++
		}
	}
	return n
}

// Cluster trains each of the objectives on the Table from every seed, then the baselines and the
// sweeps. Lloyd's algorithm runs as [Config.Lloyd] says. SGD on the nearest centre has a rate of
// 0.05, which falls as [Falling] says, and takes at least four times the steps, because batches
// differ and it comes to rest later. A run whose loss becomes infinite or NaN is noted as diverged,
// and the others go on. Cluster ends early with ctx's error.
func Cluster(ctx context.Context, c Config) (*Clusterings, error) {
	c, err := c.forCluster()
	if err != nil {
		return nil, err
	}
	c.goesOn = true
	res := &Clusterings{Config: c}
	total := len(c.Objectives) * (c.Seeds + len(c.SweepGamma) + len(c.SweepK))
	if !c.Alone {
		total += 2
	}
	done := 0
	tick := func(what string) {
		done++
		if c.Progress != nil {
			c.Progress(done, total, what)
		}
	}
	for _, name := range c.Objectives {
		v, err := c.trainEach(ctx, name, tick)
		if err != nil {
			return nil, err
		}
		res.Variants = append(res.Variants, v)
	}
	if !c.Alone {
		if err := res.baselines(ctx, tick); err != nil {
			return nil, err
		}
	}
	if err := res.sweeps(ctx, tick); err != nil {
		return nil, err
	}
	res.Plane, err = linear.NewPlane(c.Table)
	return res, err
}

// trainEach trains one objective from every seed and measures the cost of a step.
func (c Config) trainEach(ctx context.Context, name string, tick func(string)) (Clustering, error) {
	t, err := newClusterer(ctx, c, name, c.K)
	if err != nil {
		return Clustering{}, err
	}
	defer t.close()
	prog, err := t.program(ctx)
	if err != nil {
		return Clustering{}, err
	}
	v := Clustering{Name: name, Model: t.model, Program: prog, Config: t.c}
	for s := range c.Seeds {
		r, err := t.run(ctx, c.Seed+uint64(s), c.gammaOf(t.model), c.Steps, 1)
		if err != nil {
			return v, err
		}
		v.Runs = append(v.Runs, r)
		tick(name)
	}
	if v.Held, err = c.heldOut(ctx, v); err != nil {
		return v, err
	}
	v.Cost, err = t.cost(ctx, c.Seed, t.x.source(0))
	return v, err
}

// baselines runs Lloyd's algorithm with restarts, and SGD on the nearest centre from every seed.
func (res *Clusterings) baselines(ctx context.Context, tick func(string)) error {
	c := res.Config
	lloyd, err := c.Lloyd(ctx)
	if err != nil {
		return err
	}
	res.Baselines = append(res.Baselines, lloyd)
	tick("kmeans-lloyd")
	// Each point pulls by its whole gradient, so the rate is that of single points.
	c.Optimisers, c.Rate, c.Falling, c.unnamed = []train.Optimiser{train.SGD(0.05)}, train.Schedule{}, !c.AsNotes, false
	b, err := c.Find("kmeans-sgd")
	if err != nil {
		return err
	}
	batch := c.BatchOf(b)
	steps := max(4*c.Steps, 10*((c.Table.Rows()+batch-1)/batch))
	sgd, err := c.baseline(ctx, "kmeans-sgd", c.Seeds, steps, (steps+c.Steps-1)/c.Steps)
	if err != nil {
		return err
	}
	res.Baselines = append(res.Baselines, sgd)
	tick("kmeans-sgd")
	return nil
}

// Lloyd runs Lloyd's algorithm from Restarts start centres, each time until nothing moves or for
// 300 steps, and keeps every run; see [Clustering.Best].
func (c Config) Lloyd(ctx context.Context) (Clustering, error) {
	c, err := c.forCluster()
	if err != nil {
		return Clustering{}, err
	}
	return c.restarted(ctx, "kmeans-lloyd")
}

// restarted runs a model whose centres move by a step of their own as [Config.Lloyd] says.
func (c Config) restarted(ctx context.Context, name string) (Clustering, error) {
	return c.baseline(ctx, name, c.Restarts, 300, 1)
}

// baseline trains from every seed and measures the final centres. Then it trains the best run again
// and measures its centres every so many steps: a measurement takes all rows, and costs far more
// than a step on a batch.
func (c Config) baseline(ctx context.Context, name string, seeds, steps, every int) (Clustering, error) {
	t, err := newClusterer(ctx, c, name, c.K)
	if err != nil {
		return Clustering{}, err
	}
	defer t.close()
	prog, err := t.program(ctx)
	if err != nil {
		return Clustering{}, err
	}
	c = t.c
	c.Seeds, c.Steps = seeds, steps
	v := Clustering{Name: name, Model: t.model, Program: prog, Config: c}
	for s := range seeds {
		r, err := t.run(ctx, c.Seed+uint64(s), c.gammaOf(t.model), steps, 0)
		if err != nil {
			return v, err
		}
		v.Runs = append(v.Runs, r)
	}
	best := v.Best()
	full, err := t.run(ctx, best.Seed, c.gammaOf(t.model), steps, every)
	if err != nil {
		return v, err
	}
	for i := range v.Runs {
		if v.Runs[i].Seed == best.Seed {
			v.Runs[i] = full
		}
	}
	if v.Held, err = c.heldOut(ctx, v); err != nil {
		return v, err
	}
	v.Cost, err = t.cost(ctx, c.Seed, t.x.source(0))
	return v, err
}

// SweepPoint is one objective at one point of a sweep: medians over SweepSeeds seeds, at the end of
// training.
type SweepPoint struct {
	Objective string
	Value     float64 // γ or k
	Inertia   float64
	Loss      float64 // the objective's own, of the last step; infinite for a run that diverged
	Spread    float64
	ARI       float64    // NaN without labels
	Softness             // of the final centres, at the last γ
	Moving    int        // number of runs that have not converged
	Best      ClusterRun // the run of least inertia, the first among equals
}

// sweeps trains every objective at constant γ, and with each number of clusters.
func (res *Clusterings) sweeps(ctx context.Context, tick func(string)) error {
	c := res.Config
	at := func(name string, k int, gamma func(m *builders.Model) train.Schedule, value float64) (SweepPoint, error) {
		t, err := newClusterer(ctx, c, name, k)
		if err != nil {
			return SweepPoint{}, err
		}
		defer t.close()
		var in, loss, spread, ari, entropy, reach []float64
		moving := 0
		var all Clustering
		for s := range c.SweepSeeds {
			r, err := t.run(ctx, c.Seed+uint64(s), gamma(t.model), c.Steps, 0)
			if err != nil {
				return SweepPoint{}, err
			}
			in, spread, ari = append(in, r.Inertia()), append(spread, r.Final().Spread), append(ari, r.ARI)
			loss = append(loss, r.lastLoss())
			soft := NewSoftness(c.Table, r.Centres(), r.Gamma[len(r.Gamma)-1])
			entropy, reach = append(entropy, soft.Entropy), append(reach, soft.Reach)
			if !r.Rest.Converged() {
				moving++
			}
			all.Runs = append(all.Runs, r)
		}
		return SweepPoint{name, value, Median(in), Median(loss), Median(spread), Median(ari), Softness{Median(entropy), Median(reach)}, moving, all.Best()}, nil
	}
	for _, name := range c.Objectives {
		for _, γ := range c.SweepGamma {
			p, err := at(name, c.K, func(*builders.Model) train.Schedule { return train.Constant(γ) }, γ)
			if err != nil {
				return err
			}
			res.Gamma = append(res.Gamma, p)
			tick("sweep over γ")
		}
		for _, k := range c.SweepK {
			p, err := at(name, k, c.gammaOf, float64(k))
			if err != nil {
				return err
			}
			res.K = append(res.K, p)
			tick("sweep over k")
		}
	}
	return nil
}
