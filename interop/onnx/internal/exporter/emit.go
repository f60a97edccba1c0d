package exporter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// The names of values are provisional until the graph is complete: which of the nodes that an
// operation becomes is the last, and what an output is called, is known only then.
const provisional = "\x00"

// add adds a node with the output of a name.
func (e *emitter) add(op string, in []string, out string, attrs ...*format.Attr) *format.Node {
	n := &format.Node{Op: op, Inputs: in, Outputs: []string{out}, Attrs: attrs}
	e.graph.Nodes = append(e.graph.Nodes, n)
	e.makers[out] = n
	return n
}

// fresh returns a provisional name, which stands for the name of what is being written and op.
func (e *emitter) fresh(op string) string {
	name := fmt.Sprintf("%s%d", provisional, len(e.called))
	e.called[name] = join(e.base, op)
	return name
}

// op adds a node over values and returns its output.
func (e *emitter) op(op string, elem format.DataType, dims []int, in []value, attrs ...*format.Attr) value {
	names := make([]string, len(in))
	for i, x := range in {
		names[i] = e.flat(x).name
	}
	return e.raw(op, elem, dims, names, attrs...)
}

// raw is op over names.
func (e *emitter) raw(op string, elem format.DataType, dims []int, in []string, attrs ...*format.Attr) value {
	out := e.fresh(op)
	e.add(op, in, out, attrs...)
	return value{name: out, elem: elem, dims: dims}
}

// once returns what make makes of a value, and the same again when it is asked for again.
func (e *emitter) once(v value, how string, make func() value) value {
	key := how + " " + v.name
	for o := e; o != nil; o = o.outer {
		if w, ok := o.memo[key]; ok {
			return w
		}
	}
	w := make()
	e.memo[key] = w
	return w
}

func attrInt(name string, v int) *format.Attr {
	return &format.Attr{Name: name, Type: format.AttrInt, Int: int64(v)}
}

func attrString(name, v string) *format.Attr {
	return &format.Attr{Name: name, Type: format.AttrString, String: v}
}

func attrInts(name string, v ...int) *format.Attr {
	return &format.Attr{Name: name, Type: format.AttrInts, Ints: wide(v)}
}

func attrGraph(name string, g *format.Graph) *format.Attr {
	return &format.Attr{Name: name, Type: format.AttrGraph, Graph: g}
}

func wide(v []int) []int64 {
	out := make([]int64, len(v))
	for i, x := range v {
		out[i] = int64(x)
	}
	return out
}

// settle gives all values their names, and removes what nothing uses.
func (b *builder) settle(g *format.Graph) {
	short := map[string]string{}
	b.shorten(g, short)
	resolve := func(name string) string {
		for {
			to, ok := short[name]
			if !ok {
				return name
			}
			name = to
		}
	}
	used := map[string]bool{}
	var visit func(g *format.Graph)
	visit = func(g *format.Graph) {
		for _, v := range g.Outputs {
			v.Name = resolve(v.Name)
			used[v.Name] = true
		}
		for k := len(g.Nodes) - 1; k >= 0; k-- {
			n := g.Nodes[k]
			wanted := false
			for i := range n.Outputs {
				n.Outputs[i] = resolve(n.Outputs[i])
				wanted = wanted || used[n.Outputs[i]]
			}
			if !wanted {
				g.Nodes = slices.Delete(g.Nodes, k, k+1)
				continue
			}
			for i := range n.Inputs {
				n.Inputs[i] = resolve(n.Inputs[i])
				used[n.Inputs[i]] = true
			}
			for _, a := range n.Attrs {
				if a.Graph != nil {
					visit(a.Graph)
				}
			}
		}
	}
	visit(g)
	g.Init = slices.DeleteFunc(g.Init, func(t *format.Tensor) bool {
		_, isParam := b.params[t.Name]
		_, isState := b.states[t.Name]
		return !used[t.Name] && !isParam && !isState && b.isConstant[t.Name]
	})
	b.christen(g, map[string]string{})
}

// shorten notes in short the values that an Identity only repeats: the names of outputs go to what computes
// them, unless that is a leaf, a constant, or another output.
func (b *builder) shorten(g *format.Graph, short map[string]string) {
	made := map[string]bool{}
	for _, n := range g.Nodes {
		for _, out := range n.Outputs {
			made[out] = true
		}
		for _, a := range n.Attrs {
			if a.Graph != nil {
				b.shorten(a.Graph, short)
			}
		}
	}
	g.Nodes = slices.DeleteFunc(g.Nodes, func(n *format.Node) bool {
		if n.Op != "Identity" {
			return false
		}
		from, to := n.Inputs[0], n.Outputs[0]
		if _, named := short[from]; named {
			return false
		}
		switch {
		case strings.HasPrefix(from, provisional) && made[from]:
			short[from] = to
			return true
		case strings.HasPrefix(to, provisional) && !slices.ContainsFunc(g.Outputs, func(v *format.Value) bool { return v.Name == to }):
			short[to] = from
			return true
		}
		return false
	})
}

// christen replaces provisional names.
func (b *builder) christen(g *format.Graph, final map[string]string) {
	name := func(s string) string {
		if to, ok := final[s]; ok {
			return to
		}
		return s
	}
	declare := func(s string) string {
		if called, ok := b.called[s]; ok && final[s] == "" {
			final[s] = unique(b.taken, called)
		}
		return name(s)
	}
	for _, v := range g.Inputs {
		v.Name = declare(v.Name)
	}
	for _, n := range g.Nodes {
		for i := range n.Inputs {
			n.Inputs[i] = name(n.Inputs[i])
		}
		for i := range n.Outputs {
			if n.Outputs[i] != "" {
				n.Outputs[i] = declare(n.Outputs[i])
			}
		}
		n.Name = n.Outputs[0]
		for _, a := range n.Attrs {
			if a.Graph != nil {
				b.christen(a.Graph, final)
			}
		}
	}
	for _, v := range g.Outputs {
		v.Name = declare(v.Name)
	}
}
