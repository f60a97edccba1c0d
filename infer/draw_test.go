package infer_test

import (
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/infer"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// dropping is y[n] = Σ_d w_d·dropout(x)[n d], with the rate p.
func dropping(rows int, p float64) infer.Forward {
	g := graph.New("dropping")
	n, d := graph.Ax("n", rows), graph.Ax("d", 4)
	x, w := g.Input("x", graph.F64, n, d), g.Param("w", graph.F64, d).Init(initial.Normal(0, 1))
	y := ops.Sum(ops.Mul(nn.Dropout(x, g.Scalar("p", p, graph.F64)), w), "d").As("y")
	return infer.Forward{Rows: rows, Output: y}
}

// droppingRows are n rows for it, of which the first two are equal.
func droppingRows(t *testing.T, n int) (x [][]float64, s *data.Set) {
	t.Helper()
	var flat []float64
	for i := range n {
		row := []float64{1, -2, 0.5, 3}
		for d := range row {
			row[d] += 0.3 * float64(max(0, i-1))
		}
		x, flat = append(x, row), append(flat, row...)
	}
	return x, set(t, map[string]*tensor.Dense{"x": array([]int{n, 4}, flat...)})
}

// dropper is a predictor with nets for 4 rows, 2 and 1, made of a checkpoint of the store.
func dropper(t *testing.T, store *tape.Store, workers int) (*infer.Predictor, *tape.Store) {
	t.Helper()
	const p = 0.4
	path := filepath.Join(t.TempDir(), "c.safetensors")
	nets := []infer.Forward{dropping(4, p), dropping(2, p), dropping(1, p)}
	state := &checkpoint.State{Store: store, Model: checkpoint.Identify(4, nil, nil, nets[0].Output), Meta: infer.ForwardMeta(nets...)}
	if err := checkpoint.Save(path, state); err != nil {
		t.Fatal(err)
	}
	s, err := checkpoint.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	out, err := infer.LoadPredictor(t.Context(), s, workers)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(out.Close)
	return out, s.Store
}

func predictions(t *testing.T, p *infer.Predictor, s *data.Set, n int) (out [][]float64) {
	t.Helper()
	for range n {
		y, err := p.Predict(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, slices.Clone(y.Float64s()))
	}
	return out
}

// TestMonteCarloDropout: predictions with dropout have the mean and the variance that theory gives,
// and are independent between calls and between rows, whether these are of one batch, of two
// batches, of nets of several sizes, or equal.
func TestMonteCarloDropout(t *testing.T) {
	store := tape.NewStore(dropping(1, 0).Output.Graph(), tape.Seed(3))
	w, err := store.Get("w")
	if err != nil {
		t.Fatal(err)
	}
	x, rows := droppingRows(t, 11) // two batches of 4, one of 2, and a row alone
	p, own := dropper(t, store, 1)
	samples := predictions(t, p, rows, 3000)
	tapetest.Dropped(t, samples, x, w.Float64s(), 0.4)
	if own.Runs() != 4*3000 || own.Step() != 0 {
		t.Errorf("%d runs in step %d are counted, want %d in step 0", own.Runs(), own.Step(), 4*3000)
	}
}

// TestPredictionsGoOn: the predictions of a net that draws are the same for any number of workers,
// and continue from a checkpoint as if there had been none.
func TestPredictionsGoOn(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	_, rows := droppingRows(t, 7)
	fresh := tape.NewStore(dropping(1, 0).Output.Graph(), tape.Seed(3))
	first, _ := dropper(t, fresh, 1)
	want := predictions(t, first, rows, 5)
	for i := range want {
		for j := range i {
			if slices.Equal(want[i], want[j]) {
				t.Errorf("calls %d and %d predict the same", j, i)
			}
		}
	}
	for _, workers := range []int{1, 2, 8} {
		for at := range 5 {
			p, store := dropper(t, fresh, workers)
			got := predictions(t, p, rows, at)
			q, _ := dropper(t, store, workers)
			if got = append(got, predictions(t, q, rows, 5-at)...); !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("%d workers, with a checkpoint after %d calls: %v, want %v", workers, at, got, want)
			}
		}
	}
}
