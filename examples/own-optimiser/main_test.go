package main

import (
	"context"
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// step returns a matrix after some steps on the loss Σ c·w, whose gradient is c, from w = 0.
func step(t *testing.T, o train.Optimiser, steps, rows, cols int, c ...float64) []float64 {
	t.Helper()
	g := graph.New("step")
	axes := []graph.Axis{graph.Ax("i", rows), graph.Ax("j", cols)}
	in := g.Input("c", graph.F64, axes...)
	p := g.Param("w", graph.F64, axes...)
	prog, err := tape.Compile(g, tape.Do(o.Minimize(ops.Sum(ops.Mul(p, in)))))
	if err != nil {
		t.Fatal(err)
	}
	store := tape.NewStore(g)
	if err := store.Set("w", tape.Tensor(graph.NewValue(p.Type()))); err != nil {
		t.Fatal(err)
	}
	vm, err := prog.NewVM(store)
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	for range steps {
		if err := vm.Run(context.Background(), tape.Feed{in: tape.Of(in, c...)}); err != nil {
			t.Fatal(err)
		}
	}
	d, err := store.Get("w")
	if err != nil {
		t.Fatal(err)
	}
	return d.Float64s()
}

func near(t *testing.T, what string, got []float64, tol float64, want ...float64) {
	t.Helper()
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tol) {
			t.Errorf("%s: got %v, want %v", what, got, want)
			return
		}
	}
}

// TestRules: steps on a constant gradient, whose results are known.
func TestRules(t *testing.T) {
	near(t, "lion", step(t, lion(0.5), 3, 2, 2, 3, -0.01, 0, 7), 1e-15, -1.5, 1.5, 0, -1.5)
	// L = G·Gᵀ and R = Gᵀ·G after one step, so that the move is U·Vᵀ of G, but for ε: of a diagonal the signs.
	near(t, "shampoo", step(t, shampoo(1), 1, 2, 2, 30, 0, 0, -20), 1e-6, -1, 0, 0, 1)
	// After four steps the sums are four times as large, and the moves 1, 1/√2, 1/√3 and 1/2.
	four := 1 + 1/math.Sqrt2 + 1/math.Sqrt(3) + 0.5
	near(t, "shampoo", step(t, shampoo(1), 4, 2, 3, 0, 30, 0, 20, 0, 0), 1e-6, 0, -four, 0, -four, 0, 0)
	// Muon's singular values are between 0.7 and 1.2, those of a tall matrix √(rows/columns) times that.
	for _, c := range []struct{ rows, cols int }{{2, 3}, {3, 2}} {
		w := step(t, muon(1), 1, c.rows, c.cols, 5, 0, 0, 0, 0.5, 0)
		if c.rows > c.cols {
			w = step(t, muon(1), 1, c.rows, c.cols, 5, 0, 0, 0.5, 0, 0)
		}
		scale, sum := math.Sqrt(max(1, float64(c.rows)/float64(c.cols))), 0.0
		for _, v := range w {
			sum += math.Abs(v)
			if a := -v / scale; v != 0 && !(a > 0.65 && a < 1.25) {
				t.Errorf("muon moves by %v", w)
			}
		}
		if sum < 1.3*scale {
			t.Errorf("muon moves by %v", w)
		}
	}
}

// TestOptimisersLearn: each reaches what the program expects of it.
func TestOptimisersLearn(t *testing.T) {
	for _, o := range []train.Optimiser{lion(0.01, train.DecoupledDecay(0.1)), muon(0.02), shampoo(0.3)} {
		if accuracy, err := learn(context.Background(), &lesson.Lesson{}, o); err != nil || accuracy < expected {
			t.Errorf("%s: accuracy %.3f, %v; want %v", o, accuracy, err, expected)
		}
	}
}
