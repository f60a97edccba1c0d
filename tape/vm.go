package tape

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"gorgonia.org/tensor"
)

// Feed gives inputs their values for one run: dense row-major tensors of the
// inputs' types, which the run reads where they lie. Inputs with a default may
// be left out. Reusing a Feed from step to step allocates nothing. A result of the
// same VM may be fed as it is: it is copied first.
type Feed map[*graph.Node]*tensor.Dense

// VM runs a program on a store. It is for one goroutine.
type VM struct {
	prog    *Program
	store   *Store
	err     error // what makes every run fail
	arena   kernel.Mem
	mem     []kernel.Mem   // by buffer
	in      [][]kernel.Mem // by instruction
	uses    [][]use        // by input: where its memory goes
	inputs  []*graph.Node  // the user's
	entries []*entry       // by commit
	ctx     *kernel.Ctx
	results map[*graph.Node]*tensor.Dense
	ran     bool
}

// use is an operand slot that an input fills.
type use struct{ instr, operand int }

// NewVM joins a program and a store. Parameters and states that the store does
// not have are made fresh. An entry of another type makes every Run fail.
func (p *Program) NewVM(s *Store) *VM {
	vm := &VM{prog: p, store: s, arena: kernel.Alloc(p.arena), mem: make([]kernel.Mem, len(p.buffers)),
		uses: make([][]use, len(p.inputs)),
		ctx:  kernel.NewCtx(), results: map[*graph.Node]*tensor.Dense{}}
	if s == nil {
		vm.err = errors.New("the VM has no store")
		return vm
	}
	for i, b := range p.buffers {
		switch {
		case b.constant.Len() > 0:
			vm.mem[i] = b.constant
		case !b.leaf:
			vm.mem[i] = vm.arena.Slice(b.offset, b.bytes)
		}
	}
	for _, l := range p.stored {
		e, err := s.fresh(l.leaf)
		if err != nil {
			vm.err = errors.Join(vm.err, err)
			continue
		}
		vm.mem[l.buf] = e.mem
	}
	if vm.err != nil {
		return vm
	}
	for _, c := range p.commits {
		vm.entries = append(vm.entries, s.entries[c.path])
	}
	inputOf := map[int]int{}
	for i, in := range p.inputs {
		inputOf[in.buf] = i
		vm.inputs = append(vm.inputs, p.source.Lookup(in.path))
		if in.hasDefault {
			vm.mem[in.buf] = memOf(graph.Value{Type: in.typ, Data: []float64{in.def}})
		}
	}
	vm.in = make([][]kernel.Mem, len(p.instrs))
	for i, ins := range p.instrs {
		vm.in[i] = make([]kernel.Mem, len(ins.in))
		for k, v := range ins.in {
			vm.in[i][k] = vm.mem[v.buf]
			if in, ok := inputOf[v.buf]; ok {
				vm.uses[in] = append(vm.uses[in], use{i, k})
			}
		}
	}
	for n, v := range p.result {
		// A result may be the first part of a larger buffer.
		vm.results[n] = denseOver(n.Type(), vm.mem[v.buf].Slice(0, n.Shape().Len()*n.DType().Size()))
	}
	return vm
}

