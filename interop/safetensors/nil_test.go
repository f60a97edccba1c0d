package safetensors_test

import (
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/interop/safetensors"
	"testing"
)

// TestNil: nothing that the package exports panics on nil, zero values or closed receivers.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"MaxBytes": safetensors.MaxBytes, "MaxHeader": safetensors.MaxHeader,
			"NewReader": safetensors.NewReader, "Open": safetensors.Open, "Read": safetensors.Read,
			"ReadFile": safetensors.ReadFile, "RequireChecksum": safetensors.RequireChecksum,
			"Write": safetensors.Write,
		},
		Types: []any{
			safetensors.Error{}, safetensors.File{}, safetensors.Reader{}},
		Samples: func() []any { return []any{"x"} },
	})
}
