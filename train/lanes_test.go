package train_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/parallel"
	"gorgonia.org/tensor"
)

// laned is a model for steps in lanes, and its data.
type laned struct {
	build train.Build
	data  func(batch int) data.Source
}

// points are rows x[n 64] of noise with a class y[n] of 10, the sign of some of the noise.
func points(t testing.TB, dt graph.DType, rows int) data.Dataset {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	x, y := make([]float64, rows*64), make([]float64, rows)
	for i := range y {
		y[i] = float64(rng.IntN(10))
		for k := range 64 {
			x[64*i+k] = rng.NormFloat64()
			if k/6 == int(y[i]) {
				x[64*i+k]++
			}
		}
	}
	set, err := data.NewSet(map[string]*tensor.Dense{"x": array(t, dt, x, rows, 64), "y": array(t, graph.I32, y, rows)})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func array(t testing.TB, dt graph.DType, values []float64, sizes ...int) *tensor.Dense {
	t.Helper()
	shape, err := graph.NewShape(graph.Dims(sizes...)...)
	if err != nil {
		t.Fatal(err)
	}
	return tape.Tensor(graph.Value{Type: graph.Type{DType: dt, Shape: shape}, Data: values})
}

// models are a net with dropout, a convolutional one with batch norm, and a small GPT.
func lanedModels(t testing.TB, dt graph.DType) map[string]laned {
	shuffled := func(rows int) func(int) data.Source {
		set := points(t, dt, rows)
		return func(batch int) data.Source { return data.Shuffled(set, batch, 7) }
	}
	mlp := func(rows int, mode train.Mode) *train.Net {
		g := graph.New("mlp", dt)
		n, d, h := graph.Ax("n", rows), graph.Ax("d", 64), graph.Ax("h", 32)
		v := ops.ReLU(nn.NewLinear(g, "fc1", dt, d, h).Of(g.Input("x", dt, n, d)))
		if mode == train.Training {
			v = nn.Dropout(v, g.Scalar("drop", 0.2, dt))
		}
		z := nn.NewLinear(g, "fc2", dt, h, graph.Ax("k", 10)).Of(v)
		return &train.Net{Loss: nn.CrossEntropy(z, g.Input("y", graph.I32, n)), Output: z}
	}
	cnn := func(rows int, mode train.Mode) *train.Net {
		g := graph.New("cnn", dt)
		n, c := graph.Ax("n", rows), graph.Ax("c", 6)
		x := ops.Split(g.Input("x", dt, n, graph.Ax("d", 64)), 1, graph.Ax("h", 8), graph.Ax("w", 8), graph.Ax("i", 1))
		v := nn.NewConv2D(g, "conv", dt, graph.Ax("i", 1), c, ops.Size(3), ops.Same()).Of(x)
		norm := nn.NewBatchNorm(g, "norm", dt, c)
		var step graph.Step
		if mode == train.Training {
			v, step = norm.OfTrain(v)
		} else {
			v = norm.Of(v)
		}
		v = ops.Merge(ops.MaxPool2D(ops.ReLU(v), ops.Size(2)), "f", "h", "w", "c")
		z := nn.NewLinear(g, "fc", dt, graph.Ax("f", 96), graph.Ax("k", 10)).Of(v)
		return &train.Net{Loss: nn.CrossEntropy(z, g.Input("y", graph.I32, n)), Output: z, Step: step}
	}
	gpt := func(rows int, _ train.Mode) *train.Net {
		g := graph.New("gpt", dt)
		n, l := graph.Ax("n", rows), graph.Ax("t", 12)
		z := builders.CharacterGPT(g, dt, graph.Ax("w", 20), l).Of(g.Input("x", graph.I32, n, l))
		return &train.Net{Loss: nn.CrossEntropy(z, g.Input("y", graph.I32, n, l)), Output: z}
	}
	tokens := make([]int32, 1000)
	for i := range tokens {
		tokens[i] = int32((i*i + i/7) % 20)
	}
	windows := func(batch int) data.Source {
		s, err := data.Windows(tokens, 12, batch, 5)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	centred := func(rows int, _ train.Mode) *train.Net {
		g := graph.New("centred", dt)
		n, d, h := graph.Ax("n", rows), graph.Ax("d", 64), graph.Ax("h", 32)
		v := ops.ReLU(nn.NewLinear(g, "fc1", dt, d, h).Of(g.Input("x", dt, n, d)))
		sum, count := ops.SumRanks(ops.Sum(v, "n")), ops.SumRanks(g.Constant(dt, []float64{float64(rows)}))
		mean := ops.Div(sum, count)
		state := g.State("mean", dt, h)
		step := graph.Step{g.Assign(state, ops.Add(ops.Scale(state, 0.9), ops.Scale(mean, 0.1)))}
		v = nn.Dropout(ops.Sub(v, ops.CopyRanks(mean)), g.Scalar("drop", 0.2, dt))
		z := nn.NewLinear(g, "fc2", dt, h, graph.Ax("k", 10)).Of(v)
		return &train.Net{Loss: nn.CrossEntropy(z, g.Input("y", graph.I32, n)), Output: z, Step: step}
	}
	return map[string]laned{"mlp": {mlp, shuffled(160)}, "cnn": {cnn, shuffled(160)}, "gpt": {gpt, windows}, "centred": {centred, shuffled(160)}}
}

// hash returns a hash of all that a store has.
func hash(t testing.TB, s *tape.Store) string {
	t.Helper()
	h := sha256.New()
	fmt.Fprint(h, s.Seed(), s.Step())
	for _, path := range s.Paths() {
		v, err := s.View(path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(h, path, v.Data())
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// alone returns a job of one rank.
func alone(t testing.TB, lanes int) *parallel.Ranks {
	t.Helper()
	r, err := parallel.Alone(parallel.Config{Lanes: lanes})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fit trains some steps, and returns the store.
func (m laned) fit(t testing.TB, o train.Optimiser, batch, steps, workers int, ranks *parallel.Ranks) *tape.Store {
	t.Helper()
	tr := &train.Trainer{Build: m.build, Optimiser: o, Seed: 3, Workers: workers, Ranks: ranks}
	defer tr.Close()
	if err := takes(tr, m.data(batch), steps); err != nil {
		t.Fatal(err)
	}
	return tr.Store()
}

// takes takes some steps on the batches of a source.
func takes(tr *train.Trainer, source data.Source, steps int) error {
	return (&train.Run{Trainer: tr, Data: source, Steps: steps}).Do(context.Background())
}

// nearStore checks that two stores have the same entries, but for rounding.
func nearStore(t *testing.T, what string, got, want *tape.Store, ε float64) {
	t.Helper()
	if worst, where := apart(t, got, want); !(worst <= ε) {
		t.Errorf("%s: %s", what, where)
	}
}

// apart returns the largest difference between the entries of two stores, relative to those wanted where
// these are above 1, and says where it is.
func apart(t *testing.T, got, want *tape.Store) (worst float64, where string) {
	t.Helper()
	for _, path := range want.Paths() {
		typ, _ := want.Type(path)
		var values [2]tape.Array
		for i, s := range []*tape.Store{got, want} {
			v, err := s.View(path)
			if err == nil {
				values[i], err = tape.ArrayOf(typ, v)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for i := range typ.Shape.Len() {
			x, y := values[0].At(i), values[1].At(i)
			d := math.Abs(x-y) / max(1, math.Abs(y))
			if !(d <= worst) {
				worst, where = d, fmt.Sprintf("%s[%d] = %v, want %v", path, i, x, y)
			}
			if math.IsNaN(d) {
				return worst, where
			}
		}
	}
	return worst, where
}

// onRanks trains on so many ranks within the process, and returns the store of each.
func (m laned) onRanks(t testing.TB, o func() train.Optimiser, batch, steps, workers, ranks int, c parallel.Config) []*tape.Store {
	t.Helper()
	stores, errs := make([]*tape.Store, ranks), make([]error, ranks)
	var wait sync.WaitGroup
	for i, transport := range parallel.Local(ranks) {
		wait.Go(func() {
			defer transport.Close()
			job, err := parallel.Join(context.Background(), transport, c)
			if err != nil {
				errs[i] = err
				return
			}
			tr := &train.Trainer{Build: m.build, Optimiser: o(), Seed: 3, Workers: workers, Ranks: job}
			defer tr.Close()
			errs[i] = takes(tr, m.data(batch), steps)
			stores[i] = tr.Store()
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return stores
}

// merged returns the first store with what the others alone have. What several have must be the same.
func merged(t testing.TB, stores []*tape.Store) *tape.Store {
	t.Helper()
	all := stores[0].Clone()
	for rank, s := range stores[1:] {
		for _, path := range s.Paths() {
			v, err := s.View(path)
			if err != nil {
				t.Fatal(err)
			}
			if there, err := all.View(path); err != nil {
				if err := all.Add(path, v); err != nil {
					t.Fatal(err)
				}
			} else if strings.HasPrefix(path, "adam/m/") || strings.HasPrefix(path, "adam/v/") {
				t.Errorf("%s is on rank %d and on one before", path, rank+1)
			} else if fmt.Sprint(there.Data()) != fmt.Sprint(v.Data()) {
				t.Errorf("%s differs on rank %d", path, rank+1)
			}
		}
	}
	return all
}

// TestLanesRanks: the store has the same bits on any number of ranks, whether or not they share the
// states out.
func TestLanesRanks(t *testing.T) {
	adam := func() train.Optimiser { return train.Adam(1e-3) }
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		for name, m := range lanedModels(t, dt) {
			if dt == graph.F64 && name == "gpt" {
				continue // for time
			}
			for _, batch := range []int{24, 29} {
				want := hash(t, m.fit(t, adam(), batch, 8, 1, alone(t, 12)))
				for _, ranks := range []int{2, 3} {
					for rank, s := range m.onRanks(t, adam, batch, 8, 1, ranks, parallel.Config{Lanes: 12}) {
						if got := hash(t, s); got != want {
							t.Errorf("%v %s, batches of %d: %s on rank %d of %d, %s on one", dt, name, batch, got, rank, ranks, want)
						}
					}
				}
				stores := m.onRanks(t, adam, batch, 8, 1, 4, parallel.Config{Lanes: 12, Shard: true})
				if got := hash(t, merged(t, stores)); got != want {
					t.Errorf("%v %s, batches of %d: %s on 4 ranks with parts of the states, %s on one", dt, name, batch, got, want)
				}
			}
		}
	}
}

// TestLanesWorkers: the store has the same bits for any number of workers.
func TestLanesWorkers(t *testing.T) {
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		for name, m := range lanedModels(t, dt) {
			for _, lanes := range []int{1, 8} {
				if dt == graph.F64 && name == "gpt" {
					continue // for time
				}
				want := hash(t, m.fit(t, train.Adam(1e-3), 23, 8, 1, alone(t, lanes)))
				for _, workers := range []int{2, 4} {
					if got := hash(t, m.fit(t, train.Adam(1e-3), 23, 8, workers, alone(t, lanes))); got != want {
						t.Errorf("%v %s in %d lanes: %s with %d workers, %s with 1", dt, name, lanes, got, workers, want)
					}
				}
			}
		}
	}
}

// TestLanesNear: a step in lanes computes what a step without them does, but for rounding, where the
// net draws nothing and has no statistics of a batch.
func TestLanesNear(t *testing.T) {
	m := lanedModels(t, graph.F64)["gpt"]
	for _, o := range []train.Optimiser{train.SGD(0.1), train.Adam(1e-3), train.Momentum(0.1, 0.9, train.ClipNorm(0.5))} {
		want := m.fit(t, o, 13, 5, 1, nil)
		for _, lanes := range []int{1, 8, 16} {
			nearStore(t, fmt.Sprintf("%v, %d lanes", o, lanes), m.fit(t, o, 13, 5, 1, alone(t, lanes)), want, 1e-9)
		}
	}
}

// TestLanesAllocate: a step in lanes allocates nothing.
func TestLanesAllocate(t *testing.T) {
	m := lanedModels(t, graph.F32)["mlp"]
	b, err := m.data(20).Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	tr := &train.Trainer{Build: m.build, Optimiser: train.Adam(1e-3), Seed: 3, Workers: 1, Ranks: alone(t, 8)}
	defer tr.Close()
	r := &train.Run{Trainer: tr, Data: &repeated{Source: m.data(20), batch: b}, Steps: 1000}
	step := func() {
		if err := r.Step(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	step()
	if n := testing.AllocsPerRun(20, step); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestLanesListing: the listing has both programs, the sum between them and the memory of the rank.
func TestLanesListing(t *testing.T) {
	m := lanedModels(t, graph.F32)["mlp"]
	for _, c := range []struct {
		shard bool
		rows  int
		want  []string
	}{
		{false, 24, []string{"8 lanes of 3 rows on 2 ranks: lanes 4 to 7 on rank 1\n", "sum over lanes and ranks: 5 arrays, 9.4 KiB in one bucket\n",
			"commit fc1/w,", "commit adam/v/fc1/w,", "parameters 9.4 KiB, states 18.8 KiB,"}},
		{true, 20, []string{"8 lanes of 3 or 2 rows on 2 ranks: lanes 4 to 7 on rank 1\n", "each rank gets the gradients of the parameters that it updates\n",
			"commit fc2/w,", "then sent to all ranks: fc1/b, fc2/w, fc2/b\n", "parameters 9.4 KiB, states 2.8 KiB,"}},
	} {
		jobs := make([]*parallel.Ranks, 2)
		var wait sync.WaitGroup
		for i, transport := range parallel.Local(2) {
			wait.Go(func() { jobs[i], _ = parallel.Join(context.Background(), transport, parallel.Config{Shard: c.shard}) })
		}
		wait.Wait()
		tr := &train.Trainer{Build: m.build, Optimiser: train.Adam(1e-3), Ranks: jobs[1]}
		defer tr.Close()
		l, err := tr.Lanes(context.Background(), c.rows)
		if err != nil {
			t.Fatal(err)
		}
		text := l.String()
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in the listing:\n%s", want, text)
			}
		}
		if c.shard && strings.Contains(text, "commit fc1/w,") {
			t.Errorf("rank 1 updates fc1/w:\n%s", text)
		}
		roots, sums := []*graph.Node{l.Loss}, 0
		for _, u := range l.Step {
			roots = append(roots, u.Value)
		}
		for _, n := range graph.Reachable(roots...) {
			if n.Op() == l.Loss.Op() {
				sums++
			}
		}
		if sums != l.Sums || l.Loss.Name() != "loss" || len(l.Step) != 2+3*4 || l.Loss.Graph().Lookup("x").Dim(0) != l.Rows[0] {
			t.Errorf("%d sums over lanes, %v the loss, and %d updates, want %d, one of them the loss, and 14", sums, l.Loss, len(l.Step), l.Sums)
		}
	}
}
