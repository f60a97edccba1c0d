package graph_test

import (
	"encoding"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
)

// TestTextForms: what marshals reads back as the same value.
func TestTextForms(t *testing.T) {
	axis := graph.Ax("α", 3)
	plain := graph.Dims(7)[0]
	s := shape(t, "[i=3 4]")
	for _, c := range []struct {
		in   encoding.TextMarshaler
		out  interface{ encoding.TextUnmarshaler }
		text string
		same func(out any) bool
	}{
		{graph.I64, new(graph.DType), "i64", func(o any) bool { return *o.(*graph.DType) == graph.I64 }},
		{axis, new(graph.Axis), "α=3", func(o any) bool { return *o.(*graph.Axis) == axis }},
		{plain, new(graph.Axis), "7", func(o any) bool { return *o.(*graph.Axis) == plain }},
		{s, new(graph.Shape), "[i=3 4]", func(o any) bool { return *o.(*graph.Shape) == s }},
		{graph.Type{DType: graph.F32, Shape: s}, new(graph.Type), "f32[i=3 4]", func(o any) bool { return *o.(*graph.Type) == graph.Type{DType: graph.F32, Shape: s} }},
		{graph.Value{Type: graph.Type{DType: graph.F64, Shape: shape(t, "[2]")}, Data: []float64{1, -0.5}}, new(graph.Value), "f64[2]: 1 -0.5",
			func(o any) bool { return o.(*graph.Value).Data[1] == -0.5 }},
	} {
		b, err := c.in.MarshalText()
		if err != nil || string(b) != c.text {
			t.Errorf("%v marshals as %s, %v; want %s", c.in, b, err, c.text)
		}
		if err := c.out.UnmarshalText(b); err != nil || !c.same(c.out) {
			t.Errorf("%s reads back as %v, %v", b, c.out, err)
		}
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
