package lab_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// line is y = x·w + b, to be fitted to 3x − 1, with a running mean of the targets as
// the model's own update. Widened, it has a parameter more; fresh inputs have other
// names.
func line(name string, rename string, widen bool) func() (*builders.Model, error) {
	b := builders.Define(builders.Builder{Name: name, Title: name}, func(_ builders.Settings, dt graph.DType, m *builders.Model) {
		g := m.Graph
		i := graph.Ax("i", 16)
		x, target := g.Input("x"+rename, dt, i), g.Input("t", dt, i)
		w, c := g.Param("w", dt).Init(initial.Normal(0, 1)), g.Param("b", dt)
		m.Output = ops.Add(ops.Mul(x, w), c).As("y")
		if widen {
			m.Output = ops.Add(m.Output, ops.Mul(ops.Square(x), g.Param("v", dt))).As("y′")
		}
		m.Loss = nn.SquaredError(m.Output, target).As("loss")
		mean := g.State("mean", dt)
		m.Step = graph.Step{g.Assign(mean, ops.Add(ops.Scale(mean, 0.9), ops.Scale(ops.Mean(target), 0.1)))}
		m.Examples = func(rng *rand.Rand) graph.Values {
			xs, ts := graph.NewValue(x.Type()), graph.NewValue(target.Type())
			for p := range xs.Data {
				xs.Data[p] = rng.NormFloat64()
				ts.Data[p] = 3*xs.Data[p] - 1
			}
			return graph.Values{x: xs, target: ts}
		}
	})
	return func() (*builders.Model, error) { return b.Build(nil, graph.F64) }
}

