package page

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// step returns the step of training that is asked for, and feeds its rate.
func (d *document) step(f *feeder) (graph.Step, error) {
	g := d.model.Graph
	if r := f.gone; r != nil {
		d.asked.Optimiser = r.Optimiser.Name()
		if n := r.Optimiser.Rate(g); n != nil {
			d.asked.Rate, _ = n.Default()
		}
		return r.Step, nil
	}
	var rate schedule
	var err error
	if d.asked.Schedule != "" {
		if rate, err = readRate(d.asked.Schedule); err != nil {
			return nil, err
		}
		d.asked.Rate = rate.at(0)
	}
	optimiser, err := d.optimiser(f.table)
	if err != nil {
		return nil, err
	}
	step := lab.TrainingStep(d.model, optimiser)
	switch n := optimiser.Rate(g); {
	case n == nil:
	case d.asked.Schedule != "":
		f.rate, f.courses[n] = n, rate
	case d.asked.Rate == 0:
		d.asked.Rate, _ = n.Default()
	}
	return step, nil
}

// optimiser returns the optimiser that is asked for, or else that of the model, or else Adam at a
// usual rate.
func (d *document) optimiser(table *data.Table) (train.Optimiser, error) {
	if !(d.asked.Rate >= 0) {
		return train.Optimiser{}, badf("rate %v: want a positive number", d.asked.Rate)
	}
	own, _, err := lab.Config{AsNotes: d.asked.AsNotes, Table: table}.Own(d.model)
	if err != nil {
		return own, err
	}
	if !own.IsZero() && (d.asked.Optimiser == "" || d.asked.Optimiser == own.Name()) {
		if d.asked.Optimiser = own.Name(); d.asked.Rate > 0 {
			own = own.WithRate(d.asked.Rate)
		}
		return own, nil
	}
	if d.asked.Optimiser == "" {
		d.asked.Optimiser = "adam"
	}
	if d.asked.Rate == 0 {
		d.asked.Rate = 0.01
		if table != nil {
			d.asked.Rate = lab.DefaultRate(table)
		}
	}
	o, err := train.Named(d.asked.Optimiser, d.asked.Rate)
	if err != nil {
		return o, badf("optimiser %w", err)
	}
	if o.Searches() {
		return o, badf("optimiser %s finds the length of each step by a line search, and the page walks through the step alone: choose another, or use tapestry train", o.Name())
	}
	return o, nil
}

// optimisers answers with the names of the optimisers whose training is the program of their step.
func (s *Service) optimisers(*request) (any, error) {
	return slices.DeleteFunc(train.Names(), func(name string) bool {
		o, err := train.Named(name, 1)
		return err != nil || o.Searches()
	}), nil
}
