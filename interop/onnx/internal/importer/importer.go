package importer

import (
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// Options says how a file is read into a graph.
type Options struct {
	Sizes map[string]int            // of symbolic dimensions
	Float graph.DType               // what float32 becomes: f32 or f64
	Known map[string]*format.Tensor // inputs that are constants instead, with their values
}

// Result is what a file became.
type Result struct {
	Values map[string]*graph.Node // by the file's names: inputs, weights and what nodes give
}

// Import adds the file's graph to g. The error lists all nodes that cannot be imported.
func Import(g *graph.Graph, m *format.Model, o Options) (*Result, error) {
	im := &builder{g: g, model: m, options: o, functions: map[string]*format.Function{}}
	for _, f := range m.Functions {
		im.functions[f.Domain+"."+f.Name] = f
	}
	s := im.graph(m.Graph, nil)
	if len(im.problems) > 0 {
		return nil, im.problems
	}
	r := &Result{Values: map[string]*graph.Node{}}
	for name, v := range s.values {
		if v.node != nil {
			r.Values[name] = v.node
		}
	}
	return r, nil
}

// Problem is a node that cannot be imported.
type Problem struct {
	Op, Node string
	At       int64 // the place in the file
	Reason   string
}

// Error returns one line.
func (p *Problem) Error() string {
	return fmt.Sprintf("byte %d: %s %q: %s", p.At, p.Op, p.Node, p.Reason)
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

// value is what a name of the file stands for.
type value struct {
	node *graph.Node
	elem format.DataType // of a tensor: the file's type, which may be narrower than the node's
	list []value         // of a sequence
	text []string        // of a tensor of strings
	kind kind
}

type kind uint8

const (
	array    kind = iota
	sequence      // list
	strs          // text
	absent        // an input that is left out, an optional without a value
	poisoned      // what depends on a node that could not be imported
)

// builder adds a file to a graph.
type builder struct {
	g         *graph.Graph
	model     *format.Model
	options   Options
	functions map[string]*format.Function
	problems  Problems
}

// names is what is known by name in a graph of the file, within the graph around it.
type names struct {
	values map[string]value
	outer  *names
}

func (s *names) find(name string) (value, bool) {
	for ; s != nil; s = s.outer {
		if v, ok := s.values[name]; ok {
			return v, true
		}
	}
	return value{}, false
}

// graph adds a graph of the file.
func (im *builder) graph(f *format.Graph, outer *names) *names {
	s := &names{map[string]value{}, outer}
	for _, t := range f.Init {
		s.values[t.Name] = im.weight(t)
	}
	for _, v := range f.Inputs {
		if _, has := s.values[v.Name]; !has {
			s.values[v.Name] = im.input(v)
		}
	}
	for _, n := range f.Nodes {
		im.node(n, s)
	}
	return s
}

// node adds a node of the file.
func (im *builder) node(n *format.Node, s *names) {
	c := &call{builder: im, n: n, names: s}
	out := c.run()
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
