package gorgonia

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	G "gorgonia.org/gorgonia"
)

// importer translates gorgonia's nodes, each once and after its operands.
type importer struct {
	from       *G.ExprGraph
	to         *graph.Graph
	params     map[*G.Node]bool // nil where nothing is said
	inputs     map[*G.Node]bool
	evaluating bool
	mirrored   bool
	floats     graph.DType

	rules    map[string]importRule
	all      G.Nodes // what computes something, in the order of their numbers
	roots    G.Nodes // what nothing uses and is no derivative
	operands map[*G.Node]G.Nodes
	parts    map[*G.Node]bool // of convolutions, which need none of them
	asked    bool             // whether gorgonia's Grad was asked for derivatives by variables

	nodes   map[*G.Node]*graph.Node
	failed  map[*G.Node]bool
	running map[*G.BatchNormOp][2]*graph.Node // the running mean and variance
	drawn   map[*G.Node]*graph.Node           // the factors by which dropouts multiply
	paths   map[string]bool
	fed     []*G.Node
	step    graph.Step
	misfits map[*G.Node]error // derivatives that do not fit their operands
	lenient bool              // within gorgonia's derivatives
	errs    []error
	left    []error
}

// refuse returns an error for nodes that are said to be parameters or inputs and are no variables.
func (b *importer) refuse() error {
	var errs []error
	for _, said := range []map[*G.Node]bool{b.params, b.inputs} {
		for n := range said {
			switch {
			case n == nil:
				errs = append(errs, errors.New("Params and Inputs want variables: one of them is nil"))
			case n.Op() != nil:
				errs = append(errs, notImported(n, "it is computed, and Params and Inputs want variables"))
			}
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// survey reads the graph: which nodes compute something, what they use, and which are used by none.
// Derivatives, which nothing but derivatives uses, are no roots.
func (b *importer) survey() {
	used := map[*G.Node]bool{}
	at := map[uintptr]*G.Node{}
	for _, n := range b.from.AllNodes() {
		at[pointerOf(n)] = n
	}
	for _, n := range b.from.AllNodes() {
		if isStatement(n) {
			continue
		}
		b.all = append(b.all, n)
		b.operands[n] = childrenOf(n, at)
		for _, x := range b.operands[n] {
			used[x] = true
		}
	}
	slices.SortStableFunc(b.all, func(x, y *G.Node) int { return int(x.ID() - y.ID()) })
	derived := map[*G.Node]bool{}
	for _, n := range b.all {
		if d := n.Deriv(); d != nil {
			derived[d] = true
			b.asked = b.asked || n.Op() == nil
		}
	}
	for _, n := range b.all {
		if b.isConvolution(n) {
			columns, filter := b.operands[n][0], b.operands[n][1]
			b.parts[columns], b.parts[b.operands[columns][0]], b.parts[filter] = true, true, true
		}
	}
	for _, n := range b.all {
		if !b.parts[n] && (!used[n] && !derived[n] && len(n.DerivOf()) == 0 || n.Deriv() != nil) {
			b.roots = append(b.roots, n)
		}
	}
}

// node returns the node for one of gorgonia's; nil if there is none, which is then recorded.
func (b *importer) node(n *G.Node) *graph.Node {
	if y := b.nodes[n]; y != nil || b.failed[n] {
		return y
	}
	y, err := b.translate(n)
	if err != nil {
		b.failed[n] = true
		if err != errOperand {
			if b.lenient {
				b.left = append(b.left, err)
			} else {
				b.errs = append(b.errs, err)
			}
		}
		return nil
	}
	b.nodes[n] = y
	return y
}

// errOperand says that an operand was not imported, which is recorded.
var errOperand = errors.New("an operand is missing")

// noRule is the panic that leaves a rule, with the reason.
type noRule struct{ reason string }

// translate makes the node for one of gorgonia's.
func (b *importer) translate(n *G.Node) (y *graph.Node, err error) {
	s := b.at(n)
	if err := b.misfits[n]; err != nil {
		return nil, err
	}
	if s.op == nil {
		return b.variable(n)
	}
	if isConstant(n) {
		v, err := arrayOf(n.Value(), graph.Type{})
		if err != nil {
			return nil, notImported(n, err.Error())
		}
		v.Type.DType = b.float(v.Type.DType)
		return b.named(b.to.ConstantValue(v), n), nil
	}
	rule, known := b.rules[kindOf(n)]
	if !known || !isOwn(n) {
		return nil, notImported(n, "there is no counterpart for it")
	}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case noRule:
			y, err = nil, notImported(n, p.reason)
		case error:
			if p != errOperand {
				panic(p)
			}
			y, err = nil, errOperand
		default:
			panic(p)
		}
	}()
	y = rule(s)
	if !y.IsValid() {
		err := notImported(n, fmt.Sprintf("it does not fit its operands: %v", b.to.Err()))
		if b.lenient {
			b.misfits[n] = err
		}
		return nil, err
	}
	if got, want := y.Shape().Sizes(), []int(n.Shape()); !slices.Equal(got, want) {
		if product(got) != product(want) {
			return nil, notImported(n, fmt.Sprintf("its counterpart has the shape %v, and it %v", got, want))
		}
		y = reshaping(y, want)
	}
	return b.named(y, n), nil
}

// named gives a node the name that gorgonia's program gave it.
func (b *importer) named(y *graph.Node, n *G.Node) *graph.Node {
	if name := ownName(n); name != "" && y.First().Name == "" {
		return y.As(name)
	}
	return y
}

// variable adds the input or parameter for a variable.
func (b *importer) variable(n *G.Node) (*graph.Node, error) {
	dt, err := elementOf(n)
	if err != nil {
		return nil, notImported(n, err.Error())
	}
	dt = b.float(dt)
	axes := graph.Dims(n.Shape()...)
	path := b.path(n)
	if !b.isParam(n, dt) {
		b.fed = append(b.fed, n)
		return b.to.Input(path, dt, axes...), nil
	}
	x := b.to.Param(path, dt, axes...)
	if n.Value() == nil {
		return x, nil
	}
	v, err := arrayOf(n.Value(), x.Type())
	if err != nil {
		return nil, notImported(n, err.Error())
	}
	for i, e := range v.Data {
		if math.IsNaN(e) || math.IsInf(e, 0) {
			return nil, notImported(n, fmt.Sprintf("element %d of its value is %v: a parameter starts at finite numbers", i, e))
		}
	}
	return x.Init(starting(v)), nil
}

// isParam says whether a variable is trained.
func (b *importer) isParam(n *G.Node, dt graph.DType) bool {
	switch {
	case b.inputs[n] || !dt.IsFloat():
		return false
	case b.params != nil:
		return b.params[n]
	case b.asked:
		return n.Deriv() != nil
	}
	return n.Value() != nil
}

// path returns a name for a variable that no other has.
func (b *importer) path(n *G.Node) string {
	name := ownName(n)
	if name == "" {
		name = fmt.Sprintf("x%d", n.ID())
	}
	return b.free(name)
}

// free returns a name, with a number behind it if it is taken.
func (b *importer) free(name string) string {
	out := name
	for i := 2; b.paths[out]; i++ {
		out = fmt.Sprintf("%s-%d", name, i)
	}
	b.paths[out] = true
	return out
}

// float returns the type that stands for dt.
func (b *importer) float(dt graph.DType) graph.DType {
	if dt.IsFloat() && b.floats.IsValid() {
		return b.floats
	}
	return dt
}

// starting is the initialiser of a leaf that starts at the value that gorgonia's has.
func starting(v graph.Value) initial.Init {
	return initial.Custom("gorgonia", func(_ []int, _ *rand.Rand) []float64 { return slices.Clone(v.Data) })
}
