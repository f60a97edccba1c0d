// Dates translates dates as people write them, "Thursday, May 3, 1979", into ISO 8601, 1979-05-03,
// one character after the other: without looking back at the text, and with each score of
// attention. It draws where the decoder looks.
package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"github.com/tapestry-ml/tapestry/viz"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

func main() {
	score := lesson.Choice("score", append([]string{"all"}, scores...), "how the decoder looks back: "+strings.Join(scores, ", ")+", or all of them in turn")
	steps := lesson.Count("steps", 1, 1000, "steps of training")
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		chosen := scores
		if *score != "all" {
			chosen = []string{*score}
		}
		training, held := drawPairs(l.Seed, 10_000, 1_000)
		var curves []chart.Series
		var alignments []interface{ SVG(io.Writer) error }
		for _, score := range chosen {
			t := &train.Trainer{Build: build(score), Optimiser: train.Adam(4e-3, train.ClipNorm(1)), Seed: l.Seed, Workers: l.Workers}
			defer t.Close()
			curve := chart.Series{Name: score, Group: len(curves)}
			result, err := learn(ctx, l, t, score, training, held, l.Few(*steps, 20), &curve)
			if err != nil {
				return err
			}
			curves = append(curves, curve)
			fmt.Printf("%s: %v\n", score, result)
			if score == "none" {
				continue
			}
			if err := l.AtLeast(score+": exact match", result.accuracy(), 0.98); err != nil {
				return err
			}
			looked, err := align(ctx, t, score, []pair{first(held, 2), first(held, 1)}) // a long one and a short one
			if err != nil {
				return err
			}
			for _, a := range looked {
				alignments = append(alignments, a)
			}
		}
		return draw(l, chosen[len(chosen)-1], curves, alignments)
	})
}

// learn trains a translator, and examines it on the held-out pairs every 50 steps.
func learn(ctx context.Context, l *lesson.Lesson, t *train.Trainer, score string, training, held []pair, steps int, curve *chart.Series) (result exam, err error) {
	set, err := encoded(training)
	if err != nil {
		return exam{}, err
	}
	err = t.Fit(ctx, l.Plan(score, train.Plan{
		Data:  data.Shuffled(set, 64, t.Seed),
		Steps: steps,
		Rate:  train.Warmup(50, train.Cosine(4e-3, max(1, steps-50))),
		Every: 50,
		Validate: func(ctx context.Context) (metric.Scores, error) {
			result, err = examine(ctx, t, held)
			curve.X, curve.Y = append(curve.X, float64(t.Store().Step())), append(curve.Y, result.accuracy())
			return metric.Scores{{Name: "exact match", Value: result.accuracy()}}, err
		},
	}))
	if err == nil && result.all == 0 { // it was trained before
		result, err = examine(ctx, t, held)
	}
	return result, err
}

// first is the first pair of a format.
func first(pairs []pair, format int) pair {
	return pairs[slices.IndexFunc(pairs, func(p pair) bool { return p.format == format })]
}

// draw draws the net of a score, the share of right dates by steps, and where the decoders looked.
func draw(l *lesson.Lesson, score string, curves []chart.Series, alignments []interface{ SVG(io.Writer) error }) error {
	err := l.Draw("net.svg", build(score)(64, train.Training).Loss, viz.CollapseAbove(12))
	if err != nil {
		return err
	}
	err = l.Picture("learning.svg", func(w io.Writer) error {
		return chart.Panels(w, 1, chart.Lines{
			Frame: chart.Frame{ID: "learning", Title: "Held-out dates said without a mistake", Width: 640},
			X:     "step", Y: "part", Series: curves, Covers: [][2]float64{{0, 0}, {0, 1}},
		})
	})
	if err != nil || len(alignments) == 0 {
		return err
	}
	return l.Picture("alignment.svg", func(w io.Writer) error { return chart.Panels(w, 2, alignments...) })
}
