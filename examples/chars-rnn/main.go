// Chars-rnn has recurrent networks learn to write like the Constitution of the United
// States, character by character: a plain one, and an LSTM. It draws how they learn, and
// where they are surprised.
package main

import (
	"context"
	"io"
	"os"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/examples/internal/chars"
	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/infer"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/rnn"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/viz"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// studies have 128 hidden values over vectors of 64 features: h_t = tanh(x_t·W + h_{t−1}·R + b),
// and an LSTM.
var studies = []chars.Study{
	{Name: "rnn", Rate: 3e-3, Net: func(g *graph.Graph, characters graph.Axis) chars.Model {
		m, h := graph.Ax("m", 64), graph.Ax("h", 128)
		return builders.RecurrentLanguageModel{
			Tokens: nn.NewEmbedding(g, "embedding", graph.F32, characters, m),
			Layers: []rnn.Recur{{Name: "rnn", Cell: rnn.NewRNN(g, "rnn", graph.F32, m, h)}},
			Output: nn.NewLinear(g, "output", graph.F32, h, characters),
		}
	}},
	{Name: "lstm", Rate: 3e-3, Net: func(g *graph.Graph, characters graph.Axis) chars.Model {
		return builders.CharacterLSTM(g, graph.F32, characters)
	}},
}

func main() {
	steps := lesson.Count("steps", 1, 1000, "steps of training")
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		text, err := chars.NewText()
		if err != nil {
			return err
		}
		var all []*chars.Trained
		for _, s := range studies {
			t, err := s.Train(ctx, l, text, l.Few(*steps, 20))
			if err != nil {
				return err
			}
			defer t.Trainer.Close()
			if err := t.Say(ctx, os.Stdout, "We the People", 300, infer.Sampling{Temperature: 0.8, TopK: 20, Seed: l.Seed}); err != nil {
				return err
			}
			all = append(all, t)
		}
		if err := draw(ctx, l, all); err != nil {
			return err
		}
		return l.AtMost("nats per character of the LSTM", all[len(all)-1].Loss, 1.22)
	})
}

// draw draws the last net, how all learnt, and where they are surprised.
func draw(ctx context.Context, l *lesson.Lesson, all []*chars.Trained) error {
	if l.Out == "" {
		return nil
	}
	var passages []interface{ SVG(io.Writer) error }
	for _, t := range all {
		s, err := t.Surprise(ctx, chars.Passage)
		if err != nil {
			return err
		}
		passages = append(passages, s)
	}
	last := all[len(all)-1]
	net := last.Study.Build(last.Text.Vocabulary.Len())(16, train.Training)
	for name, write := range map[string]func(w io.Writer) error{
		"net.svg":      func(w io.Writer) error { return viz.SVG(w, []*graph.Node{net.Loss}, viz.WithoutLines()) },
		"learning.svg": func(w io.Writer) error { return chart.Panels(w, 1, chars.Curves(all...)) },
		"surprise.svg": func(w io.Writer) error { return chart.Panels(w, 1, passages...) },
	} {
		if err := l.Picture(name, write); err != nil {
			return err
		}
	}
	return nil
}
