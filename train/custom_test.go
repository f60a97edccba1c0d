package train_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// heavy is Momentum by a rule of one's own.
func heavy(name string, options ...train.Option) train.Optimiser {
	return train.Custom(name, 0.05, func(m *train.Minimizing, p, gradient *graph.Node) *graph.Node {
		v := m.State("v", p)
		now := m.Assign(v, ops.Add(ops.Scale(v, 0.8), gradient))
		return ops.Sub(p, ops.Mul(m.Rate(p), now))
	}, options...)
}

// TestCustomIsTheShippedOne: a rule of one's own that says what Momentum does gives its bits, with
// every option.
func TestCustomIsTheShippedOne(t *testing.T) {
	for _, options := range [][]train.Option{
		nil,
		{train.ClipNorm(0.5), train.WeightDecay(0.1)},
		{train.Accumulate(3), train.EMA(0.9), train.L1(0.02)},
		{train.DecoupledDecay(0)},
	} {
		_, prog, store := hilly(t, heavy("heavy", options...), graph.F64)
		run(t, prog, store, 10, nil)
		shipped := train.Momentum(0.05, 0.8, options...)
		_, other, want := hilly(t, shipped, graph.F64)
		run(t, other, want, 10, nil)
		if got, want := read(t, store, "a", "b", "heavy/v/a"), read(t, want, "a", "b", "momentum/v/a"); !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", shipped, got, want)
		}
	}
	// Decoupled decay of a rule subtracts rate·λ·p after its move.
	_, prog, store := hilly(t, heavy("heavy", train.DecoupledDecay(0.3)), graph.F64)
	run(t, prog, store, 10, nil)
	_, other, want := hilly(t, train.Momentum(0.05, 0.8, train.DecoupledDecay(0.3)), graph.F64)
	run(t, other, want, 10, nil)
	near(t, "decoupled", read(t, store, "a", "b"), read(t, want, "a", "b"), 1e-14)
}

