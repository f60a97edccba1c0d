package format

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// String returns the model as text, a node a line; see the package's documentation.
func (m *Model) String() string {
	var b strings.Builder
	for _, domain := range slices.Sorted(maps.Keys(m.Opsets)) {
		fmt.Fprintf(&b, "opset %s%d, ", strings.TrimPrefix(domain+" ", " "), m.Opsets[domain])
	}
	fmt.Fprintf(&b, "ir %d, producer %q\n", m.IR, strings.TrimSpace(m.Producer+" "+m.ProducerVersion))
	m.Graph.print(&b, "")
	for _, f := range m.Functions {
		fmt.Fprintf(&b, "function %s.%s %s -> %s\n", f.Domain, f.Name, strings.Join(f.Inputs, " "), strings.Join(f.Outputs, " "))
		for _, n := range f.Nodes {
			n.print(&b, "  ")
		}
	}
	return b.String()
}

func (g *Graph) print(b *strings.Builder, indent string) {
	for _, v := range g.Inputs {
		fmt.Fprintf(b, "%sinput %s\n", indent, v)
	}
	for _, t := range g.Init {
		fmt.Fprintf(b, "%sinit %s %v%v\n", indent, t.Name, t.Type, t.Dims)
	}
	for _, n := range g.Nodes {
		n.print(b, indent)
	}
	for _, v := range g.Outputs {
		fmt.Fprintf(b, "%soutput %s\n", indent, v)
	}
}

func (n *Node) print(b *strings.Builder, indent string) {
	op := n.Op
	if n.Domain != "" {
		op = n.Domain + "." + op
	}
	var attrs []string
	var bodies []*Attr
	for _, a := range n.Attrs {
		if a.Type == AttrGraph {
			bodies = append(bodies, a)
			continue
		}
		attrs = append(attrs, a.Name+"="+a.text())
	}
	fmt.Fprintf(b, "%s%s = %s", indent, strings.Join(n.Outputs, ", "), op)
	if len(attrs) > 0 {
		fmt.Fprintf(b, "{%s}", strings.Join(attrs, " "))
	}
	for _, in := range n.Inputs {
		if in == "" {
			in = "_"
		}
		b.WriteString(" " + in)
	}
	if n.Name != "" {
		b.WriteString("  # " + n.Name)
	}
	b.WriteByte('\n')
	for _, a := range bodies {
		fmt.Fprintf(b, "%s  %s:\n", indent, a.Name)
		a.Graph.print(b, indent+"    ")
	}
}

func (a *Attr) text() string {
	switch a.Type {
	case AttrFloat:
		return fmt.Sprint(a.Float)
	case AttrInt:
		return fmt.Sprint(a.Int)
	case AttrString:
		return fmt.Sprintf("%q", a.String)
	case AttrFloats:
		return fmt.Sprint(a.Floats)
	case AttrInts:
		return fmt.Sprint(a.Ints)
	case AttrStrings:
		return fmt.Sprintf("%q", a.Strings)
	case AttrTensor:
		return fmt.Sprintf("%v%v", a.Tensor.Type, a.Tensor.Dims)
	}
	return "…"
}

// String returns the name and the type: x float32[N 784].
func (v *Value) String() string {
	if v.Type == nil {
		return v.Name
	}
	return v.Name + " " + v.Type.String()
}

// String returns the type as a reader writes it: float32[N 784].
func (t *Type) String() string {
	switch t.Kind {
	case KindSequence, KindOptional:
		return [...]string{KindSequence: "sequence", KindOptional: "optional"}[t.Kind] + "(" + t.Of.String() + ")"
	case KindMap:
		return "map"
	case KindSparse:
		return "sparse"
	}
	if !t.Ranked {
		return t.Elem.String() + "[…]"
	}
	dims := make([]string, len(t.Dims))
	for i, d := range t.Dims {
		switch {
		case d.Symbol != "":
			dims[i] = d.Symbol
		case d.Size >= 0:
			dims[i] = fmt.Sprint(d.Size)
		default:
			dims[i] = "?"
		}
		if d.Denotation != "" {
			dims[i] = d.Denotation + "=" + dims[i]
		}
	}
	return t.Elem.String() + "[" + strings.Join(dims, " ") + "]"
}