// Run does one run: it reads the feed, executes the tape, and commits the
// updates. On any error, and when ctx ends, the store is as it was.
func (vm *VM) Run(ctx context.Context, feed Feed) error {
	if vm.err != nil {
		return vm.err
	}
	if vm.prog == nil {
		return errors.New("the VM is closed")
	}
	if ctx == nil {
		return errors.New("the context is nil")
	}
	if err := vm.bind(feed); err != nil {
		return err
	}
	vm.ran = false
	c := vm.ctx
	c.Seed, c.Step = vm.store.seed, vm.store.step
	for i := range vm.prog.instrs {
		if i%8 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		ins := &vm.prog.instrs[i]
		c.Out, c.In = vm.mem[ins.out.buf], vm.in[i]
		ins.loop.Run(c, 0, ins.loop.Units)
	}
	if err := vm.checkFinite(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, k := range vm.prog.commits { // nothing below can fail
		vm.entries[i].mem.Copy(vm.mem[k.from.buf])
	}
	if len(vm.prog.commits) > 0 {
		vm.store.step++
	}
	vm.ran = true
	return nil
}

// bind points the operands that are inputs at what is fed, or at the default.
func (vm *VM) bind(feed Feed) error {
	if err := vm.strangers(feed); err != nil {
		return err
	}
	for i, in := range vm.prog.inputs {
		m := vm.mem[in.buf]
		if t, fed := feed[vm.inputs[i]]; fed {
			var err error
			if m, err = memOfDense(in.typ, t); err != nil {
				return fmt.Errorf("input %s: %w", in.path, err)
			}
			if m.Overlaps(vm.arena) { // a result of the last run: this run writes over it
				own := kernel.Alloc(m.Len())
				own.Copy(m)
				m = own
			}
		} else if !in.hasDefault {
			return fmt.Errorf("input %s of type %v is not fed", in.path, in.typ)
		}
		for _, u := range vm.uses[i] {
			vm.in[u.instr][u.operand] = m
		}
	}
	return nil
}

// strangers reports what is fed but is no input of the graph. An input that
// nothing wanted depends on is none.
func (vm *VM) strangers(feed Feed) error {
	var found []string
	for n := range feed {
		if n == nil || n.Graph() != vm.prog.source || n.Role() != graph.RoleInput {
			found = append(found, n.String())
		}
	}
	if len(found) == 0 {
		return nil
	}
	slices.Sort(found)
	return fmt.Errorf("feed: %s is no input of graph %q", strings.Join(found, ", "), vm.prog.source.Name())
}

// NotFinite is the error of a run whose checked value is NaN or infinite.
type NotFinite struct {
	Name  string
	Value float64
}

// Error gives one line.
func (e *NotFinite) Error() string {
	return fmt.Sprintf("%s is %v: nothing was committed", e.Name, e.Value)
}

func (vm *VM) checkFinite() error {
	for _, f := range vm.prog.finite {
		v := 0.0
		if m := vm.mem[f.v.buf]; f.v.layout.DType == kernel.F32 {
			v = float64(kernel.As[float32](m)[0])
		} else {
			v = kernel.As[float64](m)[0]
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &NotFinite{f.name, v}
		}
	}
	return nil
}

// Value gives a fetched or watched value of the last run. It aliases the VM's
// memory and changes with the next run; Clone keeps it.
func (vm *VM) Value(n *graph.Node) (*tensor.Dense, error) {
	t, ok := vm.results[n]
	switch {
	case vm.err != nil:
		return nil, vm.err
	case !ok:
		return nil, fmt.Errorf("%v is not kept: name it in tape.Fetch or tape.Watch", n)
	case !vm.ran:
		return nil, fmt.Errorf("%v has no value: no run has ended well", n)
	}
	return t, nil
}

// Float gives a fetched scalar of the last run, NaN if it cannot be read.
func (vm *VM) Float(n *graph.Node) float64 {
	t, err := vm.Value(n)
	if err != nil || n.Rank() != 0 {
		return math.NaN()
	}
	switch n.DType() {
	case graph.F32:
		return float64(t.Float32s()[0])
	case graph.F64:
		return t.Float64s()[0]
	case graph.I32:
		return float64(t.Int32s()[0])
	case graph.I64:
		return float64(t.Int64s()[0])
	}
	if t.Bools()[0] {
		return 1
	}
	return 0
}

// Store is the store that the VM runs on.
func (vm *VM) Store() *Store { return vm.store }

// Close ends the VM; a later Run is an error. Values read before stay valid.
func (vm *VM) Close() {
	vm.prog, vm.arena, vm.mem, vm.in = nil, kernel.Mem{}, nil, nil
}
