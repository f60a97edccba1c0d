package quantise_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/infer/quantise"
	"github.com/tapestry-ml/tapestry/internal/niltest"
)

// TestNil: nothing that the package exports panics on nil and zero values.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{"Int8": quantise.Int8},
		Types:     []any{quantise.Result{}},
	})
}
