package tape

import (
	"slices"

	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// commitDirectly lets updates be written where they belong, in the store, instead of into the arena and copied at the end. A group
// that makes such an update runs after all the others and after the checks, since it cannot fail and cannot be undone. An update
// qualifies if nothing else wants it, if the groups that depend on it can wait as well, and if whatever still reads the old value
// has done so before: earlier groups, or earlier steps of the same rows.
func (p *Program) commitDirectly(f *fusion) {
	waits := p.mayWait(f)
	f.readers = map[int][]int{}
	for i := range p.instrs {
		for _, v := range p.instrs[i].in {
			if p.buffers[v.buf].leaf {
				f.readers[v.buf] = append(f.readers[v.buf], i)
			}
		}
	}
	late := make([]bool, len(f.groups))
	wanted := map[int]int{} // how often a buffer is a result or the source of a commit
	for _, v := range p.result {
		wanted[v.buf]++
	}
	for _, c := range p.commits {
		wanted[c.from.buf]++
	}
	for k := range p.commits {
		c := &p.commits[k]
		i := f.from[c.from.buf]
		if i < 0 || wanted[c.from.buf] > 1 || !waits[f.of[i]] || !p.overwrites(f, i, c.to.buf) {
			continue
		}
		c.direct = true
		late[f.of[i]] = true
	}
	for i, g := range f.groups { // a group waits for what it reads
		for _, m := range g.members {
			for _, v := range p.instrs[m.ins].in {
				if from := f.from[v.buf]; from >= 0 && late[f.of[from]] {
					late[i] = true
				}
			}
		}
	}
	to := map[int]int{}
	for _, c := range p.commits {
		if c.direct {
			to[c.from.buf] = c.to.buf
			p.vacate(c.from.buf)
		}
	}
	for i := range p.instrs {
		ins := &p.instrs[i]
		for k := range ins.in {
			if b, ok := to[ins.in[k].buf]; ok {
				ins.in[k].buf = b
			}
		}
		if b, ok := to[ins.out.buf]; ok {
			ins.out.buf = b
		}
	}
	f.postpone(late)
	f.late = len(f.groups) - count(late)
}

func count(set []bool) (n int) {
	for _, in := range set {
		if in {
			n++
		}
	}
	return n
}

// postpone moves groups to the end, in their order.
func (f *fusion) postpone(late []bool) {
	place := make([]int, len(f.groups))
	var groups []*group
	for _, last := range []bool{false, true} {
		for i, g := range f.groups {
			if late[i] == last {
				place[i] = len(groups)
				groups = append(groups, g)
			}
		}
	}
	f.groups = groups
	for i := range f.of {
		f.of[i] = place[f.of[i]]
	}
}

// mayFail reports whether a run may end because of an instruction: an operation of the user's, a loop, which may be left, and what
// takes indices.
func (ins *instr) mayFail() bool {
	switch ins.kernel.(type) {
	case runner, *loop:
		return true
	}
	return ins.checks
}

// mayWait finds the groups that can run after the checks: no value that is checked depends on them, and nothing that might fail is
// among them.
func (p *Program) mayWait(f *fusion) []bool {
	ok := make([]bool, len(f.groups))
	for i := range ok {
		ok[i] = true
	}
	for _, c := range p.finite {
		if from := f.from[c.v.buf]; from >= 0 {
			ok[f.of[from]] = false
		}
	}
	for g := len(f.groups) - 1; g >= 0; g-- {
		for _, m := range f.groups[g].members {
			ok[g] = ok[g] && !p.instrs[m.ins].mayFail()
		}
		if ok[g] {
			continue
		}
		for _, m := range f.groups[g].members { // what it needs cannot wait either
			for _, v := range p.instrs[m.ins].in {
				if from := f.from[v.buf]; from >= 0 {
					ok[f.of[from]] = false
				}
			}
		}
	}
	return ok
}

// overwrites reports whether instruction i may write its result over leaf t.
func (p *Program) overwrites(f *fusion, i, t int) bool {
	g := f.groups[f.of[i]]
	whole := p.instrs[i].out.layout
	at := slices.IndexFunc(g.members, func(m member) bool { return m.ins == i })
	if g.members[at].div.Accumulate != nil || p.buffers[p.instrs[i].out.buf].bytes != p.buffers[t].bytes {
		return false
	}
	for _, r := range f.readers[t] {
		ins := &p.instrs[r]
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

// sameRows reports whether a block of operand k lies where the same block of the whole does.
func sameRows(g *group, m member, k int, l, whole kernel.Layout) bool {
	r, ok := m.div.Rows(l, k, g.rows)
	stride, uniform := r.Uniform()
	return ok && uniform && stride*g.rows == whole.Len()
}
