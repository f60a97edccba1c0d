package format

import (
	"bufio"
	"encoding/binary"
	"io"
	"math/bits"

	"google.golang.org/protobuf/encoding/protowire"
)

// The fields of a TensorProto that have elements.
const (
	floatData  protowire.Number = 4
	int32Data  protowire.Number = 5
	stringData protowire.Number = 6
	int64Data  protowire.Number = 7
	rawData    protowire.Number = 9
	doubleData protowire.Number = 10
	uint64Data protowire.Number = 11
)

const mostAxes = 64

// section is a part of a file with elements: packed, or each with its tag.
type section struct {
	from, to int64
	tagged   bool
}

// payload is where the elements of a tensor lie.
type payload struct {
	field    protowire.Number // 0 for nowhere
	sections []section
	external bool
	entries  []entry // of external data
}

// entry says something of external data.
type entry struct {
	key, value string
	at         int64
}

func (d *decoder) tensor(at, end int64) *Tensor {
	t := &Tensor{At: at}
	var p payload
	d.fields("tensor", at, end, func(f field) {
		switch f.num {
		case 1:
			t.Dims = d.ints(f, t.Dims)
		case 2:
			t.Type = DataType(d.small(f))
		case 3:
			d.fail(f.at, "tensor: the elements are in segments, which no version of ONNX defines")
		case floatData, int32Data, int64Data, rawData, doubleData, uint64Data:
			d.elements(&p, f)
		case stringData:
			if p.field != 0 && p.field != f.num {
				d.fail(f.at, "tensor: the elements are in field %d and in field %d", p.field, f.num)
			}
			p.field = f.num
			add(d, f, &t.Strings, d.blob(f))
		case 8:
			t.Name = d.text(f)
		case 12:
			t.Doc = d.text(f)
		case 13:
			key, value := d.entry("external data", f)
			add(d, f, &p.entries, entry{key, value, f.at})
		case 14:
			switch where := d.int(f); where {
			case 0, 1:
				p.external = where == 1
			default:
				d.fail(f.at, "tensor: the elements are at location %d: want 0, in the message, or 1, in a file", where)
			}
		}
	})
	d.place(t, p)
	return t
}

// elements notes that a field has elements.
func (d *decoder) elements(p *payload, f field) {
	if p.field != 0 && (p.field != f.num || f.num == rawData) {
		d.fail(f.at, "tensor: the elements are in field %d and in field %d", p.field, f.num)
	}
	p.field = f.num
	s := section{f.data, f.end, false}
	if f.typ != protowire.BytesType {
		switch f.num {
		case rawData:
			d.typed(f, protowire.BytesType, "bytes")
		case floatData:
			d.typed(f, protowire.Fixed32Type, "floats")
		case doubleData:
			d.typed(f, protowire.Fixed64Type, "doubles")
		default:
			d.typed(f, protowire.VarintType, "integers")
		}
		s = section{f.at, f.end, true}
		if n := len(p.sections); n > 0 && p.sections[n-1].tagged && p.sections[n-1].to == f.at {
			p.sections[n-1].to = f.end
			return
		}
	}
	if s.from < s.to {
		add(d, f, &p.sections, s)
	}
}

// length returns the number of elements of a tensor, after a check of its type and shape.
func (d *decoder) length(t *Tensor) int64 {
	if !t.Type.IsValid() {
		if t.Type > BFloat16 {
			d.fail(t.At, "tensor %.60q has elements of %v: the types up to %v (%d) are read", t.Name, t.Type, BFloat16, BFloat16)
		}
		d.fail(t.At, "tensor %.60q does not say of which type its elements are", t.Name)
	}
	if len(t.Dims) > mostAxes {
		d.fail(t.At, "tensor %.60q has %d axes: want at most %d", t.Name, len(t.Dims), mostAxes)
	}
	if d.err != nil {
		return 0
	}
	n, empty, huge := uint64(1), false, false
	for i, dim := range t.Dims {
		if dim < 0 {
			d.fail(t.At, "tensor %.60q: axis %d has the size %d", t.Name, i, dim)
		}
		empty = empty || dim == 0
		var over uint64
		over, n = bits.Mul64(n, uint64(dim))
		huge = huge || over > 0
	}
	const most = uint64(^uint(0)>>1) / 16 // elements of which a slice may have the bytes
	if empty {
		return 0
	}
	if huge || n > most {
		d.fail(t.At, "tensor %.60q has the shape %d, of more elements than any memory has", t.Name, t.Dims)
	}
	return int64(n)
}

