package tensor

import (
	"fmt"
	"reflect"
	"testing"

	gorgonia "gorgonia.org/tensor"
)

// both are a tensor of this package and one of gorgonia's.
type both struct {
	name   string
	ours   *Dense
	theirs *gorgonia.Dense
}

// TestAsGorgonia: what a tensor says of itself is what gorgonia's says of the same.
func TestAsGorgonia(t *testing.T) {
	x, k := []float32{1, 2, 3, 4, 5, 6}, []int64{7, 8}
	for _, b := range []both{
		{"a matrix", New(WithShape(2, 3), WithBacking(x)), gorgonia.New(gorgonia.WithShape(2, 3), gorgonia.WithBacking(x))},
		{"a list", New(WithBacking(k)), gorgonia.New(gorgonia.WithBacking(k))},
		{"zeros", New(Of(Float64), WithShape(2, 1, 2)), gorgonia.New(gorgonia.Of(gorgonia.Float64), gorgonia.WithShape(2, 1, 2))},
		{"a scalar", New(WithShape(), WithBacking([]uint8{9})), gorgonia.New(gorgonia.WithShape(), gorgonia.WithBacking([]uint8{9}))},
		{"truths", New(Of(Bool), WithShape(3)), gorgonia.New(gorgonia.Of(gorgonia.Bool), gorgonia.WithShape(3))},
	} {
		c, d := b.ours.Clone().(*Dense), b.theirs.Clone().(*gorgonia.Dense)
		for _, p := range []struct {
			what         string
			ours, theirs any
		}{
			{"shape", []int(b.ours.Shape()), []int(b.theirs.Shape())},
			{"strides", fmt.Sprint(b.ours.Shape().CalcStrides()), fmt.Sprint(b.theirs.Shape().CalcStrides())},
			{"elements of the shape", b.ours.Shape().TotalSize(), b.theirs.Shape().TotalSize()},
			{"axes", b.ours.Dims(), b.theirs.Dims()},
			{"data", b.ours.Data(), b.theirs.Data()},
			{"memory", b.ours.Raw, b.theirs.Raw},
			{"bytes", b.ours.MemSize(), b.theirs.MemSize()},
			{"type", b.ours.Dtype().String(), b.theirs.Dtype().String()},
			{"kind", b.ours.Dtype().Kind(), b.theirs.Dtype().Kind()},
			{"first", b.ours.Get(0), b.theirs.Get(0)},
			{"rows", b.ours.DataOrder().IsRowMajor(), b.theirs.DataOrder().IsRowMajor()},
			{"iterator", b.ours.RequiresIterator(), b.theirs.RequiresIterator()},
			{"masked", b.ours.IsMasked(), b.theirs.IsMasked()},
			{"data of a copy", c.Data(), d.Data()},
		} {
			if !reflect.DeepEqual(p.ours, p.theirs) {
				t.Errorf("%s of %s: %v, gorgonia %v", p.what, b.name, p.ours, p.theirs)
			}
		}
		c.Raw[0]++
		if reflect.DeepEqual(c.Data(), b.ours.Data()) {
			t.Errorf("a copy of %s shares its memory", b.name)
		}
	}
}

// TestAt: elements are found by their coordinates, which must be in the tensor.
func TestAt(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5, 6}
	a, b := New(WithShape(2, 3), WithBacking(x)), gorgonia.New(gorgonia.WithShape(2, 3), gorgonia.WithBacking(x))
	for i := range 2 {
		for j := range 3 {
			ours, err := a.At(i, j)
			theirs, wrong := b.At(i, j)
			if ours != theirs || err != nil || wrong != nil {
				t.Errorf("%d, %d: %v, %v; gorgonia %v, %v", i, j, ours, err, theirs, wrong)
			}
		}
	}
	for _, at := range [][]int{{}, {1}, {2, 0}, {0, 3}, {-1, 0}, {0, 0, 0}} {
		if v, err := a.At(at...); err == nil {
			t.Errorf("there is %v at %v", v, at)
		}
	}
}

// TestUnfit: as many elements as the shape says must be given.
func TestUnfit(t *testing.T) {
	for name, options := range map[string][]ConsOpt{
		"too few":  {WithShape(2, 2), WithBacking([]float32{1, 2, 3})},
		"too many": {WithShape(), WithBacking([]float32{1, 2, 3})},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s are taken", name)
				}
			}()
			New(options...)
		}()
	}
}

// TestMarked: a tensor keeps the engine that it is given, and its access may be changed to that of
// no elements.
func TestMarked(t *testing.T) {
	type mark struct {
		StdEng
		of string
	}
	a := New(Of(Int32), WithShape(1), WithEngine(mark{of: "here"}))
	sizes := Shape{2, 0}.Clone()
	*a.Info() = MakeAP(sizes, sizes.CalcStrides(), 0, 0)
	if m, marked := a.Engine().(mark); !marked || m.of != "here" || a.Shape().TotalSize() != 0 || a.Len() != 1 {
		t.Errorf("%v of shape %v and %d elements", a.Engine(), a.Shape(), a.Len())
	}
}

// TestElements: each type has its slice, which is the tensor's memory.
func TestElements(t *testing.T) {
	for name, n := range map[string]int{
		"bool": len(New(Of(Bool), WithShape(2)).Bools()), "int8": len(New(Of(Int8), WithShape(2)).Int8s()),
		"int16": len(New(Of(Int16), WithShape(2)).Int16s()), "int32": len(New(Of(Int32), WithShape(2)).Int32s()),
		"int64": len(New(Of(Int64), WithShape(2)).Int64s()), "uint8": len(New(Of(Uint8), WithShape(2)).Uint8s()),
		"uint16": len(New(Of(Uint16), WithShape(2)).Uint16s()), "uint32": len(New(Of(Uint32), WithShape(2)).Uint32s()),
		"uint64": len(New(Of(Uint64), WithShape(2)).Uint64s()), "float32": len(New(Of(Float32), WithShape(2)).Float32s()),
		"float64": len(New(Of(Float64), WithShape(2)).Float64s()),
	} {
		if n != 2 {
			t.Errorf("%s: %d elements", name, n)
		}
	}
}
