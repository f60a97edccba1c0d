package importer

import (
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// TestOldVersions: operators mean what the versions before those of ONNX Runtime say.
func TestOldVersions(t *testing.T) {
	ints := func(name string, v ...int64) *format.Attr {
		return &format.Attr{Name: name, Type: format.AttrInts, Ints: v}
	}
	number := func(name string, v int64) *format.Attr { return &format.Attr{Name: name, Type: format.AttrInt, Int: v} }
	float := func(name string, v float32) *format.Attr {
		return &format.Attr{Name: name, Type: format.AttrFloat, Float: v}
	}
	tensor := func(sizes []int, v ...float64) *format.Tensor { return tensorOf(format.Float, sizes, v) }
	six := tensor([]int{2, 3}, 1, 2, 3, 4, 5, 6)
	cases := []struct {
		name    string
		op      string
		version int64
		attrs   []*format.Attr
		in      []*format.Tensor
		sizes   []int
		want    []float64 // nil where it is refused
	}{
		{"Add along axis 0", "Add", 6, []*format.Attr{number("broadcast", 1), number("axis", 0)}, []*format.Tensor{six, tensor([]int{2}, 10, 20)}, []int{2, 3}, []float64{11, 12, 13, 24, 25, 26}},
		{"Add along the last axis", "Add", 6, []*format.Attr{number("broadcast", 1)}, []*format.Tensor{six, tensor([]int{3}, 10, 20, 30)}, []int{2, 3}, []float64{11, 22, 33, 14, 25, 36}},
		{"Add without broadcast", "Add", 6, nil, []*format.Tensor{six, tensor([]int{3}, 10, 20, 30)}, nil, nil},
		{"Add of two that repeat", "Add", 7, nil, []*format.Tensor{tensor([]int{2, 1}, 1, 2), tensor([]int{3}, 10, 20, 30)}, []int{2, 3}, []float64{11, 21, 31, 12, 22, 32}},
		{"Cast by name", "Cast", 5, []*format.Attr{{Name: "to", Type: format.AttrString, String: "INT32"}}, []*format.Tensor{tensor([]int{2}, 1.7, -1.7)}, []int{2}, []float64{1, -1}},
		{"Concat along axis 1", "Concat", 1, nil, []*format.Tensor{six, six}, []int{2, 6}, []float64{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}},
		{"Clip", "Clip", 6, []*format.Attr{float("min", 2), float("max", 5)}, []*format.Tensor{six}, []int{2, 3}, []float64{2, 2, 3, 4, 5, 5}},
		{"Hardmax of all from axis 1 on", "Hardmax", 1, nil, []*format.Tensor{tensor([]int{1, 2, 2}, 1, 4, 3, 2)}, []int{1, 2, 2}, []float64{0, 1, 0, 0}},
		{"Softmax of all from axis 0 on", "Softmax", 1, []*format.Attr{number("axis", 0)}, []*format.Tensor{tensor([]int{2, 2}, 1, 1, 1, 1)}, []int{2, 2}, []float64{0.25, 0.25, 0.25, 0.25}},
		{"Softmax along the last axis", "Softmax", 13, nil, []*format.Tensor{tensor([]int{2, 2}, 1, 1, 1, 1)}, []int{2, 2}, []float64{0.5, 0.5, 0.5, 0.5}},
		{"Pad of version 1", "Pad", 1, []*format.Attr{ints("paddings", 0, 1, 0, 0), float("value", 7)}, []*format.Tensor{six}, []int{2, 4}, []float64{7, 1, 2, 3, 7, 4, 5, 6}},
		{"PRelu by channel", "PRelu", 6, nil, []*format.Tensor{tensor([]int{1, 2, 2}, -1, 1, -1, 1), tensor([]int{2}, 0.5, 0.25)}, []int{1, 2, 2}, []float64{-0.5, 1, -0.25, 1}},
		{"Reshape by an attribute", "Reshape", 1, []*format.Attr{ints("shape", 0, -1, 1)}, []*format.Tensor{six}, []int{2, 3, 1}, []float64{1, 2, 3, 4, 5, 6}},
		{"Selu with its first numbers", "Selu", 1, nil, []*format.Tensor{tensor([]int{1}, 2)}, []int{1}, []float64{2.1014}},
		{"Slice by attributes", "Slice", 1, []*format.Attr{ints("starts", -2), ints("ends", 100), ints("axes", 1)}, []*format.Tensor{six}, []int{2, 2}, []float64{2, 3, 5, 6}},
		{"Split by an attribute", "Split", 2, []*format.Attr{ints("split", 1, 2), number("axis", 1)}, []*format.Tensor{six}, []int{2, 1}, []float64{1, 4}},
		{"Sum squares over attributes", "ReduceSumSquare", 1, []*format.Attr{ints("axes", 1), number("keepdims", 0)}, []*format.Tensor{six}, []int{2}, []float64{14, 77}},
		{"Tile along an axis", "Tile", 1, nil, []*format.Tensor{tensor([]int{2}, 1, 2), tensor([]int{1}, 2), tensor([]int{1}, 0)}, []int{4}, []float64{1, 2, 1, 2}},
		{"TopK by an attribute", "TopK", 1, []*format.Attr{number("k", 1)}, []*format.Tensor{six}, []int{2, 1}, []float64{3, 6}},
		{"Unsqueeze by an attribute", "Unsqueeze", 1, []*format.Attr{ints("axes", 0)}, []*format.Tensor{six}, []int{1, 2, 3}, []float64{1, 2, 3, 4, 5, 6}},
		{"MeanVarianceNormalization over images", "MeanVarianceNormalization", 1, []*format.Attr{number("normalize_variance", 0)}, []*format.Tensor{tensor([]int{1, 1, 1, 2}, 1, 3)}, []int{1, 1, 1, 2}, []float64{-1, 1}},
	}
	for _, c := range cases {
		s := &sample{node: &format.Node{Op: c.op, Attrs: c.attrs}, version: c.version, in: c.in, fixed: make([]bool, len(c.in))}
		for i := 1; i < len(c.in); i++ {
			s.fixed[i] = true
		}
		model, fed := s.model()
		got, err := evaluate(model, fed, nil, graph.F64)
		switch {
		case c.want == nil && err == nil:
			t.Errorf("%s: it is imported", c.name)
		case c.want == nil:
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case !slices.Equal(got[0].Type.Shape.Sizes(), c.sizes):
			t.Errorf("%s: shape %v: want %v", c.name, got[0].Type.Shape.Sizes(), c.sizes)
		default:
			for i, w := range c.want {
				if v := got[0].Data[i]; v-w > 1e-6 || w-v > 1e-6 {
					t.Errorf("%s: %v: want %v", c.name, got[0].Data, c.want)
					break
				}
			}
		}
	}
}

// TestNarrowIntegers: results of integers that lie in wider types here wrap to their own width.
func TestNarrowIntegers(t *testing.T) {
	cases := []struct {
		op         string
		elem       format.DataType
		a, b, want float64
	}{
		{"Add", format.Uint16, 65535, 2, 1},
		{"Sub", format.Uint16, 1, 2, 65535},
		{"Mul", format.Uint16, 65535, 65535, 1},
		{"Add", format.Int16, 32767, 1, -32768},
		{"Sub", format.Int16, -32768, 1, 32767},
		{"Add", format.Uint32, 1<<32 - 1, 2, 1},
		{"Mul", format.Uint32, 1<<32 - 1, 1<<32 - 1, 1},
		{"Div", format.Int16, -7, 2, -3},
		{"Div", format.Int8, -128, 3, -42},
		{"Div", format.Uint32, 1<<32 - 1, 2, 1<<31 - 1},
		{"Mod", format.Int8, -7, 3, 2},
		{"Pow", format.Int32, 3, 21, 1870418611},
		{"Max", format.Int16, -5, 3, 3},
		{"Add", format.Uint8, 255, 2, 1},
	}
	for _, c := range cases {
		s := &sample{node: &format.Node{Op: c.op}, version: 15, fixed: []bool{false, true}}
		s.in = []*format.Tensor{tensorOf(c.elem, []int{1}, []float64{c.a}), tensorOf(c.elem, []int{1}, []float64{c.b})}
		model, fed := s.model()
		got, err := evaluate(model, fed, nil, graph.F32)
		if err != nil {
			t.Errorf("%s of %v: %v", c.op, c.elem, err)
		} else if v := got[0].Data[0]; v != c.want {
			t.Errorf("%s of %v and %v of %v is %v: want %v", c.op, c.a, c.b, c.elem, v, c.want)
		}
	}
}