// place sets the elements of a tensor to what a message says, and compares their number with the
// shape.
func (d *decoder) place(t *Tensor, p payload) {
	want := d.length(t)
	if d.err != nil {
		return
	}
	size := int64(t.Type.Size())
	have := int64(0) // elements
	switch {
	case p.external:
		if p.field != 0 {
			d.fail(t.At, "tensor %.60q has elements in field %d and in a file", t.Name, p.field)
		} else if t.Type == String {
			d.fail(t.At, "tensor %.60q has strings in a file, which ONNX does not allow", t.Name)
		} else {
			t.Raw = d.external(t, p.entries, want*size)
		}
		return
	case p.field == 0:
	case p.field == rawData && t.Type != String:
		for _, s := range p.sections { // one or none
			if bytes := s.to - s.from; bytes != want*size {
				d.fail(s.from, "tensor %.60q of %v%d has %d bytes of data: want %d", t.Name, t.Type, t.Dims, bytes, want*size)
			}
			have = want
			t.Raw = d.section(s)
		}
	case p.field != dataTypes[t.Type].field:
		d.fail(t.At, "tensor %.60q has elements of %v in field %d: want field %d", t.Name, t.Type, p.field, dataTypes[t.Type].field)
	case t.Type == String:
		have = int64(len(t.Strings))
	default:
		have = d.count(t, p)
		width := int(size)
		if t.Type == Complex64 || t.Type == Complex128 {
			width, want = width/2, 2*want // two numbers are an element
		}
		fixed := p.field == floatData || p.field == doubleData
		if fixed && len(p.sections) == 1 && !p.sections[0].tagged {
			t.Raw = d.section(p.sections[0])
			break
		}
		r := d.r // the window is not kept
		t.Raw = Stream(have*int64(width), func() (io.Reader, error) {
			return &packed{r: r, sections: p.sections, fixed: fixed, width: width}, nil
		})
	}
	if have != want {
		d.fail(t.At, "tensor %.60q of %v%d has %d elements: want %d", t.Name, t.Type, t.Dims, have, want)
	}
}

// section returns the bytes of a part of the file.
func (d *decoder) section(s section) Raw {
	r := d.r
	return Stream(s.to-s.from, func() (io.Reader, error) { return io.NewSectionReader(r, s.from, s.to-s.from), nil })
}

// count returns the number of numbers in the sections, after a check that they fit the type.
func (d *decoder) count(t *Tensor, p payload) int64 {
	n := int64(0)
	width := int64(0) // of numbers of a fixed size
	switch p.field {
	case floatData:
		width = 4
	case doubleData:
		width = 8
	}
	check := func(at int64, v uint64) {
		if !t.Type.fits(v) {
			d.fail(at, "tensor %.60q: element %d is %d: no %v", t.Name, n, int64(v), t.Type)
		}
		n++
	}
	for _, s := range p.sections {
		switch {
		case s.tagged:
			d.fields("tensor", s.from, s.to, func(f field) {
				if width == 0 {
					check(f.data, f.v)
				} else {
					n++
				}
			})
		case width == 0:
			d.varints(s.from, s.to, check)
		case (s.to-s.from)%width != 0:
			d.fail(s.from, "tensor %.60q: field %d has %d bytes of numbers, which are %d each", t.Name, p.field, s.to-s.from, width)
		default:
			n += (s.to - s.from) / width
		}
	}
	return n
}

// packed reads numbers of fields as bytes of elements: width bytes each.
type packed struct {
	r        io.ReaderAt
	sections []section
	fixed    bool
	width    int
	in       *bufio.Reader // of the first section; nil before it
	out      []byte        // not given yet
	buf      [4096]byte
}

func (p *packed) Read(to []byte) (int, error) {
	for len(p.out) == 0 {
		if len(p.sections) == 0 {
			return 0, io.EOF
		}
		if err := p.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(to, p.out)
	p.out = p.out[n:]
	return n, nil
}

// fill puts the next numbers into out.
func (p *packed) fill() error {
	s := p.sections[0]
	if p.in == nil {
		p.in = bufio.NewReader(io.NewSectionReader(p.r, s.from, s.to-s.from))
	}
	p.out = p.buf[:0]
	for len(p.out)+8 <= len(p.buf) {
		if _, err := p.in.Peek(1); err == io.EOF {
			p.in, p.sections = nil, p.sections[1:]
			return nil
		}
		if s.tagged {
			if _, err := binary.ReadUvarint(p.in); err != nil {
				return err
			}
		}
		if p.fixed {
			at := len(p.out)
			p.out = p.out[:at+p.width]
			if _, err := io.ReadFull(p.in, p.out[at:]); err != nil {
				return err
			}
			continue
		}
		v, err := binary.ReadUvarint(p.in)
		if err != nil {
			return err
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], v)
		p.out = append(p.out, b[:p.width]...)
	}
	return nil
}
