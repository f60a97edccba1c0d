package tape

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// A program may compute values that only some runs need: where gradients are gathered over n runs,
// the updates of parameters and moments are Select(full, new, old), and n − 1 of n runs throw the
// new values away. A stage is conditional, on a mask of one element, if a run in which the mask is
// false needs nothing of it: each of its results is either written into the store, where the mask
// keeps the old value, or read only by stages guarded by the same mask. Such a run passes over the
// stage.

// guarded is the form in which stages have their masks.
type guarded struct{ *planned }

// guard finds the conditions of the stages.
func guard(p *planned) *guarded {
	if len(p.commits) == 0 {
		return &guarded{p}
	}
	c := conditions{planned: p, wanted: map[int]int{}, maker: map[int]int{}}
	for b := range p.buffers {
		if p.buffers[b].pinned {
			c.wanted[b] = always
		}
	}
	for i := range p.stages {
		for _, b := range p.made(i) {
			c.maker[b] = i
		}
	}
	for i := len(p.stages) - 1; i >= 0; i-- {
		s := &p.stages[i]
		s.mask = always
		if !slices.ContainsFunc(s.steps, func(st step) bool { return st.once }) {
			s.mask = c.of(i)
		}
		s.conditional = s.mask != always
		for _, b := range p.read(i) {
			if was, ok := c.wanted[b]; ok && was != s.mask {
				c.wanted[b] = always
			} else {
				c.wanted[b] = s.mask
			}
		}
	}
	return &guarded{p}
}

// always stands for a mask where there is no condition.
const always = -1

type conditions struct {
	*planned
	wanted map[int]int // by buffer: the mask that guards all later stages that read it, or always
	maker  map[int]int // by buffer: the stage
}

// of returns the mask that is the condition of stage i, or always. Later stages have theirs
// already.
func (c *conditions) of(i int) int {
	mask := always
	// only reports whether m is the condition of all that the stage makes, as far as that is known.
	only := func(m int) bool {
		same := m != always && (mask == always || m == mask)
		mask = m
		return same
	}
	for k := range c.stages[i].steps {
		st := &c.stages[i].steps[k]
		ins := &c.instrs[st.ins]
		if st.mayFail(ins.kernel) {
			return always
		}
		if c.buffers[st.out.buf].home == outside && !only(c.keeps(ins)) {
			return always
		}
	}
	for _, b := range c.made(i) {
		if m, ok := c.wanted[b]; ok && !only(m) { // no other stage reads partial sums
			return always
		}
	}
	if from, computed := c.maker[mask]; computed && from >= i {
		return always // it is not known yet
	}
	return mask
}

// keeps returns the one-element mask of an instruction that, where the mask is false, leaves the
// parameter or state that it writes unchanged; always if there is none.
func (q *sequence) keeps(ins *instr) int {
	if _, ok := ins.kernel.(kernel.Select); !ok {
		return always
	}
	mask, old := ins.in[0], ins.in[2]
	if old.buf != ins.out.buf || !old.layout.IsDense() || old.layout.Len() != ins.out.layout.Len() {
		return always
	}
	// Scratch holds a block's part of a mask.
	if b := &q.buffers[mask.buf]; b.bytes != 1 || b.home == inScratch {
		return always
	}
	return mask.buf
}

// String lists the stages as the plan does, with their conditions.
func (g *guarded) String() string { return g.text("guarded", true) }

// check returns an error unless a mask is known before the stages that it guards, and each of their
// results either leaves the store unchanged where the mask is false, or is read only under the same
// mask.
func (g *guarded) check() error {
	maker := map[int]int{}
	for i := range g.stages {
		for _, b := range g.made(i) {
			maker[b] = i
		}
	}
	for i := range g.stages {
		s := &g.stages[i]
		if s.conditional {
			if from, computed := maker[s.mask]; computed && from >= i || g.buffers[s.mask].home == inScratch {
				return fmt.Errorf("stage %d depends on buffer %d, which is not known before it", i, s.mask)
			}
		}
		for _, b := range g.made(i) {
			if s.conditional && g.buffers[b].pinned {
				return fmt.Errorf("stage %d makes buffer %d, which is wanted, only if buffer %d is true", i, b, s.mask)
			}
		}
		for _, b := range g.read(i) {
			from, computed := maker[b]
			if !computed || !g.stages[from].conditional || from == i {
				continue
			}
			if !s.conditional || s.mask != g.stages[from].mask {
				return fmt.Errorf("stage %d reads buffer %d, which stage %d makes only if buffer %d is true", i, b, from, g.stages[from].mask)
			}
		}
	}
	return g.checkSums()
}

// passes reports whether the run under way passes over a stage.
func (vm *VM) passes(s *stage) bool {
	return s.once && vm.rests(s) || s.conditional && !kernel.As[bool](vm.workers[0].mem[s.mask])[0]
}

// condition names the mask of a stage; "" for none.
func (q *sequence) condition(name *naming, s *stage) string {
	if !s.conditional {
		return ""
	}
	if ins := name.maker[s.mask]; ins != nil {
		return name.result(ins)
	}
	for _, in := range q.inputs {
		if in.buf == s.mask {
			return in.path
		}
	}
	for _, l := range q.stored {
		if l.buf == s.mask {
			return l.leaf.path
		}
	}
	return "a constant"
}

// only returns what the listing says of when a stage runs.
func (q *sequence) only(name *naming, sign string, s *stage) string {
	if s.once {
		return sign + "once"
	}
	if !s.conditional {
		return ""
	}
	return sign + "only if " + q.condition(name, s)
}
