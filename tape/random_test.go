package tape_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/randgraph"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

// randomModel is a random graph with its gradients, and a step that updates
// parameters and states.
func randomModel(t testing.TB, seed uint64, size int, dt graph.DType) (m *randgraph.Model, wanted []*graph.Node) {
	t.Helper()
	m = randgraph.New(seed, size, dt)
	wanted = append([]*graph.Node{m.Loss}, m.Outputs...)
	for i, d := range grad.Of(m.Loss, m.Params...) {
		m.Step = append(m.Step, m.Graph.Assign(m.Params[i], d)) // any value will do
		wanted = append(wanted, d)
	}
	if err := m.Graph.Err(); err != nil {
		t.Fatal(err)
	}
	return m, wanted
}

// load makes the feed and the store of a model.
func load(t testing.TB, m *randgraph.Model, seed uint64) (tape.Feed, *tape.Store) {
	t.Helper()
	feed, store := tape.Feed{}, tape.NewStore(m.Graph, tape.Seed(seed))
	for n, v := range m.Values {
		if n.Role() == graph.RoleInput {
			feed[n] = tape.Tensor(v)
		} else if err := store.Set(n.Path(), tape.Tensor(v)); err != nil {
			t.Fatal(err)
		}
	}
	return feed, store
}

// compareWithRef runs one step of a model on the tape and by definition, and
// compares all wanted values and the store that the step leaves behind.
func compareWithRef(seed uint64, size int, dt graph.DType, t testing.TB, options ...tape.Option) error {
	m, wanted := randomModel(t, seed, size, dt)
	asked := wanted
	for _, u := range m.Step {
		asked = append(asked, u.Value)
	}
	truth, err := ref.Eval(trait.Env{Seed: seed}, graph.Values(m.Values), asked...)
	if err != nil {
		return err
	}
	prog, err := tape.Compile(m.Graph, append(options, tape.Fetch(wanted...), tape.Do(m.Step))...)
	if err != nil {
		return err
	}
	feed, store := load(t, m, seed)
	vm := tapetest.VM(t, prog, store)
	defer vm.Close()
	if err := vm.Run(context.Background(), feed); err != nil {
		return err
	}
	for i, n := range wanted {
		got, err := vm.Value(n)
		if err != nil {
			return err
		}
		if err := near(got, truth[i], dt); err != nil {
			return fmt.Errorf("%v: %w\n%v", n, err, prog)
		}
	}
	for i, u := range m.Step {
		got, err := store.Get(u.Target.Path())
		if err != nil {
			return err
		}
		if err := near(got, truth[len(wanted)+i], dt); err != nil {
			return fmt.Errorf("after the step: %v: %w\n%v", u.Target, err, prog)
		}
	}
	return nil
}

// near compares within what rounding may do to random graphs, which are tame.
func near(got *tensor.Dense, want graph.Value, dt graph.DType) error {
	tol := 2e-5
	if dt == graph.F64 {
		tol = 1e-12
	}
	if len(got.Shape()) != want.Type.Shape.Rank() {
		return fmt.Errorf("shape %v: want %v", got.Shape(), want.Type.Shape)
	}
	v := numbers(got)
	if len(v) != len(want.Data) {
		return fmt.Errorf("%d elements: want %d", len(v), len(want.Data))
	}
	for i, w := range want.Data {
		if !(math.Abs(v[i]-w) <= tol*max(1, math.Abs(w))) {
			return fmt.Errorf("element %d is %v: want %v", i, v[i], w)
		}
	}
	return nil
}

// numbers are a tensor's elements as float64.
func numbers(t *tensor.Dense) []float64 {
	var out []float64
	if t.Shape().TotalSize() == 0 {
		return nil
	}
	switch t.Dtype() {
	case tensor.Float32:
		for _, v := range t.Float32s() {
			out = append(out, float64(v))
		}
	case tensor.Float64:
		out = append(out, t.Float64s()...)
	case tensor.Int32:
		for _, v := range t.Int32s() {
			out = append(out, float64(v))
		}
	case tensor.Int64:
		for _, v := range t.Int64s() {
			out = append(out, float64(v))
		}
	case tensor.Uint8:
		for _, v := range t.Uint8s() {
			out = append(out, float64(v))
		}
	case tensor.Int8:
		for _, v := range t.Int8s() {
			out = append(out, float64(v))
		}
	case tensor.Uint16:
		for _, v := range t.Uint16s() {
			out = append(out, float64(v)) // the bits
		}
	case tensor.Bool:
		for _, v := range t.Bools() {
			out = append(out, 0)
			if v {
				out[len(out)-1] = 1
			}
		}
	}
	return out
}

func TestTapeAgreesWithDefinitions(t *testing.T) {
	seeds := uint64(300)
	if testing.Short() {
		seeds = 75 // with other instructions, under qemu, or under the race detector
	}
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		for _, c := range []struct {
			name    string
			options []tape.Option
		}{
			{"as written", []tape.Option{tape.Passes()}},
			{"rewritten", []tape.Option{tape.Passes(rewrite.Passes()...)}},
			{"unfused", []tape.Option{tape.Unfused()}},
			{"in small blocks", []tape.Option{tape.Small()}},
		} {
			t.Run(fmt.Sprint(dt, " ", c.name), func(t *testing.T) {
				for seed := range seeds {
					if err := compareWithRef(seed, 3+int(seed%20), dt, t, c.options...); err != nil {
						t.Fatalf("seed %d: %v", seed, err)
					}
				}
			})
		}
	}
}

// FuzzRandomGraph looks for graphs whose tape differs from the definitions.
func FuzzRandomGraph(f *testing.F) {
	f.Add(uint64(1), uint8(10), false)
	f.Add(uint64(2), uint8(40), true)
	f.Add(uint64(437), uint8(159), false) // fetched the first rows of a larger buffer
	f.Fuzz(func(t *testing.T, seed uint64, size uint8, double bool) {
		dt := graph.F32
		if double {
			dt = graph.F64
		}
		for _, passes := range [][]rewrite.Pass{nil, rewrite.Passes()} {
			if err := compareWithRef(seed, int(size%64), dt, t, tape.Passes(passes...)); err != nil {
				t.Fatal(err)
			}
		}
	})
}
