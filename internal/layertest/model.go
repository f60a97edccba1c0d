package layertest

import (
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
)

// Build makes a model in float64.
func Build(t *testing.T, name string, s builders.Settings) *builders.Model {
	t.Helper()
	m, err := builders.Build(name, s, graph.F64)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Choice returns the number of a setting's choice.
func Choice(t *testing.T, m, setting, name string) float64 {
	t.Helper()
	b, err := builders.Lookup(m)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(b.Hyperparameters, func(z builders.Hyperparameter) bool { return z.Name == setting })
	v, err := b.Hyperparameters[i].Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
