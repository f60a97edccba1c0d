package main

import (
	"context"
	"maps"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/viz"
)

// roots returns the nodes to draw with everything they depend on.
func (d *drawing) roots(ctx context.Context, m *builders.Model, level viz.Level) ([]*graph.Node, error) {
	roots, err := d.written(ctx, m)
	if err == nil {
		roots, err = asDrawn(ctx, roots, level)
	}
	if err != nil {
		return nil, err
	}
	if d.lanes != 0 {
		maps.Copy(d.fed, laneWeight(m, d.lanes, roots))
	}
	if d.loop != 0 {
		return loopRoots(m, roots, d.loop)
	}
	return roots, nil
}

// written returns the nodes to draw, as they are before the rewrite passes.
func (d *drawing) written(ctx context.Context, m *builders.Model) ([]*graph.Node, error) {
	if d.optimiser != "" {
		o, err := optimiser(d.optimiser, d.rate, d.keep.options()...)
		if err != nil {
			return nil, err
		}
		if d.lanes != 0 {
			return laneStep(ctx, m, d.lanes, o)
		}
		step, err := graphStep(m, o)
		return stepRoots(m.Loss, step), err
	}
	if d.lanes != 0 {
		var err error
		if m, err = laneOf(m, d.lanes); err != nil {
			return nil, err
		}
	}
	var wrt []*graph.Node
	if d.grad || len(d.wrt) > 0 {
		var err error
		if wrt, err = derivedBy(m, d.wrt); err != nil {
			return nil, err
		}
	}
	if d.lanes != 0 {
		return summed(m, wrt), nil
	}
	return drawnRoots(m, wrt), nil
}

// drawnRoots returns the nodes to draw with everything they depend on: the loss, or the output of
// a model without one, values that the model itself assigns, and the derivatives by wrt.
func drawnRoots(m *builders.Model, wrt []*graph.Node) []*graph.Node {
	roots := stepRoots(m.Result(), m.Step)
	if len(wrt) > 0 {
		roots = append(roots, grad.Of(m.Loss, wrt...)...)
	}
	return roots
}

// asDrawn returns the nodes that stand for the roots at a level: at level compiled, those of the
// rewritten graph.
func asDrawn(ctx context.Context, roots []*graph.Node, level viz.Level) ([]*graph.Node, error) {
	g := roots[0].Graph()
	if level != viz.Compiled {
		return roots, g.Err()
	}
	res, err := rewrite.RunContext(ctx, g, roots, rewrite.Passes()...)
	if err != nil {
		return nil, err
	}
	for i, n := range roots {
		roots[i] = res.Node(n)
	}
	return roots, nil
}

// diffModels compares two models, with their gradients if gradients is set. It does not change
// the graphs that training added to. Scalars that training feeds are drawn with their first and
// last value, if courses has them.
func diffModels(ctx context.Context, a, b *builders.Model, gradients bool, level viz.Level, fed func(*builders.Model) courses) (*viz.Difference, error) {
	drawn := courses{}
	var roots [2][]*graph.Node
	for i, m := range []*builders.Model{a, b} {
		fresh, err := m.Builder.Build(m.Settings, m.Result().DType())
		if err != nil {
			return nil, err
		}
		if fed != nil {
			maps.Copy(drawn, fed(fresh))
		}
		var wrt []*graph.Node
		if gradients {
			if wrt, err = derivedBy(fresh, nil); err != nil {
				return nil, err
			}
		}
		if roots[i], err = asDrawn(ctx, drawnRoots(fresh, wrt), level); err != nil {
			return nil, err
		}
	}
	return viz.DiffContext(ctx, roots[0], roots[1], viz.At(level), viz.FedFrom(drawn))
}
