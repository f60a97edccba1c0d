package format

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Limits says what a reader may do.
type Limits struct {
	Folder string // the folder in which external data may lie; "" for none
}

// Error is a mistake in a file.
type Error struct {
	At      int64 // the byte
	Problem string
}

// Error returns one line.
func (e *Error) Error() string { return fmt.Sprintf("byte %d: %s", e.At, e.Problem) }

// Read reads a model of size bytes.
func Read(r io.ReaderAt, size int64, limits Limits) (*Model, error) {
	b := make([]byte, size)
	if _, err := r.ReadAt(b, 0); err != nil && err != io.EOF {
		return nil, err
	}
	d := &decoder{limits: limits}
	m := d.model(b, 0)
	if d.err != nil {
		return nil, d.err
	}
	return m, nil
}

// ReadTensor reads a file that is one TensorProto.
func ReadTensor(b []byte) (*Tensor, error) {
	d := &decoder{}
	t := d.tensor(b, 0)
	return t, d.err
}

type decoder struct {
	limits Limits
	err    error
	depth  int
}

// field is a field of a message.
type field struct {
	num  protowire.Number
	typ  protowire.Type
	v    uint64 // of numbers
	b    []byte // of bytes
	at   int64  // where the field begins
	data int64  // where b begins
}

func (d *decoder) fail(at int64, format string, args ...any) {
	if d.err == nil {
		d.err = &Error{at, fmt.Sprintf(format, args...)}
	}
}

// fields calls f for each field of a message.
func (d *decoder) fields(what string, b []byte, base int64, f func(field)) {
	if d.depth++; d.depth > 100 {
		d.fail(base, "%s: messages lie more than 100 deep in each other", what)
	}
	defer func() { d.depth-- }()
	for i := 0; i < len(b) && d.err == nil; {
		x := field{at: base + int64(i)}
		n := 0
		if x.num, x.typ, n = protowire.ConsumeTag(b[i:]); n < 0 {
			d.fail(x.at, "%s: no field begins here", what)
			return
		}
		i += n
		switch x.typ {
		case protowire.VarintType:
			x.v, n = protowire.ConsumeVarint(b[i:])
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(b[i:])
			x.v = uint64(v)
		case protowire.Fixed64Type:
			x.v, n = protowire.ConsumeFixed64(b[i:])
		case protowire.BytesType:
			x.b, n = protowire.ConsumeBytes(b[i:])
			x.data = base + int64(i+n-len(x.b))
		default:
			n = protowire.ConsumeFieldValue(x.num, x.typ, b[i:])
		}
		if n < 0 {
			d.fail(x.at, "%s: field %d ends after the message", what, x.num)
			return
		}
		i += n
		f(x)
	}
}

func (d *decoder) model(b []byte, base int64) *Model {
	m := &Model{Opsets: map[string]int64{}, Metadata: map[string]string{}}
	d.fields("model", b, base, func(f field) {
		switch f.num {
		case 1:
			m.IR = int64(f.v)
		case 2:
			m.Producer = string(f.b)
		case 3:
			m.ProducerVersion = string(f.b)
		case 4:
			m.Domain = string(f.b)
		case 5:
			m.Version = int64(f.v)
		case 6:
			m.Doc = string(f.b)
		case 7:
			m.Graph = d.graph(f.b, f.data)
		case 8:
			d.opset(m.Opsets, f)
		case 14:
			k, v := d.entry(f)
			m.Metadata[k] = v
		case 25:
			m.Functions = append(m.Functions, d.function(f.b, f.data))
		}
	})
	if m.Graph == nil {
		d.fail(base, "the model has no graph")
	}
	return m
}

func (d *decoder) opset(into map[string]int64, f field) {
	domain, version := "", int64(0)
	d.fields("opset", f.b, f.data, func(f field) {
		switch f.num {
		case 1:
			domain = string(f.b)
		case 2:
			version = int64(f.v)
		}
	})
	if domain == "ai.onnx" {
		domain = ""
	}
	into[domain] = version
}

