package page

import (
	"slices"
	"strconv"

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
	if v, isNumber := strconv.ParseFloat(d.asked.Schedule, 64); isNumber == nil && v > 0 && f.table != nil { // from there it falls
		d.asked.Rate, d.asked.Schedule = v, ""
	}
	if d.asked.Schedule != "" {
		if rate, err = readRate(d.asked.Schedule, f.usualSteps()); err != nil {
			return nil, err
		}
		d.asked.Rate = rate.at(0)
	}
	optimiser, own, err := d.optimiser(f.table)
	if err != nil {
		return nil, err
	}
	step := lab.TrainingStep(d.model, optimiser)
	n := optimiser.Rate(g)
	if n == nil {
		return step, nil
	}
	if d.asked.Rate == 0 {
		d.asked.Rate, _ = n.Default()
	}
	switch {
	case d.asked.Schedule != "":
	case !own.IsZero():
		rate = schedule{Schedule: own, over: f.usualSteps(), usual: true}
	case f.table != nil && !d.asked.AsNotes: // as the commands train a clustering
		start, _ := n.Default()
		rate = schedule{Schedule: lab.Falling(start, lab.ClusteringSteps), over: lab.ClusteringSteps, usual: true}
	}
	if !rate.IsZero() {
		f.rate, f.courses[n] = n, rate
	}
	return step, nil
}

// optimiser returns the optimiser that is asked for, or else that of the model, or else Adam at a
// usual rate. The schedule is that of the model's own rate, zero where this is constant or another
// rate is asked for.
func (d *document) optimiser(table *data.Table) (o train.Optimiser, rate train.Schedule, err error) {
	if !(d.asked.Rate >= 0) {
		return o, rate, badf("rate %v: want a positive number", d.asked.Rate)
	}
	own, ownRate, err := lab.Config{AsNotes: d.asked.AsNotes, Table: table}.Own(d.model)
	if err != nil {
		return own, rate, err
	}
	if !own.IsZero() && (d.asked.Optimiser == "" || d.asked.Optimiser == own.Name()) {
		if d.asked.Optimiser = own.Name(); d.asked.Rate > 0 {
			return own.WithRate(d.asked.Rate), rate, nil
		}
		return own, ownRate, nil
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
	if o, err = train.Named(d.asked.Optimiser, d.asked.Rate); err != nil {
		return o, rate, badf("optimiser %w", err)
	}
	if o.Searches() {
		return o, rate, badf("optimiser %s finds the length of each step by a line search, and the page walks through the step alone: choose another, or use tapestry train", o.Name())
	}
	return o, rate, nil
}

// optimisers answers with the names of the optimisers whose training is the program of their step.
func (s *Service) optimisers(*request) (any, error) {
	return slices.DeleteFunc(train.Names(), func(name string) bool {
		o, err := train.Named(name, 1)
		return err != nil || o.Searches()
	}), nil
}
