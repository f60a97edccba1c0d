package builders

import (
	"fmt"
	"runtime/debug"

	"github.com/tapestry-ml/tapestry/graph"
	machine "github.com/tapestry-ml/tapestry/internal/memory"
)

// available is a variable for the tests.
var available = machine.Available

// Room returns an error if the machine, or the control group of the process, has less memory
// than a batch of the model's examples takes with what it is drawn from, and the float64 values
// of the held nodes. Where the system does not tell, there is room. Call it before Examples,
// which cannot fail: the sizes may be anyone's.
//
// It asks for the examples alone, which nobody else asks for. What training takes besides is asked
// for where it is allocated, by what is free by then: the parameters and states, and those of the
// optimiser, which are among the states of the graph once it has made its step, by tape.NewStore,
// which leaves out what does not fit, and by the program's NewVM, together with the
// program's arrays and every worker's scratch, as an error that names the largest. So a model
// that has room here may have none there, and is refused before it takes more. Nobody asks for the
// graph itself with its constants, for compiling it, for later batches while an earlier one is
// held, or for copies that a caller makes: of the store for a checkpoint, of results, of records.
func (m *Model) Room(held ...*graph.Node) error {
	const cheap = 16 << 20 // any machine has it: nobody is asked
	var largest *graph.Node
	need := 0.0
	add := func(n *graph.Node, bytes int) {
		need += float64(bytes) * float64(n.Shape().Len())
		if largest == nil || n.Shape().Len() > largest.Shape().Len() {
			largest = n
		}
	}
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
	if need <= cheap {
		return nil
	}
	there, known := available()
	if known && need > float64(there) {
		debug.FreeOSMemory() // what Go holds back is there as well
		there, known = available()
	}
	if !known || need <= float64(there) {
		return nil
	}
	const gib = 1 << 30
	return fmt.Errorf("%s: a batch of its examples takes %.1f GiB with what is computed of it, and there are %.1f GiB: the largest is %v; set smaller sizes",
		m.Builder.Name, need/gib, float64(there)/gib, largest)
}
