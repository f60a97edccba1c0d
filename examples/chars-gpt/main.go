// Chars-gpt is a transformer that learns to write like the Constitution of the United
// States, character by character. It draws how it learns, where it is surprised, and what
// its heads look at.
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
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/viz"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// gpt has two blocks of 64 features with 4 heads, and looks back on 64 characters.
var gpt = chars.Study{
	Name: "gpt",
	Rate: 1e-3,
	Net: func(g *graph.Graph, characters graph.Axis) chars.Model {
		return builders.CharacterGPT(g, graph.F32, characters, graph.Ax("t", chars.Window))
	},
}

func main() {
	steps := lesson.Count("steps", 1, 1000, "steps of training")
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		text, err := chars.NewText()
		if err != nil {
			return err
		}
		trained, err := gpt.Train(ctx, l, text, l.Few(*steps, 20))
		if err != nil {
			return err
		}
		defer trained.Trainer.Close()
		if err := trained.Say(ctx, os.Stdout, "We the People", 300, infer.Sampling{Temperature: 0.8, TopK: 20, Seed: l.Seed}); err != nil {
			return err
		}
		if err := draw(ctx, l, trained); err != nil {
			return err
		}
		return l.AtMost("nats per character", trained.Loss, 1.66)
	})
}

// draw draws the net, how it learnt, where it is surprised, and what its heads look at.
func draw(ctx context.Context, l *lesson.Lesson, t *chars.Trained) error {
	if l.Out == "" {
		return nil
	}
	surprise, err := t.Surprise(ctx, chars.Passage)
	if err != nil {
		return err
	}
	heads, err := look(ctx, t, "No person shall be elected to the office of the President")
	if err != nil {
		return err
	}
	net := gpt.Build(t.Text.Vocabulary.Len())(16, train.Training)
	for name, write := range map[string]func(w io.Writer) error{
		"net.svg": func(w io.Writer) error {
			return viz.SVG(w, []*graph.Node{net.Loss}, viz.CollapseAbove(12), viz.WithoutLines())
		},
		"learning.svg":  func(w io.Writer) error { return chart.Panels(w, 1, chars.Curves(t)) },
		"surprise.svg":  func(w io.Writer) error { return chart.Panels(w, 1, surprise) },
		"attention.svg": func(w io.Writer) error { return chart.Panels(w, 2, heads...) },
	} {
		if err := l.Picture(name, write); err != nil {
			return err
		}
	}
	return nil
}
