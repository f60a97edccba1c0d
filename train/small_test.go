package train_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// compiled returns the program of a step and a fresh store.
func compiled(t *testing.T, g *graph.Graph, step graph.Step) (*tape.Program, *tape.Store) {
	t.Helper()
	prog, err := tape.Compile(g, tape.Do(step))
	if err != nil {
		t.Fatal(err)
	}
	return prog, tape.NewStore(g)
}

// scalar minimises a loss of one parameter w, 0 at first.
func scalar(t *testing.T, o train.Optimiser, loss func(w *graph.Node) *graph.Node) (*graph.Graph, *tape.Program, *tape.Store) {
	t.Helper()
	g := graph.New("scalar")
	prog, store := compiled(t, g, o.Minimize(loss(g.Param("w", graph.F64))))
	return g, prog, store
}

// fed returns a feed of one input.
func fed(x *graph.Node, values ...float64) tape.Feed {
	v := graph.NewValue(x.Type())
	copy(v.Data, values)
	return tape.Feed{x: tape.Tensor(v)}
}
