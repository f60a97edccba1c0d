package tape

import (
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/ops"
)

// body returns a VM of two workers for the body of a loop, h ← tanh(h + x) on rows of so many.
func body(t *testing.T, columns int) *VM {
	t.Helper()
	g := graph.New("loop")
	h := g.Input("h", graph.F32, graph.Ax("j", columns))
	xs := g.Input("xs", graph.F32, graph.Ax("t", 3), graph.Ax("j", columns))
	r := ops.Scan(ops.Loop{Carry: []*graph.Node{h}, Over: []*graph.Node{xs}, Axis: "t"}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
		return []*graph.Node{ops.Tanh(ops.Add(c[0], x[0]))}, nil
	})
	p, err := Compile(g, Fetch(r.Final[0]))
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.stages {
		if l := p.loopOf(&p.stages[i]); l != nil {
			vm := &VM{prog: l.body}
			for range 2 {
				vm.workers = append(vm.workers, newWorker(l.body, make([]kernel.Mem, len(l.body.buffers)), kernel.NewWorker(), kernel.Alloc(l.body.scratch)))
			}
			vm.findPointers()
			return vm
		}
	}
	t.Fatal("there is no loop")
	return nil
}

// TestSmallBody: the body of a loop that does all its rows at once runs straight through its calls,
// and each of its inputs and exports is pointed at once, in the worker that runs it.
func TestSmallBody(t *testing.T) {
	vm := body(t, 14)
	for _, s := range vm.prog.stages {
		for _, x := range s.tilings {
			if len(x.lengths) != 1 || len(x.lengths[0].straight) != x.to-x.from {
				t.Errorf("calls %d to %d have lengths %v: want one, of all of them", x.from, x.to, x.lengths)
			}
		}
	}
	for i, to := range vm.pointers {
		if len(to) != 1 {
			t.Errorf("pointer %d is in %d places: want 1", i, len(to))
		}
	}
	m, w := kernel.Alloc(64), vm.workers[0]
	vm.supply(1, m)
	if !slices.Contains(w.operands, m) || slices.Contains(vm.workers[1].operands, m) {
		t.Errorf("the first worker's operands are %v, the second's %v: want %v in the first only", w.operands, vm.workers[1].operands, m)
	}
}

// TestLargeBody: where workers share a body, and its blocks move, all of them know its memory.
func TestLargeBody(t *testing.T) {
	vm := body(t, 1<<20)
	m := kernel.Alloc(64)
	vm.export(0, m)
	for i, w := range vm.workers {
		if w.mem[vm.prog.exports[0]] != m {
			t.Errorf("worker %d does not know where the carry is written", i)
		}
	}
	for _, s := range vm.prog.stages {
		for _, x := range s.tilings {
			for _, l := range x.lengths {
				if l.straight != nil {
					t.Errorf("%d rows of a block run straight: want their operands to move", l.rows)
				}
			}
		}
	}
}
