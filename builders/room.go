package builders

import (
	"errors"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	machine "github.com/tapestry-ml/tapestry/internal/memory"
)

// lacks is a variable for the tests.
var lacks = machine.Lacks

// Room returns an error if the machine, or the control group of the process, has less memory
// than the model's parameters and states take with a batch of its examples, what that is drawn
// from, and the float64 values of the held nodes. Where the system does not tell, there is room.
// Call it before Examples, which cannot fail: the sizes may be anyone's.
//
// What training takes besides is asked for where it is allocated, by what is free by then: the
// states of the optimiser, which are among the graph's once it has made its step, by
// tape.NewStore, which leaves out what does not fit, and by the program's NewVM, together with the
// program's arrays and every worker's scratch, as an error that names the largest. So a model
// that has room here may have none there, and is refused before it takes more. Nobody asks for
// compiling the graph, for later batches while an earlier one is held, or for copies that a
// caller makes: of the store for a checkpoint, of results, of records.
func (m *Model) Room(held ...*graph.Node) error {
	if m == nil || m.Graph == nil {
		return errors.New("the model has no graph (builders.Build makes one)")
	}
	var largest *graph.Node
	need := 0.0
	add := func(n *graph.Node, bytes int) {
		need += float64(bytes) * float64(n.Shape().Len())
		if largest == nil || n.Shape().Len() > largest.Shape().Len() {
			largest = n
		}
	}
	drawn := 0 // the parameters are drawn in float64, one after the other
	for _, n := range m.Graph.Leaves(graph.RoleParam, graph.RoleState) {
		add(n, n.DType().Size())
		drawn = max(drawn, n.Shape().Len())
	}
	need += 8 * float64(drawn)
	if m.Examples != nil {
		for _, n := range m.Graph.Leaves(graph.RoleInput) {
			if _, has := n.Default(); !has {
				add(n, 8+n.DType().Size()) // as drawn, and as fed
			}
		}
		for _, n := range m.Drawn {
			add(n, 8)
		}
	}
	for _, n := range held {
		add(n, 8)
	}
	there, short := lacks(int64(min(need, math.MaxInt64/2)))
	if !short {
		return nil
	}
	const gib = 1 << 30
	return fmt.Errorf("%s: it takes %.1f GiB with a batch of its examples and what is computed of them, and there are %.1f GiB: the largest is %v; set smaller sizes",
		m.Builder.Name, need/gib, float64(there)/gib, largest)
}
