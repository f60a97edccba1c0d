package tape

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// Profile tells where the time of a run goes. All figures are for one run, each the median over the
// runs: where other programs take the cores, they disturb one instruction in this run and another
// in the next, and the medians leave that out. The text form starts with the instructions:
//
//	profile of "soft k-means": a run takes 1.17 ms on 1 core, 1.2 ms unseen; medians of 50 runs
//	a core reaches 179 GFLOP/s f32, 89.4 GFLOP/s f64; streams 16.0 KiB 385 GB/s, 64.0 KiB 98.6 GB/s, 256.0 KiB 98.4 GB/s
//	   #      time  share   GFLOP/s   GB/s  ~GB/s   roof  calls  result           instruction
//	     ╭ 4096 rows, 28 at a time, sums in 16 parts
//	   3 │  434 µs  37.1%    122.80    2.6    2.6  68.7%    147  D[i=4096 j=64]   SqDist x[i=4096 d=64], panels(r)[j=64 d=64]  · kmeans.go:22
//	   4 │ 11.5 µs   1.0%     24.15    0.0  193.2  50.2%    293  %6[i=4096 j=64]  Mul Broadcast(%4)[i=4096 j=64], D[i=4096 j=64]  · kmeans.go:30
type Profile struct {
	Graph    string // its name
	Runs     int    // measured
	Workers  int
	Wall     time.Duration // of a run, without the cost of measuring
	Unseen   time.Duration // of a run without measuring, in turn with the others
	Other    time.Duration // of Wall: outside of all instructions, as for reading the feed
	Roofline Roofline
	Rows     []Timing // as in the listing, loops with their bodies: Wall is their Time together, and Other
	program  *Program
}

// Timing is an instruction of the listing with its time. Of a loop's body, whose instructions run
// once a step, all figures are for all steps of a run together.
type Timing struct {
	Row
	Time           time.Duration // of the run's: its part of the time of its stage
	Busy           time.Duration // on all workers together
	Calls          int64         // of its kernel: one for each block, or each chunk of the whole
	ScratchTraffic int64         // bytes read and written in scratch; Row.Traffic has the others
	Least          time.Duration // what the roofline of a core allows: Busy can hardly be less
	Steps          int64         // of a loop: those that were run, as a loop may end early
	Within         []Timing      // of a loop: its instructions, which together take no more than its Time
}

// FLOPRate returns the operations a second of a worker while it runs the instruction, 0 if it took
// no time.
func (t Timing) FLOPRate() float64 { return rate(t.FLOPs, t.Busy) }

// ByteRate returns the bytes outside of scratch that such a worker moves in a second.
func (t Timing) ByteRate() float64 { return rate(t.Traffic, t.Busy) }

// ScratchRate returns the bytes in scratch that such a worker reads and writes in a second.
func (t Timing) ScratchRate() float64 { return rate(t.ScratchTraffic, t.Busy) }

// Roof returns the least possible time as a share of the time taken, 0 if it took none, at most 1:
// what the caches still held from elsewhere comes faster than the roofline says. Elementary functions
// count as one operation, so that their share is small however fast they are.
func (t Timing) Roof() float64 { return min(1, share(t.Least, t.Busy)) }

