package attention_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/nn/attention"
)

// TestNil: nothing that the package exports panics on nil or zero values.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"AddPositions": attention.AddPositions, "Attend": attention.Attend,
			"AttendBidirectional": attention.AttendBidirectional, "AttendKernel": attention.AttendKernel,
			"AttendStates": attention.AttendStates, "Causal": attention.Causal,
			"ConcatPositions": attention.ConcatPositions, "NewAdditiveScore": attention.NewAdditiveScore,
			"NewCache": attention.NewCache, "NewDecoder": attention.NewDecoder,
			"NewDecoderBlock": attention.NewDecoderBlock, "NewEncoder": attention.NewEncoder,
			"NewEncoderBlock": attention.NewEncoderBlock, "NewMultiHead": attention.NewMultiHead,
			"NewMultiplicativeScore": attention.NewMultiplicativeScore, "NewPositions": attention.NewPositions,
			"NewQKV": attention.NewQKV, "NewQueryNorm": attention.NewQueryNorm, "Padding": attention.Padding,
			"Pool": attention.Pool, "Rotary": attention.Rotary, "Rotation": attention.Rotation,
			"Scores": attention.Scores, "Sinusoidal": attention.Sinusoidal, "SinusoidalAt": attention.SinusoidalAt,
		},
		Types: []any{
			*new(attention.AdditiveScore), *new(attention.Decoder), *new(attention.DecoderBlock),
			*new(attention.DotScore), *new(attention.Encoder), *new(attention.EncoderBlock), *new(attention.MultiHead),
			*new(attention.MultiplicativeScore), *new(attention.QKV), *new(attention.QueryNorm), *new(attention.Table),
		},
		Samples: func() []any {
			g := graph.New("sample")
			x := g.Input("x", graph.F32, graph.Ax("i", 3), graph.Ax("d", 4))
			return []any{g, x, x.Type(), x.Shape(), graph.F32, []*graph.Node{x}, "d", 2, 0.5}
		},
	})
}
