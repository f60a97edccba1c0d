package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// mask says which pixels are missing.
type mask struct {
	name string
	hide func(rng *rand.Rand, pixel int) bool
}

// masks are drawn at random as in training, the second like there, but for the last.
var masks = []mask{
	{"a quarter missing", func(rng *rand.Rand, _ int) bool { return rng.Float64() < 0.25 }},
	{"half missing", func(rng *rand.Rand, _ int) bool { return rng.Float64() < 0.5 }},
	{"three quarters missing", func(rng *rand.Rand, _ int) bool { return rng.Float64() < 0.75 }},
	{"lower half missing", func(_ *rand.Rand, pixel int) bool { return pixel >= 32 }},
}

// of gives a set a column missing[n 64].
func (m mask) of(s *data.Set, seed uint64) (*data.Set, error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	missing := make([]bool, s.Rows()*64)
	for i := range missing {
		missing[i] = m.hide(rng, i%64)
	}
	return data.NewSet(map[string]*tensor.Dense{
		"x":       s.Column("x"),
		"missing": tensor.New(tensor.WithShape(s.Rows(), 64), tensor.WithBacking(missing)),
	})
}

// result is the mean squared error of three ways to predict missing pixels, for ink from 0 to 1.
type result struct {
	name              string
	mean, linear, net float64
}

// String gives a line of the table.
func (r result) String() string {
	return fmt.Sprintf("%-24s mean of the pixel %.4f, best linear guess %.4f, net %.4f", r.name, r.mean, r.linear, r.net)
}

// result hides pixels of a set and lets all guess.
func (m mask) result(ctx context.Context, t *train.Trainer, best *linear, s *data.Set, seed uint64) (result, error) {
	hidden, err := m.of(s, seed)
	if err != nil {
		return result{}, err
	}
	scores, err := t.Evaluate(ctx, data.InOrder(hidden, 0))
	if err != nil {
		return result{}, err
	}
	r := result{name: m.name}
	r.net, _ = scores.Get("loss")
	r.mean, r.linear, err = best.errors(hidden)
	return r, err
}
