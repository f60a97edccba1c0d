package infer_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/infer"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
)

// TestNil: nothing that the package exports panics on nil, zero values or closed receivers.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Classes": infer.Classes, "Columns": infer.Columns, "LoadPredictor": infer.LoadPredictor,
			"LoadGenerator": infer.LoadGenerator, "NamesMeta": infer.NamesMeta, "ForwardMeta": infer.ForwardMeta,
			"NewPredictor": infer.NewPredictor, "NewSampler": infer.NewSampler,
			"NewGenerator": infer.NewGenerator, "ParseModel": infer.ParseModel, "ParseForward": infer.ParseForward,
			"GeneratorMeta": infer.GeneratorMeta, "Int8": infer.Int8,
		},
		Types: []any{
			infer.Column{}, infer.Model{}, infer.Forward{}, infer.Predictor{}, infer.Sampler{}, infer.Sampling{}, infer.Generator{}},
		Samples: func() []any {
			g := graph.New("sample")
			g.Param("b", graph.F32, graph.Ax("n", 2))
			return []any{tape.NewStore(g), &checkpoint.State{}, "x"}
		},
	})
}
