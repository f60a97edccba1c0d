package look

import (
	"context"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// Layers describes how values and gradients go through the layers of a deep model.
type Layers struct {
	Names    []string
	Steps    []int       // the moments: start, middle and end of the training
	Values   [][]float64 // by moment and layer: the root mean square of what the weights make
	Gradient [][]float64 // of the derivative of the loss by that; nil for a model without a loss
	Moved    []float64   // by layer: the change of the weights in the training, relative to them at the start
}

// leastLayers is the number of layers from which a model is deep.
const leastLayers = 3

// Layers returns the statistics of each layer on the first batch; nil for a model that has no three
// of them in a row. A layer is a product with weights: a matrix product or a convolution with a
// parameter. Those inside loops are not among them.
func (r *Run) Layers(ctx context.Context) (*Layers, error) {
	if ok, err := r.measurable(); !ok {
		return nil, err
	}
	var layers, params []*graph.Node
	for _, n := range r.nodes() {
		if p := weightsOf(n); p != nil {
			layers, params = append(layers, n), append(params, p)
		}
	}
	if depth(layers) < leastLayers {
		return nil, nil
	}
	out := &Layers{}
	for _, n := range layers {
		name := n.First().Scope
		if name == "" {
			name = place(n)
		}
		out.Names = append(out.Names, name)
	}
	unique(out.Names)
	roots := slices.Clone(layers)
	if r.Model.Loss != nil {
		roots = append(roots, r.Model.Loss)
	}
	m := r.copied(nil, roots...)
	var fetch, gradients []*graph.Node
	for _, n := range layers {
		fetch = append(fetch, m.copies[n])
	}
	if r.Model.Loss != nil {
		gradients = grad.OrZero(m.copies[r.Model.Loss], fetch...)
	}
	for _, at := range r.middle() {
		v, err := m.record(ctx, at, m.feed(r.Feeds[0]), slices.Concat(fetch, gradients)...)
		if err != nil {
			return nil, err
		}
		out.Steps = append(out.Steps, at.Step)
		out.Values = append(out.Values, squares(v[:len(layers)]))
		if gradients != nil {
			out.Gradient = append(out.Gradient, squares(v[len(layers):]))
		}
	}
	for _, p := range params {
		from, err := r.Start().stored(p)
		if err != nil {
			return nil, err
		}
		to, err := r.End().stored(p)
		if err != nil {
			return nil, err
		}
		change, size := 0.0, 0.0
		for i := range from {
			change += (to[i] - from[i]) * (to[i] - from[i])
			size += from[i] * from[i]
		}
		out.Moved = append(out.Moved, math.Sqrt(change/size))
	}
	return out, nil
}

// depth returns the largest number of layers on the way to one another.
func depth(layers []*graph.Node) int {
	most, to := 0, map[*graph.Node]int{}
	for _, n := range graph.Reachable(layers...) {
		for _, in := range n.Inputs() {
			to[n] = max(to[n], to[in])
		}
		if slices.Contains(layers, n) {
			to[n]++
		}
		most = max(most, to[n])
	}
	return most
}

// weightsOf returns the parameter that a node is a product with; nil for another node.
func weightsOf(n *graph.Node) *graph.Node {
	switch match.KindOf(n) {
	case match.MatMul, match.Conv, match.ConvInput:
		for i := n.NumIn() - 1; i >= 0; i-- {
			if root, _ := match.Laid(n.In(i)); root.Role() == graph.RoleParam && root.Rank() > 1 {
				return root
			}
		}
	}
	return nil
}

// squares returns the root mean square of each of several arrays.
func squares(arrays [][]float64) []float64 {
	out := make([]float64, len(arrays))
	for i, a := range arrays {
		for _, v := range a {
			out[i] += v * v / float64(len(a))
		}
		out[i] = math.Sqrt(out[i])
	}
	return out
}
