package safetensors

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

const (
	metadataKey = "__metadata__"
	mostHeader  = 100_000_000 // bytes of JSON: the published limit
	mostAxes    = 64          // of a tensor's shape
)

// Info describes a tensor, as the header has it.
type Info struct {
	Name   string
	DType  string // as the file has it: F32, BF16, …
	Shape  []int  // empty for a scalar
	Offset int64  // of its first byte, from the beginning of the file
	Size   int64  // in bytes
}

// header is the part of a file before the data.
type header struct {
	metadata map[string]string // nil if there are none
	tensors  []Info            // by offset
	begin    int64             // of the data: the length of the header with the eight bytes before it
	end      int64             // of the file
	digits   int64             // offset of the checksum's digits in the file; 0 if it has none
}

// appendHeader appends the eight bytes and the JSON of h, and returns the offset of the checksum's
// digits in them.
func appendHeader(to []byte, h *header) (text []byte, digits int64) {
	to = append(to, "\x00\x00\x00\x00\x00\x00\x00\x00{"...)
	comma := ""
	if h.metadata != nil {
		to = append(to, `"`+metadataKey+`":{`...)
		for _, key := range sortedKeys(h.metadata) {
			to = append(appendString(append(to, comma...), key), ':')
			to = appendString(to, h.metadata[key])
			if key == Checksum {
				digits = int64(len(to) - 1 - sumDigits)
			}
			comma = ","
		}
		to = append(to, '}')
		comma = ","
	}
	for _, t := range h.tensors {
		to = append(appendString(append(to, comma...), t.Name), `:{"dtype":"`+t.DType+`","shape":[`...)
		for i, n := range t.Shape {
			if i > 0 {
				to = append(to, ',')
			}
			to = strconv.AppendInt(to, int64(n), 10)
		}
		to = strconv.AppendInt(append(to, `],"data_offsets":[`...), t.Offset, 10)
		to = strconv.AppendInt(append(to, ','), t.Offset+t.Size, 10)
		to = append(to, "]}"...)
		comma = ","
	}
	to = append(to, '}')
	for len(to)%8 != 0 {
		to = append(to, ' ')
	}
	return to, digits
}

// appendString appends s as JSON with the escapes of the published implementation: only those that
// JSON requires.
func appendString(to []byte, s string) []byte {
	const hex = "0123456789abcdef"
	to = append(to, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			to = append(to, '\\', c)
		case c >= ' ':
			to = append(to, c)
		default:
			if short := bytes.IndexByte([]byte("\b\t\n\f\r"), c); short >= 0 {
				to = append(to, '\\', "btnfr"[short])
			} else {
				to = append(to, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
		}
	}
	return append(to, '"')
}

// parseHeader reads the JSON that follows the eight bytes.
func parseHeader(text []byte) (*header, error) {
	if !utf8.Valid(text) {
		return nil, malformed(8, "", "the header is not UTF-8")
	}
	if len(text) == 0 || text[0] != '{' {
		return nil, malformed(8, "", "the header does not begin with {")
	}
	p := &parser{text: text, dec: json.NewDecoder(bytes.NewReader(text))}
	p.dec.UseNumber()
	h := &header{begin: 8 + int64(len(text))}
	err := p.object("", func(key string) error {
		if key == metadataKey {
			return p.metadata(h)
		}
		t, err := p.info(key)
		h.tensors = append(h.tensors, t)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(bytes.Trim(text[p.dec.InputOffset():], " ")) > 0 {
		return nil, p.wrong("", "after the header's } there are bytes other than spaces")
	}
	slices.SortStableFunc(h.tensors, func(a, b Info) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Size, b.Size))
	})
	end := int64(0)
	for i := range h.tensors {
		t := &h.tensors[i]
		if t.Offset != end {
			return nil, malformed(8, t.Name, "its data begin at %d; the tensors before it end at %d", t.Offset, end)
		}
		end += t.Size // no overflow: it is the larger of two data_offsets
		if end > math.MaxInt64-h.begin {
			return nil, malformed(8, t.Name, "its data end at %d, beyond any file", end)
		}
		t.Offset += h.begin
	}
	h.end = h.begin + end
	return h, nil
}

// parser reads the header's JSON token by token, because order, duplicate keys and positions
// matter.
type parser struct {
	text []byte
	dec  *json.Decoder
}

func (p *parser) wrong(tensor, format string, args ...any) error {
	return malformed(8+p.dec.InputOffset(), tensor, format, args...)
}

