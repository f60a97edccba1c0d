package array_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/train/data/array"
	"gorgonia.org/tensor"
)

// TestNil: nothing that the package exports panics on nil, zero values or closed receivers.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"NewNPZWriter": array.NewNPZWriter, "OpenIDX": array.OpenIDX, "OpenNPY": array.OpenNPY,
			"OpenNPZ": array.OpenNPZ, "ReadIDX": array.ReadIDX, "ReadNPY": array.ReadNPY,
			"ReadNPZ": array.ReadNPZ, "WriteIDX": array.WriteIDX, "WriteNPY": array.WriteNPY,
		},
		Types: []any{array.NPZ{}, array.NPZWriter{}},
		Samples: func() []any {
			x := tensor.New(tensor.WithShape(2), tensor.WithBacking([]float64{1, 2}))
			var npz bytes.Buffer
			begun, ended := array.NewNPZWriter(&npz, true), array.NewNPZWriter(new(bytes.Buffer), true)
			if err := errors.Join(begun.Write("x", x), begun.Close(), ended.Close()); err != nil {
				t.Fatal(err)
			}
			archive, err := array.ReadNPZ("a.npz", bytes.NewReader(npz.Bytes()), int64(npz.Len()))
			if err != nil {
				t.Fatal(err)
			}
			return []any{archive, ended, array.NewNPZWriter(new(bytes.Buffer), false), x, new(bytes.Buffer), "x", 2}
		},
	})
}
