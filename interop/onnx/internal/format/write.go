package format

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// mostBytes is the size up to which protobuf reads a message.
const mostBytes = math.MaxInt32

// Write writes the model. Elements of tensors are copied from where they lie. A model over 2 GB is an
// error: [Model.WriteExternal] writes its weights beside it.
func (m *Model) Write(w io.Writer) error { return m.write(w, nil) }

func (m *Model) write(w io.Writer, spans map[*Tensor]span) error {
	e := encoder{spans: spans}
	b := e.model(m)
	if e.err != nil {
		return e.err
	}
	if b.len() > mostBytes {
		return fmt.Errorf("the model has %d bytes, and a file in protobuf's format at most %d: write its weights as external data", b.len(), mostBytes)
	}
	return b.writeTo(w)
}

// message is an encoded message but for the elements of tensors, which are put in where they belong
// when it is written.
type message struct {
	b      []byte
	data   []data
	length int64 // of data
}

// data are elements of a tensor, and their place in the bytes of a message.
type data struct {
	tensor *Tensor
	at     int
}

func (m *message) len() int64 { return int64(len(m.b)) + m.length }

func (m *message) writeTo(w io.Writer) error {
	to := bufio.NewWriterSize(w, windowSize)
	done := 0
	for _, d := range m.data {
		to.Write(m.b[done:d.at]) // an error stays for Flush
		done = d.at
		if err := d.tensor.Raw.copyTo(to); err != nil {
			return fmt.Errorf("tensor %.60q: %w", d.tensor.Name, err)
		}
	}
	to.Write(m.b[done:])
	return to.Flush()
}

func (m *message) tag(num protowire.Number, typ protowire.Type) {
	m.b = protowire.AppendTag(m.b, num, typ)
}

func (m *message) number(num protowire.Number, v int64) {
	m.tag(num, protowire.VarintType)
	m.b = protowire.AppendVarint(m.b, uint64(v))
}

func (m *message) float(num protowire.Number, v float32) {
	m.tag(num, protowire.Fixed32Type)
	m.b = protowire.AppendFixed32(m.b, math.Float32bits(v))
}

// text appends a text that may be left out where it is "".
func (m *message) text(num protowire.Number, s string) {
	if s != "" {
		m.bytes(num, s)
	}
}

func (m *message) bytes(num protowire.Number, s string) {
	m.tag(num, protowire.BytesType)
	m.b = protowire.AppendString(m.b, s)
}

// raw appends the elements of a tensor.
func (m *message) raw(num protowire.Number, t *Tensor) {
	m.tag(num, protowire.BytesType)
	m.b = protowire.AppendVarint(m.b, uint64(t.Raw.Len()))
	m.data = append(m.data, data{t, len(m.b)})
	m.length += t.Raw.Len()
}

// sub appends a message as a field.
func (m *message) sub(num protowire.Number, v message) {
	m.tag(num, protowire.BytesType)
	m.b = protowire.AppendVarint(m.b, uint64(v.len()))
	for _, d := range v.data {
		m.data = append(m.data, data{d.tensor, len(m.b) + d.at})
	}
	m.length += v.length
	m.b = append(m.b, v.b...)
}

// encoder encodes messages. The first error stays in err.
type encoder struct {
	spans map[*Tensor]span // of tensors with external data
	err   error
}

func (e *encoder) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

func (e *encoder) model(m *Model) (b message) {
	if m.Graph == nil {
		e.fail(errors.New("the model has no graph"))
		return b
	}
	b.number(1, m.IR)
	b.text(2, m.Producer)
	b.text(3, m.ProducerVersion)
	b.text(4, m.Domain)
	if m.Version != 0 {
		b.number(5, m.Version)
	}
	b.text(6, m.Doc)
	b.sub(7, e.graph(m.Graph))
	b.opsets(8, m.Opsets)
	for _, k := range slices.Sorted(maps.Keys(m.Metadata)) {
		b.entry(14, k, m.Metadata[k])
	}
	for _, f := range m.Functions {
		b.sub(25, e.function(f))
	}
	return b
}

func (m *message) entry(num protowire.Number, key, value string) {
	var b message
	b.text(1, key)
	b.text(2, value)
	m.sub(num, b)
}

func (m *message) opsets(num protowire.Number, opsets map[string]int64) {
	for _, domain := range slices.Sorted(maps.Keys(opsets)) {
		var b message
		b.text(1, domain)
		b.number(2, opsets[domain])
		m.sub(num, b)
	}
}

func (e *encoder) graph(g *Graph) (b message) {
	for _, n := range g.Nodes {
		b.sub(1, e.node(n))
	}
	b.text(2, g.Name)
	for _, t := range g.Init {
		if t.Sparse != nil {
			b.sub(15, e.sparse(t))
		} else {
			b.sub(5, e.tensor(t))
		}
	}
	b.text(10, g.Doc)
	for i, list := range [][]*Value{g.Inputs, g.Outputs, g.Infos} {
		for _, v := range list {
			b.sub(protowire.Number(11+i), e.value(v))
		}
	}
	return b
}

