package tape

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/pprof"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/memory"
	"github.com/tapestry-ml/tapestry/internal/pool"
	"gorgonia.org/tensor"
)

// VM runs a program on a store. It is for one goroutine.
type VM struct {
	prog     *Program
	store    *Store
	arena    kernel.Mem
	pool     *pool.Pool
	workers  []*worker
	job      job
	pointers [][]*kernel.Mem // by input, then by export: what points at its memory
	watch    *observer       // nil: nobody looks on
	inputs   []*graph.Node   // the user's
	whole    []graph.Type    // by input: that of the arrays whose rows are fed; see RunRows
	entries  []*entry        // by commit
	stored   []*entry        // by parameter or state of the program
	lots     []standing      // of stages that run once
	results  map[*graph.Node]*tensor.Dense
	ran      bool
	draws    bool            // the program does
	ctx      context.Context // of the run under way
	ended    error           // why a loop has left it early, or a sum over lanes has failed
	wrong    *wrongIndex     // that the run under way has met; nil for none
	granted  *memory.Promise // memory that no run has touched yet; nil for none
	around   *iteration      // that the VM runs the steps of; nil for the user's VM
	lanes    Summer          // the other lanes; nil for none
}

// VMOption says how a VM runs; see [Workers], [Labels], [Limit], [Lanes].
type VMOption func(*vmOptions)

type vmOptions struct {
	workers int
	labels  bool
	limited bool // to so many bytes
	limit   int
	lanes   Summer // nil: the VM is the only lane
}

// Workers sets how many cores a VM may use: by default, and at most, as many as
// Go does ([runtime.GOMAXPROCS]). Results are the same, bit for bit, for any number.
func Workers(n int) VMOption { return func(o *vmOptions) { o.workers = n } }

// workers returns how many cores are useful: one, where no stage is worth waking others.
func (p *Program) workers(most int) int {
	if most < 1 {
		most = runtime.GOMAXPROCS(0)
	}
	for i := range p.stages {
		if l := p.loopOf(&p.stages[i]); l != nil {
			if n := l.body.workers(most); n > 1 {
				return n
			}
		} else if p.stages[i].nanos >= p.sizes.wake {
			return most
		}
	}
	return 1
}

// NewVM joins a program and a store. Parameters and states that the store does not have are made
// fresh. A store that is nil, entries of other types than the program's, and a program that needs
// more memory than there is ([Limit]) are errors, which leave the store as it was.
func (p *Program) NewVM(s *Store, options ...VMOption) (*VM, error) {
	if p == nil || p.unit == nil {
		return nil, errNilProgram
	}
	var o vmOptions
	for _, option := range options {
		if option != nil {
			option(&o)
		}
	}
	if s == nil {
		return nil, errors.New("the VM has no store")
	}
	granted, err := p.granted(&o, s)
	if err != nil {
		return nil, err
	}
	if err := s.complete(p.stored); err != nil {
		granted.End()
		return nil, err
	}
	vm := &VM{prog: p, store: s, draws: p.draws(), arena: kernel.Alloc(p.arena), results: map[*graph.Node]*tensor.Dense{}}
	mem := make([]kernel.Mem, len(p.buffers))
	for i, b := range p.buffers {
		switch {
		case b.constant.Len() > 0:
			mem[i] = b.constant
		case b.home == inArena:
			mem[i] = vm.arena.Slice(b.offset, b.bytes)
		}
	}
	for _, l := range p.stored {
		vm.stored = append(vm.stored, s.entries[l.leaf.path])
		mem[l.buf] = s.entries[l.leaf.path].mem
	}
	for _, c := range p.commits {
		vm.entries = append(vm.entries, s.entries[c.path])
	}
	for _, in := range p.inputs {
		vm.inputs = append(vm.inputs, p.source.Lookup(in.path))
	}
	granted.Keep(int64(p.arena)) // the values have been drawn, and the arena is allocated
	vm.pool = pool.New(p.workers(o.workers))
	for range vm.pool.Workers() {
		k := kernel.NewWorker()
		k.Reserve(p.workBytes())
		vm.workers = append(vm.workers, newWorker(p, mem, k, kernel.Alloc(p.scratch)))
	}
	vm.job.vm, vm.lots = vm, p.newStandings()
	vm.findPointers()
	vm.nest(vm, mem)
	if vm.lanes = o.lanes; vm.lanes != nil {
		vm.join(vm.lanes, mem)
	}
	if o.labels {
		vm.watch = &observer{labels: p.stageLabels()}
	}
	if vm.granted = granted; granted != nil {
		runtime.AddCleanup(vm, (*memory.Promise).End, granted)
	}
	for n, v := range p.result {
		// A result may be the first part of a larger buffer.
		vm.results[n] = denseOver(n.Type(), mem[v.buf].Slice(0, n.Shape().Len()*n.DType().Size()))
	}
	return vm, nil
}

