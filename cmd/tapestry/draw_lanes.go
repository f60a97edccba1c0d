package main

import (
	"fmt"
	"maps"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/fit"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/ops"
)

// laneOf returns the model for the rows of the first of so many lanes of its batch, and which part of
// the rows these are.
func laneOf(m *builders.Model, lanes int) (*builders.Model, float64, error) {
	if err := lab.Divisible(m, fit.Nets(m)); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", m.Builder.Name, err)
	}
	rows := lab.RowsOf(m)
	own := (rows + lanes - 1) / lanes
	settings := maps.Clone(m.Settings)
	settings[fit.RowSetting(m)] = float64(own)
	lane, err := m.Builder.Build(settings, m.Loss.DType())
	return lane, float64(own) / float64(rows), err
}

// summed returns the sums over lanes of a model's loss, each lane's by its part of the rows, of its
// derivatives by some nodes, which an optimiser is given, and of what the model assigns itself.
func summed(m *builders.Model, part float64, wrt []*graph.Node) []*graph.Node {
	var weight, loss *graph.Node
	var roots []*graph.Node
	by := func(x *graph.Node, make func()) { m.Graph.During(x.First(), graph.Origin{}, make) } // or its place were here
	by(m.Loss, func() {
		weight = m.Graph.Scalar("weight", part, m.Loss.DType())
		loss = ops.Mul(weight, m.Loss)
		roots = append(roots, ops.SumRanks(loss))
	})
	for _, u := range m.Step {
		by(u.Value, func() { roots = append(roots, ops.SumRanks(ops.Mul(weight, u.Value))) })
	}
	if len(wrt) > 0 {
		for _, d := range grad.Of(loss, wrt...) {
			by(d, func() { roots = append(roots, ops.SumRanks(d)) })
		}
	}
	return roots
}
