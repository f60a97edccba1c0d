package graph_test

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
)

// TestDTypes: names are read back, and sizes, kinds and the types of computing are those of the
// documentation.
func TestDTypes(t *testing.T) {
	for _, c := range []struct {
		dt         graph.DType
		name       string
		size       int
		float, int bool
		wide       graph.DType
	}{
		{graph.F32, "f32", 4, true, false, graph.F32},
		{graph.F64, "f64", 8, true, false, graph.F64},
		{graph.F16, "f16", 2, true, false, graph.F32},
		{graph.BF16, "bf16", 2, true, false, graph.F32},
		{graph.I32, "i32", 4, false, true, graph.I32},
		{graph.I64, "i64", 8, false, true, graph.I64},
		{graph.I8, "i8", 1, false, true, graph.I32},
		{graph.U8, "u8", 1, false, true, graph.I32},
		{graph.Bool, "bool", 1, false, false, graph.Bool},
	} {
		if got, err := graph.ParseDType(c.name); err != nil || got != c.dt || got.String() != c.name || !got.IsValid() {
			t.Errorf("%s is read as %v, %v", c.name, got, err)
		}
		if c.dt.Size() != c.size || c.dt.IsFloat() != c.float || c.dt.IsInt() != c.int || c.dt.Wide() != c.wide {
			t.Errorf("%v: size %d, float %t, int %t, computed in %v", c.dt, c.dt.Size(), c.dt.IsFloat(), c.dt.IsInt(), c.dt.Wide())
		}
	}
	if bad := graph.DType(10); bad.IsValid() || bad.Size() != 0 || graph.InvalidDType.IsValid() {
		t.Errorf("%v is a type", bad)
	}
}

// TestRoundToNarrowTypes: floats become the nearest, and integers end where the type does.
func TestRoundToNarrowTypes(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		dt   graph.DType
		x, y float64
	}{
		{graph.F16, 0.1, 0.0999755859375}, {graph.F16, 65519, 65504}, {graph.F16, 65520, inf}, {graph.F16, -1e9, -inf}, {graph.F16, 0x1p-25, 0}, {graph.F16, 0x1.8p-25, 0x1p-24}, {graph.F16, nan, nan},
		{graph.BF16, 0.1, 0.10009765625}, {graph.BF16, 257, 256}, {graph.BF16, 259, 260}, {graph.BF16, 3.4e38, inf}, {graph.BF16, 1e-45, 0}, {graph.BF16, 1e300, inf},
		{graph.U8, 255.9, 255}, {graph.U8, 256, 255}, {graph.U8, -1, 0}, {graph.U8, nan, 0}, {graph.U8, inf, 255},
		{graph.I8, -128.9, -128}, {graph.I8, -200, -128}, {graph.I8, 200, 127}, {graph.I8, -0.5, 0},
	} {
		if got := c.dt.Round(c.x); got != c.y && !(got != got && c.y != c.y) {
			t.Errorf("%v as %v is %v, want %v", c.x, c.dt, got, c.y)
		}
	}
	for _, c := range []struct {
		dt   graph.DType
		v    float64
		want string
	}{
		{graph.F16, 65520, "65520 is no value of type f16 (its finite numbers end at 65504: use f32 or bf16)"},
		{graph.BF16, 3.4e38, "3.4e+38 is no value of type bf16 (its finite numbers end at 3.39e38: use f64)"},
		{graph.U8, 256, "256 is no value of type u8 (write a whole number in its range, or convert the array with ops.Cast)"},
		{graph.U8, -1, "-1 is no value of type u8 (write a whole number in its range, or convert the array with ops.Cast)"},
		{graph.I8, 0.5, "0.5 is no value of type i8 (write a whole number in its range, or convert the array with ops.Cast)"},
		{graph.F16, 0.1, ""}, {graph.F16, inf, ""}, {graph.BF16, nan, ""}, {graph.I8, -128, ""}, {graph.U8, 255, ""},
	} {
		got := ""
		if m, wrong := c.dt.Check(c.v).(*graph.Mistake); wrong {
			got = m.Problem + " (" + m.Fix + ")"
		}
		if got != c.want {
			t.Errorf("%v as %v: %q, want %q", c.v, c.dt, got, c.want)
		}
	}
	for _, c := range []struct {
		dt   graph.DType
		v, w int64
	}{{graph.U8, 256, 0}, {graph.U8, -1, 255}, {graph.I8, 128, -128}, {graph.I32, 1 << 31, -1 << 31}, {graph.I64, 1 << 62, 1 << 62}} {
		if got := c.dt.Wrap(c.v); got != c.w {
			t.Errorf("%d as %v is %d, want %d", c.v, c.dt, got, c.w)
		}
	}
}
