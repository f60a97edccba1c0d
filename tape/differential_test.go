package tape_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/randgraph"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/tape"
)

// differentials is how many random graphs are compared.
func differentials() uint64 {
	switch {
	case os.Getenv("TAPESTRY_LONG") != "":
		return 200_000
	case testing.Short():
		return 120
	}
	return 5000
}

// trial is a wide random graph, what it computes by definition, and a feed.
type trial struct {
	*randgraph.Model
	seed  uint64
	rng   *rand.Rand
	nodes []*graph.Node // results, values of updates, and some that are watched
	truth graph.Values
}

// newTrial makes a graph of a seed.
func newTrial(seed uint64) (*trial, error) {
	dt := graph.F64
	switch {
	case seed%4 == 3:
		dt = graph.F32
	case seed%16 == 2:
		dt = graph.F16
	case seed%16 == 9:
		dt = graph.BF16
	}
	c := &trial{Model: randgraph.Wide(seed, 1+int(seed%13), dt), seed: seed, rng: rand.New(rand.NewPCG(seed, 3)), truth: graph.Values{}}
	if err := c.Graph.Err(); err != nil {
		return nil, err
	}
	c.nodes = slices.Clone(c.Results)
	for _, u := range c.Step {
		c.nodes = append(c.nodes, u.Value)
	}
	for all := c.Graph.Nodes(); len(c.nodes) < len(c.Results)+len(c.Step)+4; {
		c.nodes = append(c.nodes, all[c.rng.IntN(len(all))])
	}
	values, err := ref.Eval(trait.Env{Seed: seed}, graph.Values(c.Values), c.nodes...)
	for i, v := range values {
		c.truth[c.nodes[i]] = v
	}
	return c, err
}

// watched are the nodes that are not results.
func (c *trial) watched() []*graph.Node { return c.nodes[len(c.Results)+len(c.Step):] }

// run compiles the graph, runs a step, compares all that can be read with the definitions, and
// gives the bits of the results and of the parameters and states after the step.
func (c *trial) run(t testing.TB, workers int, options ...tape.Option) ([]uint64, *tape.Program, error) {
	p, err := tape.Compile(c.Graph, append(options, tape.Fetch(c.Results...), tape.Do(c.Step))...)
	if err != nil {
		return nil, nil, err
	}
	feed, store := load(t, c.Model, c.seed)
	vm, err := p.NewVM(store, tape.Workers(workers))
	if err != nil {
		return nil, p, err
	}
	defer vm.Close()
	if err := vm.Run(context.Background(), feed); err != nil {
		return nil, p, err
	}
	var bits []uint64
	for n, want := range c.truth {
		got, err := vm.Value(n)
		if err != nil {
			continue // it is not watched
		}
		if err := c.near(numbers(got), want); err != nil {
			return nil, p, fmt.Errorf("%v: %w", n, err)
		}
	}
	for _, n := range c.Results {
		bits = append(bits, patterns(value(t, vm, n))...)
	}
	for _, u := range c.Step {
		got := stored(t, store, u.Target.Path())
		if err := c.near(got, c.truth[u.Value]); err != nil {
			return nil, p, fmt.Errorf("%v after the step: %w", u.Target, err)
		}
		bits = append(bits, patterns(got)...)
	}
	return bits, p, nil
}

// near allows what some hundred roundings of numbers around 1 make, a derivative's of second order
// among them; integers are exact. A number of float64 that was cast from float32 has the digits of
// float32. Those of two bytes have none left: of them only the bits are compared.
func (c *trial) near(got []float64, want graph.Value) error {
	dt := want.Type.DType
	if slices.ContainsFunc(c.Graph.Nodes(), func(n *graph.Node) bool { return n.DType().IsHalf() }) {
		return nil
	}
	if dt == graph.F64 && slices.ContainsFunc(c.Graph.Nodes(), func(n *graph.Node) bool { return n.DType() == graph.F32 }) {
		dt = graph.F32
	}
	return reftest.Near(got, want.Data, 500*reftest.Tolerance(dt)*max(1, reftest.Largest(want.Data)))
}