func learnt(t *testing.T, build func() (*builders.Model, error), c lab.Config) *lab.Learned {
	t.Helper()
	l, err := lab.Learn(context.Background(), build, c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLearn(t *testing.T) {
	ticks := 0
	c := lab.Config{Seeds: 4, Seed: 7, Steps: 300, Optimisers: []train.Optimiser{train.Adam(0.05)}, Progress: func(done, of int, _ string) {
		if ticks++; done != ticks || of != 4 {
			t.Errorf("tick %d says %d of %d", ticks, done, of)
		}
	}}
	l := learnt(t, line("line", "", false), c)
	if len(l.Runs) != 4 || ticks != 4 || l.Params != 2 || l.Program.FLOPs() <= 0 {
		t.Errorf("%d runs, %d ticks, %d numbers", len(l.Runs), ticks, l.Params)
	}
	for i, r := range l.Runs {
		if r.Seed != uint64(7+i) || len(r.Loss) != 300 || r.Loss[0] < 0.1 || r.End() > 1e-3 {
			t.Errorf("seed %d: %d steps from %v to %v", r.Seed, len(r.Loss), r.Loss[0], r.End())
		}
	}
	c.Progress = nil
	if again := learnt(t, line("line", "", false), c); !slices.EqualFunc(l.Runs, again.Runs, func(a, b lab.History) bool { return slices.Equal(a.Loss, b.Loss) }) {
		t.Error("the same seeds give other losses")
	}
}

// What two models have in common, examples and initial values by path, is the same
// number in both: the widened line starts where the line does.
func TestLearnCommonNumbers(t *testing.T) {
	c := lab.Config{Seeds: 2, Steps: 2}
	a, b := learnt(t, line("a", "", false), c), learnt(t, line("b", "", true), c)
	for i := range a.Runs {
		if x, y := a.Runs[i].Loss, b.Runs[i].Loss; x[0] != y[0] || x[1] == y[1] {
			t.Errorf("seed %d: losses %v and %v: want the same start alone", i, x, y)
		}
	}
	if a.Runs[0].Loss[0] == a.Runs[1].Loss[0] {
		t.Error("two seeds start alike")
	}
	one := c
	one.OneBatch, one.Optimisers = true, []train.Optimiser{train.SGD(1e-300)}
	fresh := one
	fresh.OneBatch = false
	if l := learnt(t, line("a", "", false), one).Runs[0].Loss; l[0] != l[1] {
		t.Errorf("one batch: losses %v of the same examples", l)
	}
	if l := learnt(t, line("a", "", false), fresh).Runs[0].Loss; l[0] == l[1] {
		t.Errorf("fresh batches: losses %v of different examples", l)
	}
}

func TestCourseEnd(t *testing.T) {
	c := lab.History{}
	for i := range 25 {
		c.Loss = append(c.Loss, float64(i))
	}
	if got := c.End(); got != 23.5 { // the last two of 25
		t.Errorf("the end is %v, want 23.5", got)
	}
	c.Loss = c.Loss[:3]
	if got := c.End(); got != 2 {
		t.Errorf("the end is %v, want 2", got)
	}
}

func TestLearnMistakes(t *testing.T) {
	change := func(f func(m *builders.Model)) func() (*builders.Model, error) {
		return func() (*builders.Model, error) {
			m, err := line("line", "", false)()
			f(m)
			return m, err
		}
	}
	for want, build := range map[string]func() (*builders.Model, error){
		"line has no loss: there is nothing to train": change(func(m *builders.Model) { m.Loss = nil }),
		"line has no examples to be trained on":       change(func(m *builders.Model) { m.Examples = nil }),
		"line, seed 0: step 1: log of a negative: log(−1.9779596): loss[] is NaN: nothing was committed": change(func(m *builders.Model) {
			m.Loss = ops.Log(ops.Shift(ops.Neg(m.Loss), -1)).As("loss")
		}),
	} {
		if _, err := lab.Learn(context.Background(), build, lab.Config{Steps: 3}); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	_, err := lab.Learn(context.Background(), change(func(m *builders.Model) { m.Loss = ops.Log(ops.Neg(m.Loss)) }), lab.Config{})
	if bad := (*tape.NotFinite)(nil); !errors.As(err, &bad) {
		t.Errorf("%v wraps no NotFinite", err)
	}
	if _, err := lab.Learn(context.Background(), nil, lab.Config{}); err == nil || err.Error() != "learn: the function that builds the model is nil" {
		t.Errorf("error %v for no model", err)
	}
	broken := errors.New("broken")
	if _, err := lab.Learn(context.Background(), func() (*builders.Model, error) { return nil, broken }, lab.Config{}); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := lab.Learn(ctx, line("line", "", false), lab.Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// What the optimiser changes is what a derivative reaches, and the graph is as before.
func TestTrained(t *testing.T) {
	g := graph.New("parts")
	x := g.Input("x", graph.F64, graph.Ax("i", 3))
	w, frozen, own, unused := g.Param("w", graph.F64), g.Param("frozen", graph.F64), g.Param("own", graph.F64), g.Param("unused", graph.F64)
	loss := ops.Mean(ops.Square(ops.Mul(ops.Mul(x, w), ops.Mul(ops.StopGradient(frozen), own))))
	m := &builders.Model{Graph: g, Loss: loss, Output: loss, Step: graph.Step{g.Assign(own, ops.Scale(own, 0.5))}}
	before := g.Len()
	if got := lab.Trained(m); !slices.Equal(got, []*graph.Node{w}) {
		t.Errorf("trained are %v, want w", got)
	}
	if got := fmt.Sprint(lab.Reached(loss, x, w, frozen, own, unused)); got != fmt.Sprint([]*graph.Node{x, w, own}) {
		t.Errorf("reached are %v", got)
	}
	if g.Len() != before || g.Err() != nil {
		t.Errorf("%d nodes were added, %v", g.Len()-before, g.Err())
	}
	targets := []string{}
	for _, u := range lab.TrainingStep(m, train.SGD(1)) {
		targets = append(targets, u.Target.Path())
	}
	if !slices.Equal(targets, []string{"w", "own"}) || g.Err() != nil {
		t.Errorf("updated are %v, %v", targets, g.Err())
	}
	if lab.Reached(x, w) != nil || lab.Reached(nil, w) != nil || lab.Trained(&builders.Model{Graph: g, Output: x}) != nil {
		t.Error("something is trained without a scalar loss")
	}
}

// TestSteppedTellsEveryStep: whatever trains says how far it is after each step, so that one
// long run is not silent.
func TestSteppedTellsEveryStep(t *testing.T) {
	var mu sync.Mutex
	for what, run := range map[string]func(stepped func(done, of int, what string)) error{
		"Learn": func(f func(done, of int, what string)) error {
			_, err := lab.Learn(context.Background(), func() (*builders.Model, error) {
				b, err := builders.Lookup("regression-ols")
				if err != nil {
					return nil, err
				}
				return b.Build(nil, graph.F64)
			}, lab.Config{Seeds: 1, Steps: 30, Stepped: f})
			return err
		},
		"Compare": func(f func(done, of int, what string)) error {
			_, err := lab.Compare(context.Background(), lab.Config{Seeds: 1, Steps: 30, Stepped: f}, lab.Registered("regression-ols", nil))
			return err
		},
		"Train": func(f func(done, of int, what string)) error {
			_, err := lab.Config{Table: data.Iris(), Seeds: 1, Steps: 30, Stepped: f}.Train(context.Background(), "kmeans-softmax")
			return err
		},
	} {
		var seen []int
		if err := run(func(done, of int, name string) {
			mu.Lock()
			defer mu.Unlock()
			if seen = append(seen, done); of != 30 || name == "" {
				t.Errorf("%s: step %d of %d of %q", what, done, of, name)
			}
		}); err != nil {
			t.Fatal(err)
		}
		if len(seen) != 30 || seen[29] != 30 {
			t.Errorf("%s: steps %v", what, seen)
		}
	}
}

// TestStartsAtRows: what starts at rows of an input starts there in any model, on its own examples
// and on data: prototypes of a net with targets as well.
func TestStartsAtRows(t *testing.T) {
	prototypes := func(m, k int) builders.Builder {
		return builders.Define(builders.Builder{Name: "kernels"}, func(_ builders.Settings, dt graph.DType, out *builders.Model) {
			g := out.Graph
			x, y := g.Input("x", dt, graph.Ax("i", m), graph.Ax("d", 2)), g.Input("y", dt, graph.Ax("i", m))
			r := g.Param("r", dt, graph.Ax("j", k), graph.Ax("d", 2)).Init(initial.Rows("x"))
			w := g.Param("w", dt, graph.Ax("j", k))
			out.Output = ops.Sum(ops.Mul(ops.Exp(ops.Neg(builders.SqDistances(x, r))), w), "j")
			out.Loss = ops.Mean(ops.Square(ops.Sub(out.Output, y)), "i")
			out.Examples = func(rng *rand.Rand) graph.Values {
				a, b := graph.NewValue(x.Type()), graph.NewValue(y.Type())
				for i := range a.Data {
					a.Data[i] = 100 + rng.Float64()
				}
				return graph.Values{x: a, y: b}
			}
		})
	}
	m, err := prototypes(4, 3).Build(nil, graph.F64)
	if err != nil {
		t.Fatal(err)
	}
	if m.Centres() != nil || m.Points() != nil {
		t.Error("a model with targets is no clustering")
	}
	store, err := lab.NewStore(m, 7)
	if err != nil {
		t.Fatal(err)
	}
	r, err := store.Get("r")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[[2]float64]bool{}
	for step := range 8 {
		feed, err := lab.Examples(m, 7, step)
		if err != nil {
			t.Fatal(err)
		}
		x := feed[m.Graph.Lookup("x")].Float64s()
		for i := 0; i < len(x); i += 2 {
			rows[[2]float64{x[i], x[i+1]}] = true
		}
	}
	for j := range 3 {
		if at := [2]float64(r.Float64s()[2*j : 2*j+2]); !rows[at] {
			t.Errorf("prototype %d starts at %v, which is no row", j, at)
		}
	}
	many := func() (*builders.Model, error) { return prototypes(1, 20).Build(nil, graph.F64) }
	want := "kernels: r starts at 20 rows of x, and training begins with 8"
	if _, err := lab.Learn(t.Context(), many, lab.Config{Steps: 2, Seeds: 1}); err == nil || err.Error() != want {
		t.Errorf("20 prototypes: %v, want %s", err, want)
	}
	res, err := lab.Compare(t.Context(), lab.Config{Steps: 1, Seeds: 1, Optimisers: []train.Optimiser{train.SGD(1e-9)}, Probes: []lab.Probe{lab.ProbeFunc("smallest", func(_ *builders.Model, s *tape.Store) (float64, error) {
		r, err := s.Get("r")
		return r.Float64s()[0], err
	})}}, lab.Objective("kernels", func() (*builders.Model, error) { return prototypes(4, 3).Build(nil, graph.F64) }))
	if err != nil || res.Values(2, 0, lab.Setting{})[0] < 99 {
		t.Errorf("a comparison starts elsewhere: %v, %v", res, err)
	}
}

// TestLearnWithoutModel: a function that builds no model is an error, with or without one of its own.
func TestLearnWithoutModel(t *testing.T) {
	for _, c := range []struct {
		build func() (*builders.Model, error)
		want  string
	}{
		{nil, "learn: the function that builds the model is nil"},
		{func() (*builders.Model, error) { return nil, nil }, "learn: the function that builds the model returns none"},
		{func() (*builders.Model, error) { return nil, errors.New("no such model") }, "no such model"},
	} {
		if _, err := lab.Learn(t.Context(), c.build, lab.Config{}); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
