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
func (t *Trainer) Evaluate(ctx context.Context, source data.Source, metrics ...metric.Metric) (metric.Scores, error) {
	for _, m := range metrics {
		if m == nil {
			return nil, errors.New("evaluate: a metric is nil")
		}
		m.Reset()
	}
	total, rows, hasLoss := 0.0, 0, false
	err := t.each(ctx, "evaluate", size{}, source, func(p *program, b data.Batch) error {
		if p.net.Loss != nil {
			loss, err := p.vm.Float(p.net.Loss)
			if err != nil {
				return fmt.Errorf("evaluate: %w", err)
			}
			total, hasLoss = total+float64(b.Rows)*loss, true
		}
		rows += b.Rows
		if len(metrics) == 0 {
			return nil
		}
		if p.net.Output == nil {
			return errors.New("evaluate: the model has no output to measure")
		}
		output, err := p.vm.Value(p.net.Output)
		if err != nil {
			return err
		}
		for _, m := range metrics {
			if err := m.Add(output, b); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var scores metric.Scores
	if hasLoss {
		scores = append(scores, metric.Score{Name: "loss", Value: total / float64(rows)})
	}
	for _, m := range metrics {
		scores = append(scores, metric.Score{Name: m.Name(), Value: m.Value()})
	}
	return scores, nil
}

// Predict calls f with the evaluating net's output for each batch of one epoch of a source, whose
// position it restores. The output is valid until f returns. The loss is not computed, so the data
// need no labels.
//
// A net that keeps its dropout, or other noise, while evaluating draws anew for each batch and in
// each call. That is Monte-Carlo dropout (Gal and Ghahramani, 2016): the mean of the outputs of
// several calls is the prediction, and their variance tells its uncertainty. It does not change the
// training, as in [Trainer.Evaluate].
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
func (t *Trainer) each(ctx context.Context, what string, s size, source data.Source, f func(p *program, b data.Batch) error) (err error) {
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
	for source.Position().Epoch == 0 {
		b, err := source.Next(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		s.rows, s.sizes, s.mode = b.Rows, b.Sizes, Evaluating
		p, err := t.program(ctx, s)
		if err != nil {
			return err
		}
		p.fill(b)
		if err := p.run(ctx, b); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if err := f(p, b); err != nil {
			return err
		}
	}
	return nil
}