// A way runs a trial otherwise than by default, which gave the bits.
var ways = []struct {
	name string
	run  func(t testing.TB, c *trial, bits []uint64, p *tape.Program) error
}{
	{"unfused", func(t testing.TB, c *trial, _ []uint64, _ *tape.Program) error {
		_, _, err := c.run(t, 1, tape.Unfused())
		return err
	}},
	{"as written", func(t testing.TB, c *trial, _ []uint64, _ *tape.Program) error {
		_, _, err := c.run(t, 1, tape.Passes())
		return err
	}},
	{"watched", func(t testing.TB, c *trial, bits []uint64, _ *tape.Program) error {
		now, _, err := c.run(t, 1, tape.Watch(c.watched()...))
		return same(err, "watching", bits, now)
	}},
	{"in small blocks, watched", func(t testing.TB, c *trial, _ []uint64, _ *tape.Program) error {
		bits, _, err := c.run(t, 1, tape.Small())
		if err != nil {
			return err
		}
		now, _, err := c.run(t, 1, tape.Small(), tape.Watch(c.watched()...))
		return same(err, "watching", bits, now)
	}},
	{"by 1, 2 and 8 workers", func(t testing.TB, c *trial, bits []uint64, _ *tape.Program) error {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
		for _, cut := range []tape.Option{tape.Fine(), tape.Small()} {
			one, _, err := c.run(t, 1, cut)
			if err != nil {
				return err
			}
			for _, workers := range []int{2, 8} {
				now, _, err := c.run(t, workers, cut)
				if err := same(err, fmt.Sprint(workers, " workers"), one, now); err != nil {
					return err
				}
			}
		}
		return nil
	}},
	{"within budgets", func(t testing.TB, c *trial, _ []uint64, p *tape.Program) error {
		option := []tape.Option{nil, nil, tape.Unfused(), tape.Small()}[c.rng.IntN(4)]
		budget := tape.Budget(int((0.3 + 0.7*c.rng.Float64()) * float64(p.Arena())))
		if _, _, err := c.run(t, 1, option, budget); err != nil && !strings.HasPrefix(err.Error(), "tape: budget of ") {
			return err
		}
		return nil
	}},
}

// same says that bits differ, unless there is an error anyway.
func same(err error, what string, a, b []uint64) error {
	if n := 0; err == nil {
		if n = differ(a, b); n > 0 {
			return fmt.Errorf("%s changes the bits of %d results of %d", what, n, len(a))
		}
	}
	return err
}

// try runs the trial of a seed by default and in another way. A panic is an error.
func try(t testing.TB, seed uint64) (err error) {
	way := ways[seed%uint64(len(ways))]
	at := "building"
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
		if err != nil {
			err = fmt.Errorf("seed %d, %s: %w", seed, at, err)
		}
	}()
	c, err := newTrial(seed)
	if err != nil {
		return err
	}
	at = "by default"
	bits, p, err := c.run(t, 1)
	if err != nil {
		return err
	}
	at = way.name
	return way.run(t, c, bits, p)
}

// TestRandomGraphsInEveryWay: wide random graphs, with derivatives to second order of several
// losses, agree with their definitions in every way of running them, and where bits must be the
// same they are. None is refused.
func TestRandomGraphsInEveryWay(t *testing.T) {
	t.Parallel()
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // scratch of a worker is most of what a trial allocates, and collected each time
	var next, failed atomic.Uint64
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for seed := next.Add(1) - 1; seed < differentials() && failed.Load() < 10; seed = next.Add(1) - 1 {
				if err := try(t, seed); err != nil {
					failed.Add(1)
					t.Error(err)
				}
				if (seed+1)%10_000 == 0 {
					t.Logf("%d graphs", seed+1)
				}
			}
		})
	}
	wait.Wait()
}

// FuzzWideGraph looks for more of them.
func FuzzWideGraph(f *testing.F) {
	for seed := range uint64(len(ways)) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		if err := try(t, seed); err != nil {
			t.Error(err)
		}
	})
}
