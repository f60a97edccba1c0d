package look_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/lab/look"
	"github.com/tapestry-ml/tapestry/notation"
	"github.com/tapestry-ml/tapestry/tape"
)

// built builds a model of the registry, or of a text in the notation.
func built(t *testing.T, name string, settings builders.Settings) *builders.Model {
	t.Helper()
	name, free := strings.CutSuffix(name, "{feedback=argmax}")
	if free {
		settings = builders.Settings{"feedback": 1}
	}
	b, err := builders.Lookup(name)
	if strings.Contains(name, "\n") {
		var f *notation.File
		if f, err = notation.Parse("m.tapestry", strings.NewReader(name)); err == nil {
			b = f.Builder()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	m, err := b.Build(settings, graph.F64)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// fresh returns a run of a model that is not trained.
func fresh(t *testing.T, name string, settings builders.Settings) *look.Run {
	t.Helper()
	m := built(t, name, settings)
	store, err := lab.NewStore(m, 1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := look.At(m, store, 1)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// set sets a parameter.
func set(t *testing.T, r *look.Run, path string, v ...float64) {
	t.Helper()
	n := r.Model.Graph.Lookup(path)
	if n == nil {
		t.Fatalf("%s has no %s", r.Model.Builder.Name, path)
	}
	if err := r.End().Store.Set(path, tape.Tensor(graph.Value{Type: n.Type(), Data: v})); err != nil {
		t.Fatal(err)
	}
}

// deep.
func TestLayers(t *testing.T) {
	m := built(t, "init", nil)
	r, err := look.Train(t.Context(), m, lab.Config{Steps: 4}, []int{2})
	if err != nil {
		t.Fatal(err)
	}
	l, err := r.Layers(t.Context())
	if err != nil || l == nil {
		t.Fatal(l, err)
	}
	if !slices.Equal(l.Names, []string{"layer1", "layer2", "layer3", "layer4", "last"}) || !slices.Equal(l.Steps, []int{0, 2, 4}) || len(l.Gradient) != 3 {
		t.Errorf("layers %v at steps %v", l.Names, l.Steps)
	}
	for i, moved := range l.Moved {
		if !(moved > 0) || !(l.Values[0][i] > 0) {
			t.Errorf("layer %d: values %v, moved by %v", i, l.Values[0][i], moved)
		}
	}
	for _, none := range []string{"attention-self", "ensemble", "regression-relu"} {
		if l, err := fresh(t, none, nil).Layers(t.Context()); l != nil || err != nil {
			t.Errorf("%s is not deep: %v, %v", none, l, err)
		}
	}
}

// TestTrain: the moments are those asked for and the end, with the stores that they had.
func TestTrain(t *testing.T) {
	m := built(t, "regression-relu", nil)
	r, err := look.Train(t.Context(), m, lab.Config{Steps: 10, Seed: 3}, []int{4, 7, 99})
	if err != nil {
		t.Fatal(err)
	}
	var steps []int
	for _, at := range r.Moments {
		if steps = append(steps, at.Step); int(at.Store.Step()) != at.Step {
			t.Errorf("the store of step %d is at %d", at.Step, at.Store.Step())
		}
	}
	if !slices.Equal(steps, []int{0, 4, 7, 10}) || len(r.Trained.Loss) != 10 {
		t.Errorf("moments %v", steps)
	}
	if _, err := look.At(nil, nil, 0); err == nil {
		t.Error("no model, and no error")
	}
	if _, err := look.Train(t.Context(), nil, lab.Config{}, nil); err == nil {
		t.Error("no model to train, and no error")
	}
}

// TestSpaced: the steps ascend, and none is beyond the end.
func TestSpaced(t *testing.T) {
	for _, n := range []int{0, 1, 7, 1000} {
		s := look.Spaced(n)
		if !slices.IsSorted(s) || len(slices.Compact(slices.Clone(s))) != len(s) || s[len(s)-1] > n || s[0] != 0 {
			t.Errorf("of %d: %v", n, s)
		}
	}
}