func (d *decoder) entry(f field) (key, value string) {
	d.fields("entry", f.b, f.data, func(f field) {
		switch f.num {
		case 1:
			key = string(f.b)
		case 2:
			value = string(f.b)
		}
	})
	return key, value
}

func (d *decoder) graph(b []byte, base int64) *Graph {
	g := &Graph{}
	d.fields("graph", b, base, func(f field) {
		switch f.num {
		case 1:
			g.Nodes = append(g.Nodes, d.node(f.b, f.data))
		case 2:
			g.Name = string(f.b)
		case 5:
			g.Init = append(g.Init, d.tensor(f.b, f.data))
		case 10:
			g.Doc = string(f.b)
		case 11:
			g.Inputs = append(g.Inputs, d.value(f.b, f.data))
		case 12:
			g.Outputs = append(g.Outputs, d.value(f.b, f.data))
		case 13:
			g.Infos = append(g.Infos, d.value(f.b, f.data))
		}
	})
	return g
}

func (d *decoder) node(b []byte, base int64) *Node {
	n := &Node{At: base}
	d.fields("node", b, base, func(f field) {
		switch f.num {
		case 1:
			n.Inputs = append(n.Inputs, string(f.b))
		case 2:
			n.Outputs = append(n.Outputs, string(f.b))
		case 3:
			n.Name = string(f.b)
		case 4:
			n.Op = string(f.b)
		case 5:
			n.Attrs = append(n.Attrs, d.attr(f.b, f.data))
		case 6:
			n.Doc = string(f.b)
		case 7:
			if n.Domain = string(f.b); n.Domain == "ai.onnx" {
				n.Domain = ""
			}
		}
	})
	return n
}

func (d *decoder) function(b []byte, base int64) *Function {
	fn := &Function{Opsets: map[string]int64{}}
	d.fields("function", b, base, func(f field) {
		switch f.num {
		case 1:
			fn.Name = string(f.b)
		case 4:
			fn.Inputs = append(fn.Inputs, string(f.b))
		case 5:
			fn.Outputs = append(fn.Outputs, string(f.b))
		case 6:
			fn.Attrs = append(fn.Attrs, string(f.b))
		case 7:
			fn.Nodes = append(fn.Nodes, d.node(f.b, f.data))
		case 8:
			fn.Doc = string(f.b)
		case 9:
			d.opset(fn.Opsets, f)
		case 10:
			fn.Domain = string(f.b)
		}
	})
	return fn
}

func (d *decoder) attr(b []byte, base int64) *Attr {
	a := &Attr{At: base}
	var has AttrType
	d.fields("attribute", b, base, func(f field) {
		switch f.num {
		case 1:
			a.Name = string(f.b)
		case 2:
			a.Float, has = math.Float32frombits(uint32(f.v)), AttrFloat
		case 3:
			a.Int, has = int64(f.v), AttrInt
		case 4:
			a.String, has = string(f.b), AttrString
		case 5:
			a.Tensor, has = d.tensor(f.b, f.data), AttrTensor
		case 6:
			a.Graph, has = d.graph(f.b, f.data), AttrGraph
		case 7:
			for _, v := range d.numbers(f, 4) {
				a.Floats = append(a.Floats, math.Float32frombits(uint32(v)))
			}
			has = AttrFloats
		case 8:
			for _, v := range d.numbers(f, 0) {
				a.Ints = append(a.Ints, int64(v))
			}
			has = AttrInts
		case 9:
			a.Strings, has = append(a.Strings, string(f.b)), AttrStrings
		case 10:
			a.Tensors, has = append(a.Tensors, d.tensor(f.b, f.data)), AttrTensors
		case 11:
			a.Graphs, has = append(a.Graphs, d.graph(f.b, f.data)), AttrGraphs
		case 14:
			a.Proto, has = d.typeOf(f.b, f.data), AttrProto
		case 20:
			a.Type = AttrType(f.v)
		case 21:
			a.Of = string(f.b)
		case 22, 23:
			has = AttrSparse
		}
	})
	if a.Type == 0 {
		a.Type = has
	}
	return a
}

