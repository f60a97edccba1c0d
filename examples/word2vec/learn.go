package main

import (
	"context"
	"math"

	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

const (
	rate  = 0.003 // of Adam, which falls to 0 along half a wave
	decay = 3e-4  // of all vectors: the text is small, and most words occur in it but a few times
	batch = 256   // pairs
)

// learning is the result of a training.
type learning struct {
	before, after *vectors
	course        []moment // after each epoch; the first is before training
}

// moment is the quality of the vectors after some steps.
type moment struct {
	loss float64 // of the epoch that ends here; NaN before training
	nats float64 // cross-entropy of a word of the sentences held out, given one near it
	rank float64 // its mean place among all words, the likeliest first
}

// learn trains vectors for the given number of epochs.
func learn(ctx context.Context, c *corpus, seed uint64, workers, epochs int) (*learning, error) {
	t := &train.Trainer{Build: c.build, Optimiser: train.Adam(rate, train.WeightDecay(decay)), Seed: seed, Workers: workers}
	defer t.Close()
	company, err := c.company()
	if err != nil {
		return nil, err
	}
	l, sum, steps := &learning{}, 0.0, 0.0
	look := func(ctx context.Context) (metric.Scores, error) {
		scores, err := t.Evaluate(ctx, data.InOrder(company, 0), &rank{})
		if err != nil {
			return nil, err
		}
		l.course = append(l.course, moment{sum / steps, scores[0].Value, scores[1].Value})
		sum, steps = 0, 0
		return scores, nil
	}
	if _, err := look(ctx); err != nil {
		return nil, err
	}
	if l.before, err = newVectors(c.words, t.Store()); err != nil {
		return nil, err
	}
	pairs := c.pairs(batch, seed)
	err = t.Fit(ctx, train.Plan{
		Data: pairs, Epochs: epochs, Rate: train.Cosine(rate, epochs*pairs.Batches()), Validate: look,
		Observers: []train.Observer{train.ObserverFunc(func(e train.Event) error {
			if e.Kind == train.Stepped {
				sum, steps = sum+e.Loss, steps+1
			}
			return nil
		})},
	})
	if err != nil {
		return nil, err
	}
	l.after, err = newVectors(c.words, t.Store())
	return l, err
}

// last is the end of the course.
func (l *learning) last() moment { return l.course[len(l.course)-1] }

// curves draw the course beside what the frequencies of the words alone would give.
func (l *learning) curves(baseline float64) (loss, place chart.Lines) {
	loss = chart.Lines{Frame: chart.Frame{ID: "loss", Title: "Negative sampling"}, X: "epoch", Y: "loss"}
	place = chart.Lines{
		Frame: chart.Frame{ID: "rank", Title: "Sentences held out"}, X: "epoch", Y: "mean rank of a word near another",
		Rules: []chart.Rule{{Name: "by frequency", Y: baseline}},
	}
	losses, ranks := chart.Series{Name: "loss"}, chart.Series{Name: "rank", Group: 1}
	for epoch, m := range l.course {
		if !math.IsNaN(m.loss) {
			losses.X, losses.Y = append(losses.X, float64(epoch)), append(losses.Y, m.loss)
		}
		ranks.Y = append(ranks.Y, m.rank)
	}
	loss.Series, place.Series = []chart.Series{losses}, []chart.Series{ranks}
	return loss, place
}
