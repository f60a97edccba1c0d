package format

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// String returns the model as text, a node a line; see the package's documentation. A name that is
// not a word of printable characters is in quotes.
func (m *Model) String() string {
	var b strings.Builder
	opsets(&b, m.Opsets)
	fmt.Fprintf(&b, "ir %d, producer %q\n", m.IR, strings.TrimSpace(m.Producer+" "+m.ProducerVersion))
	m.Graph.print(&b, "")
	for _, f := range m.Functions {
		fmt.Fprintf(&b, "function %s.%s{%s} %s -> %s\n", word(f.Domain), word(f.Name), words(f.Attrs, " "), words(f.Inputs, " "), words(f.Outputs, " "))
		for _, a := range f.Defaults {
			fmt.Fprintf(&b, "  %s=%s\n", word(a.Name), a.text())
		}
		for _, n := range f.Nodes {
			n.print(&b, "  ")
		}
	}
	return b.String()
}

func opsets(b *strings.Builder, versions map[string]int64) {
	for _, domain := range slices.Sorted(maps.Keys(versions)) {
		b.WriteString("opset ")
		if domain != "" {
			b.WriteString(word(domain) + " ")
		}
		fmt.Fprintf(b, "%d, ", versions[domain])
	}
}

// word returns a name as it is printed.
func word(name string) string {
	if name == "" {
		return "_"
	}
	odd := func(r rune) bool { return r == ' ' || r == '"' || r == '#' || r == '�' || !unicode.IsPrint(r) }
	if name[0] == '_' && len(name) == 1 || strings.ContainsFunc(name, odd) {
		return strconv.Quote(name)
	}
	return name
}

func words(names []string, between string) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = word(name)
	}
	return strings.Join(out, between)
}

func (g *Graph) print(b *strings.Builder, indent string) {
	if g == nil {
		return
	}
	for _, v := range g.Inputs {
		fmt.Fprintf(b, "%sinput %s\n", indent, v)
	}
	for _, t := range g.Init {
		fmt.Fprintf(b, "%sinit %s %s\n", indent, word(t.Name), t.text())
	}
	for _, n := range g.Nodes {
		n.print(b, indent)
	}
	for _, v := range g.Outputs {
		fmt.Fprintf(b, "%soutput %s\n", indent, v)
	}
}

func (n *Node) print(b *strings.Builder, indent string) {
	op := word(n.Op)
	if n.Domain != "" {
		op = word(n.Domain) + "." + op
	}
	var attrs []string
	for _, a := range n.Attrs {
		if a.Graph == nil && len(a.Graphs) == 0 {
			attrs = append(attrs, word(a.Name)+"="+a.text())
		}
	}
	fmt.Fprintf(b, "%s%s = %s", indent, words(n.Outputs, ", "), op)
	if len(attrs) > 0 {
		fmt.Fprintf(b, "{%s}", strings.Join(attrs, " "))
	}
	if len(n.Inputs) > 0 {
		b.WriteString(" " + words(n.Inputs, " "))
	}
	if n.Name != "" {
		b.WriteString("  # " + word(n.Name))
	}
	b.WriteByte('\n')
	for _, a := range n.Attrs {
		bodies := a.Graphs
		if a.Graph != nil {
			bodies = []*Graph{a.Graph}
		}
		for _, g := range bodies {
			fmt.Fprintf(b, "%s  %s:\n", indent, word(a.Name))
			g.print(b, indent+"    ")
		}
	}
}

func (a *Attr) text() string {
	if a.Of != "" {
		return "@" + word(a.Of)
	}
	switch a.Type {
	case AttrFloat:
		return fmt.Sprint(a.Float)
	case AttrInt:
		return fmt.Sprint(a.Int)
	case AttrString:
		return strconv.Quote(a.String)
	case AttrFloats:
		return fmt.Sprint(a.Floats)
	case AttrInts:
		return fmt.Sprint(a.Ints)
	case AttrStrings:
		return fmt.Sprintf("%q", a.Strings)
	case AttrTensor, AttrSparse:
		return a.Tensor.text()
	case AttrTensors:
		out := make([]string, len(a.Tensors))
		for i, t := range a.Tensors {
			out[i] = t.text()
		}
		return "[" + strings.Join(out, " ") + "]"
	case AttrProto:
		return a.Proto.String()
	}
	return "…"
}

// text returns the type and the shape, and the elements of a small tensor.
func (t *Tensor) text() string {
	if t == nil {
		return "…"
	}
	text := fmt.Sprintf("%v%d", t.Type, t.Dims)
	if t.Sparse != nil {
		text = "sparse " + text
	}
	switch {
	case t.Len() > 8:
	case t.Type == String:
		text += fmt.Sprintf("%q", t.Strings)
	case t.Type == Double:
		text += elements(t.Floats())
	case t.Type.IsFloat():
		text += elements(t.Float32s())
	default:
		text += elements(t.Ints())
	}
	return text
}

// elements prints elements; nothing if they cannot be read.
func elements[T any](list []T, err error) string {
	if err != nil {
		return ""
	}
	return fmt.Sprint(list)
}

// String returns the name and the type: x float32[N 784].
func (v *Value) String() string {
	if v.Type == nil {
		return word(v.Name)
	}
	return word(v.Name) + " " + v.Type.String()
}

// String returns the type as a reader writes it: float32[N 784].
func (t *Type) String() string {
	if t == nil {
		return "?"
	}
	switch t.Kind {
	case KindSequence, KindOptional:
		return fmt.Sprintf("%v(%v)", t.Kind, t.Of)
	case KindMap:
		return fmt.Sprintf("map(%v %v)", t.Elem, t.Of)
	}
	dims := []string{"…"}
	if t.Ranked {
		dims = make([]string, len(t.Dims))
	}
	for i, d := range t.Dims {
		switch {
		case d.Symbol != "":
			dims[i] = word(d.Symbol)
		case d.Size >= 0:
			dims[i] = fmt.Sprint(d.Size)
		default:
			dims[i] = "?"
		}
		if d.Denotation != "" {
			dims[i] = word(d.Denotation) + "=" + dims[i]
		}
	}
	text := fmt.Sprintf("%v[%s]", t.Elem, strings.Join(dims, " "))
	if t.Kind == KindSparse {
		text = "sparse " + text
	}
	return text
}