func rate(n int64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

func share(part, of time.Duration) float64 {
	if of <= 0 {
		return 0
	}
	return float64(part) / float64(of)
}

// Profile runs the program and measures every instruction, block by block. It works on a copy of
// the store with memory of its own: neither the VM nor the store changes, and the steps follow each
// other in the copy as they would here. After some warm-up it does the given number of measured
// runs, alternating with as many unmeasured ones, which show what measuring changes.
//
// What happens in the steps of loops is measured in runs of their own, which tell how the loops'
// time divides.
//
// Reading the clock around a call of a kernel costs some 50 ns; that cost is measured first and
// taken off. A stage on several workers takes the time until the last one is done; its instructions
// share that time in proportion to the time for which they kept workers busy.
func (vm *VM) Profile(ctx context.Context, feed Feed, runs int) (*Profile, error) {
	if runs < 1 {
		return nil, fmt.Errorf("profile: %d runs: want at least 1", runs)
	}
	c, err := vm.onCopy(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	epoch := time.Now()
	now := func() time.Duration { return time.Since(epoch) }
	plain := c.prog
	record, observed := newRecorder(c, now)
	watches := []*observer{c.watch, {record: record}}
	if c.watch != nil {
		watches[1].labels = c.watch.labels
	}
	const warmUp = 3
	var samples, unseen, inside []sample
	for i := range warmUp + runs {
		var took [2]time.Duration
		for k, p := range []*Program{plain, observed} {
			c.prog, c.watch = p, watches[k]
			begin := now()
			if err := c.Run(ctx, feed); err != nil {
				return nil, fmt.Errorf("profile: run %d: %w", 2*i+k+1, err)
			}
			took[k] = now() - begin
		}
		s := record.take(took[1])
		if len(record.loops) > 0 {
			s, err := record.within(ctx, c, feed)
			if err != nil {
				return nil, fmt.Errorf("profile: run %d, with the steps of loops: %w", i+1, err)
			}
			if i >= warmUp {
				inside = append(inside, s)
			}
		}
		if i >= warmUp {
			samples, unseen = append(samples, s), append(unseen, sample{run: took[0]})
		}
	}
	p := record.profile(plain, samples)
	for _, o := range record.loops {
		p.Rows[o.loop].unfold(o, inside, p.Roofline)
	}
	p.Unseen = middle(unseen, func(s *sample) time.Duration { return s.run })
	return p, nil
}

// onCopy returns a VM like this one on a copy of its store.
func (vm *VM) onCopy(ctx context.Context) (*VM, error) {
	if err := vm.ready(ctx); err != nil {
		return nil, err
	}
	options := []VMOption{Workers(vm.pool.Workers())}
	if vm.watch != nil {
		options = append(options, Labels())
	}
	if vm.lanes != nil {
		options = append(options, Lanes(vm.lanes))
	}
	return vm.prog.NewVM(vm.store.Clone(), options...)
}

// profile puts the samples together.
func (r *recorder) profile(p *Program, samples []sample) *Profile {
	out := &Profile{Graph: p.source.Name(), Runs: len(samples), Workers: len(r.workers), Roofline: MeasureRoofline(), program: p}
	for i, row := range p.Rows() {
		out.Rows = append(out.Rows, Timing{
			Row:   row,
			Busy:  middle(samples, func(s *sample) time.Duration { return max(0, s.busy[i]-time.Duration(s.calls[i])*r.inside) }),
			Calls: middle(samples, func(s *sample) int64 { return s.calls[i] }),
		})
	}
	for lo, i := 0, 0; i < len(p.stages); i++ {
		hi := lo + len(p.stages[i].steps)
		rows := out.Rows[lo:hi]
		r.split(rows, samples, i, lo)
		inHand := map[int]bool{}
		for k := range rows {
			rows[k].bounds(p, &p.stages[i], &p.stages[i].steps[k], out.Roofline, inHand)
			out.Wall += rows[k].Time
		}
		lo = hi
	}
	out.Other = middle(samples, func(s *sample) time.Duration {
		other := s.run
		for _, d := range s.stages[:len(p.stages)] {
			other -= d + r.overhead - r.inside
		}
		return max(0, other)
	})
	out.Wall += out.Other
	return out
}

// split shares the time of stage i, whose first row is lo, out to its rows. The ratio of the
// workers' time to the stage's is taken run by run, since disturbances add to both.
func (r *recorder) split(rows []Timing, samples []sample, i, lo int) {
	hi := lo + len(rows)
	took := middle(samples, func(s *sample) time.Duration { took, _ := r.net(s, i, lo, hi); return took })
	ratio := middle(samples, func(s *sample) float64 { took, busy := r.net(s, i, lo, hi); return share(busy, took) })
	var busy time.Duration
	for k := range rows {
		busy += rows[k].Busy
	}
	for k := range rows {
		if busy > 0 && ratio > 0 {
			rows[k].Time = time.Duration(float64(rows[k].Busy) / ratio)
		} else {
			rows[k].Time = took / time.Duration(len(rows))
		}
	}
}

// net returns the time that stage i took in a run and kept its workers busy, without the cost of
// measuring. Workers that measure side by side lose the time of measuring side by side.
func (r *recorder) net(s *sample, i, lo, hi int) (took, busy time.Duration) {
	count := int64(0)
	for k := lo; k < hi; k++ {
		busy += s.busy[k]
		count += s.calls[k]
	}
	sideBySide := max(1, share(busy, s.stages[i]))
	took = s.stages[i] - r.inside - time.Duration(float64(count)*float64(r.overhead)/sideBySide)
	return max(0, took), max(0, busy-time.Duration(count)*r.inside)
}

// middle returns the median of a figure over the samples, the lower one of two.
func middle[T cmp.Ordered](samples []sample, of func(*sample) T) T {
	figures := make([]T, len(samples))
	for i := range samples {
		figures[i] = of(&samples[i])
	}
	slices.Sort(figures)
	return figures[(len(figures)-1)/2]
}

// bounds sets what follows from the shapes alone. An operand that its stage has in hand already, by
// an earlier step or as another operand, is near: it comes as fast as scratch.
func (t *Timing) bounds(p *Program, s *stage, st *step, r Roofline, inHand map[int]bool) {
	ins := &p.instrs[st.ins]
	layouts, near := layoutsOf(ins.in), int64(0)
	for i, v := range ins.in {
		if p.buffers[v.buf].home == inScratch {
			t.ScratchTraffic += int64(touched(v.layout))
		} else if inHand[v.buf] {
			near += int64(reads(ins.kernel, ins.out.layout, layouts, i))
		}
		inHand[v.buf] = true
	}
	if p.buffers[ins.out.buf].home == inScratch {
		t.ScratchTraffic += int64(touched(ins.out.layout))
	}
	inHand[ins.out.buf] = true
	near = min(near, t.Traffic)
	t.Least = r.least(ins.out.layout.DType, t.FLOPs/kernel.Rate(ins.kernel), t.Traffic-near, t.ScratchTraffic+near, s.scratch)
}
