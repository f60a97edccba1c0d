package tape

import (
	"context"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestConstantIndicesAreTold takes the lower triangle of each matrix of a batch, and its derivative:
// both kernels know the indices, and a group may hold them.
func TestConstantIndicesAreTold(t *testing.T) {
	const batch, n = 50, 3
	var at []float64
	for i := range n {
		for j := range i + 1 {
			at = append(at, float64(i*n+j))
		}
	}
	g := graph.New("triangle")
	x := g.Param("x", graph.F64, graph.Ax("b", batch), graph.Ax("e", n*n))
	y := ops.Gather(ops.Square(x), g.Constant(graph.I64, at, graph.Ax("p", len(at))), 1)
	dx := grad.Of(ops.Sum(ops.Sin(y)), x)[0]
	fed := g.Input("k", graph.I64, graph.Ax("p", len(at)))
	z := ops.Gather(ops.Square(x), fed, 1)
	dz := grad.Of(ops.Sum(ops.Sin(z)), x)[0]
	p, err := Compile(g, Fetch(y, dx, z, dz))
	if err != nil {
		t.Fatal(err)
	}
	told, asked := 0, 0
	for i := range p.instrs {
		var known *kernel.Positions
		switch k := p.instrs[i].kernel.(type) {
		case kernel.Gather:
			known = k.Known
		case kernel.ScatterAdd:
			known = k.Known
		default:
			continue
		}
		if known != nil {
			told++
		} else {
			asked++
		}
	}
	if told != 2 || asked != 2 {
		t.Errorf("%d kernels know their indices and %d do not: want 2 and 2\n%v", told, asked, p)
	}
	store := NewStore(g)
	values := make([]float64, batch*n*n)
	for i := range values {
		values[i] = float64(i%17) / 5
	}
	if err := store.Set("x", Of(x, values...)); err != nil {
		t.Fatal(err)
	}
	vm, err := p.NewVM(store)
	if err != nil {
		t.Fatal(err)
	}
	if err := vm.Run(context.Background(), Feed{fed: Of(fed, at...)}); err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]*graph.Node{{y, z}, {dx, dz}} {
		a, err := vm.Floats(pair[0])
		if err != nil {
			t.Fatal(err)
		}
		if b, err := vm.Floats(pair[1]); err != nil || !slices.Equal(a, b) {
			t.Errorf("%v: known indices give other bits than fed ones", pair[0])
		}
	}
}
