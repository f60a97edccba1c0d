package importer

import (
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/terminal"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// Options says how a file is read into a graph.
type Options struct {
	File    string                      // the file's name, for the positions of nodes
	Sizes   map[string]int              // of symbolic dimensions, by the names that [Symbols] gives them
	Float   graph.DType                 // what float32 becomes: f32 or f64
	Known   map[string]*format.Tensor   // inputs that are constants instead, with their values
	Lists   map[string][]*format.Tensor // inputs that are sequences or options, with their tensors; nil of an option without a value
	Names   bool                        // axes have names: the denotations and symbols of the file
	Trial   bool                        // the graph is thrown away: weights are not read
	Roles   Roles
	Outputs []string // that are needed: what they do not depend on is left out; nil for all
}

// Roles says what leaves of the file are, where the file has this in its metadata: only what is
// listed is a parameter or a state then. The zero Roles is of a file that does not say.
type Roles struct {
	Stated         bool
	Params, States map[string]Leaf // by the names of initialisers
}

// Leaf is what metadata say of a parameter or state.
type Leaf struct {
	Init string   // how it started; "" if it is not said
	Axes []string // the names of its axes
}

// Result is what a file became.
type Result struct {
	Values map[string]*graph.Node // by the file's names: inputs, weights and what nodes give
	Lists  map[string][]*graph.Node
	Texts  map[string]*format.Tensor // which are known
}

// Import adds the file's graph to g. The error lists all nodes that cannot be imported.
func Import(g *graph.Graph, m *format.Model, o Options) (*Result, error) {
	im := &builder{g: g, model: m, options: o, table: table(), functions: map[string]*format.Function{}, weights: map[*format.Tensor]value{}, paths: map[string]bool{}, homes: map[string]string{}, lines: map[*format.Node]int{}, defaults: map[string]bool{}}
	for _, f := range m.Functions {
		im.functions[f.Domain+"."+f.Name] = f
	}
	if m.Graph == nil {
		return nil, Problems{{Op: "model", Reason: "it has no graph"}}
	}
	f := m.Graph
	if o.Outputs != nil {
		f = pruned(f, o.Outputs)
	}
	im.number(m.Graph)
	if o.Roles.Stated {
		for _, v := range m.Graph.Inputs {
			im.defaults[v.Name] = true
		}
	}
	s := im.graph(f, &names{opsets: m.Opsets})
	for _, v := range f.Outputs {
		if out, ok := s.values[v.Name]; !ok {
			im.problem(v.At, "output", v.Name, "no node makes it")
		} else if out.node != nil && out.kind == array {
			im.named(naming{out.node, out.node.First(), v.Name})
		}
	}
	for _, a := range im.called {
		im.named(a)
	}
	if len(im.problems) > 0 {
		return nil, im.problems
	}
	if err := g.Err(); err != nil {
		return nil, err
	}
	r := &Result{Values: map[string]*graph.Node{}, Lists: map[string][]*graph.Node{}, Texts: map[string]*format.Tensor{}}
	for name, v := range s.values {
		switch {
		case v.kind == array && v.node != nil:
			r.Values[name] = v.node
		case v.kind == sequence:
			list := make([]*graph.Node, len(v.list))
			for i, e := range v.list {
				list[i] = e.node
			}
			r.Lists[name] = list
		case v.kind == strs && v.tensor != nil:
			r.Texts[name] = v.tensor
		}
	}
	return r, nil
}

// number counts the nodes of a graph, those of the graphs in it behind each.
func (im *builder) number(f *format.Graph) {
	for _, n := range f.Nodes {
		im.lines[n] = len(im.lines) + 1
		for _, a := range n.Attrs {
			if a.Graph != nil {
				im.number(a.Graph)
			}
		}
	}
}

// naming is a name for a node, at the place where the node was added.
type naming struct {
	n    *graph.Node
	at   graph.Occurrence
	name string
}

// named names a node that has no name.
func (im *builder) named(a naming) {
	if n := a.n; n.Path() == "" && n.Name() == "" && n.IsValid() {
		im.g.During(graph.Occurrence{Scope: a.at.Scope, Pos: a.at.Pos}, a.at.Origin, func() { n.As(cut(a.name)) })
	}
}

// Problem is a node that cannot be imported.
type Problem struct {
	Op, Node string
	At       int64 // the place in the file
	Reason   string
	Unknown  bool // whether no sizes help: there is no rule for the operator in its version
}

// Error returns one line.
func (p *Problem) Error() string {
	if p == nil {
		return "a node cannot be imported"
	}
	return fmt.Sprintf("byte %d: %s %q: %s", p.At, cut(p.Op), cut(p.Node), terminal.Clean(p.Reason))
}

// Problems lists what cannot be imported, in the order of the file.
type Problems []*Problem

// Error returns a line a problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, x := range p {
		lines[i] = x.Error()
	}
	return strings.Join(lines, "\n")
}

