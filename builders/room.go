package builders

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	machine "github.com/tapestry-ml/tapestry/internal/memory"
)

// take is a variable for the tests.
var take = machine.Take

// Room returns an error if the machine, or the control group of the process, has less memory than
// the model's parameters and states take, with a batch of its examples, the arrays that the batch
// is drawn from, and the float64 values of the held nodes. If the system does not tell its memory,
// there is room. Call it before using a model whose sizes come from someone else.
//
// Training needs more memory, which is checked where it is allocated: tape.NewStore leaves out the
// states of the optimiser that do not fit, NewVM returns an error that names the largest array of
// the program or its workers, and Draw checks every batch. So a model that has room here may be
// refused there, before it takes more. Compiling the graph and copies that a caller makes, such as
// those of the store, results or records, are not checked.
func (m *Model) Room(held ...*graph.Node) error {
	if m == nil || m.Graph == nil {
		return errNoGraph
	}
	var r room
	drawn := 0 // the parameters are drawn in float64, one after the other
	for _, n := range m.Graph.Leaves(graph.RoleParam, graph.RoleState) {
		r.add(n, n.DType().Size())
		drawn = max(drawn, n.Shape().Len())
	}
	r.need += 8 * float64(drawn)
	r.examples(m)
	for _, n := range held {
		r.add(n, 8)
	}
	promise, err := r.take(m, "with a batch of its examples and what is computed of them")
	promise.End()
	return err
}

// Draw returns values for the inputs, drawn from rng as by Examples, or an error if there is less
// memory than they take: other batches may be held, and other models be trained.
func (m *Model) Draw(rng *rand.Rand) (graph.Values, error) {
	switch {
	case m == nil || m.Graph == nil:
		return nil, errNoGraph
	case m.Examples == nil:
		return nil, fmt.Errorf("%s has no examples to be drawn", m.Builder.Name)
	case rng == nil:
		return nil, fmt.Errorf("%s: the examples are drawn from no generator: rng is nil", m.Builder.Name)
	}
	var r room
	r.examples(m)
	promise, err := r.take(m, "for a batch of its examples")
	if err != nil {
		return nil, err
	}
	defer promise.End()
	return m.Examples(rng), nil
}

var errNoGraph = errors.New("the model has no graph (builders.Build makes one)")

// room is the memory that is needed, in bytes.
type room struct {
	need    float64
	largest *graph.Node
}

func (r *room) add(n *graph.Node, bytes int) {
	r.need += float64(bytes) * float64(n.Shape().Len())
	if r.largest == nil || n.Shape().Len() > r.largest.Shape().Len() {
		r.largest = n
	}
}

// examples adds a batch of the model's examples, as drawn, and as fed.
func (r *room) examples(m *Model) {
	if m.Examples == nil {
		return
	}
	for _, n := range m.Inputs() {
		r.add(n, 8+n.DType().Size())
	}
	for _, n := range m.Drawn {
		r.add(n, 8)
	}
}

// take promises the memory, or says that it is not there.
func (r *room) take(m *Model, what string) (*machine.Promise, error) {
	need := int64(min(r.need, math.MaxInt64/2))
	promise, there, short := take(need)
	if !short {
		return promise, nil
	}
	return nil, fmt.Errorf("%s: it takes %s %s, and there are %s: the largest is %v; set smaller sizes",
		m.Builder.Name, machine.Text(need), what, machine.Text(there), r.largest)
}
