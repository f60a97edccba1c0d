package infer_test

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/infer"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"testing"
)

// TestNil: nothing that the package exports panics on nil, zero values or closed receivers.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Classes": infer.Classes, "Columns": infer.Columns, "LoadPredictor": infer.LoadPredictor,
			"LoadSpeaker": infer.LoadSpeaker, "NamesMeta": infer.NamesMeta, "NetMeta": infer.NetMeta,
			"NewPredictor": infer.NewPredictor, "NewSampler": infer.NewSampler,
			"NewSpeaker": infer.NewSpeaker, "ParseModel": infer.ParseModel, "ParseNet": infer.ParseNet,
			"SpeakerMeta": infer.SpeakerMeta,
		},
		Types: []any{
			infer.Column{}, infer.Model{}, infer.Net{}, infer.Predictor{}, infer.Sampler{}, infer.Sampling{}, infer.Speaker{}},
		Samples: func() []any {
			g := graph.New("sample")
			g.Param("b", graph.F32, graph.Ax("n", 2))
			return []any{tape.NewStore(g), &checkpoint.State{}, "x"}
		},
	})
}
