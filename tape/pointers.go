package tape

import "github.com/tapestry-ml/tapestry/internal/kernel"

// findPointers finds what is to point at the memory of each input, then of each export, in all
// workers that may need it.
func (vm *VM) findPointers() {
	p, workers := vm.prog, vm.workers
	if !p.shared() {
		workers = workers[:1]
	}
	vm.pointers = make([][]*kernel.Mem, len(p.fed))
	sought := p.sought()
	point := func(i, buf int, makers []int) {
		for _, w := range workers {
			if sought[buf] {
				vm.pointers[i] = append(vm.pointers[i], &w.mem[buf])
			}
			for _, k := range p.fed[i] {
				vm.pointers[i] = append(vm.pointers[i], &w.operands[k])
			}
			for _, k := range makers {
				vm.pointers[i] = append(vm.pointers[i], &w.calls[k].Out)
			}
		}
	}
	for i, in := range p.inputs {
		point(i, in.buf, nil)
	}
	for i, buf := range p.exports {
		point(len(p.inputs)+i, buf, p.makers[i])
	}
}

// sought reports, by buffer, whether its memory is looked up while the program runs.
func (p *Program) sought() []bool {
	sought := make([]bool, len(p.buffers))
	for i := range p.stages {
		s := &p.stages[i]
		for k := range s.calls {
			for _, m := range s.calls[k].moves {
				sought[m.buf] = true
			}
		}
		for _, x := range s.sums {
			sought[x.partial], sought[x.out] = true, true
		}
		if s.conditional {
			sought[s.mask] = true
		}
	}
	for _, f := range p.finite {
		sought[f.v.buf] = true
	}
	for _, c := range p.commits {
		sought[c.from.buf] = true
	}
	return sought
}

// shared reports whether other workers than the first may run parts of the program.
func (p *Program) shared() bool {
	for i := range p.stages {
		s := &p.stages[i]
		if p.splits(s.units(), s.nanos) {
			return true
		}
		for _, x := range s.sums {
			if p.splits(x.combine.Units, x.nanos) {
				return true
			}
		}
	}
	return false
}

// supply points input i at memory.
func (vm *VM) supply(i int, m kernel.Mem) {
	for _, p := range vm.pointers[i] {
		*p = m
	}
}

// export points export i of a body at memory.
func (vm *VM) export(i int, m kernel.Mem) { vm.supply(len(vm.prog.inputs)+i, m) }
