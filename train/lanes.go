package train

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/pool"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/parallel"
	"gorgonia.org/tensor"
)

// laneEngine is the engine of steps in lanes, for batches of one size. Each worker of this rank takes one
// lane after the other, on a VM of its own for each number of rows that a lane may have.
type laneEngine struct {
	ranks *parallel.Ranks
	store *tape.Store
	rows  int        // of a batch, on all ranks together
	cores int        // that this rank uses
	kinds []kind     // of lanes: the larger first
	vms   [][]laneVM // by worker, then by kind
	// One of the two runs the lanes.
	tasks   *pool.Pool
	meeting *meeting

	bucket *parallel.Bucket
	empty  []float32 // the term of a lane without rows
	flags  []float32 // that this rank raises; they lie behind the term of its first lane
	none   []float32 // those of its other lanes

	update *tape.VM
	own    []*tensor.Dense              // by term: the parameter in the store that this rank alone updates; nil for others and where all ranks do
	sums   tape.Feed                    // of the update
	common []alias                      // inputs of the update
	places map[*float32][]*tensor.Dense // the sums, by where the first is: see give

	batch  data.Batch // of the run under way, or the last
	ctx    context.Context
	failed []error     // by own lane
	times  *laneTimes  // of the run under way; nil where it is not measured
	raised [flags]bool // by any rank in the last run
	seen   []glimpse   // by own lane, in a run that is looked at; else nil
	sites  []bool      // which sums inside of the loss are looked at in it
	totals [][]float64 // the sums over lanes inside of the loss, by site, of the last such run
}

// refused returns an error where the trainer's fields have no step in lanes.
func (t *Trainer) refused() error {
	switch {
	case t.Engine != nil:
		return errors.New("train: ranks share out steps of the tape, and not those of another engine: set either Ranks or Engine")
	case t.Optimiser.search != nil:
		return fmt.Errorf("train: %s searches along a line, and takes no steps in lanes: train it without ranks", t.Optimiser.name)
	case t.CheckUpdates && t.Ranks.Sharded() && t.several():
		return errors.New("train: each rank makes the updates of its own parameters alone, and commits them before the others are known to be finite: check updates without sharding, which gives the same bits")
	}
	return nil
}

// newLanes returns the engine for batches of a size.
func (t *Trainer) newLanes(ctx context.Context, s size) (_ *laneEngine, err error) {
	if err := t.refused(); err != nil {
		return nil, err
	}
	l := &laneEngine{ranks: t.Ranks, store: t.Store(), rows: s.rows, cores: t.cores(), flags: make([]float32, flags), none: make([]float32, flags)}
	defer func() {
		if err != nil {
			l.Close()
		}
	}()
	if l.kinds, err = t.kinds(ctx, s); err != nil {
		return nil, err
	}
	if err := l.open(); err != nil {
		return nil, err
	}
	c := l.kinds[0].cut
	t.shards = c.shards
	t.keepOwn()
	if l.update, err = c.update.NewVM(l.store, tape.Workers(l.cores)); err != nil {
		return nil, err
	}
	l.bucket, l.places = l.ranks.NewBucket(c.f32+flags, c.f64), map[*float32][]*tensor.Dense{}
	l.empty = make([]float32, c.f32)
	if err := l.lookAtOwn(); err != nil {
		return nil, err
	}
	l.sums, l.common = tape.Feed{}, aliases(l.kinds[0].inputs, c.above)
	for i := range c.terms {
		if t := &c.terms[i]; t.in != nil && t.typ.Shape.Rank() == 0 {
			l.sums[t.in] = tape.Scalar(t.typ.DType, 0)
		}
	}
	return l, nil
}

// cores returns the number of cores that the trainer uses.
func (t *Trainer) cores() int {
	if most := runtime.GOMAXPROCS(0); t.Workers < 1 || t.Workers > most {
		return most
	}
	return t.Workers
}

