package layertest

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
)

// WantMistake checks that the graph has recorded a mistake whose text contains want.
func WantMistake(t *testing.T, g *graph.Graph, want string) {
	t.Helper()
	if err := g.Err(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Refusal is a model with settings that do not go together, and what the error says.
type Refusal struct {
	Model    string
	Settings builders.Settings
	Want     string
}

// Refuse checks that models are errors that say what is wanted.
func Refuse(t *testing.T, cases []Refusal) {
	t.Helper()
	for _, c := range cases {
		if _, err := builders.Build(c.Model, c.Settings, graph.F32); err == nil || !strings.Contains(err.Error(), c.Want) {
			t.Errorf("%s %v: got %v, want … %s …", c.Model, c.Settings, err, c.Want)
		}
	}
}

// Mistaken checks that each call, in a graph of its own with an input x of the type,
// is a recorded mistake.
func Mistaken(t *testing.T, x graph.Type, calls map[string]func(g *graph.Graph, x *graph.Node)) {
	t.Helper()
	for name, call := range calls {
		g := graph.New(name)
		if call(g, g.Input("x", x.DType, x.Shape.Axes()...)); g.Err() == nil {
			t.Errorf("%s: no mistake", name)
		}
	}
}

// ArrayOf returns the type of an array.
func ArrayOf(dt graph.DType, axes ...graph.Axis) graph.Type {
	return graph.New("type").Input("x", dt, axes...).Type()
}
