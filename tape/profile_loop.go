package tape

import (
	"context"
	"slices"
	"time"
)

// The instructions of a loop's body run once a step, and a step may be as short as looking at the
// clock. A profile therefore takes the time of a loop from runs in which nothing in it is measured,
// and from others how the loop's time divides among the instructions of its body.

// opened is the body of a loop in a recorder, and where its stages and rows are among those of a
// sample.
type opened struct {
	record       *recorder
	body         *Program // what runs unobserved
	observed     *Program
	stages, rows int // the numbers of the first stage and the first row
	at           int // the stage that the loop is, in the program that it stands in
	loop         int // the number of the loop's row
	loops        []*opened
}

// open gives the loops in a program rows and stages in the samples, after all others.
func (r *recorder) open(p *Program, row int) (loops []*opened) {
	for i := range p.stages {
		s := &p.stages[i]
		if l := p.loopOf(s); l != nil {
			o := &opened{record: r, body: l.body, stages: r.stageCount, rows: r.rowCount, at: i, loop: row}
			o.observed = r.copyOf(l.body)
			o.loops = r.open(l.body, o.rows)
			loops = append(loops, o)
		}
		row += len(s.steps)
	}
	return loops
}

// look sets whether the steps of loops are observed while vm runs.
func look(vm *VM, loops []*opened, on bool) {
	for _, o := range loops {
		it := vm.workers[0].calls[vm.prog.stages[o.at].calls[0].number].Inner.(*iteration)
		it.watch, it.vm.prog = nil, o.body
		if on {
			it.watch, it.vm.prog = o, o.observed
		}
		look(it.vm, o.loops, on)
	}
}

// within returns a settled sample of a run in which the steps of all loops are observed.
func (r *recorder) within(ctx context.Context, vm *VM, feed Feed) (sample, error) {
	look(vm, r.loops, true)
	defer look(vm, r.loops, false)
	if err := vm.Run(ctx, feed); err != nil {
		return sample{}, err
	}
	s := r.take(0)
	r.settle(&s)
	return s, nil
}

// step runs a step of the loop.
func (o *opened) step(vm *VM) {
	for i := range vm.prog.stages {
		begin := o.record.now()
		vm.execute(&vm.prog.stages[i])
		o.record.stages[o.stages+i] += o.record.now() - begin
		o.record.ran[o.stages+i]++
	}
}

// settle takes the cost of measuring off the times of the bodies' rows and stages, and off those of
// the loops themselves, in a sample of a run in which the bodies were observed.
func (r *recorder) settle(s *sample) {
	for _, o := range r.loops {
		cost := r.settleBody(s, o)
		s.busy[o.loop] = max(0, s.busy[o.loop]-time.Duration(s.calls[o.loop])*r.inside-cost)
	}
}

// settleBody does so for one body and returns what measuring it took.
func (r *recorder) settleBody(s *sample, o *opened) (cost time.Duration) {
	row := o.rows
	for i := range o.body.stages {
		hi, at := row+len(o.body.stages[i].steps), o.stages+i
		busy, calls := time.Duration(0), int64(0)
		for k := row; k < hi; k++ {
			busy += s.busy[k]
			calls += s.calls[k]
		}
		sideBySide := max(1, share(busy, s.stages[at]))
		took := time.Duration(float64(calls) * float64(r.overhead) / sideBySide)
		if k := slices.IndexFunc(o.loops, func(x *opened) bool { return x.at == i }); k >= 0 {
			within := r.settleBody(s, o.loops[k])
			took += within
			s.busy[row] -= within
		}
		for k := row; k < hi; k++ {
			s.busy[k] = max(0, s.busy[k]-time.Duration(s.calls[k])*r.inside)
		}
		s.stages[at] = max(0, s.stages[at]-time.Duration(s.ran[at])*r.inside-took)
		cost += took + time.Duration(s.ran[at])*r.overhead
		row = hi
	}
	return cost
}

// unfold gives a loop the rows of its body, from settled samples. The rows together take no more
// than the loop.
func (t *Timing) unfold(o *opened, samples []sample, roof Roofline) {
	whole := middle(samples, func(s *sample) time.Duration { return s.busy[o.loop] })
	row, sum := o.rows, time.Duration(0)
	t.Steps = middle(samples, func(s *sample) int64 { return s.ran[o.stages] })
	rows := o.body.Rows()
	for i := range o.body.stages {
		st := &o.body.stages[i]
		took := middle(samples, func(s *sample) time.Duration { return s.stages[o.stages+i] })
		ran := middle(samples, func(s *sample) int64 { return s.ran[o.stages+i] })
		busy, inHand, first := time.Duration(0), map[int]bool{}, len(t.Within)
		for k := range st.steps {
			x := Timing{Row: rows[len(t.Within)],
				Busy:  middle(samples, func(s *sample) time.Duration { return s.busy[row+k] }),
				Calls: middle(samples, func(s *sample) int64 { return s.calls[row+k] })}
			x.bounds(o.body, st, &st.steps[k], roof, inHand)
			x.FLOPs, x.Traffic, x.ScratchTraffic, x.Least = x.FLOPs*ran, x.Traffic*ran, x.ScratchTraffic*ran, x.Least*time.Duration(ran)
			busy += x.Busy
			t.Within = append(t.Within, x)
		}
		for k := range t.Within[first:] {
			x := &t.Within[first+k]
			x.Time = time.Duration(float64(took) * share(x.Busy, busy))
			sum += x.Time
		}
		row += len(st.steps)
	}
	factor := share(t.Time, max(whole, sum))
	t.FLOPs, t.Traffic, t.Least = 0, 0, 0
	for i := range t.Within {
		x := &t.Within[i]
		x.Time, x.Busy = time.Duration(float64(x.Time)*factor), time.Duration(float64(x.Busy)*factor)
		if k := slices.IndexFunc(o.loops, func(l *opened) bool { return o.rows+i == l.loop }); k >= 0 {
			x.unfold(o.loops[k], samples, roof)
		}
		t.FLOPs, t.Traffic, t.Least = t.FLOPs+x.FLOPs, t.Traffic+x.Traffic, t.Least+x.Least
	}
}

// Own returns the time of an instruction without that of its body: all of it but for a loop, whose
// own time goes from step to step.
func (t *Timing) Own() time.Duration {
	own := t.Time
	for i := range t.Within {
		own -= t.Within[i].Time
	}
	return max(0, own)
}

// all calls f for every row, depth first: after a loop come the rows of its body. Of a loop it gets
// what is the loop's own. Backward says whether the row, or a loop around it, is of a derivative.
func all(rows []Timing, backward bool, f func(t Timing, backward bool)) {
	for i := range rows {
		t := rows[i]
		back := backward || t.Node.IsBackward()
		t.Time = t.Own()
		for k := range t.Within {
			t.FLOPs, t.Traffic = t.FLOPs-t.Within[k].FLOPs, t.Traffic-t.Within[k].Traffic
		}
		f(t, back)
		all(t.Within, back, f)
	}
}
