package main

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/lab/geometry"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/viz/report"
)

// Gradients of models are compared along a training of each if that is a small part of all
// trainings, and otherwise where they start; and not at all if a model is large.
const (
	seedsForWays = 5
	mostCompared = 3000 // nodes
)

// gradients adds to a page how the gradients differ of the pairs of models that learn the same task
// and have the same parameters. All are taken on the first batch.
func (c *comparison) gradients(ctx context.Context, plan lab.Config, variants []lab.Variant, res *lab.Comparison, p *report.Page) error {
	if c.starts != "" {
		return nil // a task starts as its model does
	}
	for _, pair := range c.pairs(len(variants)) {
		a, b := res.Variants[pair[0]], res.Variants[pair[1]]
		if a.Task != b.Task || len(graph.Reachable(a.Model.Loss))+len(graph.Reachable(b.Model.Loss)) > mostCompared {
			continue
		}
		g, err := besideGradients(ctx, plan, variants, res, pair)
		if err != nil {
			return err
		}
		if g != nil {
			p.Gradients = append(p.Gradients, *g)
		}
	}
	return nil
}

// besideGradients compares the gradients of two variants; nil if their parameters or inputs differ.
func besideGradients(ctx context.Context, plan lab.Config, variants []lab.Variant, res *lab.Comparison, pair [2]int) (*report.Gradients, error) {
	var ways []way
	var all []geometry.Stop
	sites := make([]geometry.Site, len(variants))
	for _, v := range pair {
		m, err := variants[v].Build(graph.F64)
		if err != nil {
			return nil, err
		}
		sites[v] = geometry.Site{Name: res.Variants[v].Name, Model: m, Store: tape.NewStore(m.Graph)}
	}
	if !sites[pair[0]].SameParameters(sites[pair[1]]) {
		return nil, nil
	}
	for k, v := range pair {
		m := sites[v].Model
		setting := res.Best(v)
		best := plan
		optimiser, rate := res.OptimiserOf(v, setting)
		best.Optimisers, best.Rate, best.Rates = []train.Optimiser{optimiser}, rate, nil
		best.Starts, best.Probes, best.Level, best.Workers, best.Restarts, best.DType = nil, nil, 0, 0, 0, graph.InvalidDType
		best.Steps = res.Config.Steps
		if plan.Table != nil {
			best.DType = graph.F64
		}
		if m.Centres() == nil { // which a task of a clustering alone takes
			best.K, best.Start, best.Given, best.Batch, best.Find = 0, 0, nil, 0, nil
		}
		cell := middleCell(res.Cells(v, setting))
		task, err := best.Task(m, cell.Seed)
		if err != nil {
			return nil, err
		}
		feed, err := task.Feed(0)
		if err != nil {
			return nil, err
		}
		if k == 1 {
			feed = fedAs(sites[pair[0]], m) // one batch for both
		}
		if feed == nil {
			return nil, nil
		}
		sites[v].Feed, sites[v].Store = feed, task.Store.Clone()
		steps := []int{0}
		if res.Config.Seeds >= seedsForWays && cell.Diverged == 0 {
			steps = slices.Compact([]int{0, best.Steps / 4, best.Steps / 2, best.Steps})
		} else if k == 1 {
			continue // the start is the same
		}
		w := way{of: v, seed: cell.Seed, steps: steps}
		if w.stops, err = followed(ctx, task, sites[v].Parameters(), steps); err != nil {
			return nil, err
		}
		ways, all = append(ways, w), append(all, w.stops...)
	}
	x, err := newSum(ctx, sites, pair[0], pair[1], all)
	if x == nil || err != nil {
		return nil, err
	}
	names := [2]string{variants[x.whole].Name, variants[x.other].Name}
	return x.page(names[0], names[1], ways, func(at int) float64 {
		if γ, fed := all[at].Scalars["γ"]; fed {
			return γ
		}
		return math.NaN()
	}), nil
}

// middleCell returns the training of median loss at the end, the lower of two.
func middleCell(cells []lab.Cell) lab.Cell {
	order := slices.Clone(cells)
	slices.SortStableFunc(order, func(a, b lab.Cell) int { return cmp.Compare(a.Measures[0], b.Measures[0]) })
	return order[(len(order)-1)/2]
}

// fedAs returns the feed of a site for another model with the same inputs, by path and type; nil if
// an input differs.
func fedAs(s geometry.Site, m *builders.Model) tape.Feed {
	theirs := map[string]*graph.Node{}
	for n := range s.Feed {
		theirs[n.Path()] = n
	}
	out := tape.Feed{}
	for _, n := range graph.Reachable(m.Loss) {
		if n.Role() != graph.RoleInput {
			continue
		}
		from := theirs[n.Path()]
		if _, has := n.Default(); from == nil && has {
			continue
		}
		if from == nil || from.Type() != n.Type() {
			return nil
		}
		out[n] = s.Feed[from]
	}
	return out
}

// followed runs a task, and returns its parameters and what its scalars are fed at some steps.
func followed(ctx context.Context, task lab.Task, params []*graph.Node, steps []int) ([]geometry.Stop, error) {
	prog, err := tape.CompileContext(ctx, task.Model.Graph, tape.Fetch(task.Model.Loss), tape.Do(task.Step))
	if err != nil {
		return nil, err
	}
	vm, err := prog.NewVM(task.Store)
	if err != nil {
		return nil, err
	}
	defer vm.Close()
	var out []geometry.Stop
	for step := 0; ; step++ {
		feed, err := task.Feed(step)
		if err != nil {
			return nil, err
		}
		if slices.Contains(steps, step) {
			at := geometry.Stop{Scalars: map[string]float64{}}
			for n, t := range feed {
				if a, err := tape.ArrayOf(n.Type(), t); err == nil && n.Rank() == 0 && n.DType().IsFloat() {
					at.Scalars[n.Path()] = a.At(0)
				}
			}
			for _, p := range params {
				t, err := task.Store.Get(p.Path())
				if err != nil {
					return nil, err
				}
				a, err := tape.ArrayOf(p.Type(), t)
				if err != nil {
					return nil, err
				}
				for i := range p.Shape().Len() {
					at.At = append(at.At, a.At(i))
				}
			}
			if out = append(out, at); len(out) == len(steps) {
				return out, nil
			}
		}
		if err := vm.Run(ctx, feed); err != nil {
			return nil, err
		}
	}
}