// TestCustomMistakes: what a rule does wrong is said with the optimiser's name.
func TestCustomMistakes(t *testing.T) {
	keep := func(m *train.Minimizing, p, _ *graph.Node) *graph.Node { return p }
	for want, o := range map[string]train.Optimiser{
		`Minimize: an optimiser called "": want a name without slashes`:                                        train.Custom("", 1, keep),
		`Minimize: an optimiser called "a/b": want a name without slashes`:                                     train.Custom("a/b", 1, keep),
		`Minimize: an optimiser of your own called adam: the name is taken by train.Named, choose another`:     train.Custom("adam", 1, keep),
		`Minimize: own has no rule: it is nil`:                                                                 train.Custom("own", 1, nil),
		`Minimize: own has no betas`:                                                                           train.Custom("own", 1, keep, train.Betas(0.9, 0.9)),
		`own: its rule returns nil for w[i=2]: want the next value`:                                            train.Custom("own", 1, func(*train.Minimizing, *graph.Node, *graph.Node) *graph.Node { return nil }),
		`own: its rule returns f64[] for w[i=2]: want the type of the parameter`:                               train.Custom("own", 1, func(_ *train.Minimizing, p, _ *graph.Node) *graph.Node { return ops.Sum(p) }),
		`Minimize: the optimiser is the zero value, which makes no step: want one such as train.Adam(0.001), `: {},
	} {
		g := graph.New("mistake")
		o.Minimize(ops.Sum(ops.Square(g.Param("w", graph.F64, graph.Ax("i", 2)))))
		if err := g.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// line is a trainer of y = w·x.
func line(o train.Optimiser) *train.Trainer {
	return &train.Trainer{Optimiser: o, Seed: 1, Build: func(rows int, _ train.Mode) *train.Net {
		g := graph.New("line")
		x, y := g.Input("x", graph.F64, graph.Ax("n", rows)), g.Input("y", graph.F64, graph.Ax("n", rows))
		w := g.Param("w", graph.F64)
		return &train.Net{Loss: ops.Mean(ops.Square(ops.Sub(ops.Mul(w, x), y)))}
	}}
}

func lineData(t *testing.T, batch int) data.Source {
	t.Helper()
	set, err := data.NewSet(map[string]*tensor.Dense{
		"x": tensor.New(tensor.WithBacking([]float64{1, 2, 3, 4})), "y": tensor.New(tensor.WithBacking([]float64{2, 4, 6, 9})),
	})
	if err != nil {
		t.Fatal(err)
	}
	return data.InOrder(set, batch)
}

// TestCustomResumes: a training by a rule of one's own goes on from its checkpoint with the same
// bits, its states among them; an optimiser of another name is refused, and names the states.
func TestCustomResumes(t *testing.T) {
	fit := func(o train.Optimiser, steps int, dir string, resume string) (*train.Trainer, error) {
		trainer := line(o)
		t.Cleanup(trainer.Close)
		plan := train.Plan{Data: lineData(t, 2), Steps: steps, Rate: train.Cosine(0.01, 8), Resume: resume}
		plan.Checkpoints.Dir = dir
		return trainer, trainer.Fit(context.Background(), plan)
	}
	whole, err := fit(heavy("heavy"), 8, "", "")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := fit(heavy("heavy"), 4, dir, ""); err != nil {
		t.Fatal(err)
	}
	half, err := fit(heavy("heavy"), 8, "", dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, half.Store(), "w", "heavy/v/w"), read(t, whole.Store(), "w", "heavy/v/w"); !slices.Equal(got, want) {
		t.Errorf("resumed to %v, want %v", got, want)
	}
	_, err = fit(heavy("light"), 8, "", dir)
	if other := new(checkpoint.Mismatch); !errors.As(err, &other) || !strings.Contains(err.Error(), "light/v/w") || !strings.Contains(err.Error(), "heavy/v/w") {
		t.Errorf("another optimiser: %v", err)
	}
	if _, err = fit(train.Optimiser{}, 1, "", ""); err == nil || !strings.HasPrefix(err.Error(), "train: no optimiser: set Trainer.Optimiser to one such as train.Adam(0.001), or to one of your own by train.Custom") {
		t.Errorf("no optimiser: %v", err)
	}
}

// TestDecoupledDecay: Adam with it is AdamW, bit by bit, and SGD moves as with the penalty.
func TestDecoupledDecay(t *testing.T) {
	for _, c := range []struct {
		got, want train.Optimiser
		tol       float64
	}{
		{train.Adam(0.1, train.DecoupledDecay(0.3)), train.AdamW(0.1, train.WeightDecay(0.3)), 0},
		{train.SGD(0.1, train.DecoupledDecay(0.3)), train.SGD(0.1, train.WeightDecay(0.3)), 1e-14},
	} {
		_, prog, store := hilly(t, c.got, graph.F64)
		run(t, prog, store, 10, nil)
		_, other, want := hilly(t, c.want, graph.F64)
		run(t, other, want, 10, nil)
		near(t, c.got.String(), read(t, store, "a", "b"), read(t, want, "a", "b"), c.tol)
	}
	// A step of RMSProp from v = 0 moves by g/(√(0.01·g²) + ε), and decay adds rate·λ·p.
	for _, o := range []train.Optimiser{train.RMSProp(0.01, train.DecoupledDecay(0.5)), train.Adagrad(0.01, train.DecoupledDecay(0.5)), train.Momentum(0.01, 0.9, train.DecoupledDecay(0.5)), train.NesterovPeek(0.01, 0.9, train.DecoupledDecay(0.5))} {
		plain, err := train.Named(o.Name(), 0.01)
		if err != nil {
			t.Fatal(err)
		}
		_, prog, store := hilly(t, o, graph.F64)
		run(t, prog, store, 1, nil)
		_, other, without := hilly(t, plain, graph.F64)
		run(t, other, without, 1, nil)
		want := read(t, without, "a", "b")
		for i, start := range []float64{1.5, -0.5, 2, 0.25} {
			want[i] -= 0.01 * 0.5 * start
		}
		near(t, o.String(), read(t, store, "a", "b"), want, 1e-14)
	}
}

// TestEpsilonInside: one step of RMSProp and Adagrad, whose average is then known.
func TestEpsilonInside(t *testing.T) {
	for _, c := range []struct {
		o    train.Optimiser
		want float64
	}{
		{train.RMSProp(0.1, train.Smoothing(0.75), train.EpsilonInside(3)), -0.1 * 2 / 2}, // √(0.25·2² + 3)
		{train.RMSProp(0.1, train.Smoothing(0.75), train.Epsilon(3)), -0.1 * 2 / 4},       // √(0.25·2²) + 3
		{train.Adagrad(0.1, train.EpsilonInside(12)), -0.1 * 2 / 4},                       // √(2² + 12)
	} {
		_, prog, store := scalar(t, c.o, func(w *graph.Node) *graph.Node { return ops.Scale(w, 2) })
		run(t, prog, store, 1, nil)
		near(t, c.o.String(), read(t, store, "w"), []float64{c.want}, 1e-15)
	}
}

// TestL1: gradient descent with L1 on ½Σ(w − c)² ends at the soft threshold of c, with zeros that are exact.
func TestL1(t *testing.T) {
	g := graph.New("lasso")
	w := g.Param("w", graph.F64, graph.Ax("i", 4))
	c := g.Input("c", graph.F64, graph.Ax("i", 4))
	loss := ops.Scale(ops.Sum(ops.Square(ops.Sub(w, c))), 0.5)
	prog, store := compiled(t, g, train.SGD(0.5, train.L1(1)).Minimize(loss))
	run(t, prog, store, 60, fed(c, 3, -2.5, 0.75, -1))
	if got := read(t, store, "w"); got[2] != 0 || got[3] != 0 {
		t.Errorf("got %v, want zeros at the end", got)
	}
	near(t, "soft threshold", read(t, store, "w"), []float64{2, -1.5, 0, 0}, 1e-12)
}
