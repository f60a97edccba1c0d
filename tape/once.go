package tape

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/memory"
	"github.com/tapestry-ml/tapestry/internal/plural"
)

// A stage whose operands are constants, parameters, states that the program does not write, and
// results of such stages computes the same in every run until a value in the store changes. Under
// [Once] it runs in the first run, and again in the first one after such a change. Its result stays
// in the arena in a place of its own, if another stage reads it; what only stages of its kind read
// is made again with them, so these form a lot, which runs as a whole.
//
// Groups, blocks and partial sums are those of the program without the option, so that no bit
// changes. In a group that also does what changes from run to run, steps run once in the same
// blocks, and what the others read of them is an array instead of a part of the scratch.

// Once makes stages of the program that depend on constants, parameters and states alone run once,
// and again only after one of the values that they read has changed: the panels in which products
// and convolutions read their weights, scaled filters, transposed and normalised weights, functions
// of tables. It is for programs that run often while parameters rest, such as those that predict.
// Results are the same, bit by bit.
//
// Values of the store change by [Store.Set], [Store.Load], [Store.CopyFrom] and by runs that update
// them, of any program on the store or on one that shares its entries; all of these are noticed. Who
// gives the option promises that nothing else changes them: writing to the elements of a
// [Store.View], which is forbidden, would go unnoticed.
//
// What is made once stays in memory between runs, besides the parameters: [Program.Arena] counts
// it. Under a [Budget] that this exceeds, the option is ignored. Stages do not run once if they
// draw random numbers, read states that the program updates, or check indices; nor do results that
// are fetched or watched, sums over lanes, and operations from outside this module. The listing
// marks the stages that do.
func Once() Option { return func(r *request) { r.once = true } }

// lasting finds what a program makes once, while its stages are made, in order.
type lasting struct {
	*postponed
	made map[int]bool // by buffer: from outside or from a stage that runs once, and the same in every run
}

func newLasting(f *postponed) *lasting {
	l := &lasting{f, map[int]bool{}}
	if !f.how.once || f.rewritten == nil { // the body of a loop runs once in every step
		return l
	}
	for b := range f.buffers {
		l.made[b] = f.buffers[b].constant.Len() > 0
	}
	for _, s := range f.stored {
		l.made[s.buf] = !slices.ContainsFunc(f.commits, func(c commit) bool { return c.path == s.leaf.path })
	}
	return l
}

// group finds the members of a group that make the same in every run, and reports whether all do.
func (l *lasting) group(g *group) (all bool) {
	if len(l.made) == 0 {
		return false
	}
	all = true
	for _, m := range g.members {
		ins := &l.instrs[m.ins]
		b := &l.buffers[ins.out.buf]
		same := !ins.checks && !b.pinned && b.home == inArena && repeatable(ins.kernel) &&
			!slices.ContainsFunc(ins.in, func(v value) bool { return !l.made[v.buf] })
		l.made[ins.out.buf] = same
		all = all && same
	}
	return all
}

// part chooses, in a stage of which some steps change from run to run, the others that run once:
// those of which each result is either read by such steps alone or becomes an array, if it is worth
// one. The blocks have been chosen before. Where rows lie
// turned there are none.
func (s *stager) part(members []laid) (once map[int]bool) {
	once = map[int]bool{}
	turned := slices.ContainsFunc(members, func(m laid) bool { return m.turned || s.buffers[s.instrs[m.ins].out.buf].turned })
	wanted := map[int]bool{} // by buffer: a step that runs in every run reads it
	for k := len(members) - 1; k >= 0; k-- {
		m := members[k]
		ins := &s.instrs[m.ins]
		b := ins.out.buf
		if !turned && s.lasts.made[b] && m.div.Accumulate == nil && (!wanted[b] || s.worthKeeping(ins)) {
			once[m.ins] = true
			if wanted[b] {
				s.buffers[b].home = inArena
			}
			continue
		}
		s.lasts.made[b] = false
		for _, v := range ins.in {
			wanted[v.buf] = true
		}
	}
	return once
}

// worthKeeping reports whether the result of an instruction is better read than made: it is no
// larger than what it is made from, or takes long to make.
func (s *stager) worthKeeping(ins *instr) bool {
	read := 0
	for _, v := range ins.in {
		read += touched(v.layout)
	}
	return !kernel.Cheap(ins.kernel) || touched(ins.out.layout) <= read
}

// repeatable reports whether a kernel gives the same result whenever it gets the same operands, and
// the run need not know that it ran.
func repeatable(k kernel.Kernel) bool {
	switch k := k.(type) {
	case runner, summing, kernel.Random:
		return false
	case *loop:
		if slices.ContainsFunc(k.body.stages, func(s stage) bool { return s.checks }) {
			return false
		}
		return !slices.ContainsFunc(k.body.instrs, func(ins instr) bool { return !repeatable(ins.kernel) })
	}
	return true
}

// lot is a set of stages that run once, and all of them again.
type lot struct {
	stored []int // what they read of the values of the store, by number
}

