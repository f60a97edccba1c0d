package format

import (
	"bytes"
	"io"
	"math"
	"slices"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
)

// Limits says what a reader may do.
type Limits struct {
	Folder string // the folder in which external data may lie; "" for none
}

// Read reads a model of size bytes. The elements of its tensors are read from r when they are asked
// for.
func Read(r io.ReaderAt, size int64, limits Limits) (*Model, error) {
	d := newDecoder(r, size, limits)
	m := d.model()
	if d.err != nil {
		return nil, d.err
	}
	return m, nil
}

// ReadTensor reads a file that is one TensorProto.
func ReadTensor(b []byte) (*Tensor, error) {
	d := newDecoder(bytes.NewReader(b), int64(len(b)), Limits{})
	t := d.tensor(0, d.size)
	if d.err != nil {
		return nil, d.err
	}
	return t, nil
}

// add appends an element that takes memory.
func add[T any](d *decoder, f field, list *[]T, v T) {
	if d.take(f.at, int64(unsafe.Sizeof(v))) {
		*list = append(*list, v)
	}
}

// sub reads the message of a field by one of the decoder's methods.
func sub[T any](d *decoder, f field, read func(at, end int64) *T) *T {
	var zero T
	if !d.typed(f, protowire.BytesType, "a message") || !d.take(f.at, int64(unsafe.Sizeof(zero))) {
		return &zero
	}
	return read(f.data, f.end)
}

// only fails if a message, of which there may be one, is there already.
func only[T any](d *decoder, f field, have *T) {
	if have != nil {
		d.fail(f.at, "%s: field %d is there twice", f.in, f.num)
	}
}

// standard returns the domain "" for the other name of the standard operators.
func standard(domain string) string {
	if domain == "ai.onnx" {
		return ""
	}
	return domain
}

func (d *decoder) model() *Model {
	m := &Model{Opsets: map[string]int64{}, Metadata: map[string]string{}}
	d.fields("model", 0, d.size, func(f field) {
		switch f.num {
		case 1:
			m.IR = d.int(f)
		case 2:
			m.Producer = d.text(f)
		case 3:
			m.ProducerVersion = d.text(f)
		case 4:
			m.Domain = d.text(f)
		case 5:
			m.Version = d.int(f)
		case 6:
			m.Doc = d.text(f)
		case 7:
			only(d, f, m.Graph)
			m.Graph = sub(d, f, d.graph)
		case 8:
			d.opset(m.Opsets, f)
		case 14:
			key, value := d.entry("metadata", f)
			if _, ok := m.Metadata[key]; ok {
				d.fail(f.at, "model: the metadata have the key %.60q twice", key)
			}
			m.Metadata[key] = value
		case 25:
			add(d, f, &m.Functions, sub(d, f, d.function))
		}
	})
	if m.Graph == nil {
		d.fail(d.size, "the model has no graph")
	}
	return m
}

func (d *decoder) opset(into map[string]int64, f field) {
	domain, version := "", int64(0)
	d.take(f.at, 48)
	d.message("operator set", f, func(f field) {
		switch f.num {
		case 1:
			domain = standard(d.text(f))
		case 2:
			version = d.int(f)
		}
	})
	if v, ok := into[domain]; ok && v != version {
		d.fail(f.at, "%s: the operators %.60q have the versions %d and %d", f.in, domain, v, version)
	}
	into[domain] = version
}

// entry returns a StringStringEntryProto.
func (d *decoder) entry(what string, f field) (key, value string) {
	d.take(f.at, 48)
	d.message(what, f, func(f field) {
		switch f.num {
		case 1:
			key = d.text(f)
		case 2:
			value = d.text(f)
		}
	})
	return key, value
}

func (d *decoder) graph(at, end int64) *Graph {
	g := &Graph{}
	d.fields("graph", at, end, func(f field) {
		switch f.num {
		case 1:
			add(d, f, &g.Nodes, sub(d, f, d.node))
		case 2:
			g.Name = d.text(f)
		case 5:
			add(d, f, &g.Init, sub(d, f, d.tensor))
		case 10:
			g.Doc = d.text(f)
		case 11:
			add(d, f, &g.Inputs, sub(d, f, d.value))
		case 12:
			add(d, f, &g.Outputs, sub(d, f, d.value))
		case 13:
			add(d, f, &g.Infos, sub(d, f, d.value))
		case 15:
			add(d, f, &g.Init, sub(d, f, d.sparse))
		}
	})
	d.unique(g)
	return g
}

// unique fails if two things in a graph have a name. An initialiser may have that of an input, whose
// default it is.
func (d *decoder) unique(g *Graph) {
	names := len(g.Inputs) + len(g.Init)
	for _, n := range g.Nodes {
		names += len(n.Outputs)
	}
	if d.err != nil {
		return
	}
	what := make(map[string]string, names)
	name := func(at int64, name, as string) {
		if was, ok := what[name]; ok && !(was == "an input" && as == "an initialiser") {
			d.fail(at, "graph: %.60q is %s and %s", name, was, as)
		}
		what[name] = as
	}
	for _, v := range g.Inputs {
		name(v.At, v.Name, "an input")
	}
	for _, t := range g.Init {
		name(t.At, t.Name, "an initialiser")
	}
	for _, n := range g.Nodes {
		for _, out := range n.Outputs {
			if out != "" {
				name(n.At, out, "the output of a node")
			}
		}
	}
}

