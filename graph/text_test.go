package graph_test

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
)

// every has an attribute of each type of the package that can be one.
type every struct {
	To    graph.DType
	Axis  graph.Axis
	Plain graph.Axis
	Shape graph.Shape
	Type  graph.Type
}

func (every) Name() string                            { return "Every" }
func (every) Infer([]*graph.Node) (graph.Type, error) { return infer() }

// TestTextForms: attributes are printed, and read back as the same values.
func TestTextForms(t *testing.T) {
	s := shape(t, "[i=3 4]")
	op := every{graph.I64, graph.Ax("α", 3), graph.Dims(7)[0], s, graph.Type{DType: graph.Bool, Shape: s}}
	want := "Every{to=i64 axis=α=3 plain=7 shape=[i=3 4] type=bool[i=3 4]}"
	if got := graph.OpText(op); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	g := graph.New("g")
	g.Apply(op, g.Input("x", graph.F32))
	h, err := graph.Parse(strings.NewReader(g.String()), every{})
	if err != nil {
		t.Fatal(err)
	}
	if got := h.Nodes()[1].Op(); got != op {
		t.Errorf("reads back as %v", graph.OpText(got))
	}
}

// TestTypeText: a type is a text in JSON and the like.
func TestTypeText(t *testing.T) {
	typ := graph.Type{DType: graph.F32, Shape: shape(t, "[i=3 4]")}
	b, err := typ.MarshalText()
	if err != nil || string(b) != "f32[i=3 4]" {
		t.Errorf("got %s, %v", b, err)
	}
	var back graph.Type
	if err := back.UnmarshalText(b); err != nil || back != typ {
		t.Errorf("reads back as %v, %v", back, err)
	}
}

// TestSizes: the bytes of one element.
func TestSizes(t *testing.T) {
	sizes := map[graph.DType]int{graph.F32: 4, graph.F64: 8, graph.I32: 4, graph.I64: 8, graph.Bool: 1, graph.InvalidDType: 0, 99: 0}
	for d, n := range sizes {
		if d.Size() != n {
			t.Errorf("%v has %d bytes, want %d", d, d.Size(), n)
		}
	}
}
