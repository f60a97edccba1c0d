package watch_test

import (
	"bytes"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/train/watch"
	"testing"
)

// TestNil: nothing that the package exports panics on nil, zero values or closed receivers.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Bar": watch.Bar, "Clock": watch.Clock, "Every": watch.Every,
			"In": watch.In, "IsTerminal": watch.IsTerminal, "JSONLines": watch.JSONLines, "NewReader": watch.NewReader,
			"About": watch.About, "ReadLog": watch.ReadLog, "Terminal": watch.Terminal, "Timed": watch.Timed, "With": watch.With,
		},
		Types: []any{
			watch.Error{}, watch.Reader{},
		},
		Samples: func() []any {
			return []any{new(bytes.Buffer), "x"}
		},
	})
}
