package page

import (
	"context"
	"fmt"
	"maps"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/viz"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// planned is a drawing without its overlay. Training changes nothing of it but the numbers that are
// fed.
type planned struct {
	of     *variant
	drawn  string // how
	fed    map[*graph.Node]float64
	plan   *viz.Plan
	boxes  [][]*graph.Node // the nodes of each; see [viz.Contents]
	layout *figure.Layout
	stills stills
}

// plan returns the drawing of a variant. The last one is kept.
func (d *document) plan(ctx context.Context, v *variant, q drawing) (*planned, error) {
	fed, err := d.fedTo(v, q.step)
	if err != nil {
		return nil, err
	}
	drawn := fmt.Sprint(q.level, q.gradients, q.open, q.closed)
	if p := d.planned; p != nil && p.of == v && p.drawn == drawn && maps.Equal(p.fed, fed) {
		return p, nil
	}
	opened, err := d.opened(ctx, v, q)
	if err != nil {
		return nil, err
	}
	p := &planned{of: v, drawn: drawn, fed: fed, stills: stills{}}
	if p.plan, err = viz.NewPlan(ctx, v.drawn(q.gradients), append(opened, viz.At(q.level), viz.Fed(fed), viz.DenseAbove(-1))...); err != nil { // the window moves over a large drawing
		return nil, err
	}
	p.boxes = p.plan.Contents()
	if p.layout, err = p.plan.Figure(nil, "").Layout(ctx); err != nil {
		return nil, err
	}
	d.planned = p
	return p, nil
}

// fedTo returns the numbers that a step feeds to those inputs with a default that a drawing of the
// variant shows. The rate of training is in no drawing, and may be another in every step.
func (d *document) fedTo(v *variant, step int) (map[*graph.Node]float64, error) {
	fed, err := d.session.feeder.scalarsAt(step, v.graph())
	maps.DeleteFunc(fed, func(n *graph.Node, _ float64) bool { return v.byID[n.ID()] != n })
	return fed, err
}