// unite puts stages that run once, and the steps of others that do, into lots, and keeps what the
// rest reads of them.
func (q *sequence) unite() {
	maker, of := map[int]int{}, make([]int, len(q.stages))
	some := false
	for i := range q.stages {
		of[i] = i
		for _, b := range q.madeOnce(i) {
			maker[b], some = i, true
		}
	}
	if !some {
		return
	}
	var root func(i int) int
	root = func(i int) int {
		if of[i] != i {
			of[i] = root(of[i])
		}
		return of[i]
	}
	for i := range q.stages {
		for _, st := range q.stages[i].steps {
			for _, r := range st.in {
				if from, ok := maker[r.buf]; ok && !st.once {
					q.buffers[r.buf].kept = true
				} else if ok {
					of[root(i)] = root(from)
				}
			}
		}
	}
	number, leaf := map[int]int{}, map[int]int{}
	for n, s := range q.stored {
		leaf[s.buf] = n
	}
	for i := range q.stages {
		s := &q.stages[i]
		for _, st := range s.steps {
			if !st.once {
				continue
			}
			n, ok := number[root(i)]
			if !ok {
				n = len(q.lots)
				number[root(i)] = n
				q.lots = append(q.lots, lot{})
			}
			s.lot = n
			for _, r := range st.in {
				if k, ok := leaf[r.buf]; ok && !slices.Contains(q.lots[n].stored, k) {
					q.lots[n].stored = append(q.lots[n].stored, k)
				}
			}
		}
	}
}

// madeOnce returns the arrays that the steps of stage i write that run once.
func (q *sequence) madeOnce(i int) (made []int) {
	s := &q.stages[i]
	for _, st := range s.steps {
		if st.once && q.buffers[st.out.buf].home == inArena {
			made = append(made, st.out.buf)
		}
	}
	for _, x := range s.sums {
		if s.once {
			made = append(made, x.out)
		}
	}
	return made
}

// checkOnce returns an error unless what runs once reads nothing that changes from run to run, and
// what the rest reads of it is kept.
func (q *sequence) checkOnce() error {
	of := map[int]int{} // by buffer: one more than the lot whose stages make it
	for i := range q.stages {
		for _, b := range q.madeOnce(i) {
			of[b] = q.stages[i].lot + 1
		}
	}
	changes := map[int]bool{}
	for _, in := range q.inputs {
		changes[in.buf] = true
	}
	for _, c := range q.commits {
		changes[c.to.buf] = true
	}
	for i := range q.stages {
		s := &q.stages[i]
		inside := map[int]bool{} // what steps of the stage that run once hand each other
		for k, st := range s.steps {
			for _, r := range st.in {
				switch home := q.buffers[r.buf].home; {
				case st.once && (changes[r.buf] || home == inArena && of[r.buf] != s.lot+1 && !inside[r.buf] || home == inScratch && !inside[r.buf]):
					return fmt.Errorf("stage %d, step %d runs once, and reads buffer %d, which may change", i, k, r.buf)
				case !st.once && (of[r.buf] > 0 && !q.buffers[r.buf].kept || inside[r.buf] && home == inScratch):
					return fmt.Errorf("stage %d, step %d reads buffer %d, which is made once and not kept", i, k, r.buf)
				}
			}
			if st.once {
				inside[st.out.buf] = true
			}
		}
	}
	return nil
}

// keptText says what is made once; "" if nothing is.
func (p *Program) keptText() string {
	steps, bytes := 0, 0
	for i := range p.stages {
		for _, st := range p.stages[i].steps {
			if st.once {
				steps++
			}
		}
	}
	for _, b := range p.buffers {
		if b.kept {
			bytes += roundUp(b.bytes)
		}
	}
	if steps == 0 {
		return ""
	}
	return fmt.Sprintf("%s once, and again when a value that they depend on changes: %s of the arena are kept\n",
		plural.Count(steps, "instruction"), memory.Text(int64(bytes)))
}

// standing tells how a lot stands in a VM.
type standing struct {
	done bool     // its stages have run, to the end
	due  bool     // the run under way runs them
	seen []uint64 // by value that they read: its changes before they last ran
}

// newStandings returns how the lots of a program stand before its first run.
func (p *Program) newStandings() []standing {
	out := make([]standing, len(p.lots))
	for i := range out {
		out[i].seen = make([]uint64, len(p.lots[i].stored))
	}
	return out
}

// beginLots finds the lots that a run has to run.
func (vm *VM) beginLots() {
	for i := range vm.lots {
		l := &vm.lots[i]
		l.due = !l.done
		for k, n := range vm.prog.lots[i].stored {
			if now := vm.stored[n].changes; now != l.seen[k] {
				l.seen[k], l.due = now, true
			}
		}
		l.done = !l.due // until the run has ended well
	}
}

// endLots notes that a run has ended well.
func (vm *VM) endLots() {
	for i := range vm.lots {
		vm.lots[i].done = true
	}
}

// rests reports whether the run under way passes over the steps of a stage that run once.
func (vm *VM) rests(s *stage) bool { return len(vm.lots) > 0 && !vm.lots[s.lot].due }