// numbers returns the numbers of a repeated field, packed or one of many: of size bytes, or varints.
func (d *decoder) numbers(f field, size int) []uint64 {
	if f.typ != protowire.BytesType {
		return []uint64{f.v}
	}
	var out []uint64
	for b := f.b; len(b) > 0; {
		var v uint64
		n := size
		switch {
		case size == 0:
			v, n = protowire.ConsumeVarint(b)
		case len(b) < size:
			n = -1
		case size == 4:
			v = uint64(binary.LittleEndian.Uint32(b))
		default:
			v = binary.LittleEndian.Uint64(b)
		}
		if n < 0 {
			d.fail(f.at, "field %d holds no whole number of numbers", f.num)
			return nil
		}
		out = append(out, v)
		b = b[n:]
	}
	return out
}

func (d *decoder) value(b []byte, base int64) *Value {
	v := &Value{At: base}
	d.fields("value", b, base, func(f field) {
		switch f.num {
		case 1:
			v.Name = string(f.b)
		case 2:
			v.Type = d.typeOf(f.b, f.data)
		case 3:
			v.Doc = string(f.b)
		}
	})
	return v
}

func (d *decoder) typeOf(b []byte, base int64) *Type {
	t := &Type{}
	d.fields("type", b, base, func(f field) {
		switch f.num {
		case 1:
			t.Kind = KindTensor
			d.tensorType(t, f)
		case 4, 9:
			t.Kind = KindSequence
			if f.num == 9 {
				t.Kind = KindOptional
			}
			d.fields("type", f.b, f.data, func(f field) {
				if f.num == 1 {
					t.Of = d.typeOf(f.b, f.data)
				}
			})
		case 5:
			t.Kind = KindMap
		case 6:
			t.Denotation = string(f.b)
		case 8:
			t.Kind = KindSparse
		}
	})
	return t
}

func (d *decoder) tensorType(t *Type, f field) {
	d.fields("type", f.b, f.data, func(f field) {
		switch f.num {
		case 1:
			t.Elem = DataType(f.v)
		case 2:
			t.Ranked = true
			d.fields("shape", f.b, f.data, func(f field) {
				if f.num != 1 {
					return
				}
				dim := Dim{Size: -1}
				d.fields("dimension", f.b, f.data, func(f field) {
					switch f.num {
					case 1:
						dim.Size = int64(f.v)
					case 2:
						dim.Symbol = string(f.b)
					case 3:
						dim.Denotation = string(f.b)
					}
				})
				t.Dims = append(t.Dims, dim)
			})
		}
	})
}

func (d *decoder) tensor(b []byte, base int64) *Tensor {
	t := &Tensor{At: base}
	var data []byte
	d.fields("tensor", b, base, func(f field) {
		switch f.num {
		case 1:
			for _, v := range d.numbers(f, 0) {
				t.Dims = append(t.Dims, int64(v))
			}
		case 2:
			t.Type = DataType(f.v)
		case 4:
			for _, v := range d.numbers(f, 4) {
				data = binary.LittleEndian.AppendUint32(data, uint32(v))
			}
		case 5, 7, 11:
			for _, v := range d.numbers(f, 0) {
				switch t.Type.Size() {
				case 1:
					data = append(data, byte(v))
				case 2:
					data = binary.LittleEndian.AppendUint16(data, uint16(v))
				case 4:
					data = binary.LittleEndian.AppendUint32(data, uint32(v))
				default:
					data = binary.LittleEndian.AppendUint64(data, v)
				}
			}
		case 6:
			t.Strings = append(t.Strings, string(f.b))
		case 8:
			t.Name = string(f.b)
		case 9:
			data = f.b
		case 10:
			for _, v := range d.numbers(f, 8) {
				data = binary.LittleEndian.AppendUint64(data, v)
			}
		case 12:
			t.Doc = string(f.b)
		}
	})
	t.Raw = Bytes(data)
	return t
}
