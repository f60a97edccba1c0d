package main

import (
	"context"
	"fmt"
	"maps"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/fit"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	inlanes "github.com/tapestry-ml/tapestry/internal/lanes"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
)

// laneStep returns the loss and the updated values of a step in lanes, in the graph that training
// makes of it.
func laneStep(ctx context.Context, m *builders.Model, lanes int, o train.Optimiser) ([]*graph.Node, error) {
	step, _, err := (&laned{lanes: lanes, ranks: 1}).step(ctx, m, o, &profiling{}, 0)
	if err != nil {
		return nil, err
	}
	return stepRoots(step.Loss, step.Step), nil
}

// laneOf returns the model for the rows of the first of so many lanes of its batch.
func laneOf(m *builders.Model, lanes int) (*builders.Model, error) {
	if err := lab.Divisible(m, fit.Nets(m)); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Builder.Name, err)
	}
	settings := maps.Clone(m.Settings)
	settings[fit.RowSetting(m)] = float64(rowsOfLane(m, lanes))
	return m.Builder.Build(settings, m.Loss.DType())
}

// rowsOfLane returns how many rows of a model's batch the first of so many lanes has.
func rowsOfLane(m *builders.Model, lanes int) int { return (lab.RowsOf(m) + lanes - 1) / lanes }

// laneWeight returns the input of a lane's part of the rows in the graph of some nodes, with that of
// the first lane.
func laneWeight(m *builders.Model, lanes int, roots []*graph.Node) map[*graph.Node]float64 {
	weight := roots[0].Graph().Lookup(inlanes.WeightPath)
	return map[*graph.Node]float64{weight: float64(rowsOfLane(m, lanes)) / float64(lab.RowsOf(m))}
}

// summed returns the sums over lanes of a model's loss, of its derivatives by what all lanes have, and
// of what the model assigns itself, as training makes them, and derivatives by what is a lane's own.
func summed(m *builders.Model, wrt []*graph.Node) []*graph.Node {
	loss := inlanes.Weigh(m.Loss)
	roots := []*graph.Node{loss.Sum}
	for _, u := range m.Step {
		roots = append(roots, loss.Mean(u))
	}
	if len(wrt) == 0 {
		return roots
	}
	rows := func(in *graph.Node) bool { return in.Rank() > 0 }
	own := inlanes.Own(rows, m.Loss)
	for i, d := range grad.Of(loss.Own, wrt...) {
		if !own[wrt[i]] {
			d = inlanes.Sum(wrt[i], d)
		}
		roots = append(roots, d)
	}
	return roots
}
