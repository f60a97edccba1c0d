package tape

import (
	"context"
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// A SumRanks node is an instruction that waits for the other lanes: each runs the same program on a
// VM of its own, and all must come to the same sums in the same order. So it is a stage by itself;
// the sums keep the order of the graph, whatever order of the stages needs the smallest arena; none
// is passed over under a condition or computed again to save memory; and none waits for the checks,
// because it may fail. In the body of a loop it is refused: lanes may leave a loop after different
// steps.

// Summer adds up what the VMs of several lanes hold, each lane's VM being one that runs the same
// program; see [Lanes].
type Summer interface {
	// Sum replaces the elements of x by the sums of those that all lanes have in this place of the
	// program, and returns when all are there. The sums are numbered in the order in which every run
	// calls for them: site 0, 1, … ([Row.Site]). Arrays of f16 and bf16 come as f32. x must not be
	// kept. An error ends the run, before anything is committed.
	Sum(ctx context.Context, site int, x Array) error
}

// Lanes makes a VM one of several lanes: where the program has a sum over lanes (ops.SumRanks), the
// VM calls s with its own term, in the goroutine of [VM.Run] and with its context. Without the
// option, or if s is nil, the VM is the only lane, and the sum is the term.
//
// All lanes have to run at once, each in a goroutine of its own, and equally often, [VM.Profile] and
// [VM.Trace] included, which run the program too. A lane whose run fails before a sum does not
// come to it: who runs the lanes cancels the context of the others then.
func Lanes(s Summer) VMOption { return func(o *vmOptions) { o.lanes = s } }

// Sums lists the types of what a run sums over lanes, by site. Lanes of different numbers of rows run
// different programs: they come to the same sums if these have the same list. They may not, although
// one function builds them all: of a single row, say, the mean is the sum, and the sums over lanes of the two
// are one.
func (p *Program) Sums() []graph.Type {
	if p == nil || p.unit == nil {
		return nil
	}
	var out []graph.Type
	for i := range p.stages {
		if _, ok := p.sums(&p.stages[i]); ok {
			out = append(out, wideType(p.instrs[p.stages[i].steps[0].ins].node))
		}
	}
	return out
}

// summing is the kernel of a sum over lanes.
type summing struct {
	kernel.SumRanks
	site int
}

// sums reports whether a stage is a sum over lanes, and which one.
func (q *sequence) sums(s *stage) (site int, ok bool) {
	if s.rows > 0 {
		return 0, false
	}
	k, ok := q.instrs[s.steps[0].ins].kernel.(summing)
	return k.site, ok
}

// checkSums returns an error unless each sum over lanes is a stage by itself that every run comes
// to, in order.
func (q *sequence) checkSums() error {
	next := 0
	for i := range q.stages {
		s := &q.stages[i]
		for k := range s.steps {
			kernel, ok := q.instrs[s.steps[k].ins].kernel.(summing)
			switch {
			case !ok:
				continue
			case len(s.steps) > 1 || s.rows > 0 || s.conditional || i >= q.late:
				return fmt.Errorf("stage %d has sum %d over lanes, which other lanes may not come to", i, kernel.site)
			case kernel.site != next:
				return fmt.Errorf("stage %d has sum %d over lanes before sum %d", i, kernel.site, next)
			}
			next++
		}
	}
	return nil
}

// keepSums keeps the order of the sums over lanes.
func (s *schedule) keepSums(q *sequence, lo int) {
	last := -1
	for i := range s.next {
		if _, ok := q.sums(&q.stages[lo+i]); ok {
			if last >= 0 {
				s.follow(last, i)
			}
			last = i
		}
	}
}

// lane is a sum over lanes in a VM that is one of them.
type lane struct {
	vm   *VM
	with Summer
	node *graph.Node
	site int
	x    Array
}

// join makes the VM the lane of a job.
func (vm *VM) join(with Summer, mem []kernel.Mem) {
	for i := range vm.prog.stages {
		s := &vm.prog.stages[i]
		site, ok := vm.prog.sums(s)
		if !ok {
			continue
		}
		n, buf := vm.prog.instrs[s.steps[0].ins].node, s.steps[0].out.buf
		sum := &lane{vm, with, n, site, arrayOf(wideType(n), mem[buf])}
		for _, w := range vm.workers {
			w.calls[s.calls[0].number].Inner = sum
		}
	}
}

// Run replaces the lane's term by the sum, unless the run is to end.
func (l *lane) Run(*kernel.Ctx) {
	if l.vm.ended != nil || l.vm.ctx == nil {
		return
	}
	if err := l.with.Sum(l.vm.ctx, l.site, l.x); err != nil {
		l.vm.ended = fmt.Errorf("the sum of %v over lanes: %w: nothing was committed", l.node.In(0), err)
	}
}
