package exporter

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/tape"
)

// Opset and IR are the versions of what is written.
const (
	Opset = 17
	IR    = 8
)

// An Output is a value that the model gives.
type Output struct {
	Name string // "" for one made of the node
	Node *graph.Node
	Role Role
}

// Role says what an output is to whoever reads the model back.
type Role int

// The roles of outputs.
const (
	RoleNone Role = iota
	RoleOutput
	RoleLoss
)

// A Let is an input that is computed from others instead of being one.
type Let struct{ Input, Value *graph.Node }

// Config says what of a graph is written, and how.
type Config struct {
	Outputs   []Output
	Updates   []graph.Update
	Lets      []Let
	External  *format.External // where large arrays are written; nil for the model
	Begin     io.Writer        // where the defaults of inputs are written, as a model; nil for the model itself
	Draws     bool             // random numbers are drawn by the runtime instead of being inputs
	AsWritten bool             // the graph is not rewritten first
}

// Model returns the model of the outputs and updates, with the values of the store for parameters
// and states; of fresh ones if it is nil.
func Model(g *graph.Graph, store *tape.Store, c Config) (*format.Model, error) {
	if g == nil {
		return nil, errors.New("onnx: the graph is nil")
	}
	if err := g.Err(); err != nil {
		return nil, err
	}
	if len(c.Outputs)+len(c.Updates) == 0 {
		return nil, errors.New("onnx: nothing to write: give nodes with Fetch, Loss, Output or Do")
	}
	var wanted []*graph.Node
	for i, o := range c.Outputs {
		if !o.Node.IsValid() || o.Node.Graph() != g {
			return nil, fmt.Errorf("onnx: output %d (%s) is no node of the graph %q", i, cmp.Or(o.Name, o.Node.String()), g.Name())
		}
		wanted = append(wanted, o.Node)
	}
	for _, u := range c.Updates {
		if !u.Target.IsValid() || !u.Value.IsValid() || u.Target.Graph() != g || u.Value.Graph() != g {
			return nil, fmt.Errorf("onnx: an update of %v is not one of the graph %q", u.Target, g.Name())
		}
		wanted = append(wanted, u.Target, u.Value)
	}
	for _, l := range c.Lets {
		switch x, v := l.Input, l.Value; {
		case !x.IsValid() || !v.IsValid() || x.Graph() != g || v.Graph() != g || x.Role() != graph.RoleInput:
			return nil, fmt.Errorf("onnx: Let: %v and %v are not an input and a node of the graph %q", x, v, g.Name())
		case x.Type() != v.Type():
			return nil, fmt.Errorf("onnx: Let: %v cannot stand for %v", v, x)
		case v.DependsOn(x):
			return nil, fmt.Errorf("onnx: Let: %v depends on %v, which it is to stand for", v, x)
		}
		wanted = append(wanted, l.Input, l.Value)
	}
	if store == nil {
		store = tape.NewStore(g)
	}
	if err := store.Complete(g); err != nil {
		return nil, err
	}
	of := func(n *graph.Node) *graph.Node { return n }
	if !c.AsWritten {
		r, err := rewrite.Run(g, wanted, rewrite.Passes()...)
		if err != nil {
			return nil, err
		}
		of = r.Node
	}
	b := newBuilder(store, c)
	return b.model(g, of)
}

// model writes everything; of leads from a node to the one that is written for it.
func (b *builder) model(g *graph.Graph, of func(*graph.Node) *graph.Node) (*format.Model, error) {
	var roots []*graph.Node
	for _, o := range b.Outputs {
		roots = append(roots, of(o.Node))
	}
	for _, u := range b.Updates {
		roots = append(roots, of(u.Target), of(u.Value))
	}
	let := map[*graph.Node]*graph.Node{}
	for _, l := range b.Lets {
		let[of(l.Input)] = of(l.Value)
		roots = append(roots, of(l.Value))
	}
	names := outputNames(b.Config)
	for _, name := range names {
		b.taken[name] = true
	}
	e := b.emitter(nil)
	b.main = e
	b.updated = map[string]bool{}
	for _, u := range b.Updates {
		b.updated[u.Target.Path()] = true
	}
	e.look(roots)
	b.leaves(e, slices.DeleteFunc(graph.Reachable(roots...), func(n *graph.Node) bool { return let[n] != nil }))
	for _, l := range b.Lets {
		if v := e.node(let[of(l.Input)]); !b.failed() {
			e.values[of(l.Input)] = v
		}
	}
	out := &e.graph
	out.Name = cmp.Or(g.Name(), "tapestry")
	give := func(name string, n *graph.Node) {
		v := e.narrowed(n)
		if b.failed() {
			return
		}
		e.add("Identity", []string{v.name}, name)
		out.Outputs = append(out.Outputs, valueInfo(name, n.Type()))
	}
	i := 0
	for _, o := range b.Outputs {
		give(names[i], of(o.Node))
		i++
	}
	for _, u := range b.Updates {
		give(names[i], of(u.Value))
		i++
	}
	if b.failed() {
		return nil, b.unsupported
	}
	out.Inputs, out.Init = b.inputs, b.inits
	b.settle(out)
	m := &format.Model{IR: IR, Producer: "tapestry", Opsets: map[string]int64{"": Opset}, Graph: out}
	m.Metadata = b.metadata(g, names)
	return m, nil
}

