package infer_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/infer"
	"github.com/tapestry-ml/tapestry/infer/quantise"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"gorgonia.org/tensor"
)

// twoLayers is a net for so many rows.
func twoLayers(rows int) infer.Forward {
	g := graph.New("layers")
	x := g.Input("x", graph.F32, graph.Ax("n", rows), graph.Ax("d", 200))
	h := nn.NewLinear(g, "in", graph.F32, graph.Ax("d", 200), graph.Ax("h", 50)).Of(x)
	return infer.Forward{Rows: rows, Output: nn.NewLinear(g, "out", graph.F32, graph.Ax("h", 50), graph.Ax("k", 3)).Of(h).As("y")}
}

// TestInt8: a checkpoint in integers of a byte predicts nearly what the other does, the same for a
// row in every net, and the same when it has been written and read.
func TestInt8(t *testing.T) {
	nets := []infer.Forward{twoLayers(4), twoLayers(1), twoLayers(64)}
	store := tape.NewStore(nets[0].Output.Graph(), tape.Seed(1))
	meta := infer.ForwardMeta(nets...)
	meta["note"] = "kept"
	state := &checkpoint.State{Store: store, Meta: meta}
	r, numbers := rand.New(rand.NewPCG(1, 2)), make([]float32, 7*200)
	for i := range numbers {
		numbers[i] = r.Float32() - 0.3
	}
	rows := set(t, map[string]*tensor.Dense{"x": array([]int{7, 200}, numbers...)})
	predict := func(s *checkpoint.State) []float32 {
		p, err := infer.LoadPredictor(t.Context(), s, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		y, err := p.Predict(t.Context(), rows)
		if err != nil {
			t.Fatal(err)
		}
		return y.Data().([]float32)
	}
	small, q, err := infer.Int8(t.Context(), state, rows, quantise.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(q.Products) != 2 || q.Errors[0] == 0 || q.Errors[0] > 0.02 {
		t.Errorf("want two products and a small loss\n%v", q)
	}
	if keys := slices.Sorted(slices.Values(small.Keys())); !slices.Equal(keys, []string{"note", "predict", "predict.1"}) {
		t.Errorf("texts %v", keys)
	}
	want, got := predict(state), predict(small)
	for i, v := range want {
		if d := got[i] - v; max(d, -d) > 0.05 || got[i] == v && want[0] == got[0] {
			t.Errorf("element %d: %v in integers, %v in floats", i, got[i], v)
		}
	}
	alone := &checkpoint.State{Store: small.Store, Meta: map[string]string{infer.MetaNet: small.Meta["predict.1"]}}
	if !slices.Equal(predict(alone), got) {
		t.Error("a row alone has another prediction than in a batch")
	}

	sizes := map[*checkpoint.State]int64{}
	for name, s := range map[string]*checkpoint.State{"float": state, "int8": small} {
		path := filepath.Join(t.TempDir(), name)
		if err := checkpoint.Save(path, s); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		sizes[s] = info.Size()
		if s == small {
			if s, err = checkpoint.Load(path); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(predict(s), got) {
				t.Error("what was written and read predicts other numbers")
			}
		}
	}
	if sizes[small] > sizes[state]*2/3 {
		t.Errorf("the file has %d bytes, that of floats %d", sizes[small], sizes[state])
	}

	for want, f := range map[string]func() error{
		"int8: there are no data to calibrate with":         func() error { _, _, err := infer.Int8(t.Context(), state, nil, quantise.Options{}); return err },
		"the checkpoint is nil (checkpoint.Load reads one)": func() error { _, _, err := infer.Int8(t.Context(), nil, rows, quantise.Options{}); return err },
		"the checkpoint has no store": func() error {
			_, _, err := infer.Int8(t.Context(), &checkpoint.State{}, rows, quantise.Options{})
			return err
		},
		": quantise: no weights of a product have a path that begins with \"no\"": func() error {
			_, _, err := infer.Int8(t.Context(), state, rows, quantise.Options{Keep: []string{"no"}})
			return err
		},
		"int8: 7 rows to calibrate with: want at least 64, as no net of the model takes fewer": func() error {
			_, _, err := infer.Int8(t.Context(), &checkpoint.State{Store: store, Meta: infer.ForwardMeta(nets[2])}, rows, quantise.Options{})
			return err
		},
	} {
		if err := f(); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
