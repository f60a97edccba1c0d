package graph_test

import (
	"encoding"
	"math"
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
		{graph.Bits(0.1), new(graph.Float), "0.1", func(o any) bool { return *o.(*graph.Float) == graph.Bits(0.1) }},
		{graph.Bits(math.Copysign(0, -1)), new(graph.Float), "-0", func(o any) bool { return *o.(*graph.Float) == graph.Bits(math.Copysign(0, -1)) }},
		{graph.Bits(math.Inf(-1)), new(graph.Float), "-Inf", func(o any) bool { return *o.(*graph.Float) == graph.Bits(math.Inf(-1)) }},
		{graph.Float(0x7ff8000000000abc), new(graph.Float), "nan:0x7ff8000000000abc", func(o any) bool { return *o.(*graph.Float) == 0x7ff8000000000abc }},
		{graph.Bits(math.NaN()), new(graph.Float), "NaN", func(o any) bool { return *o.(*graph.Float) == graph.Bits(math.NaN()) }},
		{graph.AxesOf(0, 2, 7), new(graph.AxisSet), "[0 2 7]", func(o any) bool { return *o.(*graph.AxisSet) == graph.AxesOf(7, 2, 0) }},
		{graph.AxesOf(), new(graph.AxisSet), "[]", func(o any) bool { return *o.(*graph.AxisSet) == 0 }},
		{graph.IntsOf(1, -2, 3), new(graph.Ints), "[1 -2 3]", func(o any) bool { return *o.(*graph.Ints) == graph.IntsOf(1, -2, 3) }},
		{graph.Normal(-1, 0.5), new(graph.Init), "normal(-1,0.5)", func(o any) bool { return *o.(*graph.Init) == graph.Normal(-1, 0.5) }},
		{graph.HeUniform(), new(graph.Init), "he-uniform", func(o any) bool { return *o.(*graph.Init) == graph.HeUniform() }},
		{graph.Orthogonal(1.5), new(graph.Init), "orthogonal(1.5)", func(o any) bool { return *o.(*graph.Init) == graph.Orthogonal(1.5) }},
		{graph.Zeros(), new(graph.Init), "zeros", func(o any) bool { return *o.(*graph.Init) == graph.Zeros() }},
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

// TestLists: attributes are lists without slices.
func TestLists(t *testing.T) {
	v := graph.IntsOf(1, 2, 3, 4, 5, 6, 7, 8, 9)
	if v.Len() != graph.MaxRank || v.At(7) != 8 {
		t.Errorf("got %v", v)
	}
	if l := v.List(); l[0] != 1 {
		t.Errorf("got %v", l)
	} else if l[0] = 5; v.At(0) != 1 {
		t.Error("the list is not a copy")
	}
	s := graph.AxesOf(3, 1)
	if !s.Has(1) || s.Has(2) || !s.Has(3) || len(s.List()) != 2 || s.List()[0] != 1 {
		t.Errorf("got %v", s)
	}
	sizes := map[graph.DType]int{graph.F32: 4, graph.F64: 8, graph.I32: 4, graph.I64: 8, graph.Bool: 1, graph.InvalidDType: 0, 99: 0}
	for d, n := range sizes {
		if d.Size() != n {
			t.Errorf("%v has %d bytes, want %d", d, d.Size(), n)
		}
	}
}