// outputNames returns the names of the outputs and, after them, of the new values of updates. A name
// that is taken gets a number.
func outputNames(c Config) []string {
	taken := map[string]bool{}
	for _, o := range c.Outputs {
		for _, n := range graph.Reachable(o.Node) {
			taken[n.Path()] = true // of inputs, parameters and states
		}
	}
	for _, u := range c.Updates {
		taken[u.Target.Path()] = true
	}
	for _, o := range c.Outputs {
		taken[o.Name] = true
	}
	given := map[string]bool{}
	var names []string
	for _, o := range c.Outputs {
		name := o.Name
		if name == "" || given[name] {
			name = unique(taken, cmp.Or(name, outputName(o.Node)))
		}
		given[name] = true
		names = append(names, name)
	}
	for _, u := range c.Updates {
		names = append(names, unique(taken, u.Target.Path()+".next"))
	}
	return names
}

// outputName returns the name that an output has by itself.
func outputName(n *graph.Node) string {
	if of, _ := n.AdjointOf(); of != nil {
		return "grad/" + cmp.Or(of.Path(), of.Name(), "value")
	}
	return cmp.Or(n.Name(), n.Path(), "output")
}

// unique returns a name that is not taken, and takes it.
func unique(taken map[string]bool, name string) string {
	try := name
	for i := 2; taken[try]; i++ {
		try = name + "_" + strconv.Itoa(i)
	}
	taken[try] = true
	return try
}

// leaves declares the inputs, parameters and states among the nodes.
func (b *builder) leaves(e *emitter, nodes []*graph.Node) {
	for _, n := range nodes {
		switch n.Role() {
		case graph.RoleInput:
			v := b.leaf(e, n)
			b.inputs = append(b.inputs, valueInfo(v, n.Type()))
			if d, ok := n.Default(); ok {
				b.inits = append(b.inits, tensorOf(v, n.Type(), []float64{d}))
			}
		case graph.RoleParam, graph.RoleState:
			v := b.leaf(e, n)
			if b.updated[n.Path()] {
				b.inputs = append(b.inputs, valueInfo(v, n.Type()))
			}
			t, err := b.store.View(n.Path())
			var stored *format.Tensor
			if err == nil {
				stored, err = stream(v, n.Type(), t)
			}
			if err != nil {
				b.refuse(n, err.Error())
				continue
			}
			b.inits = append(b.inits, stored)
			role := b.params
			if n.Role() == graph.RoleState {
				role = b.states
			}
			role[v] = leafRecord(n)
		}
	}
}

// leaf gives a leaf the value of its path.
func (b *builder) leaf(e *emitter, n *graph.Node) string {
	name := n.Path()
	b.taken[name] = true
	e.values[n] = e.widened(value{name: name, elem: elemOf(n.DType()), dims: n.Shape().Sizes()}, n.DType())
	return name
}

// narrowed returns a node as an array of its type, as an output is.
func (e *emitter) narrowed(n *graph.Node) value {
	return e.cast(e.full(e.node(n), n.Shape().Sizes()), elemOf(n.DType()))
}

func valueInfo(name string, t graph.Type) *format.Value {
	return &format.Value{Name: name, Type: typeOf(t)}
}

// typeOf returns a type as ONNX has it; the names of axes are denotations.
func typeOf(t graph.Type) *format.Type {
	out := &format.Type{Elem: elemOf(t.DType), Ranked: true}
	for _, a := range t.Shape.Axes() {
		out.Dims = append(out.Dims, format.Dim{Size: int64(a.Size), Denotation: a.Name})
	}
	return out
}

// scopeOf returns where a node stands among the modules: its scope, and that of derivatives is grad.
func scopeOf(n *graph.Node) string {
	scope := n.First().Scope
	if n.IsBackward() {
		return strings.TrimSuffix("grad/"+scope, "/")
	}
	return scope
}

// join returns scope/name.
func join(scope, name string) string {
	if scope == "" {
		return name
	}
	return scope + "/" + name
}

// users returns how often each node is an operand of the others.
func users(nodes []*graph.Node) map[*graph.Node][]*graph.Node {
	out := map[*graph.Node][]*graph.Node{}
	for _, n := range nodes {
		for _, x := range n.Inputs() {
			if !slices.Contains(out[x], n) {
				out[x] = append(out[x], n)
			}
		}
	}
	return out
}
