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
// reference values are those of SciPy 1.10's L-BFGS-B with tolerance 0; PyTorch 1.13's LBFGS ends
// at the same.
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

// TestLBFGSKeepsTheDraws: every evaluation of a step draws the same numbers, so that the line search
// sees one function, and a training of steps with noise repeats bit by bit.
func TestLBFGSKeepsTheDraws(t *testing.T) {
	noisy := func(g *graph.Graph) *graph.Node {
		w := g.Param("w", graph.F64, graph.Ax("i", 3))
		return ops.Sum(ops.Square(ops.Sub(w, ops.RandomNormal(w.Graph(), "noise", graph.F64, graph.Ax("i", 3)))))
	}
	a, _, _ := minimised(t, noisy, nil, nothing(), 3)
	b, _, _ := minimised(t, noisy, nil, nothing(), 3)
	if got, want := read(t, a.Store(), "w"), read(t, b.Store(), "w"); !slices.Equal(got, want) {
		t.Errorf("%v, then %v", got, want)
	}
	if s := a.Store(); s.Step() != 3 {
		t.Errorf("%d steps, want 3", s.Step())
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
	trainer.Engine = func(context.Context, *graph.Graph, *graph.Node, graph.Step, *tape.Store) (train.Engine, error) {
		return nil, nil
	}
	err = trainer.Fit(context.Background(), train.Plan{Data: lineData(t, 0), Steps: 1})
	if want := "train: lbfgs searches along a line on the tape, and cannot on another engine"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