// token returns the next token, which must be a T.
func token[T any](p *parser, tensor, want string) (T, error) {
	t, err := p.dec.Token()
	v, ok := t.(T)
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return v, p.wrong(tensor, "the header ends where %s should be", want)
	case err != nil:
		return v, p.wrong(tensor, "the header is not JSON: %v", err)
	case !ok && t == nil:
		return v, p.wrong(tensor, "want %s, got null", want)
	case !ok:
		return v, p.wrong(tensor, "want %s, got %.60q", want, fmt.Sprint(t))
	}
	return v, nil
}

// open reads an opening bracket, and close the closing one.
func (p *parser) open(tensor, bracket string) error {
	d, err := token[json.Delim](p, tensor, bracket)
	if err == nil && d.String() != bracket {
		err = p.wrong(tensor, "want %s, got %v", bracket, d)
	}
	return err
}

func (p *parser) close(tensor string) error {
	_, err := token[json.Delim](p, tensor, "the end of a list")
	return err
}

// object reads an object, and calls entry after each key to read its value.
func (p *parser) object(tensor string, entry func(key string) error) error {
	if err := p.open(tensor, "{"); err != nil {
		return err
	}
	seen := map[string]bool{}
	for p.dec.More() {
		key, err := token[string](p, tensor, "a key")
		if err != nil {
			return err
		}
		if seen[key] {
			return p.wrong(tensor, "the key %.60q is there twice", key)
		}
		seen[key] = true
		if err := entry(key); err != nil {
			return err
		}
	}
	return p.close(tensor)
}

func (p *parser) metadata(h *header) error {
	h.metadata = map[string]string{}
	return p.object("", func(key string) error {
		value, err := token[string](p, "", "a text")
		if err != nil {
			return err
		}
		h.metadata[key] = value
		sum, err := checksumOf(key, value)
		if err != nil {
			return &Error{Offset: 8 + p.dec.InputOffset(), Msg: err.Error(), Err: ErrChecksum}
		}
		if sum == "" {
			return nil
		}
		at := p.dec.InputOffset() - 1 - sumDigits // before the closing quote
		if at < 0 || string(p.text[at:at+sumDigits]) != sum {
			return p.wrong("", "the checksum's digits are escaped")
		}
		h.digits = 8 + at
		return nil
	})
}

// numbers reads a list of at most most integers ≥ 0.
func (p *parser) numbers(tensor string, most int) ([]int64, error) {
	if err := p.open(tensor, "["); err != nil {
		return nil, err
	}
	list := []int64{}
	for p.dec.More() {
		text, err := token[json.Number](p, tensor, "an integer")
		if err != nil {
			return nil, err
		}
		n, bad := strconv.ParseUint(text.String(), 10, 63)
		if bad != nil {
			return nil, p.wrong(tensor, "want an integer from 0 to 2⁶³−1, got %.60s", text)
		}
		if len(list) == most {
			return nil, p.wrong(tensor, "want at most %d numbers", most)
		}
		list = append(list, int64(n))
	}
	return list, p.close(tensor)
}

// info reads the description after a tensor's name. Its offset counts from the beginning of the
// data.
func (p *parser) info(name string) (Info, error) {
	t := Info{Name: name}
	var sizes, offsets []int64
	err := p.object(name, func(key string) (err error) {
		switch key {
		case "dtype":
			t.DType, err = token[string](p, name, "a text")
		case "shape":
			sizes, err = p.numbers(name, mostAxes)
		case "data_offsets":
			offsets, err = p.numbers(name, 2)
		default:
			err = p.wrong(name, "unknown key %.60q; want dtype, shape and data_offsets", key)
		}
		return err
	})
	if err != nil {
		return t, err
	}
	if t.DType == "" || sizes == nil || len(offsets) != 2 {
		return t, p.wrong(name, "want dtype, shape and two data_offsets")
	}
	i := rank(t.DType)
	if i < 0 {
		return t, p.wrong(name, "elements of type %.60q are not read", t.DType)
	}
	t.Offset, t.Size = offsets[0], offsets[1]-offsets[0]
	if t.Size < 0 {
		return t, p.wrong(name, "data_offsets %d run backwards", offsets)
	}
	bytes := dtypes[i].size
	for _, n := range sizes {
		if n > 0 && bytes > math.MaxInt/n {
			return t, p.wrong(name, "shape %d of %s is beyond any memory", sizes, t.DType)
		}
		bytes *= n
		t.Shape = append(t.Shape, int(n))
	}
	if bytes != t.Size {
		return t, p.wrong(name, "shape %d of %s takes %d bytes, but data_offsets give %d", sizes, t.DType, bytes, t.Size)
	}
	return t, nil
}