// open makes the VMs for lanes: one for each worker or, where lanes meet, for each lane.
func (l *laneEngine) open() error {
	from, to := l.ranks.Own()
	own := to - from
	l.failed = make([]error, own)
	workers := min(l.cores, own)
	if l.kinds[0].cut.meets {
		if first, last := l.ranks.Rows(l.ranks.Lanes()-1, l.rows); first == last {
			return fmt.Errorf("train: %d rows in %d lanes: %s has sums over lanes inside of the loss, and needs a row for each lane", l.rows, l.ranks.Lanes(), l.kinds[0].net.graph().Name())
		}
		workers, l.meeting = own, newMeeting(l)
	} else {
		l.tasks = pool.New(workers)
	}
	l.vms = make([][]laneVM, workers)
	for w := range l.vms {
		l.vms[w] = make([]laneVM, len(l.kinds))
		for k := range l.kinds {
			if l.kinds[k].cut.lane == nil || l.meeting != nil && k != l.kindOf(w) {
				continue
			}
			options := []tape.VMOption{tape.Workers(max(1, share(l.cores, workers, w)))}
			if l.meeting != nil {
				options = append(options, tape.Lanes(summer{l.meeting, from + w}))
			}
			if err := l.vms[w][k].open(&l.kinds[k], l.store.Share(), options); err != nil {
				return err
			}
		}
	}
	return nil
}

// share returns how many of n cores worker w of several has.
func share(n, workers, w int) int {
	if w < n%workers {
		return n/workers + 1
	}
	return n / workers
}

// Run takes a step of the batch, which is fed. On an error nothing is committed. The loss that is not
// finite is an error on all ranks; any other the caller tells the others, which wait for this rank.
func (l *laneEngine) Run(ctx context.Context, feed tape.Feed) error {
	l.supply(feed)
	l.ctx = ctx
	l.times.mark(stepBegun)
	if i := l.compute(); i >= 0 {
		l.bucket.Clear()
		from, _ := l.span(i)
		return &inLane{from, l.failed[i]}
	}
	l.times.mark(termsComputed)
	if err := l.sum(ctx); err != nil {
		return err
	}
	l.times.mark(termsSummed)
	f32, _ := l.bucket.Total()
	for i := range l.raised {
		l.raised[i] = f32[len(f32)-len(l.raised)+i] > 0
	}
	l.give()
	err := l.update.Run(ctx, l.sums)
	if err == nil {
		l.times.mark(stepUpdated)
		err = l.share(ctx)
		l.times.mark(parametersSent)
		return err
	}
	if wild := new(tape.NotFinite); errors.As(err, &wild) {
		name := l.kinds[0].cut.checks[wild.Name]
		if name == "" {
			name = l.kinds[0].net.Loss.String()
		}
		err = &tape.NotFinite{Name: name, Value: wild.Value}
	}
	return err
}

// supply feeds all programs what is fed.
func (l *laneEngine) supply(feed tape.Feed) {
	for k := range l.kinds {
		supply(l.kinds[k].feed, l.kinds[k].common, feed)
	}
	supply(l.sums, l.common, feed)
}

// compute puts the terms of this rank's lanes into the bucket, and returns the own lane whose error is
// that of the step, or −1.
func (l *laneEngine) compute() (failed int) {
	if l.meeting != nil {
		return l.meeting.run()
	}
	l.tasks.Begin()
	l.tasks.Do(len(l.failed), 1, (*task)(l))
	l.tasks.End()
	return slices.IndexFunc(l.failed, func(err error) bool { return err != nil })
}

// give feeds the update the sums.
func (l *laneEngine) give() {
	f32, f64 := l.bucket.Total()
	arrays := l.arrays(f32, f64)
	for i, t := range l.kinds[0].cut.terms {
		switch {
		case t.in == nil:
		case t.typ.Shape.Rank() > 0:
			l.sums[t.in] = arrays[i]
		case t.typ.DType == graph.F64:
			l.sums[t.in].Float64s()[0] = f64[t.at]
		default:
			l.sums[t.in].Float32s()[0] = f32[t.at]
		}
	}
}

