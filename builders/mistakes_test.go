package builders_test

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
)

// refusal is a model with settings that do not go together, and what the error says.
type refusal struct {
	name string
	s    builders.Settings
	want string
}

// refuse checks that models are errors that say what is wanted.
func refuse(t *testing.T, cases []refusal) {
	t.Helper()
	for _, c := range cases {
		if _, err := builders.Build(c.name, c.s, graph.F32); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: got %v, want … %s …", c.name, c.s, err, c.want)
		}
	}
}

// mistaken checks that each call, in a graph of its own with an input x of the type,
// is a recorded mistake.
func mistaken(t *testing.T, x graph.Type, calls map[string]func(g *graph.Graph, x *graph.Node)) {
	t.Helper()
	for name, call := range calls {
		g := graph.New(name)
		if call(g, g.Input("x", x.DType, x.Shape.Axes()...)); g.Err() == nil {
			t.Errorf("%s: no mistake", name)
		}
	}
}

// arrayOf is the type of an array.
func arrayOf(dt graph.DType, axes ...graph.Axis) graph.Type {
	return graph.New("type").Input("x", dt, axes...).Type()
}
