package main

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"

	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
)

const batch = 64

// bench holds the common part of all trials.
type bench struct {
	fit, test     *data.Set
	epochs, seeds int
	first         uint64 // seed
	workers       int    // trials at a time; 0 for one a core
}

// trial is one optimiser with one schedule at one rate.
type trial struct {
	optimiser  string
	schedule   schedule
	rate       float64
	curves     [][]float64 // the mean loss of each epoch, by seed; infinite once diverged
	accuracies []float64   // on the test digits, by seed; 0 if diverged
}

// curve is the median over the seeds, epoch by epoch.
func (t *trial) curve() []float64 {
	out := make([]float64, len(t.curves[0]))
	for e := range out {
		var at []float64
		for _, c := range t.curves {
			at = append(at, c[e])
		}
		out[e] = lab.Median(at)
	}
	return out
}

// loss is that of the last epoch.
func (t *trial) loss() float64 { c := t.curve(); return c[len(c)-1] }

func (t *trial) accuracy() float64 { return lab.Median(t.accuracies) }

// tryAll runs all optimisers with all schedules at the given rates, side by side, each trial on one
// core.
func (b *bench) tryAll(ctx context.Context, rates int) (all trials, err error) {
	for _, o := range optimisers {
		for _, s := range schedules {
			for r := range rates {
				all = append(all, &trial{optimiser: o.name, schedule: s, rate: o.rate * math.Pow(3, float64(r-rates/2))})
			}
		}
	}
	workers := b.workers
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	var wait sync.WaitGroup
	failed := make([]error, workers)
	for w := range workers {
		wait.Go(func() {
			for i := w; i < len(all) && failed[w] == nil; i += workers {
				failed[w] = b.try(ctx, all[i])
			}
		})
	}
	wait.Wait()
	return all, errors.Join(failed...)
}

// try runs a trial from every seed.
func (b *bench) try(ctx context.Context, t *trial) error {
	for k := range b.seeds {
		curve, accuracy, err := b.train(ctx, t, b.first+uint64(k))
		if err != nil {
			return err
		}
		t.curves, t.accuracies = append(t.curves, curve), append(t.accuracies, accuracy)
	}
	return nil
}

func (b *bench) train(ctx context.Context, t *trial, seed uint64) (curve []float64, accuracy float64, err error) {
	o, err := train.Named(t.optimiser, t.rate)
	if err != nil {
		return nil, 0, err
	}
	trainer := &train.Trainer{Build: mlp, Optimiser: o, Seed: seed, Workers: 1}
	defer trainer.Close()
	source := data.Shuffled(b.fit, batch, seed)
	perEpoch := source.Batches()
	curve = make([]float64, b.epochs)
	err = trainer.Fit(ctx, train.Plan{
		Data: source, Epochs: b.epochs, Rate: t.schedule.course(t.rate, b.epochs*perEpoch),
		Observers: []train.Observer{train.ObserverFunc(func(e train.Event) error {
			if e.Kind == train.Stepped {
				curve[(e.Step-1)/perEpoch] += e.Loss / float64(perEpoch)
			}
			return nil
		})},
	})
	if diverged := new(train.Diverged); errors.As(err, &diverged) {
		for e := diverged.Step / perEpoch; e < b.epochs; e++ {
			curve[e] = math.Inf(1)
		}
		return curve, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	scores, err := trainer.Evaluate(ctx, data.InOrder(b.test, 0), metric.Accuracy("y"))
	accuracy, _ = scores.Get("accuracy")
	return curve, accuracy, err
}