func (e *encoder) function(f *Function) (b message) {
	b.text(1, f.Name)
	for i, list := range [][]string{f.Inputs, f.Outputs, f.Attrs} {
		for _, s := range list {
			b.bytes(protowire.Number(4+i), s)
		}
	}
	for _, n := range f.Nodes {
		b.sub(7, e.node(n))
	}
	b.text(8, f.Doc)
	b.opsets(9, f.Opsets)
	b.text(10, f.Domain)
	for _, a := range f.Defaults {
		b.sub(11, e.attr(a))
	}
	return b
}

func (e *encoder) node(n *Node) (b message) {
	for i, list := range [][]string{n.Inputs, n.Outputs} {
		for _, s := range list {
			b.bytes(protowire.Number(1+i), s)
		}
	}
	b.text(3, n.Name)
	b.text(4, n.Op)
	for _, a := range n.Attrs {
		b.sub(5, e.attr(a))
	}
	b.text(6, n.Doc)
	b.text(7, n.Domain)
	return b
}

func (e *encoder) attr(a *Attr) (b message) {
	b.text(1, a.Name)
	b.number(20, int64(a.Type))
	if b.text(21, a.Of); a.Of != "" {
		return b
	}
	switch {
	case a.Type == AttrFloat:
		b.float(2, a.Float)
	case a.Type == AttrInt:
		b.number(3, a.Int)
	case a.Type == AttrString:
		b.bytes(4, a.String)
	case a.Type == AttrTensor && a.Tensor != nil:
		b.sub(5, e.tensor(a.Tensor))
	case a.Type == AttrGraph && a.Graph != nil:
		b.sub(6, e.graph(a.Graph))
	case a.Type == AttrFloats:
		for _, v := range a.Floats {
			b.float(7, v)
		}
	case a.Type == AttrInts:
		for _, v := range a.Ints {
			b.number(8, v)
		}
	case a.Type == AttrStrings:
		for _, s := range a.Strings {
			b.bytes(9, s)
		}
	case a.Type == AttrTensors:
		for _, t := range a.Tensors {
			b.sub(10, e.tensor(t))
		}
	case a.Type == AttrGraphs:
		for _, g := range a.Graphs {
			b.sub(11, e.graph(g))
		}
	case a.Type == AttrProto && a.Proto != nil:
		b.sub(14, e.typeOf(a.Proto))
	case a.Type == AttrSparse && a.Tensor != nil && a.Tensor.Sparse != nil:
		b.sub(22, e.sparse(a.Tensor))
	default:
		e.fail(fmt.Errorf("attribute %.60q of type %v has no value that can be written", a.Name, a.Type))
	}
	return b
}

func (e *encoder) value(v *Value) (b message) {
	b.text(1, v.Name)
	if v.Type != nil {
		b.sub(2, e.typeOf(v.Type))
	}
	b.text(3, v.Doc)
	return b
}

func (e *encoder) typeOf(t *Type) (b message) {
	switch t.Kind {
	case KindTensor:
		b.sub(1, e.tensorType(t))
	case KindSparse:
		b.sub(8, e.tensorType(t))
	default:
		if t.Of == nil {
			e.fail(fmt.Errorf("a type of a %v has no type of elements", t.Kind))
			return b
		}
		of := e.typeOf(t.Of)
		var v message
		switch t.Kind {
		case KindMap:
			v.number(1, int64(t.Elem))
			v.sub(2, of)
			b.sub(5, v)
		case KindOptional:
			v.sub(1, of)
			b.sub(9, v)
		default:
			v.sub(1, of)
			b.sub(4, v)
		}
	}
	b.text(6, t.Denotation)
	return b
}

func (e *encoder) tensorType(t *Type) (b message) {
	b.number(1, int64(t.Elem))
	if !t.Ranked {
		return b
	}
	var shape message
	for _, d := range t.Dims {
		var dim message
		switch {
		case d.Symbol != "":
			dim.text(2, d.Symbol)
		case d.Size >= 0:
			dim.number(1, d.Size)
		}
		dim.text(3, d.Denotation)
		shape.sub(1, dim)
	}
	b.sub(2, shape)
	return b
}

func (e *encoder) tensor(t *Tensor) (b message) {
	if err := t.check(); err != nil {
		e.fail(err)
		return b
	}
	for _, d := range t.Dims {
		b.number(1, d)
	}
	b.number(2, int64(t.Type))
	for _, s := range t.Strings {
		b.bytes(6, s)
	}
	b.text(8, t.Name)
	s, external := e.spans[t]
	if t.Type != String && !external {
		b.raw(9, t)
	}
	b.text(12, t.Doc)
	if external {
		for _, pair := range s.entries() {
			b.entry(13, pair[0], pair[1])
		}
		b.number(14, 1)
	}
	return b
}

func (e *encoder) sparse(t *Tensor) (b message) {
	values := *t.Sparse.Values
	values.Name = t.Name
	b.sub(1, e.tensor(&values))
	b.sub(2, e.tensor(t.Sparse.Indices))
	for _, d := range t.Dims {
		b.number(3, d)
	}
	return b
}
