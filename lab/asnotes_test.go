package lab_test

import (
	"context"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// TestOwnOptimisers: models that show what plain descent does are trained by it, in comparisons each
// by its own rate, unless optimisers are given.
func TestOwnOptimisers(t *testing.T) {
	names := []string{"regression-minimum-norm", "regression-ridge-features", "regression-relu"}
	var variants []lab.Variant
	for _, name := range names {
		variants = append(variants, lab.Registered(name, nil))
	}
	for _, c := range []struct {
		c    lab.Config
		want []string
	}{
		{lab.Config{}, []string{"sgd(0.1)", "sgd(0.0294)", "adam(0.01)"}},
		{lab.Config{AsNotes: true}, []string{"sgd(0.1)", "sgd(0.0294)", "sgd(0.02)"}},
		{lab.Config{Rate: train.Constant(0.01)}, []string{"sgd(0.01)", "sgd(0.01)", "adam(0.01)"}},
		{lab.Config{Optimisers: []train.Optimiser{train.Momentum(0.01, 0.9)}}, []string{"momentum(0.01, 0.9)", "momentum(0.01, 0.9)", "momentum(0.01, 0.9)"}},
	} {
		c.c.Seeds, c.c.Steps = 1, 6
		res := compared(t, c.c, variants...)
		for v, name := range names {
			if got := res.SettingOf(v, lab.Setting{}); got != c.want[v] {
				t.Errorf("%s is trained by %s, want %s", name, got, c.want[v])
			}
			l, err := lab.Learn(context.Background(), func() (*builders.Model, error) { return builders.Build(name, nil, graph.F64) }, c.c)
			if err != nil {
				t.Fatal(err)
			}
			if cell := res.Cells(v, lab.Setting{})[0]; !slices.Equal(l.Runs[0].Loss, cell.Loss) {
				t.Errorf("%s: losses %v of Compare, %v of Learn", name, cell.Loss, l.Runs[0].Loss)
			}
		}
	}
}

// TestTemperatureOfSettings: γ that is fixed in the settings is the one that a clustering is trained at,
// in Cluster, too.
func TestTemperatureOfSettings(t *testing.T) {
	fixed := func(name string) (builders.Builder, error) {
		b, err := builders.Lookup("kmeans-softmax")
		if err != nil {
			return b, err
		}
		return b.With(builders.Settings{"gamma": 2})
	}
	c := lab.Config{Table: data.Iris(), Seeds: 1, Steps: 20}
	want := c
	want.Scheduled = map[string]train.Schedule{"γ": train.Constant(2)}
	plain, err := want.Train(context.Background(), "kmeans-softmax")
	if err != nil {
		t.Fatal(err)
	}
	c.Find = fixed
	got, err := c.Train(context.Background(), "kmeans-softmax{gamma=2}")
	if err != nil || !slices.Equal(got.Runs[0].Loss, plain.Runs[0].Loss) {
		t.Errorf("losses %v, want those of γ = 2, %v; %v", got.Runs[0].Loss, plain.Runs[0].Loss, err)
	}
}
