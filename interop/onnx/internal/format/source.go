package format

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	windowSize = 1 << 16 // bytes that are read at a time
	mostDepth  = 100     // messages in each other
	mostField  = 20      // bytes of a tag and a number or a length
)

// Error is a mistake in a file.
type Error struct {
	At      int64 // the byte
	Problem string
	Err     error // of the system, if that is the cause
}

// Error returns one line.
func (e *Error) Error() string { return fmt.Sprintf("byte %d: %s", e.At, e.Problem) }

// Unwrap returns the error of the system.
func (e *Error) Unwrap() error { return e.Err }

// decoder reads the messages of a file. The first mistake stays in err, and ends all loops.
type decoder struct {
	r      io.ReaderAt
	size   int64
	limits Limits
	files  map[string]*dataFile // of external data, by location

	window []byte // a part of the file,
	from   int64  // which begins here
	depth  int    // of the message that is being read
	memory int64  // that messages may still take
	err    error
}

func newDecoder(r io.ReaderAt, size int64, limits Limits) *decoder {
	return &decoder{r: r, size: size, limits: limits, files: map[string]*dataFile{}, memory: 1<<20 + 64*min(size, 1<<56)}
}

func (d *decoder) fail(at int64, format string, args ...any) {
	d.failed(at, nil, format, args...)
}

func (d *decoder) failed(at int64, cause error, format string, args ...any) {
	if d.err == nil {
		d.err = &Error{at, fmt.Sprintf(format, args...), cause}
	}
}

// take counts bytes of memory that a message will take, and reports whether it may.
func (d *decoder) take(at, bytes int64) bool {
	if d.memory -= bytes; d.memory < 0 {
		d.fail(at, "the messages up to here take more than 64 times the memory of the file")
	}
	return d.err == nil
}

// peek returns n bytes, at most windowSize, of the file from at on; fewer only after an error. They
// are good until the next call.
func (d *decoder) peek(at int64, n int) []byte {
	if at < d.from || at+int64(n) > d.from+int64(len(d.window)) {
		if d.window == nil {
			d.window = make([]byte, 0, max(int64(n), min(windowSize, d.size)))
		}
		d.window = d.window[:min(int64(cap(d.window)), d.size-at)]
		d.from = at
		if !d.readAt(d.window, at) {
			d.window = d.window[:0]
			return nil
		}
	}
	return d.window[at-d.from:][:n]
}

// readAt fills b from the file, and reports whether it could.
func (d *decoder) readAt(b []byte, at int64) bool {
	n, err := d.r.ReadAt(b, at)
	switch {
	case n == len(b):
	case err == io.EOF || err == nil:
		d.fail(at+int64(n), "the file ends here: want %d bytes", d.size)
	default:
		d.failed(at+int64(n), err, "cannot read: %v", err)
	}
	return d.err == nil
}

// field is a field of a message.
type field struct {
	in        string // the message
	num       protowire.Number
	typ       protowire.Type
	v         uint64 // of numbers
	at        int64  // where the field begins
	data, end int64  // where its value begins and ends
}

// fields calls f for each field of the message what between two places.
func (d *decoder) fields(what string, at, end int64, f func(field)) {
	if d.depth++; d.depth > mostDepth {
		d.fail(at, "%s: messages lie more than %d deep in each other", what, mostDepth)
	}
	defer func() { d.depth-- }()
	for at < end && d.err == nil {
		x := d.field(what, at, end)
		if d.err == nil {
			f(x)
		}
		at = x.end
	}
}

// field returns the field of a message that begins at a place.
func (d *decoder) field(what string, at, end int64) field {
	x := field{in: what, at: at}
	b := d.peek(at, int(min(mostField, end-at)))
	n := 0
	if x.num, x.typ, n = protowire.ConsumeTag(b); n < 0 {
		d.fail(at, "%s: no field begins here", what)
		return x
	}
	b = b[n:]
	x.data = at + int64(n)
	switch x.typ {
	case protowire.VarintType:
		x.v, n = protowire.ConsumeVarint(b)
	case protowire.Fixed32Type:
		var v uint32
		v, n = protowire.ConsumeFixed32(b)
		x.v = uint64(v)
	case protowire.Fixed64Type:
		x.v, n = protowire.ConsumeFixed64(b)
	case protowire.BytesType:
		var size uint64
		if size, n = protowire.ConsumeVarint(b); n < 0 {
			break
		}
		x.data += int64(n)
		if size > uint64(end-x.data) {
			d.fail(at, "%s: field %d says %d bytes, and %d are left of the message", what, x.num, size, end-x.data)
			return x
		}
		x.end = x.data + int64(size)
		return x
	default:
		d.fail(at, "%s: field %d is a group, which ONNX does not have", what, x.num)
		return x
	}
	if n < 0 {
		d.fail(at, "%s: field %d ends after the message", what, x.num)
		return x
	}
	x.end = x.data + int64(n)
	return x
}

// typed reports whether a field has the wire type of what it should be, and fails if not.
func (d *decoder) typed(f field, typ protowire.Type, want string) bool {
	if f.typ != typ {
		got := "a number"
		if f.typ == protowire.BytesType {
			got = "bytes"
		}
		d.fail(f.at, "%s: field %d is %s of wire type %d: want %s", f.in, f.num, got, f.typ, want)
	}
	return d.err == nil
}

// message calls of for each field of the message that a field holds.
func (d *decoder) message(what string, f field, of func(field)) {
	if d.typed(f, protowire.BytesType, "a message") {
		d.fields(what, f.data, f.end, of)
	}
}

func (d *decoder) int(f field) int64 {
	d.typed(f, protowire.VarintType, "an integer")
	return int64(f.v)
}

// small returns an integer of 32 bits.
func (d *decoder) small(f field) int32 {
	v := d.int(f)
	if int64(int32(v)) != v {
		d.fail(f.data, "%s: field %d is %d: want an integer of 32 bits", f.in, f.num, v)
	}
	return int32(v)
}

// blob returns the bytes of a field.
func (d *decoder) blob(f field) string {
	n := f.end - f.data
	if !d.typed(f, protowire.BytesType, "bytes") || !d.take(f.at, n+16) {
		return ""
	}
	if n <= windowSize {
		return string(d.peek(f.data, int(n)))
	}
	var b strings.Builder
	b.Grow(int(n))
	for at := f.data; at < f.end && d.err == nil; {
		part := d.peek(at, int(min(windowSize, f.end-at)))
		b.Write(part)
		at += int64(len(part))
	}
	return b.String()
}

// text returns the text of a field.
func (d *decoder) text(f field) string {
	s := d.blob(f)
	if !utf8.ValidString(s) {
		valid := strings.IndexFunc(s, func(r rune) bool { return r == utf8.RuneError })
		d.fail(f.data+int64(valid), "%s: the text of field %d is not UTF-8", f.in, f.num)
	}
	return s
}
