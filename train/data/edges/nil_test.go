package edges_test

import (
	"bytes"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/train/data/edges"
	"gorgonia.org/tensor"
)

// TestNil: nothing that the package exports panics on nil, zero values or closed receivers.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"AddDuplicates": edges.AddDuplicates, "Directed": edges.Directed, "DropDuplicates": edges.DropDuplicates,
			"DropSelfLoops": edges.DropSelfLoops, "Karate": edges.Karate, "KeepSelfLoops": edges.KeepSelfLoops,
			"NodeCount": edges.NodeCount, "NodeNames": edges.NodeNames, "Open": edges.Open,
			"Read": edges.Read, "Write": edges.Write,
		},
		Types: []any{edges.Network{}},
		Samples: func() []any {
			club, _ := edges.Karate()
			return []any{club, new(bytes.Buffer), "x", 2, tensor.Float64}
		},
	})
}
