package gorgonia_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// weight is a parameter with a gradient, as gorgonia's solvers see one.
type weight struct{ value, grad *tensor.Dense }

func (w *weight) Value() G.Value         { return w.value }
func (w *weight) Grad() (G.Value, error) { return w.grad, nil }

// TestSolversSideBySide: what docs/from-gorgonia.md says stands for a solver moves the weights as the
// solver does.
func TestSolversSideBySide(t *testing.T) {
	page, err := os.ReadFile("../../docs/from-gorgonia.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		theirs string
		solver G.Solver
		ours   string
		o      train.Optimiser
	}{
		{"NewVanillaSolver(WithLearnRate(η))", G.NewVanillaSolver(G.WithLearnRate(0.1)), "SGD(η)", train.SGD(0.1)},
		{"… WithClip(c)", G.NewVanillaSolver(G.WithLearnRate(0.1), G.WithClip(0.3)), "ClipValue(c)", train.SGD(0.1, train.ClipValue(0.3))},
		{"… WithL2Reg(λ)", G.NewVanillaSolver(G.WithLearnRate(0.1), G.WithL2Reg(0.2)), "WeightDecay(λ)", train.SGD(0.1, train.WeightDecay(0.2))},
		{"… WithBatchSize(n)", G.NewVanillaSolver(G.WithLearnRate(0.1), G.WithBatchSize(4)), "SGD(η/n)", train.SGD(0.1 / 4)},
		{"… WithBatchSize(n), WithClip(c)", G.NewVanillaSolver(G.WithLearnRate(0.1), G.WithBatchSize(4), G.WithClip(0.1)), "SGD(η/n, ClipValue(n·c))", train.SGD(0.1/4, train.ClipValue(0.4))},
		{"NewMomentum(WithLearnRate(η), WithMomentum(β))", G.NewMomentum(G.WithLearnRate(0.1), G.WithMomentum(0.8)), "Momentum(η, β)", train.Momentum(0.1, 0.8)},
		{"NewAdamSolver(WithLearnRate(η))", G.NewAdamSolver(G.WithLearnRate(0.1)), "Adam(η)", train.Adam(0.1)},
		{"… WithBeta1(a), WithBeta2(b), WithEps(ε)", G.NewAdamSolver(G.WithLearnRate(0.1), G.WithBeta1(0.8), G.WithBeta2(0.9), G.WithEps(0.1)), "Adam(η, Betas(a, b), Epsilon(ε))", train.Adam(0.1, train.Betas(0.8, 0.9), train.Epsilon(0.1))},
		{"… WithL2Reg(λ)", G.NewAdamSolver(G.WithLearnRate(0.1), G.WithL2Reg(0.2)), "WeightDecay(λ)", train.Adam(0.1, train.WeightDecay(0.2))},
		{"… WithBatchSize(n)", G.NewAdamSolver(G.WithLearnRate(0.1), G.WithBatchSize(4), G.WithEps(0.1)), "Epsilon(n·ε)", train.Adam(0.1, train.Epsilon(0.4))},
		{"NewRMSPropSolver(WithLearnRate(η))", G.NewRMSPropSolver(G.WithLearnRate(0.1)), "RMSProp(η, Smoothing(0.999), EpsilonInside(1e-8))", train.RMSProp(0.1, train.Smoothing(0.999), train.EpsilonInside(1e-8))},
		{"… WithRho(β), WithEps(ε)", G.NewRMSPropSolver(G.WithLearnRate(0.1), G.WithRho(0.9), G.WithEps(0.1)), "RMSProp(η, Smoothing(β), EpsilonInside(ε))", train.RMSProp(0.1, train.Smoothing(0.9), train.EpsilonInside(0.1))},
		{"… WithL2Reg(λ)", G.NewRMSPropSolver(G.WithLearnRate(0.1), G.WithL2Reg(0.02)), "DecoupledDecay(λ/η)", train.RMSProp(0.1, train.Smoothing(0.999), train.EpsilonInside(1e-8), train.DecoupledDecay(0.02/0.1))},
		{"NewAdaGradSolver(WithLearnRate(η))", G.NewAdaGradSolver(G.WithLearnRate(0.1), G.WithEps(0.5)), "Adagrad(0.001, EpsilonInside(1e-8))", train.Adagrad(0.001, train.EpsilonInside(1e-8))},
	} {
		if !strings.Contains(string(page), "`"+c.theirs+"`") || !strings.Contains(string(page), "`"+c.ours+"`") {
			t.Errorf("the page lacks %s or %s", c.theirs, c.ours)
		}
		theirs, ours := moved(t, c.solver), moves(t, c.o)
		if !near(ours, theirs) {
			t.Errorf("%s gives %v, and %s %v", c.theirs, theirs, c.ours, ours)
		}
	}
	if got := moved(t, G.NewRMSPropSolver(G.WithLearnRate(0.1), G.WithClip(0.3))); near(got, moves(t, train.RMSProp(0.1, train.Smoothing(0.999), train.EpsilonInside(1e-8), train.ClipValue(0.3)))) {
		t.Error("RMSProp with a clip is ours: the page says that it averages squares of the gradient before it is clipped")
	}
	g := G.NewGraph()
	w := array(g, "w", 3)
	if _, err := G.Grad(G.Must(G.Sum(G.Must(G.Square(w)))), w); err != nil {
		t.Fatal(err)
	}
	vm := G.NewTapeMachine(g, G.BindDualValues(w))
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	if err := G.NewAdamW().Step(G.NodesToValueGrads(G.Nodes{w})); err != nil {
		t.Fatal(err)
	}
	if got := w.Value().Data().([]float64); !near(got, array(G.NewGraph(), "w", 3).Value().Data().([]float64)) {
		t.Errorf("AdamW moves the weights to %v: the page says that it does not", got)
	}
}

// gradientsOf are those of four steps.
var gradientsOf = [][]float64{{1, -2, 0.1}, {0.5, 0.25, -0.3}, {-1, 2, 0.2}, {0.75, -0.1, 0}}

func startOf() []float64 { return []float64{0.5, -1, 2} }

// moved gives the weights after steps of gorgonia's.
func moved(t *testing.T, s G.Solver) []float64 {
	t.Helper()
	w := &weight{value: tensor.New(tensor.WithBacking(startOf()))}
	for _, g := range gradientsOf {
		w.grad = tensor.New(tensor.WithBacking(append([]float64(nil), g...)))
		if err := s.Step([]G.ValueGrad{w}); err != nil {
			t.Fatal(err)
		}
	}
	return w.value.Float64s()
}

// moves gives them after steps of ours, for a loss with these gradients.
func moves(t *testing.T, o train.Optimiser) []float64 {
	t.Helper()
	g := graph.New("step")
	p, slope := g.Param("p", graph.F64, graph.Ax("i", 3)), g.Input("g", graph.F64, graph.Ax("i", 3))
	step := o.Minimize(ops.Sum(ops.Mul(p, slope)), p)
	program, err := tape.Compile(g, tape.Do(step))
	if err != nil {
		t.Fatal(err)
	}
	vm, err := program.NewVM(tape.NewStore(g))
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	if err := vm.Store().Set("p", tensor.New(tensor.WithBacking(startOf()))); err != nil {
		t.Fatal(err)
	}
	for _, v := range gradientsOf {
		if err := vm.Run(context.Background(), tape.Feed{slope: tensor.New(tensor.WithBacking(v))}); err != nil {
			t.Fatal(err)
		}
	}
	v, err := vm.Store().Get("p")
	if err != nil {
		t.Fatal(err)
	}
	return v.Float64s()
}
