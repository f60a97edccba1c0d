package tape

import (
	"slices"

	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// A program may compute what only some runs want: where gradients are gathered over n runs, the updates of parameters and moments are
// Select(full, new, old), and n − 1 of n runs throw the new values away. A stage is conditional, on a mask of one element, if a run in
// which the mask is false needs nothing of it: all that it makes is either written into the store, where the mask leaves what is there,
// or read by stages alone that the same mask is the condition of. Such a run passes over the stage.

// conditions finds the conditions of the stages.
func (p *Program) conditions() {
	if len(p.commits) == 0 {
		return
	}
	c := conditions{p: p, wanted: map[int]int{}, maker: map[int]int{}}
	for b := range p.buffers {
		if p.buffers[b].pinned {
			c.wanted[b] = always
		}
	}
	for i := range p.stage {
		for _, b := range p.madeIn(i) {
			c.maker[b] = i
		}
	}
	for i := len(p.stage) - 1; i >= 0; i-- {
		s := &p.stage[i]
		s.mask = c.of(i)
		s.conditional = s.mask != always
		for _, b := range p.readIn(i) {
			if was, ok := c.wanted[b]; ok && was != s.mask {
				c.wanted[b] = always
			} else {
				c.wanted[b] = s.mask
			}
		}
	}
}

// always stands for a mask where there is no condition.
const always = -1

type conditions struct {
	p      *Program
	wanted map[int]int // by buffer: the mask that is the condition of all later stages that read it, or always
	maker  map[int]int // by buffer: the stage
}

// of is the mask that is the condition of stage i, or always. The stages after it have theirs.
func (c *conditions) of(i int) int {
	mask := always
	only := func(m int) bool { // whether m is the condition of all that the stage makes, as far as that is known
		same := m != always && (mask == always || m == mask)
		mask = m
		return same
	}
	for _, st := range c.p.stage[i].steps {
		ins := &c.p.instrs[st.ins]
		if ins.mayFail() {
			return always
		}
		if c.p.buffers[st.out.buf].leaf && !only(c.p.keeps(ins)) {
			return always
		}
	}
	for _, b := range c.p.madeIn(i) {
		if m, ok := c.wanted[b]; ok && !only(m) { // no other stage reads partial sums
			return always
		}
	}
	if from, computed := c.maker[mask]; computed && from >= i {
		return always // it is not known yet
	}
	return mask
}

// keeps is the mask, of one element, of an instruction that leaves the leaf that it writes as it is where the mask is false; always if
// there is none.
func (p *Program) keeps(ins *instr) int {
	if _, ok := ins.kernel.(kernel.Select); !ok {
		return always
	}
	mask, old := ins.in[0], ins.in[2]
	if old.buf != ins.out.buf || !old.layout.IsDense() || old.layout.Len() != ins.out.layout.Len() {
		return always
	}
	if b := &p.buffers[mask.buf]; b.bytes != 1 || b.scratch { // scratch holds a block's part of a mask
		return always
	}
	return mask.buf
}

// passes reports whether the run under way passes over a stage.
func (vm *VM) passes(s *stage) bool {
	return s.conditional && !kernel.As[bool](vm.workers[0].mem[s.mask])[0]
}

// condition names the mask of a stage; "" for none.
func (p *Program) condition(s *stage) string {
	if !s.conditional {
		return ""
	}
	if i := slices.IndexFunc(p.instrs, func(ins instr) bool { return ins.out.buf == s.mask }); i >= 0 {
		return operandText(p.instrs[i].node)
	}
	if i := slices.IndexFunc(p.inputs, func(in input) bool { return in.buf == s.mask }); i >= 0 {
		return p.inputs[i].path
	}
	if i := slices.IndexFunc(p.stored, func(l stored) bool { return l.buf == s.mask }); i >= 0 {
		return p.stored[i].leaf.path
	}
	return "a constant"
}

// only is what the listing says of a condition.
func (p *Program) only(sign string, s *stage) string {
	if !s.conditional {
		return ""
	}
	return sign + "only if " + p.condition(s)
}
