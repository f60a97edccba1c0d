package tape_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

func TestRandomDraws(t *testing.T) {
	g := graph.New("draws")
	n := g.State("n", graph.F32)
	normal := ops.RandomNormal(g, "ε", graph.F32, graph.Ax("i", 37))
	same := ops.RandomNormal(g, "ε", graph.F32, graph.Ax("i", 37)) // another ordinal
	uniform := ops.RandomUniform(g, "u", graph.F64, graph.Ax("i", 5), graph.Ax("j", 3))
	draws := []*graph.Node{normal, same, uniform}
	p := compile(t, g, tape.Fetch(draws...), tape.Do(graph.Step{g.Assign(n, ops.Shift(n, 1))}))
	seen := map[float64]bool{}
	for _, seed := range []uint64{0, 7} {
		a, b := tapetest.VM(t, p, tape.NewStore(g, tape.Seed(seed))), tapetest.VM(t, p, tape.NewStore(g, tape.Seed(seed)))
		for step := range uint64(3) {
			run(t, a, nil)
			run(t, b, nil)
			truth, err := ref.Eval(trait.Env{Seed: seed, Step: step}, nil, draws...)
			if err != nil {
				t.Fatal(err)
			}
			for i, d := range draws {
				got := value(t, a, d)
				if !slices.Equal(got, value(t, b, d)) {
					t.Errorf("seed %d, step %d: %v differs between two VMs", seed, step, d)
				}
				if !slices.Equal(got, truth[i].Data) {
					t.Errorf("seed %d, step %d: %v is %v: want %v", seed, step, d, got, truth[i].Data)
				}
				if seen[got[0]] {
					t.Errorf("seed %d, step %d: %v starts with %v, as another draw did", seed, step, d, got[0])
				}
				seen[got[0]] = true
			}
		}
	}
}

// noise is a graph that may be trained, sampled and evaluated, and the programs that do so.
type noise struct {
	g       *graph.Graph
	u       *graph.Node // a draw, in the programs train and sample
	mean    *graph.Node // of u and of another draw, in twice
	limit   *graph.Node // an input: the run of guarded fails where it is below the mean
	options []tape.Option
}

func newNoise(options ...tape.Option) *noise {
	g := graph.New("noise")
	u := ops.RandomUniform(g, "u", graph.F64, graph.Ax("i", 5000))
	v := ops.RandomNormal(g, "v", graph.F32, graph.Ax("i", 5000))
	n := &noise{g: g, u: u, limit: g.Scalar("limit", 10, graph.F64), options: options}
	n.mean = ops.Mean(ops.Add(u, ops.Cast(v, graph.F64)))
	return n
}

func (n *noise) train(t testing.TB) *tape.Program {
	w := n.g.Lookup("w")
	if w == nil {
		w = n.g.Param("w", graph.F64)
	}
	return compile(t, n.g, append(n.options, tape.Fetch(n.u), tape.Do(graph.Step{n.g.Assign(w, ops.Add(w, n.mean))}))...)
}
func (n *noise) sample(t testing.TB) *tape.Program {
	return compile(t, n.g, append(n.options, tape.Fetch(n.u))...)
}
func (n *noise) twice(t testing.TB) *tape.Program {
	return compile(t, n.g, append(n.options, tape.Fetch(n.mean))...)
}
func (n *noise) still(t testing.TB) *tape.Program {
	return compile(t, n.g, append(n.options, tape.Fetch(ops.Square(n.limit)))...)
}
func (n *noise) guarded(t testing.TB) *tape.Program {
	return compile(t, n.g, append(n.options, tape.Fetch(n.u), tape.CheckFinite(ops.Sqrt(ops.Sub(n.limit, n.mean))))...)
}

// TestDrawsAnew: every run draws what the definition says for the seed, the step and the runs
// before it: a step has the draws of its number whatever was run in between, a run without
// updates has others each time, also where several programs take turns, and one without draws
// counts nothing. All is the same for any number of workers, and in small blocks.
func TestDrawsAnew(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	for _, options := range [][]tape.Option{nil, {tape.Fine()}} {
		for _, workers := range []int{1, 2, 8} {
			n := newNoise(options...)
			store := tape.NewStore(nil, tape.Seed(3))
			programs := map[byte]*tape.Program{'T': n.train(t), 's': n.sample(t), '2': n.twice(t), '-': n.still(t)}
			vms := map[byte]*tape.VM{}
			for name, p := range programs {
				vms[name] = tapetest.VM(t, p, store, tape.Workers(workers))
			}
			step, runs := uint64(0), uint64(0)
			seen := map[float64]string{}
			for at, which := range []byte("ss2s-sTs2-TTsss--s2T") {
				vm := vms[which]
				run(t, vm, nil)
				env := trait.Env{Seed: 3, Step: step, Runs: runs}
				if which == 'T' {
					env.Runs = 0
				}
				truth, err := ref.Eval(env, graph.Values{n.limit: {Data: []float64{10}}}, n.u, n.mean)
				if err != nil {
					t.Fatal(err)
				}
				switch which {
				case 'T', 's':
					got, key := value(t, vm, n.u), fmt.Sprint(env)
					if !slices.Equal(got, truth[0].Data) {
						t.Fatalf("%d workers, run %d (%c): %v… is drawn, want %v… of %+v", workers, at, which, got[:2], truth[0].Data[:2], env)
					}
					if was, ok := seen[got[0]]; ok && was != key {
						t.Errorf("run %d draws what a run of %s drew", at, was)
					}
					seen[got[0]] = key
				case '2':
					if got := value(t, vm, n.mean)[0]; !near1(got, truth[1].Data[0], 1e-6) {
						t.Fatalf("%d workers, run %d: a mean of %v, want %v", workers, at, got, truth[1].Data[0])
					}
				}
				switch which {
				case 'T':
					step, runs = step+1, 0
				case 's', '2':
					runs++
				}
				if store.Step() != step || store.Runs() != runs {
					t.Fatalf("run %d (%c): %d steps and %d runs, want %d and %d", at, which, store.Step(), store.Runs(), step, runs)
				}
			}
		}
	}
}

