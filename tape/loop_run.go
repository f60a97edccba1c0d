package tape

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// iteration runs a loop in a VM.
type iteration struct {
	*loop
	node  *graph.Node
	vm    *VM // of the body
	outer *VM // that the loop stands in
	root  *VM // that the user runs
	step  int // under way

	watch *opened // nil: nobody looks at the steps

	rows     []cursor // of the carries, of the carries that follow them, and of the outs
	elements []cursor // of the sequences
}

// nest makes the VMs of the loops in a program, with the memory of its buffers.
func (vm *VM) nest(root *VM, mem []kernel.Mem) {
	for i := range vm.prog.stages {
		s := &vm.prog.stages[i]
		l := vm.prog.loopOf(s)
		if l == nil {
			continue
		}
		inner := &VM{prog: l.body, pool: vm.pool}
		own := make([]kernel.Mem, len(l.body.buffers))
		for k, b := range l.body.buffers {
			switch {
			case b.constant.Len() > 0:
				own[k] = b.constant
			case b.home == inArena:
				own[k] = mem[s.work].Slice(b.offset, b.bytes)
			}
		}
		for _, w := range vm.workers {
			inner.workers = append(inner.workers, newWorker(l.body, own, w.Worker, w.scratch))
		}
		inner.job.vm = inner
		inner.findPointers()
		inner.nest(root, own)
		inner.around = newIteration(l, vm.prog.instrs[s.steps[0].ins].node, inner, vm, root)
		for _, w := range vm.workers {
			w.calls[s.calls[0].number].Inner = inner.around // which one of them runs
		}
	}
}

// between is the number of steps between two looks at the context.
const between = 64

// Run runs all steps. It ends early when the context of the run does.
func (it *iteration) Run(c *kernel.Ctx) {
	size := int(kernel.DType(it.dtype).Size())
	row := func(x ring, r int) kernel.Mem { return c.Out.Slice(x.row(r)*size, x.Size*size) }
	_, first, _ := it.At(0)
	for k := range it.Carries {
		row(it.rings[k], first).Copy(c.In[k])
	}
	for k := it.Carries + it.Sequences; k < len(c.In); k++ {
		it.vm.supply(k, c.In[k])
	}
	ends := it.Carries + it.Outs
	for k, p := range it.rings[ends:] {
		total := row(p, 0)
		total.Clear()
		it.vm.supply(len(c.In)+k, total)
		it.vm.export(ends+k, total)
	}
	it.rewind()
	for step := range it.Steps {
		if step%between == 0 && it.ends() {
			return
		}
		it.step = step
		it.point(c)
		if it.Gate > 0 {
			if shut, last := it.shut(c, row, step); last {
				it.skip(row, step, it.Steps)
				return
			} else if shut {
				it.skip(row, step, step+1)
				continue
			}
		}
		if it.watch != nil {
			it.watch.step(it.vm)
			continue
		}
		for i := range it.vm.prog.stages {
			it.vm.execute(&it.vm.prog.stages[i])
		}
	}
}

// shut reports whether the gate of a step is 0; last, whether those of all later steps
// are 0 as well.
func (it *iteration) shut(c *kernel.Ctx, row func(x ring, r int) kernel.Mem, step int) (shut, last bool) {
	gate, _ := it.Gated()
	now, before, _ := it.At(step)
	var at kernel.Mem
	switch {
	case gate < it.Carries:
		at = row(it.rings[gate], before)
	case gate < it.Carries+it.Sequences:
		at = c.In[gate].From(now * it.gate.Size())
	default:
		at = c.In[gate]
	}
	switch it.gate {
	case graph.F32:
		shut = kernel.As[float32](at)[0] == 0
	case graph.F64:
		shut = kernel.As[float64](at)[0] == 0
	default:
		shut = at.Slice(0, it.gate.Size()).IsZero()
	}
	return shut, shut && (gate < it.Carries || gate >= it.Carries+it.Sequences)
}

// skip does the steps from one to another without running them: the carries go on as they are, and
// the outs are 0. A ring needs no more of them than it has rows.
func (it *iteration) skip(row func(x ring, r int) kernel.Mem, from, to int) {
	_, before, _ := it.At(from)
	for k, x := range it.rings[:it.Carries+it.Outs] {
		for step := max(from, to-x.Rows); step < to; step++ {
			if now, _, after := it.At(step); k < it.Carries {
				if x.row(after) != x.row(before) {
					row(x, after).Copy(row(x, before))
				}
			} else {
				row(x, now).Clear()
			}
		}
	}
}

// ends reports whether the context of the run is done.
func (it *iteration) ends() bool {
	if it.root.ended == nil && it.root.ctx != nil {
		it.root.ended = it.root.ctx.Err()
	}
	return it.root.ended != nil
}
