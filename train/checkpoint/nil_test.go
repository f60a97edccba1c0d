package checkpoint_test

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"path/filepath"
	"testing"
)

// TestNil: nothing that the package exports panics on nil, zero values or closed receivers.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Describe": checkpoint.Describe, "Identify": checkpoint.Identify, "Load": checkpoint.Load,
			"LoadPart": checkpoint.LoadPart, "Read": checkpoint.Read, "Save": checkpoint.Save, "Write": checkpoint.Write,
		},
		Types: []any{
			checkpoint.Changed{}, checkpoint.Folder{}, checkpoint.Mismatch{}, checkpoint.State{}},
		Samples: func() []any {
			g := graph.New("sample")
			b := g.Param("b", graph.F32, graph.Ax("n", 2))
			return []any{b, tape.NewStore(g), filepath.Join(t.TempDir(), "a"), &checkpoint.State{}}
		},
	})
}
