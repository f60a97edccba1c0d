package format

import (
	"io"
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Write writes the model.
func (m *Model) Write(w io.Writer) error {
	var e encoder
	b := e.model(m)
	if e.err != nil {
		return e.err
	}
	_, err := w.Write(b)
	return err
}

type encoder struct{ err error }

func text(b []byte, num protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return sub(b, num, []byte(s))
}

func sub(b []byte, num protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), v)
}

func number(b []byte, num protowire.Number, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), uint64(v))
}

func (e *encoder) model(m *Model) []byte {
	b := number(nil, 1, m.IR)
	b = text(b, 2, m.Producer)
	b = text(b, 3, m.ProducerVersion)
	b = text(b, 4, m.Domain)
	if m.Version != 0 {
		b = number(b, 5, m.Version)
	}
	b = text(b, 6, m.Doc)
	b = sub(b, 7, e.graph(m.Graph))
	b = e.opsets(b, 8, m.Opsets)
	for _, k := range slices.Sorted(maps.Keys(m.Metadata)) {
		b = sub(b, 14, text(text(nil, 1, k), 2, m.Metadata[k]))
	}
	for _, f := range m.Functions {
		b = sub(b, 25, e.function(f))
	}
	return b
}

func (e *encoder) opsets(b []byte, num protowire.Number, opsets map[string]int64) []byte {
	for _, domain := range slices.Sorted(maps.Keys(opsets)) {
		b = sub(b, num, number(text(nil, 1, domain), 2, opsets[domain]))
	}
	return b
}

func (e *encoder) graph(g *Graph) []byte {
	var b []byte
	for _, n := range g.Nodes {
		b = sub(b, 1, e.node(n))
	}
	b = text(b, 2, g.Name)
	for _, t := range g.Init {
		b = sub(b, 5, e.tensor(t))
	}
	b = text(b, 10, g.Doc)
	for i, list := range [][]*Value{g.Inputs, g.Outputs, g.Infos} {
		for _, v := range list {
			b = sub(b, protowire.Number(11+i), e.value(v))
		}
	}
	return b
}

func (e *encoder) function(f *Function) []byte {
	b := text(nil, 1, f.Name)
	for i, list := range [][]string{f.Inputs, f.Outputs, f.Attrs} {
		for _, s := range list {
			b = sub(b, protowire.Number(4+i), []byte(s))
		}
	}
	for _, n := range f.Nodes {
		b = sub(b, 7, e.node(n))
	}
	b = text(b, 8, f.Doc)
	b = e.opsets(b, 9, f.Opsets)
	return text(b, 10, f.Domain)
}

func (e *encoder) node(n *Node) []byte {
	var b []byte
	for i, list := range [][]string{n.Inputs, n.Outputs} {
		for _, s := range list {
			b = sub(b, protowire.Number(1+i), []byte(s))
		}
	}
	b = text(b, 3, n.Name)
	b = text(b, 4, n.Op)
	for _, a := range n.Attrs {
		b = sub(b, 5, e.attr(a))
	}
	b = text(b, 6, n.Doc)
	return text(b, 7, n.Domain)
}

func (e *encoder) attr(a *Attr) []byte {
	b := text(nil, 1, a.Name)
	switch a.Type {
	case AttrFloat:
		b = protowire.AppendFixed32(protowire.AppendTag(b, 2, protowire.Fixed32Type), math.Float32bits(a.Float))
	case AttrInt:
		b = number(b, 3, a.Int)
	case AttrString:
		b = sub(b, 4, []byte(a.String))
	case AttrTensor:
		b = sub(b, 5, e.tensor(a.Tensor))
	case AttrGraph:
		b = sub(b, 6, e.graph(a.Graph))
	case AttrFloats:
		for _, v := range a.Floats {
			b = protowire.AppendFixed32(protowire.AppendTag(b, 7, protowire.Fixed32Type), math.Float32bits(v))
		}
	case AttrInts:
		for _, v := range a.Ints {
			b = number(b, 8, v)
		}
	case AttrStrings:
		for _, s := range a.Strings {
			b = sub(b, 9, []byte(s))
		}
	}
	b = number(b, 20, int64(a.Type))
	return text(b, 21, a.Of)
}

func (e *encoder) value(v *Value) []byte {
	b := text(nil, 1, v.Name)
	if v.Type != nil {
		b = sub(b, 2, e.typeOf(v.Type))
	}
	return text(b, 3, v.Doc)
}

func (e *encoder) typeOf(t *Type) []byte {
	if t.Kind != KindTensor {
		num := protowire.Number(4)
		if t.Kind == KindOptional {
			num = 9
		}
		return text(sub(nil, num, sub(nil, 1, e.typeOf(t.Of))), 6, t.Denotation)
	}
	b := number(nil, 1, int64(t.Elem))
	if t.Ranked {
		var shape []byte
		for _, d := range t.Dims {
			var dim []byte
			switch {
			case d.Symbol != "":
				dim = text(dim, 2, d.Symbol)
			case d.Size >= 0:
				dim = number(dim, 1, d.Size)
			}
			shape = sub(shape, 1, text(dim, 3, d.Denotation))
		}
		b = sub(b, 2, shape)
	}
	return text(sub(nil, 1, b), 6, t.Denotation)
}

func (e *encoder) tensor(t *Tensor) []byte {
	var b []byte
	for _, d := range t.Dims {
		b = number(b, 1, d)
	}
	b = number(b, 2, int64(t.Type))
	for _, s := range t.Strings {
		b = sub(b, 6, []byte(s))
	}
	b = text(b, 8, t.Name)
	if t.Type != String {
		raw, err := t.Raw.Read()
		if err != nil && e.err == nil {
			e.err = err
		}
		b = sub(b, 9, raw)
	}
	return text(b, 12, t.Doc)
}
