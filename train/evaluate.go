package train

import (
	"context"
	"errors"
	"fmt"

	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"gorgonia.org/tensor"
)

// Evaluate measures the evaluating net on one epoch of a source, whose position it restores. The
// first score is "loss", the mean over all rows, if the model has a loss; then come the metrics of
// its output, in their order. Labels are refused as by Fit. The trainer need not have trained:
// values that the store lacks are fresh ones.
//
// A net that draws random numbers while evaluating draws anew for each batch and in each call. That
// does not change the training by a bit: see package tape, "Random numbers".
//
// With several ranks all of them call it, on the same data, and get the same scores, with the bits
// that one rank would get: each rank computes every so many-th batch, and passes loss and output to
// the others, which add them up in the order of the batches. Each rank reads all batches, and holds
// as many of them and of their outputs as there are ranks; without metrics only losses are passed.
func (t *Trainer) Evaluate(ctx context.Context, source data.Source, metrics ...metric.Metric) (metric.Scores, error) {
	e := &evaluation{metrics: metrics}
	for _, m := range metrics {
		if m == nil {
			return nil, errors.New("evaluate: a metric is nil")
		}
		m.Reset()
	}
	var err error
	if t != nil && t.several() {
		err = t.evaluateInTurns(ctx, source, e)
	} else {
		err = t.each(ctx, "evaluate", size{}, source, func(p *program, b data.Batch) error {
			r, err := e.read(p)
			if err != nil {
				return err
			}
			return e.add(b, r)
		})
	}
	if err != nil {
		return nil, err
	}
	return e.scores(), nil
}

// evaluation accumulates what is measured on the batches of an epoch.
type evaluation struct {
	metrics []metric.Metric
	total   float64 // of the losses of all rows
	rows    int
	hasLoss bool
}

// result is what a run of the evaluating program gives.
type result struct {
	loss    float64
	hasLoss bool
	output  *tensor.Dense // nil where no metric takes it; valid until the next run
}

// read returns the result of the last run of a program.
func (e *evaluation) read(p *program) (r result, err error) {
	if p.net.Loss != nil {
		if r.loss, err = p.vm.Float(p.net.Loss); err != nil {
			return r, fmt.Errorf("evaluate: %w", err)
		}
		r.hasLoss = true
	}
	if len(e.metrics) > 0 {
		if p.net.Output == nil {
			return r, errors.New("evaluate: the model has no output to measure")
		}
		r.output, err = p.vm.Value(p.net.Output)
	}
	return r, err
}

// add adds the result for a batch.
func (e *evaluation) add(b data.Batch, r result) error {
	if r.hasLoss {
		e.total, e.hasLoss = e.total+float64(b.Rows)*r.loss, true
	}
	e.rows += b.Rows
	for _, m := range e.metrics {
		if err := m.Add(r.output, b); err != nil {
			return err
		}
	}
	return nil
}

// scores returns the loss and the values of the metrics.
func (e *evaluation) scores() (scores metric.Scores) {
	if e.hasLoss {
		scores = append(scores, metric.Score{Name: "loss", Value: e.total / float64(e.rows)})
	}
	for _, m := range e.metrics {
		scores = append(scores, metric.Score{Name: m.Name(), Value: m.Value()})
	}
	return scores
}

// Predict calls f with the evaluating net's output for each batch of one epoch of a source, whose
// position it restores. The output is valid until f returns. The loss is not computed, so the data
// need no labels.
//
// A net that keeps its dropout, or other noise, while evaluating draws anew for each batch and in
// each call. That is Monte-Carlo dropout (Gal and Ghahramani, 2016): the mean of the outputs of
// several calls is the prediction, and their variance tells its uncertainty. It does not change the
// training, as in [Trainer.Evaluate].
//
// It uses no other rank: one of several ranks may predict alone, and all that do get the same
// outputs.
func (t *Trainer) Predict(ctx context.Context, source data.Source, f func(b data.Batch, output *tensor.Dense) error) error {
	return t.each(ctx, "predict", size{mute: true}, source, func(p *program, b data.Batch) error {
		switch {
		case p.net.Output == nil:
			return errors.New("predict: the model has no output")
		case f == nil:
			return errors.New("predict: no function takes the output")
		}
		output, err := p.vm.Value(p.net.Output)
		if err != nil {
			return err
		}
		return f(b, output)
	})
}

// count copies the count of runs to the store that follows it.
func (t *Trainer) count() {
	if s := t.counts; s != nil && s.Seed() == t.store.Seed() && s.Step() == t.store.Step() {
		s.Resume(s.Seed(), s.Step(), t.store.Runs())
	}
}

// each runs the evaluating program for a size, with the rows of each batch in place of its own, on
// one epoch of a source. Errors begin with what, the caller's name.
func (t *Trainer) each(ctx context.Context, what string, s size, source data.Source, f func(p *program, b data.Batch) error) error {
	return t.epoch(ctx, what, source, func() error {
		for source.Position().Epoch == 0 {
			b, err := source.Next(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			p, err := t.evaluated(ctx, what, s, b)
			if err != nil {
				return err
			}
			if err := f(p, b); err != nil {
				return err
			}
		}
		return nil
	})
}

// evaluated returns the evaluating program for a size, with the rows of a batch in place of its
// own, after a run on that batch.
func (t *Trainer) evaluated(ctx context.Context, what string, s size, b data.Batch) (*program, error) {
	s.rows, s.sizes, s.mode = b.Rows, b.Sizes, Evaluating
	p, err := t.program(ctx, s)
	if err != nil {
		return nil, err
	}
	p.fill(b)
	if err := p.run(ctx, b); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return p, nil
}

// epoch calls f with a source at the beginning of its first epoch, and restores the position.
func (t *Trainer) epoch(ctx context.Context, what string, source data.Source, f func() error) (err error) {
	switch {
	case t == nil:
		return errNoTrainer
	case ctx == nil:
		return fmt.Errorf("%s: the context is nil", what)
	case source == nil:
		return fmt.Errorf("%s: no data", what)
	case data.Endless(source):
		return fmt.Errorf("%s: an epoch of the data never ends: want data.Drawn, whose epochs have a number of batches, or data.InOrder", what)
	}
	defer t.count()
	found := source.Position()
	defer func() {
		if lost := source.Seek(found); err == nil {
			err = lost
		}
	}()
	if err := source.Seek(data.Position{}); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return f()
}
