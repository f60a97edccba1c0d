package check

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/tape"
)

// place gives every leaf its value: the point at which the graph is checked.
func (c *checker) place() error {
	for n := range c.feed {
		if n == nil || n.Graph() != c.graph || n.Role() != graph.RoleInput {
			return fmt.Errorf("feed: %v is no input of graph %q", n, c.graph.Name())
		}
	}
	given, err := c.feed.Values()
	if err != nil {
		return err
	}
	store, noise := c.store, 0.0
	if store == nil {
		store, noise = tape.NewStore(c.graph, tape.Seed(c.seed)), c.noise
	}
	for _, n := range c.graph.Leaves(graph.RoleInput, graph.RoleParam, graph.RoleState) {
		v := graph.NewValue(n.Type())
		fed, isFed := given[n]
		number, hasDefault := n.Default()
		switch {
		case n.Role() != graph.RoleInput:
			t, err := store.Get(n.Path())
			if err != nil {
				return err
			}
			v = reftest.Value(n.Type(), t)
			c.disturb(v, noise)
		case isFed:
			copy(v.Data, fed.Data)
		case hasDefault:
			v.Data[0] = number
		default:
			c.disturb(v, 1)
		}
		c.at[n] = v
	}
	return nil
}

// disturb adds normal noise to a float array.
func (c *checker) disturb(v graph.Value, std float64) {
	for i, x := range v.Data {
		if v.Type.DType.IsFloat() {
			v.Data[i] = v.Type.DType.Round(x + std*c.rng.NormFloat64())
		}
	}
}

// moved is a copy of a point, disturbed everywhere.
func (c *checker) moved(at graph.Values, std float64) graph.Values {
	out := graph.Values{}
	for _, n := range c.graph.Leaves(graph.RoleInput, graph.RoleParam, graph.RoleState) {
		v, ok := at[n]
		if !ok {
			continue
		}
		w := graph.NewValue(v.Type)
		copy(w.Data, v.Data)
		c.disturb(w, std)
		out[n] = w
	}
	return out
}

// fed is the point as an engine takes it.
func (c *checker) fed() (tape.Feed, *tape.Store, error) {
	feed, store := tape.Feed{}, tape.NewStore(c.graph, tape.Seed(c.seed))
	for n, v := range c.at {
		if n.Role() == graph.RoleInput {
			feed[n] = tape.Tensor(v)
		} else if err := store.Set(n.Path(), tape.Tensor(v)); err != nil {
			return nil, nil, err
		}
	}
	return feed, store, nil
}
