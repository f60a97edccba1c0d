package gorgonia_test

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/gorgonia"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestWithoutElements: gorgonia refuses arrays without elements, and so does Compile, by name.
func TestWithoutElements(t *testing.T) {
	g := graph.New("none")
	_, err := gorgonia.Compile(g, gorgonia.Fetch(ops.Sum(g.Input("x", graph.F32, graph.Ax("i", 0)))))
	if err == nil || !strings.Contains(err.Error(), "it has no arrays without elements") {
		t.Error(err)
	}
}