func (d *decoder) node(at, end int64) *Node {
	n := &Node{At: at}
	d.fields("node", at, end, func(f field) {
		switch f.num {
		case 1:
			add(d, f, &n.Inputs, d.text(f))
		case 2:
			add(d, f, &n.Outputs, d.text(f))
		case 3:
			n.Name = d.text(f)
		case 4:
			n.Op = d.text(f)
		case 5:
			a := sub(d, f, d.attr)
			add(d, f, &n.Attrs, a)
		case 6:
			n.Doc = d.text(f)
		case 7:
			n.Domain = standard(d.text(f))
		}
	})
	if n.Op == "" {
		d.fail(at, "node %.60q has no operator", n.Name)
	}
	d.apart(n.Attrs)
	return n
}

// apart fails if two attributes have a name.
func (d *decoder) apart(attrs []*Attr) {
	if len(attrs) < 2 || d.err != nil {
		return
	}
	seen := make(map[string]bool, len(attrs))
	for _, a := range attrs {
		if seen[a.Name] {
			d.fail(a.At, "attribute %.60q is there twice", a.Name)
		}
		seen[a.Name] = true
	}
}

func (d *decoder) function(at, end int64) *Function {
	fn := &Function{Opsets: map[string]int64{}}
	d.fields("function", at, end, func(f field) {
		switch f.num {
		case 1:
			fn.Name = d.text(f)
		case 4:
			add(d, f, &fn.Inputs, d.text(f))
		case 5:
			add(d, f, &fn.Outputs, d.text(f))
		case 6:
			add(d, f, &fn.Attrs, d.text(f))
		case 7:
			add(d, f, &fn.Nodes, sub(d, f, d.node))
		case 8:
			fn.Doc = d.text(f)
		case 9:
			d.opset(fn.Opsets, f)
		case 10:
			fn.Domain = standard(d.text(f))
		case 11:
			add(d, f, &fn.Defaults, sub(d, f, d.attr))
		}
	})
	d.apart(fn.Defaults)
	return fn
}

func (d *decoder) attr(at, end int64) *Attr {
	a := &Attr{At: at}
	var has AttrType
	d.fields("attribute", at, end, func(f field) {
		switch f.num {
		case 1:
			a.Name = d.text(f)
			return
		case 20:
			a.Type = AttrType(d.int(f))
			return
		case 21:
			a.Of = d.text(f)
			return
		}
		is := AttrType(0)
		switch f.num {
		case 2:
			d.typed(f, protowire.Fixed32Type, "a float")
			a.Float, is = math.Float32frombits(uint32(f.v)), AttrFloat
		case 3:
			a.Int, is = d.int(f), AttrInt
		case 4:
			a.String, is = d.blob(f), AttrString
		case 5:
			only(d, f, a.Tensor)
			a.Tensor, is = sub(d, f, d.tensor), AttrTensor
		case 6:
			only(d, f, a.Graph)
			a.Graph, is = sub(d, f, d.graph), AttrGraph
		case 7:
			a.Floats, is = d.floats(f, a.Floats), AttrFloats
		case 8:
			a.Ints, is = d.ints(f, a.Ints), AttrInts
		case 9:
			add(d, f, &a.Strings, d.blob(f))
			is = AttrStrings
		case 10:
			add(d, f, &a.Tensors, sub(d, f, d.tensor))
			is = AttrTensors
		case 11:
			add(d, f, &a.Graphs, sub(d, f, d.graph))
			is = AttrGraphs
		case 14:
			only(d, f, a.Proto)
			a.Proto, is = sub(d, f, d.typeOf), AttrProto
		case 22:
			only(d, f, a.Tensor)
			a.Tensor, is = sub(d, f, d.sparse), AttrSparse
		default:
			return
		}
		if has != 0 && has != is {
			d.fail(f.at, "attribute %.60q holds %v and %v", a.Name, has, is)
		}
		has = is
	})
	switch {
	case a.Type == 0 && (has != 0 || a.Of != ""):
		a.Type = has // files of IR 1 say no type
	case has != 0 && has != a.Type:
		d.fail(at, "attribute %.60q is of type %v and holds %v", a.Name, a.Type, has)
	case a.Of == "" && has == 0 && !slices.Contains([]AttrType{AttrFloat, AttrInt, AttrString, AttrFloats, AttrInts, AttrStrings, AttrTensors, AttrGraphs}, a.Type):
		d.fail(at, "attribute %.60q of type %v has no value that can be read", a.Name, a.Type)
	}
	return a
}
