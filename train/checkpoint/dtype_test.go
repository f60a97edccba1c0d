package checkpoint_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
)

// TestNarrowTypes: states of f16, bf16, i8 and u8 come back from a checkpoint bit for bit and with
// their types, as does a part of it where the store has them.
func TestNarrowTypes(t *testing.T) {
	g := graph.New("narrow")
	types := []graph.DType{graph.F16, graph.BF16, graph.I8, graph.U8}
	s, all := tape.NewStore(nil), []float64{0, 1, 2, 100, 127, 3, 7}
	var step graph.Step
	var first *graph.Node
	for _, dt := range types {
		x := g.State("s/"+dt.String(), dt, graph.Ax("i", len(all)))
		if first == nil {
			first = x
		}
		step = append(step, g.Assign(x, x))
		v := graph.Value{Type: x.Type(), Data: slices.Clone(all)}
		if dt.IsFloat() {
			v.Data[1], v.Data[2] = dt.Round(-0.1), dt.Round(3e-6)
		}
		if err := s.Add(x.Path(), tape.Tensor(v)); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "narrow.safetensors")
	if err := checkpoint.Save(path, &checkpoint.State{Store: s, Model: checkpoint.Identify(1, first, step)}); err != nil {
		t.Fatal(err)
	}
	loaded, err := checkpoint.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	part := tape.NewStore(g)
	if _, err := checkpoint.LoadPart(path, part, "s", "s"); err != nil {
		t.Fatal(err)
	}
	for _, dt := range types {
		want, _ := s.Get("s/" + dt.String())
		for name, other := range map[string]*tape.Store{"loaded": loaded.Store, "part": part} {
			typ, ok := other.Type("s/" + dt.String())
			if !ok || typ.DType != dt {
				t.Errorf("%s: %v is %v", name, dt, typ)
				continue
			}
			got, _ := other.Get("s/" + dt.String())
			if !slices.Equal(got.Raw, want.Raw) {
				t.Errorf("%s: %v is % x, want % x", name, dt, got.Raw, want.Raw)
			}
		}
	}
}
