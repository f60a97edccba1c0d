package train_test

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/parallel"
	"gorgonia.org/tensor"
)

// bag is a net that looks up rows of a table, of which a batch reads few: an f32 table and, with
// mixed, a bias of f64.
func bag(t testing.TB, mixed bool) laned {
	tokens, y := make([]float64, 90*3), make([]float64, 90)
	for i := range tokens {
		tokens[i] = float64((i*i + i/5) % 40)
	}
	for i := range y {
		y[i] = float64(i % 4)
	}
	set, err := data.NewSet(map[string]*tensor.Dense{"x": array(t, graph.I32, tokens, 90, 3), "y": array(t, graph.I32, y, 90)})
	if err != nil {
		t.Fatal(err)
	}
	return laned{
		build: func(rows int, _ train.Mode) *train.Net {
			g := graph.New("bag")
			n, m, k := graph.Ax("n", rows), graph.Ax("m", 5), graph.Ax("k", 4)
			v := ops.Mean(nn.NewEmbedding(g, "table", graph.F32, graph.Ax("w", 50), m).Of(g.Input("x", graph.I32, n, graph.Ax("l", 3))), "l")
			z := nn.NewLinear(g, "fc", graph.F32, m, k).Of(v)
			if mixed {
				z = ops.Add(z, ops.Cast(g.Param("shift", graph.F64, k), graph.F32))
			}
			return &train.Net{Loss: nn.CrossEntropy(z, g.Input("y", graph.I32, n)), Output: z}
		},
		data: func(batch int) data.Source { return data.Shuffled(set, batch, 7) },
	}
}

// TestLanesOptimisers: whatever the optimiser and its options, the store has the same bits on any
// number of ranks, also where they share the states out, and comes close to that of a step without lanes.
func TestLanesOptimisers(t *testing.T) {
	signed := func() train.Optimiser {
		return train.Custom("signed", 1e-2, func(m *train.Minimizing, p, gradient *graph.Node) *graph.Node {
			now := m.Assign(m.State("v", p), ops.Add(ops.Scale(m.State("v", p), 0.9), gradient))
			return ops.Sub(p, ops.Mul(m.Rate(p), ops.Div(now, ops.Cast(m.Steps(), p.DType()))))
		}, train.ClipNorm(1))
	}
	for name, o := range map[string]func() train.Optimiser{
		"sgd":           func() train.Optimiser { return train.SGD(0.1, train.WeightDecay(0.01)) },
		"momentum":      func() train.Optimiser { return train.Momentum(0.1, 0.9, train.ClipNorm(0.1)) },
		"nesterov-peek": func() train.Optimiser { return train.NesterovPeek(0.1, 0.9, train.ClipValue(0.01)) },
		"adamw":         func() train.Optimiser { return train.AdamW(1e-2, train.EMA(0.9)) },
		"accumulate":    func() train.Optimiser { return train.Adam(1e-2, train.Accumulate(3), train.ClipNorm(0.1)) },
		"l1":            func() train.Optimiser { return train.RMSProp(1e-2, train.L1(1e-3)) },
		"lazyadam":      func() train.Optimiser { return train.LazyAdam(1e-2) },
		"adagrad":       func() train.Optimiser { return train.Adagrad(1e-1) },
		"custom":        signed,
	} {
		m := bag(t, name != "lazyadam")
		one := m.fit(t, o(), 17, 12, 1, alone(t, 6))
		if got := hash(t, m.fit(t, o(), 17, 12, 2, alone(t, 6))); got != hash(t, one) {
			t.Errorf("%s: %s with 2 workers, %s with 1", name, got, hash(t, one))
		}
		for rank, s := range m.onRanks(t, o, 17, 12, 1, 3, parallel.Config{Lanes: 6}) {
			if got := hash(t, s); got != hash(t, one) {
				t.Errorf("%s: %s on rank %d of 3, %s on one", name, got, rank, hash(t, one))
			}
		}
		if got := hash(t, merged(t, m.onRanks(t, o, 17, 12, 1, 2, parallel.Config{Lanes: 6, Shard: true}))); got != hash(t, one) {
			t.Errorf("%s: %s on 2 ranks with parts of the states, %s on one", name, got, hash(t, one))
		}
		nearStore(t, name, one, m.fit(t, o(), 17, 12, 1, nil), 1e-3)
	}
}

