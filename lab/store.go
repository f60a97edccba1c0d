package lab

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
)

// NewStore returns the store that training by [Learn] from a seed begins with. Values are drawn
// from the seed. Parameters and states that start at rows of an input ([initial.Rows]) get rows of
// the model's data, or of its own examples, that k-means++ chooses. A model that wants more rows
// than there are is an error.
func NewStore(m *builders.Model, seed uint64) (*tape.Store, error) {
	if m == nil {
		return nil, errNilModel
	}
	store := tape.NewStore(m.Graph, tape.Seed(seed))
	if err := store.Complete(m.Graph); err != nil {
		return nil, err
	}
	if m.Examples == nil {
		return store, nil
	}
	return store, startAtRows(store, m, seed, exampleFeeder{m: m}.begin(seed))
}

// mostStart is the number of rows after which no further batch is read to choose start values from.
const mostStart = 10_000

// startAtRows sets the parameters and states that start at rows of an input to rows of the first
// batches of a training.
func startAtRows(store *tape.Store, m *builders.Model, seed uint64, begin Feeds) error {
	for _, n := range m.Graph.Leaves(graph.RoleParam, graph.RoleState) {
		path, ok := n.Initialiser().Input()
		if !ok {
			continue
		}
		x := m.Graph.Lookup(path)
		t := &data.Table{Columns: make([]string, max(1, n.Shape().Len()/n.Dim(0)))}
		for i := 0; i < len(begin) && t.Rows() < mostStart; i++ {
			feed, err := begin[i]()
			if err != nil {
				return err
			}
			a, err := tape.ArrayOf(x.Type(), feed[x])
			if err != nil {
				return err
			}
			for i := range x.Shape().Len() {
				t.X = append(t.X, a.At(i))
			}
		}
		start := Centres(t, n.Dim(0), PlusPlus, seed)
		if start == nil {
			return fmt.Errorf("%s: %s starts at %d rows of %s, and training begins with %d", m.Builder.Name, n.Path(), n.Dim(0), path, t.Rows())
		}
		if err := store.Set(n.Path(), tape.Tensor(graph.Value{Type: n.Type(), Data: start})); err != nil {
			return err
		}
	}
	return nil
}