// most is the largest number of nodes of files that are imported, calls of functions and steps of
// loops written out included.
const most = 1 << 20

// builder adds a file to a graph.
type builder struct {
	g         *graph.Graph
	model     *format.Model
	options   Options
	table     map[string]rule
	functions map[string]*format.Function
	weights   map[*format.Tensor]value // those that became leaves or constants
	paths     map[string]bool          // that leaves have
	homes     map[string]string        // scopes of weights whose names say nothing
	problems  Problems
	called    []naming             // names of nodes, to be given at the end
	around    string               // the scope of the node that is being imported, as its name says
	lines     map[*format.Node]int // their numbers in the file, from 1
	defaults  map[string]bool      // inputs with an initialiser, of a file that says what its leaves are
	nodes     int                  // imported
	calls     int                  // of functions, one in the other
	bodies    int                  // being built, one in the other
}

func (im *builder) problem(at int64, op, node, reason string) {
	im.problems = append(im.problems, &Problem{Op: op, Node: node, At: at, Reason: reason})
}

// graph adds a graph of the file.
func (im *builder) graph(f *format.Graph, outer *names) *names {
	s := outer.within()
	im.hoist(f)
	for _, t := range f.Init {
		if v, ok := im.weights[t]; ok {
			s.values[t.Name] = v
		}
	}
	for _, v := range f.Inputs {
		if _, has := s.values[v.Name]; !has {
			s.values[v.Name] = im.input(v)
		}
	}
	for _, n := range f.Nodes {
		im.node(n, s)
	}
	im.modules(f, s)
	return s
}

// branch adds a graph without inputs, or whose inputs are known, within others.
func (im *builder) branch(f *format.Graph, outer *names, in ...value) []value {
	s := outer.within()
	if im.bodies == 0 {
		im.hoist(f)
	}
	for _, t := range f.Init {
		if v, ok := im.weights[t]; ok {
			s.values[t.Name] = v
		} else {
			s.values[t.Name] = im.constant(t)
		}
	}
	for i, v := range f.Inputs {
		if i < len(in) {
			s.values[v.Name] = in[i]
		}
	}
	for _, n := range f.Nodes {
		im.node(n, s)
	}
	im.modules(f, s)
	out := make([]value, len(f.Outputs))
	for i, v := range f.Outputs {
		r, ok := s.find(v.Name)
		if !ok {
			im.problem(v.At, "output", v.Name, "no node makes it")
			r = value{kind: poisoned}
		}
		out[i] = r
	}
	return out
}

// node adds a node of the file.
func (im *builder) node(n *format.Node, s *names) {
	im.nodes++
	var out []value
	switch {
	case im.nodes < most:
		c := &call{builder: im, n: n, names: s}
		at := graph.Occurrence{Scope: within(s.scope, scopeOf(n)), Pos: graph.Pos{File: im.options.File, Line: im.lines[n]}}
		if im.options.File == "" {
			at.Pos = graph.Pos{}
		}
		before := im.around
		im.around = scopeOf(n)
		defer func() { im.around = before }()
		im.g.Open().During(at, graph.Origin{}, func() { out = c.run() })
	case im.nodes == most:
		im.problem(n.At, n.Op, n.Name, fmt.Sprintf("there are more than %d nodes, those of functions and loops included", most))
	}
	for i, name := range n.Outputs {
		switch {
		case name == "":
		case i < len(out):
			s.values[name] = out[i]
		default:
			s.values[name] = value{kind: poisoned}
		}
	}
}
