package tape

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/memory"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestPromiseIsKept: after its first run a VM holds no promise: its memory is taken.
func TestPromiseIsKept(t *testing.T) {
	g := graph.New("run")
	x := g.Input("x", graph.F32, graph.Ax("i", 3000))
	p, err := Compile(g, Fetch(ops.Tanh(ops.Mul(ops.Expand(x, 0, ""), ops.Expand(ops.Rename(x, 0, "j"), 1, "")))))
	if err != nil {
		t.Fatal(err)
	}
	vm := join(t, p, NewStore(g))
	if vm.granted == nil {
		t.Error("nothing is promised")
	}
	if err := vm.Run(context.Background(), Feed{x: Tensor(graph.NewValue(x.Type()))}); err != nil || vm.granted != nil {
		t.Errorf("the promise outlives the run (%v)", err)
	}
}

// TestPromises: what one VM has been granted is not there for another, although no run has touched
// it yet, until the first is closed, or forgotten.
func TestPromises(t *testing.T) {
	defer func(was func() (int64, bool)) { memory.System = was }(memory.System)
	g := graph.New("half")
	x := g.Input("x", graph.F32, graph.Ax("i", 3000))
	p, err := Compile(g, Fetch(ops.Tanh(ops.Mul(ops.Expand(x, 0, ""), ops.Expand(ops.Rename(x, 0, "j"), 1, "")))))
	if err != nil {
		t.Fatal(err)
	}
	memory.System = func() (int64, bool) { return 1 << 50, true }
	others, _ := memory.Available() // VMs of other tests that nobody has closed
	memory.System = func() (int64, bool) { return int64(p.arena)*3/2 + 1<<50 - others, true }
	vm, err := p.NewVM(NewStore(g), Workers(1))
	if err != nil {
		t.Fatal(err)
	}
	refused := func() bool {
		second, err := p.NewVM(NewStore(g), Workers(1))
		if err == nil {
			second.Close()
		}
		return err != nil && strings.HasPrefix(err.Error(), `tape: program "half" needs `)
	}
	if !refused() {
		t.Error("the same memory is granted twice")
	}
	vm.Close()
	if refused() {
		t.Error("what a closed VM was granted is gone")
	}
	if vm, err = p.NewVM(NewStore(g), Workers(1)); err != nil || vm == nil {
		t.Fatal(err)
	}
	vm = nil
	for start := time.Now(); refused(); time.Sleep(time.Millisecond) {
		if runtime.GC(); time.Since(start) > time.Minute {
			t.Fatal("what a forgotten VM was granted is gone")
		}
	}
}

// TestCloseLetsGo: a closed VM holds no memory, says that it is closed, and leaves alone what was
// read.
func TestCloseLetsGo(t *testing.T) {
	g := graph.New("run")
	x := g.Input("x", graph.F32, graph.Ax("i", 3000))
	y := ops.Tanh(x)
	p, err := Compile(g, Fetch(y))
	if err != nil {
		t.Fatal(err)
	}
	vm := join(t, p, NewStore(g))
	if err := vm.Run(context.Background(), Feed{x: Tensor(graph.NewValue(x.Type()))}); err != nil {
		t.Fatal(err)
	}
	read, err := vm.Value(y)
	if err != nil {
		t.Fatal(err)
	}
	vm.Close()
	if _, err := vm.Value(y); !errors.Is(err, errClosedVM) || vm.results != nil || vm.job.stage != nil {
		t.Errorf("after Close: %v", err)
	}
	if v := read.Float32s(); len(v) != 3000 || v[2999] != 0 {
		t.Error("what was read is gone")
	}
}
