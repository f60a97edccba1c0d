package randgraph

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// Wide makes a graph as [New] does, of smaller arrays and more kinds: arrays of up to
// six axes, with names or without, many of size 1; integers; and derivatives to second
// order, forward and back, of several losses that share leaves and nodes. Which of all
// that is among the Results is random: of most losses only derivatives are.
func Wide(seed uint64, size int, dt graph.DType) *Model {
	m := newMaker(seed, size, dt)
	m.wide, m.ranks, m.most, m.bound = true, 6, 96, map[*graph.Node]int{}
	m.grow(seed, size, slices.Concat(productions, []production{integer, integer, integer, integer, number, picked}))
	m.derive()
	return m.Model
}

// anySizes has all names that an axis of a wide graph may have, so that equal names are
// of equal size.
var anySizes = []graph.Axis{
	graph.Ax("i", 3), graph.Ax("j", 3), graph.Ax("d", 4), graph.Ax("b", 2), graph.Ax("u", 1), graph.Ax("v", 1), graph.Ax("e", 2),
	graph.Ax("k", 5),
}

// anyAxes are none to six different axes in any order, of no more elements in all than
// leave room for others: all with names, none, or some.
func (m *maker) anyAxes() []graph.Axis {
	var out []graph.Axis
	n, rank, names := 1, m.rnd.IntN(7), m.rnd.IntN(3)
	for _, k := range m.rnd.Perm(len(anySizes)) {
		a := anySizes[k]
		if len(out) == rank || n*a.Size > m.most/2 {
			continue
		}
		n *= a.Size
		if names == 1 || names == 2 && m.rnd.IntN(2) == 0 {
			a.Name = ""
		}
		out = append(out, a)
	}
	return out
}

// derive differentiates.
func (m *maker) derive() {
	losses := []*graph.Node{m.Loss}
	for range 1 + m.rnd.IntN(3) {
		losses = append(losses, m.side())
	}
	var all []*graph.Node
	updated := map[*graph.Node]bool{}
	for range 1 + m.rnd.IntN(3) {
		loss, by := m.pick(losses), m.by()
		d := grad.OrZero(loss, by...)
		all = append(all, d...)
		switch m.rnd.IntN(5) {
		case 0: // the second order, of a square
			all = append(all, grad.OrZero(ops.Mean(ops.Square(m.pick(d))), m.by()...)...)
		case 1: // and of a sum of products, whose derivatives are leaves again in part
			all = append(all, grad.OrZero(m.dot(m.pick(d), m.pick(m.apart)), m.by()...)...)
		case 2: // a product of the second derivatives with a direction
			all = append(all, grad.JVP(d, by, m.directions(by))...)
		case 3:
			y := append([]*graph.Node{m.pick(losses)}, m.pick(m.floats))
			x := m.by()
			all = append(all, grad.JVP(y, x, m.directions(x))...)
		}
		for i, w := range by {
			if w.Role() == graph.RoleParam && !updated[w] {
				updated[w] = true
				m.Step = append(m.Step, m.Graph.Assign(w, ops.Sub(w, ops.Scale(d[i], 0.125))))
			}
		}
	}
	for _, n := range slices.Concat(all, m.Outputs, losses) {
		if m.rnd.IntN(3) > 0 && !slices.Contains(losses, n) || m.rnd.IntN(5) == 0 {
			m.Results = append(m.Results, n)
		}
	}
	if len(m.Results) == 0 {
		m.Results = all[:1]
	}
}

// side is another loss.
func (m *maker) side() *graph.Node {
	switch m.rnd.IntN(4) {
	case 0: // derived by one factor it is the other
		return m.dot(m.pick(m.apart), m.pick(m.apart))
	case 1:
		return m.dot(m.pick(m.floats), m.pick(m.apart))
	case 2:
		x, g := ops.Mean(m.pick(m.floats)), m.Graph
		return ops.Add(x, ops.Mean(m.leaf(g.Param(fmt.Sprintf("late%d", g.Len()), m.dt, m.axes()...))))
	}
	return ops.Mean(ops.Square(m.pick(m.floats)))
}

// dot is Σ a·b.
func (m *maker) dot(a, b *graph.Node) *graph.Node { return ops.Sum(ops.Mul(m.meet(a, b))) }

// by are one to three different nodes to differentiate by: leaves, mostly.
func (m *maker) by() []*graph.Node {
	var out []*graph.Node
	for range 1 + m.rnd.IntN(3) {
		x := m.pick(m.Params)
		switch m.rnd.IntN(4) {
		case 0:
			x = m.pick(m.apart)
		case 1:
			x = m.pick(m.floats)
		}
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// directions are arrays of the types of given nodes: a constant, another node, or the node itself.
func (m *maker) directions(of []*graph.Node) []*graph.Node {
	out := make([]*graph.Node, len(of))
	for i, x := range of {
		data := make([]float64, x.Shape().Len())
		for k := range data {
			data[k] = float64(m.rnd.IntN(33)-16) / 16
		}
		out[i] = m.Graph.Constant(m.dt, data, x.Shape().Axes()...)
		if y := m.pick(m.floats); y.Type() == x.Type() && m.rnd.IntN(2) == 0 {
			out[i] = y
		}
	}
	return out
}
