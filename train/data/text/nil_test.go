package text_test

import (
	"bytes"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/train/data/text"
)

// TestNil: nothing that the package exports panics on nil, zero values or closed receivers.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Characters": text.Characters, "Constitution": text.Constitution, "Open": text.Open,
			"Read": text.Read,
		},
		Types: []any{text.Tokeniser{}, text.Vocabulary{}},
		Samples: func() []any {
			letters, err := text.Characters("text")
			if err != nil {
				t.Fatal(err)
			}
			return []any{letters, new(bytes.Buffer), "x", 2}
		},
	})
}
