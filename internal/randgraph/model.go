package randgraph

import (
	"fmt"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// Model is a random graph with what is needed to run it.
type Model struct {
	Graph   *graph.Graph
	Loss    *graph.Node   // a scalar that depends on every parameter
	Params  []*graph.Node // of type dt
	Outputs []*graph.Node // some nodes between, of any element type
	Step    graph.Step    // updates of the states, and with Results of parameters
	Results []*graph.Node // of [Wide]: what to compute, also derivatives of losses
	Values  graph.Values  // of the inputs, parameters and states
}

// maker holds the nodes made so far, sorted by what may be done with them.
type maker struct {
	*Model
	rnd    *rand.Rand
	dt     graph.DType
	floats []*graph.Node // anything smooth
	apart  []*graph.Node // leaves and their layouts: kinks and jumps are safe here
	others []*graph.Node // masks and indices
	grid   []int         // values of leaves not given yet, in steps of 1/512
	ranks  int           // axes at most, beside some that an operation adds
	most   int           // elements of an array, about: keeps the graphs quick to evaluate

	wide  bool
	ints  []*graph.Node       // integers
	bound map[*graph.Node]int // what their magnitudes do not exceed
}

// New makes a graph of about size operations beside its leaves, with floats of
// type dt (F32 or F64).
func New(seed uint64, size int, dt graph.DType) *Model {
	m := newMaker(seed, size, dt)
	m.grow(seed, size, productions)
	return m.Model
}

func newMaker(seed uint64, size int, dt graph.DType) *maker {
	return &maker{
		Model: &Model{Graph: graph.New(fmt.Sprintf("random %d", seed)), Values: graph.Values{}},
		rnd:   rand.New(rand.NewPCG(seed, uint64(size))), dt: dt, ranks: 4, most: 600,
	}
}

// grow makes the leaves, about size operations, the loss and the outputs.
func (m *maker) grow(seed uint64, size int, productions []production) {
	m.grid = m.rnd.Perm(1024)
	m.leaves()
	for k := range size {
		name := fmt.Sprintf("n%d", m.Graph.Len())
		way := productions[m.rnd.IntN(len(productions))]
		if m.loops(seed, k) {
			way = loop
		} else if m.controls(seed, k) {
			way = control
		}
		if m.solves(seed, k) {
			way = linear
		}
		switch y := way(m); {
		case y == nil:
		case y.DType() != m.dt:
			m.others = append(m.others, y.As(name))
		default:
			m.floats = append(m.floats, y.As(name))
		}
	}
	m.finish()
}

// axisSizes has equal sizes under different names, and an axis of size 1:
// permutations of equal axes and lost axes of size 1 are where layouts go wrong.
var axisSizes = []graph.Axis{
	graph.Ax("i", 3), graph.Ax("j", 3), graph.Ax("d", 4), graph.Ax("b", 2), graph.Ax("u", 1),
}

// leaves makes inputs, parameters and states; every graph has at least two
// parameters and a scalar input with a default.
func (m *maker) leaves() {
	g := m.Graph
	for k := range 2 + m.rnd.IntN(2) {
		m.Params = append(m.Params, m.leaf(g.Param(fmt.Sprintf("w%d", k), m.dt, m.axes()...)))
	}
	for k := range 2 + m.rnd.IntN(2) {
		m.leaf(g.Input(fmt.Sprintf("x%d", k), m.dt, m.axes()...))
	}
	m.leaf(g.Scalar("γ", 0.5, m.dt))
	if m.wide {
		m.integerLeaves()
	}
	defer g.Scope("carried")()
	for k := range m.rnd.IntN(3) {
		m.leaf(g.State(fmt.Sprintf("s%d", k), m.dt, m.axes()...))
	}
}

// leaf gives a leaf values of its own, far from all others' and from 0.
func (m *maker) leaf(n *graph.Node) *graph.Node {
	v := graph.NewValue(n.Type())
	for i := range v.Data {
		v.Data[i] = (float64(m.grid[0]) - 511.5) / 512
		m.grid = m.grid[1:]
	}
	m.Values[n] = v
	m.floats = append(m.floats, n)
	m.apart = append(m.apart, n)
	return n
}

// axes are one to three different axes in any order; a third of the time they
// have no names.
func (m *maker) axes() []graph.Axis {
	if m.wide {
		return m.anyAxes()
	}
	var out []graph.Axis
	for _, k := range m.rnd.Perm(len(axisSizes))[:1+m.rnd.IntN(3)] {
		out = append(out, axisSizes[k])
	}
	if m.rnd.IntN(3) == 0 {
		for i := range out {
			out[i].Name = ""
		}
	}
	return out
}

// finish makes the loss, of all parameters and of all that nothing else uses
// yet, the updates of the states, and the outputs.
func (m *maker) finish() {
	g := m.Graph
	used := map[*graph.Node]bool{}
	for _, n := range g.Nodes() {
		for _, x := range n.Inputs() {
			used[x] = true
		}
	}
	var terms []*graph.Node
	for _, p := range m.Params {
		terms = append(terms, ops.Mean(ops.Square(p)))
	}
	for _, n := range m.floats {
		if !used[n] && n.Role() == graph.RoleOp {
			terms = append(terms, ops.Mean(ops.Sin(n)))
		}
	}
	loss := terms[0]
	for _, t := range terms[1:] {
		loss = ops.Add(loss, t)
	}
	m.Loss = ops.Scale(loss, 1/float64(len(terms))).As("loss")
	for _, s := range g.Leaves(graph.RoleState) {
		v := ops.Mean(m.pick(m.floats))
		if t := m.pick(m.floats); t.Shape().SameSizes(s.Shape()) {
			v = ops.ReshapeTo(t, s.Shape())
		}
		next := ops.Add(ops.Scale(s, 0.5), ops.Scale(v, 0.5))
		m.Step = append(m.Step, g.Assign(s, next))
	}
	m.Outputs = append(m.Outputs, m.pick(m.floats), m.pick(m.floats), m.pick(m.apart))
	if len(m.others) > 0 {
		m.Outputs = append(m.Outputs, m.pick(m.others))
	}
}

func (m *maker) pick(list []*graph.Node) *graph.Node { return list[m.rnd.IntN(len(list))] }
