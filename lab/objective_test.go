package lab_test

import (
	"context"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// TestTwoSettingsOfAModel: two settings of one model are compared once each has a name of its own.
func TestTwoSettingsOfAModel(t *testing.T) {
	he, xavier := lab.Registered("init", builders.Settings{"weights": 1}), lab.Registered("init", builders.Settings{"weights": 0})
	c := lab.Config{Seeds: 1, Steps: 1}
	if _, err := lab.Compare(context.Background(), c, he, xavier); err == nil || err.Error() != "compare: two variants are named init" {
		t.Errorf("without names of their own: %v", err)
	}
	he.Name, xavier.Name = "init{weights=he}", "init{weights=xavier}"
	res, err := lab.Compare(context.Background(), c, he, xavier)
	if err != nil {
		t.Fatal(err)
	}
	if res.Variants[0].Name != he.Name || res.Variants[1].Name != xavier.Name || res.Variants[0].Model.Settings["weights"] == res.Variants[1].Model.Settings["weights"] {
		t.Errorf("%s with %v and %s with %v", res.Variants[0].Name, res.Variants[0].Model.Settings, res.Variants[1].Name, res.Variants[1].Model.Settings)
	}
}

// TestFixedTemperature: a temperature that is among the fixed settings is not annealed.
func TestFixedTemperature(t *testing.T) {
	b, err := builders.Lookup("kmeans-softmax")
	if err != nil {
		t.Fatal(err)
	}
	c := lab.Config{Table: data.Iris(), Scheduled: map[string]train.Schedule{"γ": train.Constant(5)}}
	for _, x := range []struct {
		given builders.Settings
		want  int
	}{{nil, 1}, {builders.Settings{"k": 4}, 1}, {builders.Settings{"gamma": 2}, 0}} {
		v, err := b.With(x.given)
		if err != nil {
			t.Fatal(err)
		}
		m, err := v.Build(nil, graph.F64)
		if err != nil || len(c.ScheduledOf(m)) != x.want {
			t.Errorf("%v: %d inputs are scheduled, want %d (%v)", x.given, len(c.ScheduledOf(m)), x.want, err)
		}
	}
}
