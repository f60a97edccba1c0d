package infer_test

import (
	"context"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/infer"
	"github.com/tapestry-ml/tapestry/tape"
)

// BenchmarkToken measures one token of the character models, including the repeated half windows.
func BenchmarkToken(b *testing.B) {
	w := graph.Ax("w", 74)
	for name, make := range map[string]func(g *graph.Graph) net{
		"GPT":  func(g *graph.Graph) net { return builders.CharacterGPT(g, graph.F32, w, graph.Ax("t", 64)) },
		"LSTM": func(g *graph.Graph) net { return builders.CharacterLSTM(g, graph.F32, w) },
	} {
		b.Run(name, func(b *testing.B) {
			s := generator(b, modelOf(make), tape.NewStore(nil), infer.Sampling{Temperature: 1, TopK: 10})
			b.ReportAllocs()
			b.ResetTimer()
			if err := s.Generate(context.Background(), []int32{1}, b.N, func(int32) bool { return true }); err != nil {
				b.Fatal(err)
			}
		})
	}
}
