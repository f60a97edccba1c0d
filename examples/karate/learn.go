package main

import (
	"context"
	"slices"

	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"gorgonia.org/tensor"
)

// lookEvery is the number of steps between two looks at the scores.
const lookEvery = 5

// outcome is the result of a training.
type outcome struct {
	course [][][2]float64 // the members' scores, every lookEvery steps from the start on
	α      []float32      // [i j] how strongly i hears j
}

// scores are the members' in the end.
func (o outcome) scores() [][2]float64 { return o.course[len(o.course)-1] }

// says returns the faction that a network predicts for member i.
func (o outcome) says(i int) int {
	if s := o.scores()[i]; s[1] > s[0] {
		return 1
	}
	return 0
}

// wrong lists the members for which the network predicts the other faction.
func (o outcome) wrong(faction []int) (members []int) {
	for i, f := range faction {
		if o.says(i) != f {
			members = append(members, i)
		}
	}
	return members
}

// learn trains a network on the whole club in every step.
func learn(ctx context.Context, t *train.Trainer, m network, club *data.Set, steps int, observers ...train.Observer) (outcome, error) {
	var o outcome
	look := func(ctx context.Context) (metric.Scores, error) {
		return nil, t.Predict(ctx, data.InOrder(club, 0), func(_ data.Batch, output *tensor.Dense) error {
			flat := output.Float32s()
			scores := make([][2]float64, club.Rows())
			for i := range scores {
				scores[i] = [2]float64{float64(flat[2*i]), float64(flat[2*i+1])}
			}
			o.course = append(o.course, scores)
			return nil
		})
	}
	if _, err := look(ctx); err != nil {
		return outcome{}, err
	}
	err := t.Fit(ctx, train.Plan{Data: data.InOrder(club, 0), Steps: steps, Every: lookEvery, Validate: look, Observers: observers})
	if err != nil {
		return outcome{}, err
	}
	return o, t.Look(ctx, data.InOrder(club, 0), []string{m.hears}, func(_ data.Batch, values []*tensor.Dense) error {
		o.α = slices.Clone(values[0].Float32s())
		return nil
	})
}
