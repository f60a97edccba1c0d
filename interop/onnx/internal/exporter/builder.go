package exporter

import (
	"cmp"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/tape"
)

// builder has what all graphs of a model share.
type builder struct {
	Config
	store       *tape.Store
	rules       map[match.Kind]entry
	taken       map[string]bool   // names
	called      map[string]string // what values whose names are provisional are to be called
	constants   map[string]string // by type, shape and bytes
	isConstant  map[string]bool
	main        *emitter
	inputs      []*format.Value
	inits       []*format.Tensor
	params      map[string]record
	states      map[string]record
	draws       map[string]draw
	updated     map[string]bool // paths
	drawn       map[drawKey]value
	outside     map[*graph.Node]*graph.Node // what the inputs of bodies stand for
	unsupported Unsupported
	refused     map[*graph.Node]bool
}

func newBuilder(store *tape.Store, c Config) *builder {
	return &builder{
		Config: c, store: store, rules: rules(), taken: map[string]bool{}, called: map[string]string{}, constants: map[string]string{}, isConstant: map[string]bool{},
		params: map[string]record{}, states: map[string]record{}, draws: map[string]draw{}, drawn: map[drawKey]value{}, outside: map[*graph.Node]*graph.Node{}, refused: map[*graph.Node]bool{},
	}
}

func (b *builder) failed() bool { return len(b.unsupported) > 0 }

// refuse records that a node cannot be written, once.
func (b *builder) refuse(n *graph.Node, reason string) {
	if !b.refused[n] {
		b.refused[n] = true
		b.unsupported = append(b.unsupported, Refusal{Op: n.Op().Name(), Node: n.String(), Pos: n.First().Pos, Reason: reason})
	}
}

// emitter writes one graph: the model's, or the body of a loop or a branch.
type emitter struct {
	*builder
	outer    *emitter
	graph    format.Graph
	values   map[*graph.Node]value
	reshaped map[string]value                 // from what a reshape is
	memo     map[string]value                 // what was made of a value, by how
	branches map[*format.Node]branch          // the bodies behind an If
	merged   map[[2]*format.Node]*format.Node // for two of these, that which has both
	makers   map[string]*format.Node          // by the names of their outputs
	users    map[*graph.Node][]*graph.Node    // of each node of this graph
	roots    map[*graph.Node]bool
	under    string // the scope that the names of this graph stand in
	base     string // the name of the node that is being written
}

func (b *builder) emitter(outer *emitter) *emitter {
	e := &emitter{builder: b, outer: outer, values: map[*graph.Node]value{}, memo: map[string]value{}, reshaped: map[string]value{}, makers: map[string]*format.Node{}, branches: map[*format.Node]branch{}, merged: map[[2]*format.Node]*format.Node{}, roots: map[*graph.Node]bool{}}
	if outer != nil {
		e.under = outer.base
	}
	return e
}

// look notes which nodes the graph of the roots has, and who uses what.
func (e *emitter) look(roots []*graph.Node) {
	e.users = users(graph.Reachable(roots...))
	for _, n := range roots {
		e.roots[n] = true
	}
}

// value is what stands for a node, or for a step of its computation.
type value struct {
	name string
	elem format.DataType
	dims []int // repeated to the node's shape where they are fewer, or 1
	perm []int // axis a is axis perm[a] of what has the name; nil where they are the same
	pack *pack // the parts of a loop's result, where it was not laid out as one vector
}

// refusal is the panic that leaves a rule.
type refusal string

// node returns the value of a node in the type that it is computed in; see [emitter.widened].
func (e *emitter) node(n *graph.Node) value {
	if v, ok := e.values[n]; ok {
		return v
	}
	v := e.translate(n)
	e.values[n] = v
	return v
}

func (e *emitter) translate(n *graph.Node) (v value) {
	if n.Role() == graph.RoleConstant {
		return e.constantNode(n)
	}
	rule, known := e.rules[match.KindOf(n)]
	switch {
	case !known:
		e.refuse(n, "no translation is known")
		return e.nothing(n)
	case rule.refused != "":
		e.refuse(n, rule.refused)
		return e.nothing(n)
	}
	for _, x := range n.Inputs() {
		e.node(x)
	}
	base, from := e.base, len(e.graph.Nodes)
	e.base = join(e.under, join(scopeOf(n), label(n)))
	defer func() {
		e.base = base
		if p := recover(); p != nil {
			why, ok := p.(refusal)
			if !ok {
				panic(p)
			}
			e.refuse(n, string(why))
			v = e.nothing(n)
		}
	}()
	if e.failed() {
		return e.nothing(n) // only what else cannot be written is of interest
	}
	if n.Shape().Len() == 0 {
		v = e.empty(elemOf(n.DType().Wide()), n.Shape().Sizes())
	} else {
		v = rule.rule(site{e, n})
		if !rule.moves {
			v = e.rounded(v, n.DType())
		}
	}
	e.call(n, v.name, from)
	return v
}

// nothing stands for a node that could not be written.
func (e *emitter) nothing(n *graph.Node) value {
	return value{name: "", elem: elemOf(n.DType().Wide()), dims: n.Shape().Sizes()}
}

// call gives the value that the last nodes, from number from on, compute the name of the node that is being
// written. A node without a name that is one of ONNX's is called as that.
func (e *emitter) call(n *graph.Node, name string, from int) {
	maker, made := e.makers[name], e.graph.Nodes[from:]
	if maker == nil || !slices.Contains(made, maker) {
		return
	}
	e.called[name] = e.base
	if n.Name() == "" && len(made) == 1 {
		e.called[name] = join(e.under, join(scopeOf(n), maker.Op))
	}
}

// label returns what a node is called in its scope; a loop or a function without a name as its body is.
func label(n *graph.Node) string {
	if b := n.Body(); n.Name() == "" && b != nil && b.Graph().Name() != "" {
		return b.Graph().Name()
	}
	return cmp.Or(n.Name(), n.Op().Name())
}
