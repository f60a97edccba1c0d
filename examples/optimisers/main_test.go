package main

import (
	"context"
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

func digits(t *testing.T) *bench {
	t.Helper()
	all, err := data.Digits().Set("x", "y", tensor.Float32)
	if err != nil {
		t.Fatal(err)
	}
	fit, test, err := all.Split(func(i int) bool { return i%5 == 4 })
	if err != nil {
		t.Fatal(err)
	}
	return &bench{fit: fit, test: test, epochs: 2, seeds: 1}
}

// TestOptimisersLearn: every optimiser brings the loss down at the rate given here, and one that
// diverges is noted, not shown as good.
func TestOptimisersLearn(t *testing.T) {
	b := digits(t)
	for _, o := range optimisers {
		one := &trial{optimiser: o.name, schedule: schedules[0], rate: o.rate}
		if err := b.try(context.Background(), one); err != nil {
			t.Fatal(err)
		}
		if c := one.curve(); !(c[1] < 0.7*c[0]) || !(one.accuracy() > 0.7) {
			t.Errorf("%s: loss %.3f, accuracy %.3f", o.name, c, one.accuracy())
		}
	}
	wild := &trial{optimiser: "sgd", schedule: schedules[0], rate: 1e30}
	if err := b.try(context.Background(), wild); err != nil {
		t.Fatal(err)
	}
	if !math.IsInf(wild.loss(), 1) || wild.accuracy() != 0 {
		t.Errorf("a rate of 1e30 ends at a loss of %v and an accuracy of %v", wild.loss(), wild.accuracy())
	}
}

// TestSchedules: each begins at most at the rate, never goes beyond it, and all but the constant
// one end below a fifth of it.
func TestSchedules(t *testing.T) {
	const n = 400
	for _, s := range schedules {
		course := s.course(2, n)
		for step := range n {
			if v := course.At(step, n); !(v > 0 && v <= 2) {
				t.Errorf("%s: %v in step %d", s.name, v, step)
			}
		}
		if end := course.At(n-1, n); (end < 0.4) != (s.name != "constant") {
			t.Errorf("%s ends at %v", s.name, end)
		}
	}
}
