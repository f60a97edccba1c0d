package columns_test

import (
	"bytes"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/data/columns"
)

// TestNil: nothing that the package exports panics on nil, zero values or closed receivers.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Beside": columns.Beside, "Builtin": columns.Builtin, "BuiltinNames": columns.BuiltinNames,
			"New": columns.New, "OfNetwork": columns.OfNetwork, "OfTable": columns.OfTable, "OfText": columns.OfText, "Open": columns.Open,
			"Read": columns.Read,
		},
		Types: []any{columns.Column{}, columns.Columns{}},
		Samples: func() []any {
			c, err := columns.Builtin("wine")
			if err != nil {
				t.Fatal(err)
			}
			return []any{c, c.Columns()[0], c.Columns()[13], data.Iris(), new(bytes.Buffer), "x", 2, 0.5}
		},
	})
}
