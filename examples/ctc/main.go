// Ctc learns to write down made utterances from the letters alone: nothing in the data says when a
// letter is spoken, or how long it lasts.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/rnn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"github.com/tapestry-ml/tapestry/viz/chart"
	"gorgonia.org/tensor"
)

const (
	tones   = 3             // that are heard
	letters = tones * tones // each is two tones, one after the other
	classes = letters + 1   // 0 is none
	longest = 6             // letters of an utterance at most; at least 2
	times   = 64            // an utterance ends before
	noise   = 0.3           // standard deviation of what is added to the loudness of each tone
)

// net reads x[n t tone] in both directions, and says how likely each letter k or none, 0, is at each
// time. The loss sums over all alignments with the letters y[n s] (Graves et al., 2006).
func net(rows int, _ train.Mode) *train.Net {
	g := graph.New("ctc")
	n, t, tone := graph.Ax("n", rows), graph.Ax("t", times), graph.Ax("tone", tones)
	hidden, both, class := graph.Ax("h", 24), graph.Ax("h", 48), graph.Ax("c", classes)
	x, frames := g.Input("x", graph.F32, n, t, tone), g.Input("frames", graph.I32, n)
	y, length := g.Input("y", graph.I32, n, graph.Ax("s", longest)), g.Input("length", graph.I32, n)
	lstm := rnn.Bidirectional{Name: "lstm",
		Forward:  rnn.Recur{Cell: rnn.NewLSTM(g, "forward", graph.F32, tone, hidden)},
		Backward: rnn.Recur{Cell: rnn.NewLSTM(g, "backward", graph.F32, tone, hidden)}}
	h, _ := lstm.ReadMasked(x, nn.Present(frames, t))
	logp := ops.LogSoftmax(nn.NewLinear(g, "out", graph.F32, both, class).Of(h), "c").As("log p")
	loss := nn.CTC(ops.Transpose(logp, "t", "n", "c"), y, frames, length, 0)
	return &train.Net{Loss: ops.Mean(loss).As("loss"), Output: logp}
}

// utterances draws batches of letters, and of what is heard: every letter is a tone and then
// another, or the same, each for a random time, with silence before, between and after letters.
func utterances(rows, batches int, seed uint64) data.Source {
	x, y := make([]float32, rows*times*tones), make([]int32, rows*longest)
	frames, length := make([]int32, rows), make([]int32, rows)
	b := data.Batch{Rows: rows, Values: map[string]*tensor.Dense{
		"x":      lesson.Array(x, rows, times, tones),
		"y":      lesson.Array(y, rows, longest),
		"frames": lesson.Array(frames, rows),
		"length": lesson.Array(length, rows),
	}}
	return data.Drawn(b, batches, seed, func(rng *rand.Rand, _ data.Batch) error {
		clear(y)
		for i := range x {
			x[i] = float32(noise * rng.NormFloat64())
		}
		for i := range rows {
			at := 1 + rng.IntN(3)
			length[i] = int32(2 + rng.IntN(longest-1))
			for s := range int(length[i]) {
				letter := rng.IntN(letters)
				y[i*longest+s] = int32(1 + letter)
				for _, tone := range []int{letter / tones, letter % tones} {
					for range 2 + rng.IntN(3) {
						x[(i*times+at)*tones+tone]++
						at++
					}
				}
				at += 1 + rng.IntN(2)
			}
			frames[i] = int32(at)
		}
		return nil
	})
}

// spelt returns what the likeliest classes at some times spell: repeated ones are one, and then 0 is
// nothing.
func spelt(logp []float32) (word []int32) {
	last := int32(0)
	for ; len(logp) > 0; logp = logp[classes:] {
		best := int32(slices.Index(logp[:classes], slices.Max(logp[:classes])))
		if best != last && best != 0 {
			word = append(word, best)
		}
		last = best
	}
	return word
}

// written is a to i for classes from 1 on.
func written(word ...int32) (text string) {
	for _, class := range word {
		text += string(rune('a' + class - 1))
	}
	return text
}

func main() {
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		t := &train.Trainer{Build: net, Optimiser: train.Adam(0.01, train.ClipNorm(1)), Seed: l.Seed, Workers: l.Workers}
		defer t.Close()
		plan := train.Plan{Data: utterances(32, 200, l.Seed), Steps: l.Few(1000, 10), Rate: train.Cosine(0.01, l.Few(1000, 10))}
		if err := t.Fit(ctx, l.Plan("ctc", plan)); err != nil {
			return err
		}
		wrong, all := 0, 0
		var first utterance
		err := t.Predict(ctx, utterances(500, 1, l.Seed+1), func(b data.Batch, output *tensor.Dense) error {
			frames, length := b.Values["frames"].Int32s(), b.Values["length"].Int32s()
			for i := range b.Rows {
				at := i * times
				u := utterance{
					x:    b.Values["x"].Float32s()[at*tones : (at+int(frames[i]))*tones],
					y:    b.Values["y"].Int32s()[i*longest : i*longest+int(length[i])],
					logp: output.Float32s()[at*classes : (at+int(frames[i]))*classes],
				}
				heard := spelt(u.logp)
				wrong, all = wrong+metric.EditDistance(heard, u.y), all+len(u.y)
				if i < 5 {
					fmt.Printf("%-7s heard as %s\n", written(u.y...), written(heard...))
				}
				if i == 0 {
					first = u.clone()
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		return errors.Join(
			l.AtMost("letters wrong, of a hundred", 100*float64(wrong)/float64(all), 6),
			l.Picture("spikes.svg", func(w io.Writer) error { return chart.Panels(w, 1, first.heard(), first.spikes()) }),
		)
	})
}