// arrays returns the sums as tensors, by term. A bucket has them in one of a few places, whose tensors
// are kept.
func (l *laneEngine) arrays(f32 []float32, f64 []float64) []*tensor.Dense {
	arrays := l.places[&f32[0]]
	if arrays != nil {
		return arrays
	}
	for _, t := range l.kinds[0].cut.terms {
		n, shape := t.typ.Shape.Len(), tensor.WithShape(t.typ.Shape.Sizes()...)
		switch {
		case n == 0:
			arrays = append(arrays, tape.Tensor(graph.NewValue(t.typ)))
		case t.typ.DType == graph.F64:
			arrays = append(arrays, tensor.New(shape, tensor.WithBacking(f64[t.at:t.at+n:t.at+n])))
		default:
			arrays = append(arrays, tensor.New(shape, tensor.WithBacking(f32[t.at:t.at+n:t.at+n])))
		}
	}
	l.places[&f32[0]] = arrays
	return arrays
}

// span returns the rows [from,to) of the rank's own lane i, among those that are fed.
func (l *laneEngine) span(i int) (from, to int) {
	lane, _ := l.ranks.Own()
	from, to = l.ranks.Rows(lane+i, l.rows)
	return from - l.batch.From, to - l.batch.From
}

// task is the lanes of a rank, as work for a pool.
type task laneEngine

func (t *task) Run(worker, lo, hi int) {
	l := (*laneEngine)(t)
	for i := lo; i < hi; i++ {
		l.failed[i] = l.lane(worker, i)
	}
}

// lane computes the terms of the rank's own lane i.
func (l *laneEngine) lane(worker, i int) error {
	l.times.lane(i, worker)
	begin, _ := l.ranks.Own()
	from, to := l.span(i)
	flags := l.none
	if i == 0 {
		flags = l.flags
	}
	if from == to {
		l.put(i, parallel.Part{Scale: 1, F32: l.empty}, parallel.Part{Scale: 1, F32: flags})
		return nil
	}
	k := l.kindOf(i)
	v := &l.vms[worker][k]
	v.store.Resume(laneSeed(l.store.Seed(), begin+i), l.store.Step(), 0)
	if err := v.vm.RunRows(l.ctx, l.kinds[k].feed, from); err != nil {
		return err
	}
	if v.parts == nil {
		if err := v.results(); err != nil {
			return err
		}
	}
	for t := range v.terms {
		scale := v.terms[t].scale
		for _, x := range v.reads[t] {
			scale *= x.value()
		}
		v.parts[t].Scale = scale
	}
	last := len(v.terms)
	v.parts[last].F32 = flags
	if l.seen != nil {
		l.seen[i].look(v.loss.value(), v.parts[:last])
	}
	l.put(i, v.parts...)
	return nil
}

// put adds the terms of the own lane i to the sums.
func (l *laneEngine) put(i int, parts ...parallel.Part) {
	from, _ := l.ranks.Own()
	l.times.adds(i)
	l.bucket.Put(from+i, parts...)
	l.times.added(i)
}

// signal raises flags for the next step, after which all ranks know of them: that this rank is to
// stop, and that a checkpoint is due.
func (l *laneEngine) signal(stop, save bool) {
	l.flags[0], l.flags[1] = 0, 0
	if stop {
		l.flags[0] = 1
	}
	if save {
		l.flags[1] = 1
	}
}

// signals returns the flags that any rank raised for the last step.
func (l *laneEngine) signals() (stop, save bool) { return l.raised[0], l.raised[1] }

// Float returns the loss of the last step.
func (l *laneEngine) Float(n *graph.Node) (float64, error) {
	if n != l.kinds[0].net.Loss {
		return 0, fmt.Errorf("%v is not kept: a step in lanes keeps the loss", n)
	}
	return l.update.Float(l.kinds[0].cut.loss)
}

// Close closes the VMs.
func (l *laneEngine) Close() {
	for _, vms := range l.vms {
		for _, v := range vms {
			if v.vm != nil {
				v.vm.Close()
			}
		}
	}
	if l.update != nil {
		l.update.Close()
	}
	if l.tasks != nil {
		l.tasks.Close()
	}
	if l.meeting != nil {
		l.meeting.close()
	}
}

// inLane is the error of a lane, whose first row is the given one of the batch.
type inLane struct {
	first int
	error
}

func (e *inLane) Unwrap() error { return e.error }
