package tape

import (
	"context"
	"runtime/pprof"
	"slices"
	"time"

	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// observer looks on while a VM runs.
type observer struct {
	labels []pprof.LabelSet // by stage, nil for none
	record *recorder        // nil for none
}

// stage runs stage i of the VM.
func (o *observer) stage(ctx context.Context, vm *VM, i int) {
	if o.labels != nil {
		vm.job.labels = pprof.WithLabels(ctx, o.labels[i])
		pprof.SetGoroutineLabels(vm.job.labels)
		defer pprof.SetGoroutineLabels(ctx)
	}
	if o.record != nil {
		begin := o.record.now()
		defer func() { o.record.stage(i, begin) }()
	}
	vm.execute(&vm.prog.stages[i])
}

// recorder measures the runs of a VM whose program is an observed one.
type recorder struct {
	now                  func() time.Duration
	sample                        // of the run at hand
	workers              []record // by worker
	spans                []span   // stages, if traced
	tracing              bool
	inside               time.Duration // what a call of an observed kernel that does nothing measures
	overhead             time.Duration // what such a call takes
	loops                []*opened
	rowCount, stageCount int
}

// sample holds the times that a run took.
type sample struct {
	run    time.Duration
	stages []time.Duration // of the program, then of the bodies of its loops
	ran    []int64         // how often the stages of bodies ran
	busy   []time.Duration // by row of the listing, then of bodies; on all workers together
	calls  []int64         // of the kernels, by row
}

// record holds the times that a worker measures, in memory of its own.
type record struct {
	of *kernel.Worker
	sample
	spans []span // of rows, if traced
	_     [64]byte
}

// span tells when a row or a stage ran.
type span struct {
	of         int
	begin, end time.Duration
}

// newRecorder returns a recorder for a VM, and the program that the VM is to run in place of its
// own.
func newRecorder(vm *VM, now func() time.Duration) (*recorder, *Program) {
	r := &recorder{now: now}
	p := r.copyOf(vm.prog)
	r.loops = r.open(vm.prog, 0)
	r.sample = newSample(r.stageCount, r.rowCount)
	rows := r.rowCount
	for _, w := range vm.workers {
		r.workers = append(r.workers, record{of: w.Worker, sample: newSample(0, rows)})
	}
	r.calibrate()
	return r, p
}

func newSample(stages, rows int) sample {
	return sample{stages: make([]time.Duration, stages), ran: make([]int64, stages), busy: make([]time.Duration, rows), calls: make([]int64, rows)}
}

// copyOf returns a copy of a program whose kernels measure their time, with rows and stages of its
// own in the samples; the program itself pays nothing.
func (r *recorder) copyOf(p *Program) *Program {
	q := *p
	q.stages = slices.Clone(p.stages)
	for i := range q.stages {
		s := &q.stages[i]
		s.calls, s.sums, s.tilings = slices.Clone(s.calls), slices.Clone(s.sums), slices.Clone(s.tilings)
		for k := range s.calls {
			c := &s.calls[k]
			c.bound, c.first = slices.Clone(c.bound), slices.Clone(c.first)
			for _, bound := range [][]sized{c.bound, c.first} {
				for n := range bound {
					bound[n].Straight = kernel.Straight{Bound: kernel.Bound{Units: bound[n].Units, Run: r.timed(r.rowCount, bound[n].Run)}}
				}
			}
			for n := range s.sums {
				if x := &s.sums[n]; x.partial == s.steps[k].out.buf {
					x.combine.Run = r.timed(r.rowCount, x.combine.Run)
				}
			}
			r.rowCount++
		}
		s.straighten()
	}
	r.stageCount += len(q.stages)
	return &q
}

// timed returns a kernel that adds the time it takes to a row.
func (r *recorder) timed(row int, run func(c *kernel.Ctx, lo, hi int)) func(c *kernel.Ctx, lo, hi int) {
	if run == nil {
		return nil
	}
	return func(c *kernel.Ctx, lo, hi int) {
		begin := r.now()
		run(c, lo, hi)
		end := r.now()
		i := 0
		for r.workers[i].of != c.Worker {
			i++
		}
		w := &r.workers[i]
		w.busy[row] += end - begin
		w.calls[row]++
		if r.tracing {
			w.spans = append(w.spans, span{row, begin, end})
		}
	}
}

// stage ends a stage.
func (r *recorder) stage(i int, begin time.Duration) {
	end := r.now()
	r.stages[i] += end - begin
	if r.tracing {
		r.spans = append(r.spans, span{i, begin, end})
	}
}

// calibrate measures the cost of measuring: the least of many calls, since disturbances only add to
// it.
func (r *recorder) calibrate() {
	if len(r.busy) == 0 {
		return
	}
	w := &r.workers[0]
	c := &kernel.Ctx{Worker: w.of}
	idle := r.timed(0, func(*kernel.Ctx, int, int) {})
	const rounds, calls = 20, 200
	for i := range rounds {
		w.busy[0] = 0
		begin := r.now()
		for range calls {
			idle(c, 0, 0)
		}
		all := (r.now() - begin) / calls
		if inside := w.busy[0] / calls; i == 0 || all < r.overhead {
			r.overhead, r.inside = all, inside
		}
	}
	w.busy[0], w.calls[0] = 0, 0
}

// take returns the sample of the run that has ended and makes room for the next one.
func (r *recorder) take(run time.Duration) sample {
	s := r.sample
	s.run = run
	for i := range r.workers {
		w := &r.workers[i]
		for row := range s.busy {
			s.busy[row] += w.busy[row]
			s.calls[row] += w.calls[row]
		}
		clear(w.busy)
		clear(w.calls)
	}
	r.sample = newSample(len(s.stages), len(s.busy))
	return s
}
