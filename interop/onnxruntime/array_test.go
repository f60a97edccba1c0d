package onnxruntime_test

import (
	"errors"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/interop/onnxruntime"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestTensors: numbers of every type of graphs become an array and a tensor again, also scalars and
// arrays without elements.
func TestTensors(t *testing.T) {
	for _, dt := range []graph.DType{graph.F32, graph.F64, graph.F16, graph.BF16, graph.I32, graph.I64, graph.I8, graph.U8, graph.Bool} {
		for _, sizes := range [][]int{{}, {3}, {2, 0}, {2, 3}} {
			axes := make([]graph.Axis, len(sizes))
			for i, n := range sizes {
				axes[i].Size = n
			}
			shape, err := graph.NewShape(axes...)
			if err != nil {
				t.Fatal(err)
			}
			v := graph.NewValue(graph.Type{DType: dt, Shape: shape})
			for i := range v.Data {
				v.Data[i] = float64(i % 2)
			}
			a, err := onnxruntime.FromTensor(v.Type, tape.Tensor(v))
			if err != nil {
				t.Fatal(err)
			}
			if f, err := a.Floats(); err != nil || !slices.Equal(f, v.Data) || !slices.Equal(a.Shape, sizes) || a.Type.DType() != dt {
				t.Errorf("%v: %v, %v of %v, error %v", v.Type, f, a.Shape, a.Type, err)
			}
			d, err := a.Tensor(v.Type)
			if err != nil {
				t.Fatal(err)
			}
			back, err := tape.ArrayOf(v.Type, d)
			if err != nil || !reflect.DeepEqual(back.Value().Data, v.Data) {
				t.Errorf("%v: back %v, error %v", v.Type, back, err)
			}
		}
	}
	a := onnxruntime.Of([]float32{1, 2}, 2)
	if _, err := a.Tensor(graph.Type{DType: graph.F32}); err == nil || err.Error() != "want f32[], got [2] of float32" {
		t.Errorf("error %v", err)
	}
}

// TestNumbers: every type of elements is read as numbers.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		a    onnxruntime.Array
		want []float64
		name string
	}{
		{onnxruntime.Of([]float32{1.5, -2}, 2), []float64{1.5, -2}, "float32"},
		{onnxruntime.Of([]float64{1.5, -2}, 2), []float64{1.5, -2}, "float64"},
		{onnxruntime.Of([]int8{1, -2}, 2), []float64{1, -2}, "int8"},
		{onnxruntime.Of([]int16{1, -2}, 2), []float64{1, -2}, "int16"},
		{onnxruntime.Of([]int32{1, -2}, 2), []float64{1, -2}, "int32"},
		{onnxruntime.Of([]int64{1, -2}, 2), []float64{1, -2}, "int64"},
		{onnxruntime.Of([]uint8{1, 255}, 2), []float64{1, 255}, "uint8"},
		{onnxruntime.Of([]uint16{1, 65535}, 2), []float64{1, 65535}, "uint16"},
		{onnxruntime.Of([]uint32{1, 1<<32 - 1}, 2), []float64{1, 1<<32 - 1}, "uint32"},
		{onnxruntime.Of([]uint64{1, 1 << 63}, 2), []float64{1, 1 << 63}, "uint64"},
		{onnxruntime.Of([]bool{true, false}, 2), []float64{1, 0}, "bool"},
		{onnxruntime.Of([]uint16{0x3e00, 0xc000}, 2).As(onnxruntime.Float16), []float64{1.5, -2}, "float16"},
		{onnxruntime.Of([]uint16{0x3fc0, 0xc000}, 2).As(onnxruntime.BFloat16), []float64{1.5, -2}, "bfloat16"},
	} {
		if f, err := c.a.Floats(); err != nil || !slices.Equal(f, c.want) || c.a.Type.String() != c.name {
			t.Errorf("%v: %v, error %v", c.a.Type, f, err)
		}
	}
	if _, err := onnxruntime.Of([]float32{1}, 2).Floats(); err == nil || err.Error() != "4 bytes: want 8, for shape [2] of float32" {
		t.Errorf("error %v", err)
	}
	if s := onnxruntime.ElementType(99).String(); s != "element type 99" {
		t.Error(s)
	}
}

// TestNotBuilt: without the tag, or where ONNX Runtime is not called, Open says so in one line.
func TestNotBuilt(t *testing.T) {
	rt, err := onnxruntime.Open("")
	if !errors.Is(err, onnxruntime.ErrNotBuilt) {
		t.Skip("built with it")
	}
	if rt != nil || err.Error() != "onnxruntime: this program was built without ONNX Runtime: build it with go build -tags onnxruntime, for Linux, macOS or Windows on amd64 or arm64" {
		t.Errorf("%v on %s", err, runtime.GOOS)
	}
}

// TestNil: nothing that the package exports panics on nil, zero values or closed sessions.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"ElementOf": onnxruntime.ElementOf, "FromTensor": onnxruntime.FromTensor, "Of": onnxruntime.Of[float32], "Open": onnxruntime.Open,
		},
		Types: []any{onnxruntime.Array{}, onnxruntime.Bound{}, onnxruntime.ElementType(0), onnxruntime.Runtime{}, onnxruntime.Session{}, onnxruntime.ValueInfo{}},
		Samples: func() []any {
			v := graph.NewValue(graph.Type{DType: graph.F32})
			return []any{v.Type, tape.Tensor(v), onnxruntime.Of([]float32{1}, 1), "x"}
		},
	})
}