func near1(got, want, tol float64) bool { return got-want <= tol && want-got <= tol }

// TestSamplingChangesNoTraining: a training has the same bits whatever is drawn between its steps.
func TestSamplingChangesNoTraining(t *testing.T) {
	end := func(between func(step int) int) []float64 {
		n := newNoise()
		store := tape.NewStore(nil, tape.Seed(5))
		train, sample := tapetest.VM(t, n.train(t), store), tapetest.VM(t, n.sample(t), store)
		for step := range 6 {
			for range between(step) {
				run(t, sample, nil)
			}
			run(t, train, nil)
		}
		return stored(t, store, "w")
	}
	want := end(func(int) int { return 0 })
	for name, between := range map[string]func(int) int{
		"one":  func(int) int { return 1 },
		"many": func(step int) int { return 3 * step % 7 },
	} {
		if got := end(between); !slices.Equal(got, want) {
			t.Errorf("%s: trained with samples in between, w is %v, want %v", name, got, want)
		}
	}
}

// TestFailedRunsCountNothing: after a run that fails or is cancelled, the next one draws what it
// would have drawn.
func TestFailedRunsCountNothing(t *testing.T) {
	n := newNoise()
	other := graph.New("other").Scalar("other", 1)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	prog := n.guarded(t)
	for name, fail := range map[string]func(vm *tape.VM) error{
		"not finite": func(vm *tape.VM) error {
			err := vm.Run(context.Background(), tape.Feed{n.limit: tape.Scalar(graph.F64, -10)})
			if !errors.As(err, new(*tape.NotFinite)) {
				t.Errorf("not finite: %v", err)
			}
			return err
		},
		"cancelled": func(vm *tape.VM) error { return vm.Run(ended, nil) },
		"fed wrongly": func(vm *tape.VM) error {
			return vm.Run(context.Background(), tape.Feed{other: tape.Scalar(graph.F32, 1)})
		},
	} {
		store, twin := tape.NewStore(nil, tape.Seed(5)), tape.NewStore(nil, tape.Seed(5))
		vm, undisturbed := tapetest.VM(t, prog, store), tapetest.VM(t, prog, twin)
		for at := range uint64(4) {
			for range at {
				if fail(vm) == nil || store.Runs() != at || store.Step() != 0 {
					t.Fatalf("%s: %d runs and %d steps are counted, want %d and 0", name, store.Runs(), store.Step(), at)
				}
			}
			run(t, vm, nil)
			run(t, undisturbed, nil)
			if !slices.Equal(value(t, vm, n.u), value(t, undisturbed, n.u)) {
				t.Errorf("%s: run %d draws other numbers than without failures", name, at)
			}
		}
	}
}

// TestDrawsGoOn: a sequence of samples goes on where it was on a copy of the store, on another one
// that loads it, and on one that resumes with its seed and counts.
func TestDrawsGoOn(t *testing.T) {
	n := newNoise()
	prog := n.sample(t)
	for at := range 4 {
		store := tape.NewStore(nil, tape.Seed(9))
		vm := tapetest.VM(t, prog, store)
		for range at {
			run(t, vm, nil)
		}
		loaded, resumed := tape.NewStore(nil, tape.Seed(1)), tape.NewStore(nil)
		if err := loaded.Load(store); err != nil {
			t.Fatal(err)
		}
		resumed.Resume(store.Seed(), store.Step(), store.Runs())
		others := map[string]*tape.VM{}
		for name, s := range map[string]*tape.Store{"a copy": store.Clone(), "one that loads it": loaded, "one that resumes": resumed} {
			others[name] = tapetest.VM(t, prog, s)
		}
		for k := range 3 {
			run(t, vm, nil)
			for name, other := range others {
				run(t, other, nil)
				if !slices.Equal(value(t, vm, n.u), value(t, other, n.u)) {
					t.Errorf("after %d runs, run %d on %s draws other numbers", at, k, name)
				}
			}
		}
	}
}

// TestRepeatedDraws: setting the runs back repeats the draws, which are the next step's.
func TestRepeatedDraws(t *testing.T) {
	n := newNoise()
	store := tape.NewStore(nil, tape.Seed(9))
	sample := tapetest.VM(t, n.sample(t), store)
	var drawn [][]float64
	for range 3 {
		store.Resume(store.Seed(), store.Step(), 0)
		run(t, sample, nil)
		drawn = append(drawn, value(t, sample, n.u))
	}
	train := tapetest.VM(t, n.train(t), store)
	run(t, train, nil)
	for i, d := range drawn {
		if !slices.Equal(d, value(t, train, n.u)) {
			t.Errorf("repeated draw %d is not that of the step", i)
		}
	}
}