// Run does one run: it reads the feed, executes the tape, and commits the updates. On any error,
// and when ctx ends, the store is as it was. A run with updates counts as a step of the store, and
// one without updates that draws counts in [Store.Runs]; later random draws depend on both (see
// "Random numbers" above).
func (vm *VM) Run(ctx context.Context, feed Feed) error { return vm.run(ctx, feed, -1) }

// run is Run on rows of what is fed from the given one on, or with −1 on whole arrays.
func (vm *VM) run(ctx context.Context, feed Feed, from int) error {
	if err := vm.ready(ctx); err != nil {
		return err
	}
	if err := vm.feed(feed, from); err != nil {
		return err
	}
	vm.ran, vm.ctx, vm.ended, vm.wrong = false, ctx, nil, nil
	if vm.granted != nil {
		defer vm.settle()
	}
	if len(vm.workers) > 1 {
		vm.pool.Begin()
		defer vm.pool.End()
	}
	updates := len(vm.prog.commits) > 0
	for _, w := range vm.workers {
		w.Seed, w.Step = vm.store.stream(updates), vm.store.step
	}
	vm.beginLots()
	for i := range vm.prog.late {
		if i%8 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		vm.stage(ctx, i)
		if vm.ended != nil { // what came after would be worth nothing
			return vm.ended
		}
	}
	if vm.wrong != nil {
		return fmt.Errorf("%w: nothing was committed", vm.wrong.err)
	}
	if err := vm.checkFinite(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for i := vm.prog.late; i < len(vm.prog.stages); i++ { // nothing below can fail
		vm.stage(ctx, i)
	}
	for i, k := range vm.prog.commits {
		if !k.direct {
			vm.entries[i].mem.Copy(vm.workers[0].mem[k.from.buf])
		}
		vm.entries[i].changes++
	}
	vm.store.count(updates, vm.draws)
	vm.endLots()
	vm.ran = true
	return nil
}

var (
	errNilProgram = errors.New("the program is nil (tape.Compile makes one)")
	errNilVM      = errors.New("the VM is nil (Program.NewVM makes one)")
	errClosedVM   = errors.New("the VM is closed")
)

// ready returns an error if nothing can be run.
func (vm *VM) ready(ctx context.Context) error {
	switch {
	case vm == nil:
		return errNilVM
	case vm.prog == nil:
		return errClosedVM
	case ctx == nil:
		return errors.New("the context is nil")
	}
	return nil
}

// stage runs stage i.
func (vm *VM) stage(ctx context.Context, i int) {
	if vm.watch != nil {
		vm.watch.stage(ctx, vm, i)
	} else {
		vm.execute(&vm.prog.stages[i])
	}
}

// execute runs one stage, if the run needs it, and adds up its partial sums.
func (vm *VM) execute(s *stage) {
	if vm.passes(s) {
		return
	}
	vm.job.stage = s
	vm.share(s.units(), s.nanos)
	for i := range s.sums {
		x := &s.sums[i]
		if x.partial != x.out {
			vm.job.sum = x
			vm.share(x.combine.Units, x.nanos)
			vm.job.sum = nil
		}
		vm.workers[0].average(x)
	}
	if s.checks {
		vm.checkIndices()
	}
}

// share does the n units of the job, on all workers if there is enough to do.
func (vm *VM) share(n int, nanos float64) {
	if len(vm.workers) > 1 && vm.prog.splits(n, nanos) {
		vm.pool.Do(n, max(1, int(float64(n)*vm.prog.sizes.grain/nanos)), &vm.job)
	} else {
		vm.job.run(0, 0, n)
	}
}

// splits reports whether there is enough to do in n units to share them out.
func (p *Program) splits(n int, nanos float64) bool { return n > 1 && nanos >= p.sizes.split }

// job is a stage, or one of its sums, that the workers are at.
type job struct {
	vm     *VM
	stage  *stage
	sum    *sum            // nil while the stage itself runs
	labels context.Context // of the goroutines that help; nil for none
}

// Run does units [lo,hi) as the given worker.
func (j *job) Run(worker, lo, hi int) {
	label := j.labels != nil && worker > 0
	if label {
		pprof.SetGoroutineLabels(j.labels)
	}
	j.run(worker, lo, hi)
	if label {
		pprof.SetGoroutineLabels(context.Background())
	}
}

func (j *job) run(worker, lo, hi int) {
	if w := j.vm.workers[worker]; j.sum != nil {
		w.combine(j.sum, lo, hi)
	} else {
		w.rests = j.vm.rests(j.stage)
		w.run(j.stage, lo, hi)
	}
}

// NotFinite is the error of a run whose checked value is NaN or infinite.
type NotFinite struct {
	Name  string
	Value float64
}

// Error returns one line.
func (e *NotFinite) Error() string {
	return fmt.Sprintf("%s is %v: nothing was committed", e.Name, e.Value)
}

func (vm *VM) checkFinite() error {
	for _, f := range vm.prog.finite {
		v := 0.0
		switch m := vm.workers[0].mem[f.v.buf]; f.v.layout.DType {
		case kernel.F32:
			v = float64(kernel.As[float32](m)[0])
		case kernel.F64:
			v = kernel.As[float64](m)[0]
		default:
			v = arrayOf(graph.Type{DType: graph.DType(f.v.layout.DType)}, m).At(0)
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &NotFinite{f.name, v}
		}
	}
	return nil
}

// Value returns a fetched or watched value of the last run. It aliases the VM's
// memory and changes with the next run; Clone keeps it. Of a value without elements only the shape
// says so; see [Tensor].
func (vm *VM) Value(n *graph.Node) (*tensor.Dense, error) {
	switch {
	case vm == nil:
		return nil, errNilVM
	case vm.prog == nil:
		return nil, errClosedVM
	}
	t, ok := vm.results[n]
	switch {
	case !ok:
		return nil, fmt.Errorf("%v is not kept: name it in tape.Fetch or tape.Watch", n)
	case !vm.ran:
		return nil, fmt.Errorf("%v has no value: no run has ended well", n)
	}
	return t, nil
}

// Float returns a fetched scalar of the last run as a number; true is 1. A node that
// is not fetched, has axes, or has no value yet is an error, as of [VM.Value]: a loss that is NaN
// has diverged, and nothing else is NaN.
func (vm *VM) Float(n *graph.Node) (float64, error) {
	t, err := vm.Value(n)
	switch {
	case err != nil:
		return 0, err
	case n.Rank() != 0:
		return 0, fmt.Errorf("%v is no scalar: read it by Value", n)
	}
	switch n.DType() {
	case graph.F32:
		return float64(t.Float32s()[0]), nil
	case graph.F64:
		return t.Float64s()[0], nil
	case graph.I32:
		return float64(t.Int32s()[0]), nil
	case graph.I64:
		return float64(t.Int64s()[0]), nil
	}
	a, err := ArrayOf(n.Type(), t)
	if err != nil {
		return 0, err
	}
	return a.At(0), nil
}

// Store returns the store that the VM runs on.
func (vm *VM) Store() *Store { return vm.store }

// Close ends the VM and its workers, and lets go of its memory; a later Run or Value is an error.
// Values read before stay valid.
func (vm *VM) Close() {
	if vm.pool != nil {
		vm.pool.Close()
	}
	for _, w := range vm.workers {
		w.Worker.End()
	}
	vm.settle()
	vm.prog, vm.arena, vm.workers, vm.results, vm.job, vm.ctx = nil, kernel.Mem{}, nil, nil, job{}, nil
}

// settle ends the promise of memory.
func (vm *VM) settle() {
	vm.granted.End()
	vm.granted = nil
}
