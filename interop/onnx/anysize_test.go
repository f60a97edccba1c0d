//go:build onnxruntime

package onnx_test

import (
	"bytes"
	"context"
	"maps"
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/fit"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/interop/onnx"
	"github.com/tapestry-ml/tapestry/interop/onnxruntime"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// rows is a model of the registry whose rows a setting counts.
type rows struct {
	builders.Builder
	settings builders.Settings
	setting  string
}

// at builds the model for so many rows, with its output, its loss and all derivatives.
func (r rows) at(n int) (m *builders.Model, wanted []*graph.Node, err error) {
	s := maps.Clone(r.settings)
	s[r.setting] = float64(n)
	if m, err = r.Build(s, graph.F32); err != nil {
		return nil, nil, err
	}
	wanted = []*graph.Node{m.Output}
	if m.Loss != nil {
		wanted = append(append(wanted, m.Loss), grad.Of(m.Loss, lab.Wrt(m)...)...)
	}
	return m, wanted, m.Graph.Err()
}

// TestRuntimeAnySize: every model of the registry whose rows a setting counts is one file that runs on
// any number of rows, with the output, the loss and the derivatives that the tape has for them.
func TestRuntimeAnySize(t *testing.T) {
	rt := runtime(t)
	for _, b := range builders.All() {
		m, err := b.Build(nil, graph.F32)
		if err != nil || fit.RowSetting(m) == "" {
			continue
		}
		t.Run(b.Name, func(t *testing.T) { anySize(t, rt, rows{b, m.Settings, fit.RowSetting(m)}) })
	}
}

func anySize(t *testing.T, rt *onnxruntime.Runtime, r rows) {
	store := tape.NewStore(nil, tape.Seed(1))
	var file bytes.Buffer
	refusal := map[string]string{ // of what cannot be
		"regression-ridge-features": "onnx: N: ξ[d=26] is f32[d=22] at another size: what is learnt cannot depend on N",
	}[r.Name]
	err := onnx.WriteSymbolic(&file, "N", store, func(n int) (*graph.Graph, []onnx.Option, error) {
		m, wanted, err := r.at(n)
		if err != nil {
			return nil, nil, err
		}
		return m.Graph, []onnx.Option{onnx.Fetch(wanted...)}, nil
	})
	if refusal != "" && err != nil && err.Error() == refusal {
		return
	}
	if err != nil || refusal != "" {
		t.Fatal(err)
	}
	there := load(t, rt, file.Bytes())
	for _, n := range []int{22, 7, 50} {
		m, wanted, err := r.at(n)
		if err != nil {
			continue // more than the model has
		}
		random := draws(wanted...)
		prog, err := tape.Compile(m.Graph, tape.Fetch(append(random, wanted...)...))
		if err != nil {
			t.Fatal(err)
		}
		vm, err := prog.NewVM(store)
		if err != nil {
			t.Fatal(err)
		}
		inputs := feedBoth(t, m, n, vm, random, there)
		out, err := there.session.Run(context.Background(), inputs)
		if err != nil {
			t.Errorf("%d rows: %v", n, err)
			vm.Close()
			return
		}
		for i, v := range there.session.Outputs() {
			got, err := out[v.Name].Floats()
			if err != nil {
				t.Fatal(err)
			}
			d, err := vm.Value(wanted[i])
			if err != nil {
				t.Fatal(err)
			}
			want, err := tape.ArrayOf(wanted[i].Type(), d)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != wanted[i].Shape().Len() {
				t.Errorf("%d rows: %s has %d elements, want %d", n, v.Name, len(got), wanted[i].Shape().Len())
				continue
			}
			largest, off := 1e-3, 0.0 // less is what is left where terms cancel
			for i, x := range got {
				largest, off = max(largest, math.Abs(want.At(i))), max(off, math.Abs(x-want.At(i)))
			}
			if !(off <= 1e-4*largest) {
				t.Errorf("%d rows: %s is off by %.2g, its largest element is %.2g", n, v.Name, off, largest)
			}
		}
		vm.Close()
	}
}

// TestRuntimeTrainsAnySize: a step that is one file for any number of rows has the loss and the new values
// of the tape on each. Running statistics, whose variance is corrected for the rows, are among them.
func TestRuntimeTrainsAnySize(t *testing.T) {
	rt := runtime(t)
	for _, name := range []string{"norm-batch", "norm-batch, global", "resnet", "loss-infonce", "no-regularisation", "kmeans-softmax", "kmeans-lloyd", "transformer-gpt", "autoencoder-denoising"} {
		var settings builders.Settings
		if name == "norm-batch, global" {
			name, settings = "norm-batch", builders.Settings{"global": 1}
		}
		b, err := builders.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := b.Build(settings, graph.F32)
		if err != nil {
			t.Fatal(err)
		}
		r := rows{b, m.Settings, fit.RowSetting(m)}
		store, err := lab.NewStore(m, 1)
		if err != nil {
			t.Fatal(err)
		}
		build := func(n int) (*builders.Model, graph.Step, error) {
			m, _, err := r.at(n)
			if err != nil {
				return nil, nil, err
			}
			step := lab.TrainingStep(m, train.Adam(0.01))
			return m, step, m.Graph.Err()
		}
		var file bytes.Buffer
		if err := onnx.WriteSymbolic(&file, "N", store, func(n int) (*graph.Graph, []onnx.Option, error) {
			m, step, err := build(n)
			if err != nil {
				return nil, nil, err
			}
			return m.Graph, []onnx.Option{onnx.Loss(m.Loss), onnx.Do(step)}, nil
		}); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, n := range []int{3, 16, 50} {
			m, step, err := build(n)
			if err != nil {
				t.Fatal(err)
			}
			random := draws(append([]*graph.Node{m.Loss}, values(step)...)...)
			prog, err := tape.Compile(m.Graph, tape.Fetch(append([]*graph.Node{m.Loss}, random...)...), tape.Do(step))
			if err != nil {
				t.Fatal(err)
			}
			ours := store.Clone()
			vm, err := prog.NewVM(ours)
			if err != nil {
				t.Fatal(err)
			}
			there := load(t, rt, file.Bytes())
			inputs := feedBoth(t, m, n, vm, random, there)
			loss, err := vm.Float(m.Loss)
			if err != nil {
				t.Fatal(err)
			}
			got := there.step(t, inputs)
			vm.Close()
			if !(math.Abs(got-loss) <= 1e-5*max(math.Abs(loss), 1e-3)) {
				t.Errorf("%s, %d rows: loss %v, want %v", name, n, got, loss)
			}
			for path := range there.updates {
				d, err := ours.Get(path)
				if err != nil {
					t.Fatal(err)
				}
				typ, _ := ours.Type(path)
				want, err := tape.ArrayOf(typ, d)
				if err != nil {
					t.Fatal(err)
				}
				have, err := there.held[path].Floats()
				if err != nil {
					t.Fatal(err)
				}
				largest, off := 1e-3, 0.0
				for i, v := range have {
					largest, off = max(largest, math.Abs(want.At(i))), max(off, math.Abs(v-want.At(i)))
				}
				if !(off <= 1e-4*largest) {
					t.Errorf("%s, %d rows: %s is off by %.2g, its largest element is %.2g", name, n, path, off, largest)
				}
			}
		}
	}
}
