package tape

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestScratchIsTaken: a machine takes the scratch of one that was closed, so that short runs one
// after another, as those of a page at one step after another, allocate little.
func TestScratchIsTaken(t *testing.T) {
	g := graph.New("small")
	x := g.Input("x", graph.F32, graph.Dims(3)...)
	p, err := Compile(g, Fetch(ops.Exp(x)))
	if err != nil {
		t.Fatal(err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	begin := func() {
		vm, err := p.NewVM(NewStore(g), Workers(1))
		if err != nil {
			t.Fatal(err)
		}
		vm.Close()
		vm.Close()
	}
	begin()
	const n = 50
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range n {
		begin()
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / n; each > kernel.WorkerBytes/2 {
		t.Errorf("a machine allocates %d bytes, want less than its scratch of %d", each, kernel.WorkerBytes)
	}
}
