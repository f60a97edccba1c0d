package lab_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// TestDefaultsConverge: what a clustering by default says is of the objective, not of where
// training was stopped: γ has come to its end, nothing moves, and the gradient is gone.
func TestDefaultsConverge(t *testing.T) {
	for _, table := range []*data.Table{data.Iris(), data.Wine()} {
		for _, dt := range []graph.DType{graph.F64, graph.F32} {
			for _, name := range []string{"kmeans-softmax", "kmeans-goofy"} {
				v, err := lab.Config{Table: table, DType: dt}.Train(context.Background(), name)
				if err != nil {
					t.Fatal(err)
				}
				if n := v.Moving(); n > 0 {
					t.Errorf("%s on %s in %v: %d of %d runs move", name, table.Name, dt, n, len(v.Runs))
				}
			}
		}
	}
	v, err := lab.Config{Table: data.Iris()}.Lloyd(context.Background())
	if err != nil || v.Moving() > 0 {
		t.Errorf("Lloyd's algorithm: %d runs move, %v", v.Moving(), err)
	}
}

// TestStillMoving: each part of the test finds what the others would take for rest.
func TestStillMoving(t *testing.T) {
	table := data.Iris()
	for _, c := range []struct {
		what string
		lab.Config
		moves, changes, slopes bool
	}{
		{"annealed to the last step at a constant rate", lab.Config{Steps: 200, Scheduled: map[string]train.Schedule{"γ": lab.DefaultGamma(table, 3)}, Rate: train.Constant(lab.DefaultRate(table))}, true, true, true},
		{"a rate that fell too early", lab.Config{Steps: 400, Scheduled: map[string]train.Schedule{"γ": train.Constant(66)}, Rate: train.Cosine(lab.DefaultRate(table), 20)}, false, false, true},
		{"γ that creeps while nothing follows", lab.Config{Steps: 400, Scheduled: map[string]train.Schedule{"γ": lab.DefaultGamma(table, 3)}, Rate: train.Constant(1e-12)}, false, true, true},
	} {
		c.Table, c.Seeds = table, 3
		v, err := c.Train(context.Background(), "kmeans-goofy")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range v.Runs {
			moves, slopes := r.Rest.Moved > lab.AtRest, r.Rest.Slope > lab.AtRest
			if moves != c.moves || r.Rest.Changing != c.changes || slopes != c.slopes || r.Rest.Converged() {
				t.Errorf("%s, seed %d: %+v", c.what, r.Seed, r.Rest)
			}
		}
	}
}

// TestConvergenceOfAnyModel: Learn and Compare judge the same training alike, and a model
// that has come to rest on one batch is told from one that has not.
func TestConvergenceOfAnyModel(t *testing.T) {
	build := func(name string) func() (*builders.Model, error) {
		return func() (*builders.Model, error) {
			b, err := builders.Lookup(name)
			if err != nil {
				return nil, err
			}
			return b.Build(nil, graph.F64)
		}
	}
	for _, c := range []struct {
		name      string
		steps     int
		converged bool
	}{{"regression-ols", 50, false}, {"regression-ols", 6000, true}, {"regression-relu", 50, false}} {
		o := train.SGD(0.02)
		l, err := lab.Learn(context.Background(), build(c.name), lab.Config{Steps: c.steps, Seeds: 2, Optimisers: []train.Optimiser{o}, OneBatch: true})
		if err != nil {
			t.Fatal(err)
		}
		res, err := lab.Compare(context.Background(), lab.Config{Steps: c.steps, Seeds: 2, Optimisers: []train.Optimiser{o}, OneBatch: true}, lab.Objective(c.name, build(c.name)))
		if err != nil {
			t.Fatal(err)
		}
		for s, cell := range res.Cells(0, res.Best(0)) {
			learned := l.Runs[s].Rest
			if learned.Converged() != c.converged {
				t.Errorf("%s, %d steps: %+v", c.name, c.steps, learned)
			}
			if math.Abs(cell.Rest.Moved-learned.Moved) > 1e-12 || math.Abs(cell.Rest.Slope-learned.Slope) > 1e-12 {
				t.Errorf("%s, seed %d: compared %+v, learned %+v", c.name, s, cell.Rest, learned)
			}
		}
	}
}

// TestDivergedHasNotConverged: a training that explodes is nowhere at rest.
func TestDivergedHasNotConverged(t *testing.T) {
	res, err := lab.Compare(context.Background(), lab.Config{Steps: 300, Seeds: 1, OneBatch: true, Optimisers: []train.Optimiser{train.SGD(50)}}, lab.Registered("regression-ols", nil))
	if err != nil {
		t.Fatal(err)
	}
	if c := res.Cells(0, res.Best(0))[0]; c.Diverged == 0 || c.Rest.Converged() {
		t.Errorf("diverged in step %d, %+v", c.Diverged, c.Rest)
	}
}

// TestLossesThatReadLittle: a gradient that does not depend on what is trained, and a loss that does not after rewriting, are
// judged like others.
func TestLossesThatReadLittle(t *testing.T) {
	x := func(g *graph.Graph) *graph.Node { return g.Input("x", graph.F64, graph.Ax("i", 3)) }
	w := func(g *graph.Graph) *graph.Node { return g.Param("w", graph.F64, graph.Ax("i", 3)) }
	linear := lab.LossFunc("linear", func(g *graph.Graph) *graph.Node { return ops.Mean(ops.Mul(x(g), w(g))) })
	gone := lab.LossFunc("gone", func(g *graph.Graph) *graph.Node {
		x := x(g)
		return ops.Add(ops.Mean(x), ops.Mul(ops.Mean(w(g)), ops.Lit(x, 0)))
	})
	examples := func(rng *rand.Rand) map[string]graph.Value {
		v := graph.NewValue(x(graph.New("")).Type())
		v.Data[0] = rng.Float64()
		return map[string]graph.Value{"x": v}
	}
	plan := lab.Config{Steps: 3, Seeds: 2, Examples: examples, Probes: []lab.Probe{lab.Judge(gone)}}
	res, err := lab.Compare(context.Background(), plan, linear)
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range res.Cells(0, res.Best(0)) {
		if cell.Rest.Converged() || math.IsNaN(cell.Measures[len(cell.Measures)-1]) {
			t.Errorf("%+v, %v", cell.Rest, cell.Measures)
		}
	}
}

// TestShareIsPlain: what a person reads has no exponent, however far a training still went.
func TestShareIsPlain(t *testing.T) {
	if got := (lab.Convergence{Moved: 1.3}).String(); !strings.Contains(got, "it went 130 % of its size away") {
		t.Error(got)
	}
}