// TestLanesRefuse: what has no step in lanes is refused with a reason.
func TestLanesRefuse(t *testing.T) {
	state := func(dt graph.DType, value func(g *graph.Graph, x, loss *graph.Node) *graph.Node) train.Build {
		return func(rows int, _ train.Mode) *train.Net {
			g := graph.New("net")
			x := g.Input("x", graph.F32, graph.Ax("n", rows), graph.Ax("d", 64))
			g.Input("y", graph.I32, graph.Ax("n", rows))
			loss := ops.Mean(ops.Square(ops.MatMul(x, g.Param("w", graph.F32, graph.Ax("d", 64), graph.Ax("k", 2)))))
			s := g.State("s", dt)
			return &train.Net{Loss: loss, Step: graph.Step{g.Assign(s, value(g, x, loss))}}
		}
	}
	kmeans := func(rows int, mode train.Mode) *train.Net {
		n := state(graph.F32, func(g *graph.Graph, x, loss *graph.Node) *graph.Node { return loss })(rows, mode)
		n.Params = []*graph.Node{}
		return n
	}
	peeks := train.Custom("peeks", 0.1, func(m *train.Minimizing, p, gradient *graph.Node) *graph.Node {
		return ops.Sub(p, ops.Mul(ops.Mean(m.Graph().Lookup("x")), gradient))
	})
	mean := func(g *graph.Graph, x, loss *graph.Node) *graph.Node { return ops.Mean(x) }
	for _, c := range []struct {
		build train.Build
		o     train.Optimiser
		want  string
	}{
		{state(graph.F32, mean), train.LBFGS(), "lbfgs searches along a line"},
		{kmeans, train.SGD(1), "net is trained by a step of its own alone"},
		{state(graph.I32, func(g *graph.Graph, x, loss *graph.Node) *graph.Node { return ops.Cast(ops.Sum(x), graph.I32) }), train.SGD(1), "s takes a value of type i32 that depends on the rows of a lane"},
		{state(graph.F32, mean), peeks, "the update of w depends on the rows of x"},
		{state(graph.F32, func(g *graph.Graph, x, loss *graph.Node) *graph.Node {
			return ops.SumRanks(g.Constant(graph.F32, []float64{float64(x.Dim(0))}))
		}), train.SGD(1), ""},
		{state(graph.F32, func(g *graph.Graph, x, loss *graph.Node) *graph.Node {
			return g.Constant(graph.F32, []float64{float64(x.Dim(0))})
		}), train.SGD(1), "lanes of 3 and of 2 rows: the updates of net differ"},
	} {
		tr := &train.Trainer{Build: c.build, Optimiser: c.o, Ranks: alone(t, 8)}
		defer tr.Close()
		switch err := takes(tr, data.InOrder(points(t, graph.F32, 20), 20), 1); {
		case c.want == "" && err != nil:
			t.Error(err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%v: want %q", err, c.want)
		}
		if _, err := tr.Lanes(context.Background(), 20); (err == nil) != (c.want == "") {
			t.Errorf("Lanes: %v: want %q", err, c.want)
		}
	}
}

// TestLanesBadRow: an error of a lane names the row of the data, changes nothing, and does not keep a
// later step from being right.
func TestLanesBadRow(t *testing.T) {
	for name, m := range lanedModels(t, graph.F32) {
		if name == "gpt" {
			continue
		}
		source := m.data(24)
		b, err := source.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		one := &repeated{source, b}
		tr := &train.Trainer{Build: m.build, Optimiser: train.Adam(1e-3), Seed: 3, Workers: 2, Ranks: alone(t, 8)}
		defer tr.Close()
		run := func() error {
			return takes(tr, one, int(tr.Store().Step())+1)
		}
		if err := run(); err != nil {
			t.Fatal(err)
		}
		was := hash(t, tr.Store())
		label := b.Values["y"].Int32s()[17]
		b.Values["y"].Int32s()[17] = 11
		row, _ := b.Row(17)
		if err := run(); err == nil || !strings.Contains(err.Error(), "label 11") || !strings.Contains(err.Error(), "row "+strconv.Itoa(row)+":") {
			t.Errorf("%s: %v: want label 11 in row %d", name, err, row)
		}
		if got := hash(t, tr.Store()); got != was {
			t.Errorf("%s: the store changed in a step that failed", name)
		}
		b.Values["y"].Int32s()[17] = label
		if err := run(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLanesDiverge: a loss that is not finite is a Diverged that names the row, and nothing changes.
func TestLanesDiverge(t *testing.T) {
	m := lanedModels(t, graph.F32)["mlp"]
	source := m.data(24)
	b, err := source.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	b.Values["x"].Float32s()[64*17+5] = float32(math.Inf(1))
	tr := &train.Trainer{Build: m.build, Optimiser: train.Adam(1e-3), Seed: 3, Workers: 1, Ranks: alone(t, 8)}
	defer tr.Close()
	err = tr.Fit(context.Background(), train.Plan{Data: &repeated{source, b}, Steps: 2})
	d := new(train.Diverged)
	if !errors.As(err, &d) {
		t.Fatalf("%v: want a Diverged", err)
	}
	if row, _ := b.Row(17); !strings.Contains(d.Where, "row "+strconv.Itoa(row)) {
		t.Errorf("%v: the place is %q, want row %d", err, d.Where, row)
	}
	if tr.Store().Step() != 0 {
		t.Error("a step was committed")
	}
}
