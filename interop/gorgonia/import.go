package gorgonia

import (
	"errors"
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	G "gorgonia.org/gorgonia"
)

// ImportOption is an option of [Import].
type ImportOption func(*importer)

// Params says which variables are parameters; all others are inputs. Without it, and without
// [Inputs], those are parameters that gorgonia's Grad was asked for. Where it was asked for none, as
// in programs for its LispMachine, they are the variables of floats that have a value.
func Params(nodes ...*G.Node) ImportOption {
	return func(b *importer) {
		if b.params == nil {
			b.params = map[*G.Node]bool{}
		}
		for _, n := range nodes {
			b.params[n] = true
		}
	}
}

// Inputs says which variables are inputs although the rule of [Params] makes them parameters.
func Inputs(nodes ...*G.Node) ImportOption {
	return func(b *importer) {
		for _, n := range nodes {
			b.inputs[n] = true
		}
	}
}

// Evaluating imports the graph as it predicts: dropout passes everything, and a batch norm takes its
// running statistics. By default either does what its operation is set to, which is training unless
// a machine was made with gorgonia's EvalMode.
func Evaluating() ImportOption { return func(b *importer) { b.evaluating = true } }

// Mirrored imports a pooling whose padding is given in four numbers as gorgonia computes it, with the
// numbers above and below exchanged, and those left and right. Programs that have come to terms with
// that want it, such as gorgonia's own tiny-yolo-v2, which pads above to reach out below.
func Mirrored() ImportOption { return func(b *importer) { b.mirrored = true } }

// Floats imports arrays of float32 and float64 alike as arrays of dt.
func Floats(dt graph.DType) ImportOption { return func(b *importer) { b.floats = dt } }

// Imported is a graph of gorgonia's as a graph of ours.
type Imported struct {
	Graph *graph.Graph
	// Store has the values of parameters and states: those that gorgonia's nodes had when they were
	// imported, and for a parameter without one, what its initialiser draws from seed 0.
	Store *tape.Store
	// Step moves the running statistics of batch norms in training; empty without any.
	Step graph.Step
	// Left lists what was left out of gorgonia's own derivatives: a [NotImported] for each node.
	Left []error

	from     *G.ExprGraph
	options  []ImportOption
	nodes    map[*G.Node]*graph.Node
	fed      []*G.Node // the variables that are inputs
	operands map[*G.Node]G.Nodes
}

// Node returns the node for one of gorgonia's; nil for a node that is not in the graph, prints a
// value or binds one, is a part of a convolution that became one node, or was [Imported.Left] out.
func (m *Imported) Node(n *G.Node) *graph.Node {
	if m == nil {
		return nil
	}
	return m.nodes[n]
}

// Nodes returns the nodes for several, as [Imported.Node] does.
func (m *Imported) Nodes(nodes ...*G.Node) []*graph.Node {
	out := make([]*graph.Node, len(nodes))
	for i, n := range nodes {
		out[i] = m.Node(n)
	}
	return out
}

// Feed returns the values that gorgonia's inputs have now, as G.Let binds them, for a run. Inputs
// without a value are not in it.
func (m *Imported) Feed() (tape.Feed, error) {
	feed := tape.Feed{}
	if m == nil {
		return feed, nil
	}
	for _, n := range m.fed {
		if n.Value() == nil {
			continue
		}
		x := m.nodes[n]
		v, err := arrayOf(n.Value(), x.Type())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", x.Path(), err)
		}
		feed[x] = tape.Tensor(v)
	}
	return feed, nil
}

// Import makes a graph of ours of one of gorgonia's: of its variables inputs and parameters, whose
// values are in the store, and of every operation the one that computes the same, with the node's
// name if the program gave it one. Shapes are gorgonia's, so that its images stay [n c h w].
//
//	m, err := gorgonia.Import(g)
//	dw := grad.Of(m.Node(cost), m.Node(w))
//	step := train.Adam(1e-3).Minimize(m.Node(cost), m.Graph.Params()...)
//
// What gorgonia builds of several nodes is one where we have it so: a convolution, which is there
// im2col, a product and transpositions; a mean; a rectifier; LogSumExp. Nodes of gorgonia's own
// derivatives are imported too, as gorgonia built them; [Imported.Left] has those that have no
// counterpart. Where docs/gorgonia.md says that gorgonia computes a value wrong, the graph has what
// is meant: docs/from-gorgonia.md lists these places.
//
// The error holds a [NotImported] for every node that has no counterpart.
func Import(g *G.ExprGraph, options ...ImportOption) (*Imported, error) {
	if g == nil {
		return nil, errors.New("there is no graph: G.NewGraph makes one")
	}
	misfits := map[*G.Node]error{}
	for {
		m, found, err := imported(g, options, misfits)
		if !found {
			return m, err
		}
	}
}

// imported imports a graph without the derivatives that are known not to fit, and reports whether it
// has found another: a mistake that a graph has recorded cannot be taken back.
func imported(g *G.ExprGraph, options []ImportOption, misfits map[*G.Node]error) (_ *Imported, found bool, _ error) {
	b := &importer{
		from: g, to: graph.New("gorgonia"), inputs: map[*G.Node]bool{}, rules: importRules(), misfits: misfits,
		nodes: map[*G.Node]*graph.Node{}, failed: map[*G.Node]bool{}, paths: map[string]bool{},
		drawn: map[*G.Node]*graph.Node{}, operands: map[*G.Node]G.Nodes{},
		parts: map[*G.Node]bool{}, running: map[*G.BatchNormOp][2]*graph.Node{},
	}
	for _, o := range options {
		if o != nil {
			o(b)
		}
	}
	if err := b.refuse(); err != nil {
		return nil, false, err
	}
	b.survey()
	known := len(misfits)
	for _, n := range b.roots {
		b.node(n)
	}
	if len(b.errs) > 0 {
		return nil, false, errors.Join(b.errs...)
	}
	b.lenient = true
	for _, n := range b.all {
		if !b.parts[n] {
			b.node(n)
		}
	}
	if len(misfits) > known {
		return nil, true, nil
	}
	if err := b.to.Err(); err != nil {
		return nil, false, err
	}
	return &Imported{
		Graph: b.to, Store: tape.NewStore(b.to), Step: b.step, Left: b.left,
		from: g, options: options, nodes: b.nodes, fed: b.fed, operands: b.operands,
	}, false, nil
}
