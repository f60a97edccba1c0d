package inspect_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// noisy is a graph with a draw u of 6 numbers, and with updates if it is to be trained.
func noisy(trained bool) (u *graph.Node, step graph.Step) {
	g := graph.New("noisy")
	u = ops.RandomUniform(g, "u", graph.F32, graph.Ax("i", 6)).As("u")
	if trained {
		w := g.Param("w", graph.F32, graph.Ax("i", 6))
		step = graph.Step{g.Assign(w, ops.Add(w, u))}
	}
	return u, step
}

// sampled returns a store whose counts are the given numbers of steps and of runs since.
func sampled(step, runs uint64) *tape.Store {
	s := tape.NewStore(nil, tape.Seed(4))
	s.Resume(4, step, runs)
	return s
}

// draws returns the numbers of u in a run.
func draws(t *testing.T, u *graph.Node, step, runs uint64) []float64 {
	t.Helper()
	v, err := ref.Eval(trait.Env{Seed: 4, Step: step, Runs: runs}, nil, u)
	if err != nil {
		t.Fatal(err)
	}
	return v[0].Data
}

func numbers(a tape.Array) (out []float64) {
	for i := range a.Type.Shape.Len() {
		out = append(out, a.At(i))
	}
	return out
}

// TestRecordsDraw checks that a record has the draws of the next training step, whatever was
// sampled since the last one, or of the next run for a graph without updates. Two records have
// the same draws, which are the tape's, and the store's counts do not change.
func TestRecordsDraw(t *testing.T) {
	ctx := context.Background()
	for _, trained := range []bool{true, false} {
		for _, runs := range []uint64{0, 1, 5} {
			u, step := noisy(trained)
			store, counted := sampled(7, runs), runs
			if trained {
				counted = 0
			}
			want := draws(t, u, 7, counted)
			for range 2 {
				r, err := inspect.Take(ctx, nil, store, u)
				if err != nil {
					t.Fatal(err)
				}
				if got := numbers(r.Value(u)); !slices.Equal(got, want) || store.Runs() != runs || store.Step() != 7 {
					t.Errorf("trained %v, %d runs: recorded is %v, want %v; now %d steps, %d runs", trained, runs, got, want, store.Step(), store.Runs())
				}
			}
			prog, err := tape.Compile(u.Graph(), tape.Fetch(u), tape.Do(step))
			if err != nil {
				t.Fatal(err)
			}
			vm := tapetest.VM(t, prog, store)
			defer vm.Close()
			if err := vm.Run(ctx, nil); err != nil {
				t.Fatal(err)
			}
			v, err := vm.Value(u)
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range v.Float32s() {
				if float64(x) != want[i] {
					t.Errorf("trained %v, %d runs: the tape draws %v, want %v", trained, runs, v.Float32s(), want)
					break
				}
			}
		}
	}
}

// TestSessionsDraw checks that each training step shows its own draws, also with a store that was
// sampled, in a session whose values are recorded in several runs, and after going back in time.
// A model that is only run shows the draws of the next run.
func TestSessionsDraw(t *testing.T) {
	ctx := context.Background()
	feed := func(int) (tape.Feed, error) { return nil, nil }
	for _, limit := range []int{inspect.DefaultLimit, 8} {
		u, step := noisy(true)
		s := open(t, inspect.Subject{Graph: u.Graph(), Wanted: []*graph.Node{u}, Step: step, Feed: feed, Store: sampled(2, 9)}, inspect.Limit(limit))
		for _, k := range []int{0, 1, 4, 2, 0, 3} {
			if err := s.Rewind(ctx, k); err != nil {
				t.Fatal(err)
			}
			q, err := s.Quantity(ctx, u)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := numbers(q.Value), draws(t, u, 2+uint64(k), 0); !slices.Equal(got, want) {
				t.Errorf("limit %d, training step %d: %v, want %v", limit, k, got, want)
			}
		}
	}
	u, _ := noisy(false)
	s := open(t, inspect.Subject{Graph: u.Graph(), Wanted: []*graph.Node{u}, Feed: feed, Store: sampled(2, 9)})
	q, err := s.Quantity(ctx, u)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := numbers(q.Value), draws(t, u, 2, 9); !slices.Equal(got, want) {
		t.Errorf("only run: %v, want %v", got, want)
	}
}

// TestCuresDraw checks that the search for a cure uses the draws of the run that is not finite.
func TestCuresDraw(t *testing.T) {
	g := graph.New("cured")
	u := ops.RandomUniform(g, "u", graph.F32).As("u")
	x := g.Scalar("x", 200)
	loss := ops.Mul(ops.Log(ops.Shift(ops.Exp(ops.Mul(x, ops.Shift(u, 1))), 1)), u).As("loss")
	feed := tape.Feed{}
	for _, runs := range []uint64{0, 3} {
		f := autopsy(t, feed, sampled(1, runs), loss)
		if f == nil || f.Cure == nil || !f.Cure.Works {
			t.Fatalf("%d runs: found %v", runs, f)
		}
		v := draws(t, u, 1, runs)[0]
		if want := 200 * (1 + v) * v; math.Abs(f.Cure.After-want) > 1e-4*want {
			t.Errorf("%d runs: cured it is %v, want %v", runs, f.Cure.After, want)
		}
		if !strings.Contains(f.String(), "exp") {
			t.Errorf("found is\n%v", f)
		}
	}
}
