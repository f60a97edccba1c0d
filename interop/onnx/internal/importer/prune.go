package importer

import "github.com/tapestry-ml/tapestry/interop/onnx/internal/format"

// pruned returns the graph without the nodes and inputs that the outputs do not depend on.
func pruned(f *format.Graph, outputs []string) *format.Graph {
	needed := map[string]bool{}
	for _, name := range outputs {
		needed[name] = true
	}
	out := *f
	out.Nodes, out.Inputs = nil, nil
	keep := make([]bool, len(f.Nodes))
	for i := len(f.Nodes) - 1; i >= 0; i-- {
		n := f.Nodes[i]
		for _, name := range n.Outputs {
			keep[i] = keep[i] || name != "" && needed[name]
		}
		if keep[i] {
			need(n, needed)
		}
	}
	for i, n := range f.Nodes {
		if keep[i] {
			out.Nodes = append(out.Nodes, n)
		}
	}
	for _, v := range f.Inputs {
		if needed[v.Name] {
			out.Inputs = append(out.Inputs, v)
		}
	}
	out.Outputs = nil
	for _, v := range f.Outputs {
		if needed[v.Name] {
			out.Outputs = append(out.Outputs, v)
		}
	}
	return &out
}

// need notes what a node takes, the nodes of its graphs included.
func need(n *format.Node, needed map[string]bool) {
	for _, name := range n.Inputs {
		needed[name] = true
	}
	for _, a := range n.Attrs {
		if a.Graph != nil {
			for _, m := range a.Graph.Nodes {
				need(m, needed)
			}
			for _, v := range a.Graph.Outputs {
				needed[v.Name] = true
			}
		}
	}
}
