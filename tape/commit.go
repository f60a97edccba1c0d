package tape

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// An update may be written straight into the store, instead of into the arena and copied at the
// end. A group that makes such an update runs after all the others and after the checks: it cannot
// fail, and could not be undone. An update qualifies if nothing else reads it, if the groups that
// depend on it can wait as well, and if every reader of the old value comes before: an earlier
// group, or an earlier step on the same rows.

// postponed is the form in which updates are written in place, by groups at the end.
type postponed struct {
	*fused
	late    int           // the first group that runs after the checks
	readers map[int][]int // by buffer from outside: the instructions that read it
}

func postpone(w *watched) *postponed {
	f := &postponed{fused: w.fused, readers: map[int][]int{}}
	waits := f.mayWait()
	for i := range f.instrs {
		for _, v := range f.instrs[i].in {
			if f.buffers[v.buf].home == outside {
				f.readers[v.buf] = append(f.readers[v.buf], i)
			}
		}
	}
	late := make([]bool, len(f.groups))
	wanted := map[int]int{} // how often a buffer is a result or the source of a commit
	for _, v := range f.result {
		wanted[v.buf]++
	}
	for _, c := range f.commits {
		wanted[c.from.buf]++
	}
	to := map[int]int{} // by buffer of an update: where it is written instead
	for k := range f.commits {
		c := &f.commits[k]
		i := f.from[c.from.buf]
		if i < 0 || wanted[c.from.buf] > 1 || !waits[f.of[i]] || !f.overwrites(i, c.to.buf) {
			continue
		}
		c.direct, to[c.from.buf] = true, c.to.buf
		f.instrs[i].touches()
		late[f.of[i]] = true
	}
	for i, g := range f.groups { // a group waits for what it reads
		for _, m := range g.members {
			for _, v := range f.instrs[m.ins].in {
				if from := f.from[v.buf]; from >= 0 && late[f.of[from]] {
					late[i] = true
				}
			}
		}
	}
	f.redirect(to)
	f.moveToEnd(late)
	return f
}

// redirect replaces buffers that instructions write and read by others, by number.
func (f *postponed) redirect(to map[int]int) {
	for b := range to {
		f.vacate(b)
	}
	for i := range f.instrs {
		ins := &f.instrs[i]
		for k := range ins.in {
			if b, ok := to[ins.in[k].buf]; ok {
				ins.in[k].buf = b
			}
		}
		if b, ok := to[ins.out.buf]; ok {
			ins.out.buf = b
		}
	}
}

// moveToEnd moves groups to the end, in their order.
func (f *postponed) moveToEnd(late []bool) {
	number := make([]int, len(f.groups))
	var groups []*group
	for _, last := range []bool{false, true} {
		if last {
			f.late = len(groups)
		}
		for i, g := range f.groups {
			if late[i] == last {
				number[i] = len(groups)
				groups = append(groups, g)
			}
		}
	}
	f.groups = groups
	for i, g := range f.of {
		if g >= 0 {
			f.of[i] = number[g]
		}
	}
}

// mayFail reports whether a run may end because of an instruction: a user's operation, a loop,
// which may be left early, a sum over lanes, or an operation with checked indices.
func (ins *draft) mayFail() bool { return ins.checks || leaves(ins.kernel) }

// mayFail reports the same of a step.
func (st *step) mayFail(k kernel.Kernel) bool { return st.indices != nil || leaves(k) }

func leaves(k kernel.Kernel) bool {
	switch k.(type) {
	case runner, *loop, summing:
		return true
	}
	return false
}

// once reports whether each run runs a kernel exactly once, also where nothing reads the result: a
// user's operation, and a sum that other lanes wait for.
func once(k kernel.Kernel) bool {
	switch k.(type) {
	case runner, summing:
		return true
	}
	return false
}

// mayWait finds the groups that can run after the checks: no value that is checked depends on them,
// and nothing that might fail is among them.
func (f *postponed) mayWait() []bool {
	ok := make([]bool, len(f.groups))
	for i := range ok {
		ok[i] = true
	}
	for _, c := range f.finite {
		if from := f.from[c.v.buf]; from >= 0 {
			ok[f.of[from]] = false
		}
	}
	for g := len(f.groups) - 1; g >= 0; g-- {
		for _, m := range f.groups[g].members {
			ok[g] = ok[g] && !f.instrs[m.ins].mayFail()
		}
		if ok[g] {
			continue
		}
		for _, m := range f.groups[g].members { // what it needs cannot wait either
			for _, v := range f.instrs[m.ins].in {
				if from := f.from[v.buf]; from >= 0 {
					ok[f.of[from]] = false
				}
			}
		}
	}
	return ok
}

// overwrites reports whether instruction i may write its result over buffer t, which is outside.
func (f *postponed) overwrites(i, t int) bool {
	g := f.groups[f.of[i]]
	whole := f.instrs[i].out.layout
	at := slices.IndexFunc(g.members, func(m member) bool { return m.ins == i })
	if g.members[at].div.Accumulate != nil || f.buffers[f.instrs[i].out.buf].bytes != f.buffers[t].bytes {
		return false
	}
	for _, r := range f.readers[t] {
		ins := &f.instrs[r]
		for k, v := range ins.in {
			if v.buf != t {
				continue
			}
			if f.of[r] != f.of[i] {
				if f.of[r] > f.of[i] {
					return false
				}
				continue
			}
			when := slices.IndexFunc(g.members, func(m member) bool { return m.ins == r })
			if when > at || when == at && !ins.kernel.InPlace(k) || !v.layout.IsDense() || v.layout.Len() != whole.Len() {
				return false
			}
			if g.rows > 0 && !sameRows(g, g.members[when], k, v.layout, whole) {
				return false
			}
		}
	}
	return true
}

// sameRows reports whether each block of operand k has the memory of the same block of the whole.
func sameRows(g *group, m member, k int, l, whole kernel.Layout) bool {
	r, ok := m.div.Rows(l, k, g.rows)
	stride, uniform := r.Uniform()
	return ok && uniform && stride*g.rows == whole.Len()
}

// String lists the groups with their instructions, and how updates are committed.
func (f *postponed) String() string { return f.text("postponed", f.late) + f.commitsText() }

// check returns an error unless no group reads a parameter or state after another has written it,
// and nothing that may fail runs after the checks.
func (f *postponed) check() error {
	if err := f.fused.check(); err != nil {
		return err
	}
	name, writer := f.names(), map[int]int{} // by buffer from outside: the group that writes it
	for at, g := range f.groups {
		for _, m := range g.members {
			ins := &f.instrs[m.ins]
			for k, v := range ins.in {
				base := name.base(operandNode(&ins.instr, k), v.buf)
				if from, ok := writer[v.buf]; ok && base.Role() != graph.RoleOp {
					return fmt.Errorf("group %d reads the old value of %v, which group %d has overwritten", at, base, from)
				}
			}
			if f.buffers[ins.out.buf].home == outside {
				writer[ins.out.buf] = at
			}
			if at >= f.late && ins.mayFail() {
				return fmt.Errorf("group %d: instruction %d, %s, may fail after the checks", at, m.ins, ins.name)
			}
			if at < f.late && f.buffers[ins.out.buf].home == outside {
				return fmt.Errorf("group %d: instruction %d, %s, writes to the store before the checks", at, m.ins, ins.name)
			}
		}
	}
	return nil
}
