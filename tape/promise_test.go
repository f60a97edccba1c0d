package tape

import (
	"context"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
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
	if vm.granted == nil || vm.granted.bytes < 4*3000*3000 {
		t.Error("nothing is promised")
	}
	if err := vm.Run(context.Background(), Feed{x: Tensor(graph.NewValue(x.Type()))}); err != nil || vm.granted != nil {
		t.Errorf("the promise outlives the run (%v)", err)
	}
}
