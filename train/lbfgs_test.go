package train_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// minimised trains by L-BFGS for some steps and returns the trainer, the loss after them and the
// largest element of its gradient.
func minimised(t *testing.T, build func(g *graph.Graph) *graph.Node, start map[string][]float64, source data.Source, steps int, options ...train.Option) (trainer *train.Trainer, loss, slope float64) {
	t.Helper()
	trainer = &train.Trainer{Optimiser: train.LBFGS(options...), Seed: 1, Build: func(int, train.Mode) *train.Net {
		return &train.Net{Loss: build(graph.New("objective"))}
	}}
	t.Cleanup(trainer.Close)
	store, err := trainer.Prepare(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for path, values := range start {
		typ, _ := store.Type(path)
		if err := store.Set(path, tape.Tensor(graph.Value{Type: typ, Data: values})); err != nil {
			t.Fatal(err)
		}
	}
	if err := (&train.Run{Trainer: trainer, Data: source, Steps: steps}).Do(context.Background()); err != nil {
		t.Fatal(err)
	}
	g := graph.New("objective")
	l := build(g)
	grads := grad.Of(l, g.Leaves(graph.RoleParam)...)
	prog, err := tape.Compile(g, tape.Fetch(append(grads, l)...))
	if err != nil {
		t.Fatal(err)
	}
	vm, err := prog.NewVM(store)
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	if err := source.Seek(data.Position{}); err != nil {
		t.Fatal(err)
	}
	b, err := source.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	feed := tape.Feed{}
	for _, in := range g.Leaves(graph.RoleInput) {
		feed[in] = b.Values[in.Path()]
	}
	if err := vm.Run(context.Background(), feed); err != nil {
		t.Fatal(err)
	}
	for _, d := range grads {
		v, err := vm.Value(d)
		if err != nil {
			t.Fatal(err)
		}
		if d.Rank() == 0 {
			f, _ := vm.Float(d)
			slope = max(slope, math.Abs(f))
			continue
		}
		for _, x := range v.Float64s() {
			slope = max(slope, math.Abs(x))
		}
	}
	loss, err = vm.Float(l)
	if err != nil {
		t.Fatal(err)
	}
	return trainer, loss, slope
}

// TestLBFGSOnRosenbrock: in ten dimensions, from the usual start, as a sum over neighbours; the
// minimum is 0 at ones.
func TestLBFGSOnRosenbrock(t *testing.T) {
	build := func(g *graph.Graph) *graph.Node {
		x := g.Param("x", graph.F64, graph.Ax("i", 10))
		a, b := ops.Slice(x, 0, 0, 9), ops.Slice(x, 0, 1, 10)
		valley := ops.Scale(ops.Square(ops.Sub(b, ops.Square(a))), 100)
		return ops.Sum(ops.Add(valley, ops.Square(ops.OneMinus(a))))
	}
	start := map[string][]float64{"x": {-1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1}}
	for _, m := range []int{1, 5, 10} {
		trainer, loss, slope := minimised(t, build, start, nothing(), 200, train.History(m))
		ones := []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
		if loss > 1e-15 || slope > 1e-7 {
			t.Errorf("history %d: loss %v, gradient %v", m, loss, slope)
		}
		near(t, fmt.Sprintf("history %d", m), read(t, trainer.Store(), "x"), ones, 1e-8)
	}
}

// irisSource gives all rows of iris as x and y.
func irisSource(t *testing.T) data.Source {
	t.Helper()
	set, err := data.Iris().Set("x", "y", tensor.Float64)
	if err != nil {
		t.Fatal(err)
	}
	return data.InOrder(set, 0)
}

// TestLBFGSOnIris: logistic regression with a ridge, and soft k-means from three flowers. The
// minima are those at which SciPy 1.10's L-BFGS-B with tolerance 0 ends, and at which PyTorch 1.13's LBFGS
// with line_search_fn="strong_wolfe" and tolerance_change 0 ends, in both problems.
func TestLBFGSOnIris(t *testing.T) {
	rows, class, f := graph.Ax("n", 150), graph.Ax("c", 3), graph.Ax("f", 4)
	logistic := func(g *graph.Graph) *graph.Node {
		x, y := g.Input("x", graph.F64, rows, f), g.Input("y", graph.I32, rows)
		w, b := g.Param("w", graph.F64, f, class), g.Param("b", graph.F64, class)
		z := ops.Add(ops.MatMul(x, w), b)
		ridge := ops.Scale(ops.Sum(ops.Square(w)), 0.01)
		return ops.Add(ops.Mean(ops.Sub(ops.LogSumExp(z, "c"), ops.Sum(ops.Mul(z, ops.OneHot(y, 1, class, graph.F64)), "c"))), ridge)
	}
	source := irisSource(t)
	trainer, loss, slope := minimised(t, logistic, nil, source, 300)
	if math.Abs(loss-0.2884538843777116) > 1e-12 || slope > 1e-8 {
		t.Errorf("logistic regression ends at %v with a gradient of %v", loss, slope)
	}
	near(t, "weights", read(t, trainer.Store(), "w")[:4], []float64{-0.38793329, 0.28003676, 0.10789653, 0.61319303}, 1e-6)

	soft := func(g *graph.Graph) *graph.Node {
		x, r := g.Input("x", graph.F64, rows, f), g.Param("r", graph.F64, graph.Ax("k", 3), f)
		return ops.Scale(ops.Mean(ops.LogSumExp(ops.Scale(ops.SqDist(x, r), -2), "k")), -0.5)
	}
	start := map[string][]float64{"r": {5.1, 3.5, 1.4, 0.2, 5.0, 2.0, 3.5, 1.0, 6.5, 3.2, 5.1, 2.0}}
	flowers, err := data.Iris().Dense(tensor.Float64)
	if err != nil {
		t.Fatal(err)
	}
	for k, i := range []int{0, 60, 120} {
		copy(start["r"][4*k:], flowers.Float64s()[4*i:4*i+4])
	}
	trainer, loss, slope = minimised(t, soft, start, source, 30)
	if math.Abs(loss-0.500645389506712) > 1e-12 || slope > 1e-8 {
		t.Errorf("soft k-means ends at %v with a gradient of %v", loss, slope)
	}
	near(t, "centres", read(t, trainer.Store(), "r"), []float64{5.00610387, 3.4267189, 1.46413487, 0.24714467, 5.8701423, 2.73890175,
		4.35496778, 1.40912385, 6.7718054, 3.04513962, 5.62322408, 2.02286706}, 1e-6)
}

// TestLBFGSResumes: the history is in the checkpoint, so a training that goes on has the bits of one
// that was not interrupted.
func TestLBFGSResumes(t *testing.T) {
	fit := func(steps int, dir, resume string) []float64 {
		trainer := line(train.LBFGS(train.EMA(0.5)))
		defer trainer.Close()
		plan := train.Plan{Data: lineData(t, 0), Steps: steps, Resume: resume}
		plan.Checkpoints.Dir = dir
		if err := trainer.Fit(context.Background(), plan); err != nil {
			t.Fatal(err)
		}
		return read(t, trainer.Store(), "w", "lbfgs/s/w", "lbfgs/y/w", "lbfgs/at/w", "lbfgs/gradient/w", "lbfgs/inverse-curvature", "ema/w")
	}
	whole, dir := fit(3, "", ""), t.TempDir()
	fit(2, dir, "")
	if got := fit(3, "", dir); !slices.Equal(got, whole) {
		t.Errorf("resumed to %v, want %v", got, whole)
	}
}

// TestLBFGSKeepsTheDraws: all evaluations of a step draw the numbers that the first run after the step
// before draws. So the loss of the step is that of these numbers, and where it ends the conditions of
// Wolfe hold for the same function, which lies elsewhere in each step.
func TestLBFGSKeepsTheDraws(t *testing.T) {
	noisy := func(g *graph.Graph) (w, loss *graph.Node) {
		w = g.Param("w", graph.F64, graph.Ax("i", 3))
		return w, ops.Sum(ops.Square(ops.Sub(w, ops.RandomNormal(g, "noise", graph.F64, graph.Ax("i", 3)))))
	}
	trainer := &train.Trainer{Optimiser: train.LBFGS(), Seed: 1, Build: func(int, train.Mode) *train.Net {
		_, loss := noisy(graph.New("objective"))
		return &train.Net{Loss: loss}
	}}
	defer trainer.Close()
	g := graph.New("objective")
	w, loss := noisy(g)
	slope := grad.Of(loss, w)[0]
	prog, err := tape.Compile(g, tape.Fetch(loss, slope))
	if err != nil {
		t.Fatal(err)
	}
	// at returns the loss and its gradient at values of w, with the draws of a run that begins with the
	// given count of steps.
	at := func(values []float64, step uint64) (f float64, d []float64) {
		store := tape.NewStore(g, tape.Seed(1))
		if err := store.Set("w", tape.Of(w, values...)); err != nil {
			t.Fatal(err)
		}
		store.Resume(1, step, 0)
		vm, err := prog.NewVM(store)
		if err != nil {
			t.Fatal(err)
		}
		defer vm.Close()
		if err := vm.Run(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		f, err = vm.Float(loss)
		v, missing := vm.Value(slope)
		if err != nil || missing != nil {
			t.Fatal(err, missing)
		}
		return f, slices.Clone(v.Float64s())
	}
	var losses []float64
	run := &train.Run{Trainer: trainer, Data: nothing(), Steps: 4, Observers: []train.Observer{train.ObserverFunc(func(e train.Event) error {
		losses = append(losses, e.Loss)
		return nil
	})}}
	if _, err := trainer.Prepare(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	for step := range uint64(4) {
		before := slices.Clone(read(t, trainer.Store(), "w"))
		if err := run.Step(context.Background()); err != nil {
			t.Fatal(err)
		}
		f0, d0 := at(before, step)
		f1, d1 := at(read(t, trainer.Store(), "w"), step)
		if losses[step] != f0 {
			t.Errorf("step %d has loss %v, want %v", step, losses[step], f0)
		}
		along := func(d []float64) (sum float64) {
			for i, x := range read(t, trainer.Store(), "w") {
				sum += d[i] * (x - before[i])
			}
			return sum
		}
		if s0, s1 := along(d0), along(d1); !(s0 < 0 && f1 <= f0+1e-4*s0 && math.Abs(s1) <= -0.9*s0) {
			t.Errorf("step %d goes from loss %v, slope %v to %v, %v", step, f0, s0, f1, s1)
		}
	}
	if s := trainer.Store(); s.Step() != 4 || s.Runs() != 0 {
		t.Errorf("%d steps and %d runs, want 4 and 0", s.Step(), s.Runs())
	}
}

// TestLBFGSRate: the rate, and its schedule, is the length that is tried first; 0 moves nothing.
func TestLBFGSRate(t *testing.T) {
	fit := func(o train.Optimiser, rate train.Schedule, workers int) []float64 {
		trainer := &train.Trainer{Optimiser: o, Workers: workers, Build: func(int, train.Mode) *train.Net {
			g := graph.New("objective")
			w := g.Param("w", graph.F64, graph.Ax("i", 3))
			return &train.Net{Loss: ops.Sum(ops.Sub(ops.Exp(ops.Sub(w, g.Constant(graph.F64, []float64{1, 2, 3}, graph.Ax("i", 3)))), w))}
		}}
		defer trainer.Close()
		if err := (&train.Run{Trainer: trainer, Data: nothing(), Steps: 3, Rate: rate}).Do(context.Background()); err != nil {
			t.Fatal(err)
		}
		return slices.Clone(read(t, trainer.Store(), "w"))
	}
	own := fit(train.LBFGS(), train.Schedule{}, 0)
	short := fit(train.LBFGS().WithRate(0.5), train.Schedule{}, 0)
	if slices.Equal(short, own) {
		t.Error("the rate changes nothing")
	}
	if got := fit(train.LBFGS(), train.Constant(0.5), 0); !slices.Equal(got, short) {
		t.Errorf("a schedule of 0.5 leads to %v, a rate of 0.5 to %v", got, short)
	}
	if got := fit(train.LBFGS(), train.Schedule{}, 1); !slices.Equal(got, own) {
		t.Errorf("one core leads to %v, all to %v", got, own)
	}
	if got := fit(train.LBFGS(), train.Hold(0, train.Constant(0)), 0); !slices.Equal(got, []float64{0, 0, 0}) {
		t.Errorf("a rate of 0 leads to %v", got)
	}
}

// TestLBFGSMistakes: what it cannot do is refused with what to do instead.
func TestLBFGSMistakes(t *testing.T) {
	for want, o := range map[string]train.Optimiser{
		"lbfgs has no weight decay: add nn.SquaredNorm to the loss":            train.LBFGS(train.WeightDecay(1)),
		"lbfgs has no L1: its line search wants a smooth loss":                 train.LBFGS(train.L1(1)),
		"lbfgs has no clipping: its line search bounds the step":               train.LBFGS(train.ClipNorm(1)),
		"lbfgs has no accumulation: it wants the whole objective in one batch": train.LBFGS(train.Accumulate(2)),
		"history 0: want a number of steps from 1 to 100":                      train.LBFGS(train.History(0)),
		"sgd has no history": train.SGD(1, train.History(3)),
	} {
		g := graph.New("mistake")
		o.Minimize(ops.Square(g.Param("w", graph.F64)))
		if err := g.Err(); err == nil || !strings.Contains(err.Error(), "Minimize: "+want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	trainer := line(train.LBFGS())
	defer trainer.Close()
	err := trainer.Fit(context.Background(), train.Plan{Data: lineData(t, 2), Steps: 1})
	if want := "train: lbfgs wants the whole objective in each step, but the data have 2 batches an epoch: want one, as data.InOrder(rows, 0) gives"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	trainer.CheckUpdates = true
	err = trainer.Fit(context.Background(), train.Plan{Data: lineData(t, 0), Steps: 1})
	if want := "train: lbfgs searches along a line, and checks no updates"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	trainer.CheckUpdates = false
	trainer.Engine = func(context.Context, *graph.Graph, *graph.Node, graph.Step, *tape.Store) (train.Engine, error) {
		return nil, nil
	}
	err = trainer.Fit(context.Background(), train.Plan{Data: lineData(t, 0), Steps: 1})
	if want := "train: lbfgs searches along a line on the tape, and cannot on another engine"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
