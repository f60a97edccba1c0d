package look

import (
	"context"
	"slices"
	"strconv"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// Units says how often the units of one layer of ReLUs are active.
type Units struct {
	Name    string      // where the layer stands in the model
	Steps   []int       // the moments: start, middle and end of the training
	Active  [][]float64 // by moment and unit: the share of the inputs at which it is above 0
	Samples int         // inputs that each share is of
	relu    *graph.Node
	axis    int // of the units
}

// Dead counts the units that are active on none of the inputs, at moment i.
func (u Units) Dead(i int) int {
	if i < 0 || i >= len(u.Active) {
		return 0
	}
	n := 0
	for _, share := range u.Active[i] {
		if share == 0 {
			n++
		}
	}
	return n
}

// Units returns, for every layer of ReLUs, the share of the inputs at which each unit is active. A
// unit is an element along the axis that the weights before the ReLU have, such as a channel; every
// place of every example is an input of it. ReLUs inside loops are not among them.
func (r *Run) Units(ctx context.Context) ([]Units, error) {
	if ok, err := r.measurable(); !ok {
		return nil, err
	}
	var all []Units
	var pre []*graph.Node
	for _, n := range r.nodes() {
		if x := rectified(n); x != nil && n.Rank() > 0 {
			all, pre = append(all, Units{Name: r.named(n), relu: n, axis: unitAxis(x)}), append(pre, x)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	names := make([]string, len(all))
	for i, u := range all {
		names[i] = u.Name
	}
	unique(names)
	m := r.copied(nil, pre...)
	defer m.close()
	fetch := make([]*graph.Node, len(pre))
	for i, x := range pre {
		all[i].Name, fetch[i] = names[i], m.copies[x]
	}
	for _, at := range r.middle() {
		m.close()
		if err := m.compile(ctx, at, fetch...); err != nil {
			return nil, err
		}
		counts := make([][]int, len(all))
		for i, u := range all {
			counts[i], all[i].Samples = make([]int, u.relu.Dim(u.axis)), 0
		}
		for _, f := range r.Feeds {
			values, err := m.values(ctx, m.feed(f), fetch...)
			if err != nil {
				return nil, err
			}
			for i := range all {
				all[i].count(values[i], counts[i])
			}
		}
		for i := range all {
			shares := make([]float64, len(counts[i]))
			for k, c := range counts[i] {
				shares[k] = float64(c) / float64(all[i].Samples)
			}
			all[i].Steps, all[i].Active = append(all[i].Steps, at.Step), append(all[i].Active, shares)
		}
	}
	return all, nil
}

// count adds the values before the ReLU that are above 0 to the counts of their units.
func (u *Units) count(values []float64, counts []int) {
	after := 1
	for a := u.axis + 1; a < u.relu.Rank(); a++ {
		after *= u.relu.Dim(a)
	}
	for p, v := range values {
		if v > 0 {
			counts[p/after%len(counts)]++
		}
	}
	u.Samples += len(values) / len(counts)
}

// rectified returns x of max(x, 0), nil for another node.
func rectified(n *graph.Node) *graph.Node {
	switch match.KindOf(n) {
	case match.Relu:
		return n.In(0)
	case match.Maximum:
		for i := range 2 {
			if v, ok := match.Literal(n.In(i)); ok && v == 0 {
				return n.In(1 - i)
			}
		}
	}
	return nil
}

// unitAxis returns the axis of a node along which the parameters lie that it is computed from: the
// last axis that bears the name and the size of one of theirs, otherwise the last.
func unitAxis(x *graph.Node) int {
	var params []*graph.Node
	seen := map[*graph.Node]bool{}
	var walk func(n *graph.Node)
	walk = func(n *graph.Node) {
		if seen[n] || n != x && rectified(n) != nil {
			return
		}
		seen[n] = true
		if n.Role() == graph.RoleParam {
			params = append(params, n)
		}
		for _, in := range n.Inputs() {
			walk(in)
		}
	}
	walk(x)
	for a := x.Rank() - 1; a >= 0; a-- {
		axis := x.Shape().Axis(a)
		if axis.Name != "" && slices.ContainsFunc(params, func(p *graph.Node) bool { return slices.Contains(p.Shape().Axes(), axis) }) {
			return a
		}
	}
	return x.Rank() - 1
}

func itoa(n int) string { return strconv.Itoa(n) }
