package encoding

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/train/data/internal/input"
	"gorgonia.org/tensor"
)

// NPYMagic begins a .npy file, whose format is described at
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
const NPYMagic = "\x93NUMPY"

// ReadNPYHeader reads the header of a .npy file.
func ReadNPYHeader(b *input.Binary) (Layout, error) {
	start := make([]byte, len(NPYMagic)+2)
	if n, err := b.Read(start); err != nil && err != io.EOF {
		return Layout{}, err
	} else if n < len(NPYMagic) || string(start[:len(NPYMagic)]) != NPYMagic {
		return Layout{}, b.Errorf(0, "not a .npy file: it does not begin with \\x93NUMPY")
	} else if err != nil {
		return Layout{}, b.Errorf(b.Offset, "the file ends within the version")
	}
	version := start[len(NPYMagic):]
	if version[0] < 1 || version[0] > 3 || version[1] != 0 {
		return Layout{}, b.Errorf(int64(len(NPYMagic)), "format %d.%d is not known; 1.0, 2.0 and 3.0 are", version[0], version[1])
	}
	length := make([]byte, 4) // little endian; the first format has two bytes of it
	used := length
	if version[0] == 1 {
		used = length[:2]
	}
	if err := b.Fill(used, "the length of the header"); err != nil {
		return Layout{}, err
	}
	n, at := binary.LittleEndian.Uint32(length), b.Offset
	const maxHeader = 64 << 10 // longer ones describe records of many fields
	if n > maxHeader {
		return Layout{}, b.Errorf(at-int64(len(used)), "the header claims %d bytes; at most %d are read", n, maxHeader)
	}
	text := make([]byte, n)
	if err := b.Fill(text, "the header"); err != nil {
		return Layout{}, err
	}
	p := npyHeader{text: text}
	if msg := p.parse(); msg != "" {
		return Layout{}, b.Errorf(at+int64(p.at), "header: %s", msg)
	}
	return p.Layout, nil
}

// npyHeader parses a Python literal with these keys, in any order:
//
//	{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
type npyHeader struct {
	text []byte
	at   int // what is blamed

	Layout
}

// parse returns what is wrong, or "".
func (p *npyHeader) parse() string {
	if !p.take("{") {
		return "want a dictionary in braces"
	}
	var seen []string
	for !p.take("}") {
		key, ok := p.quoted()
		if !ok || !p.take(":") {
			return "want 'KEY': VALUE"
		}
		if slices.Contains(seen, key) {
			return "two values for " + input.Quote(key)
		}
		seen = append(seen, key)
		msg := ""
		switch key {
		case "descr":
			msg = p.descr()
		case "fortran_order":
			if p.ColumnMajor = p.take("True"); !p.ColumnMajor && !p.take("False") {
				msg = "fortran_order: want True or False"
			}
		case "shape":
			msg = p.sizes()
		default:
			msg = "unknown key " + input.Quote(key)
		}
		if msg != "" {
			return msg
		}
		if !p.take(",") && !p.next("}") {
			return "want a comma or a closing brace"
		}
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !slices.Contains(seen, key) {
			return "no " + key
		}
	}
	if p.skip(); p.at < len(p.text) {
		return "text follows the dictionary"
	}
	return ""
}

func (p *npyHeader) skip() {
	for p.at < len(p.text) && bytes.IndexByte([]byte(" \t\r\n"), p.text[p.at]) >= 0 {
		p.at++
	}
}

// next reports whether the given token is next, after white space; take also skips it.
func (p *npyHeader) next(token string) bool {
	p.skip()
	return bytes.HasPrefix(p.text[p.at:], []byte(token))
}

func (p *npyHeader) take(token string) bool {
	ok := p.next(token)
	if ok {
		p.at += len(token)
	}
	return ok
}

// quoted parses a string without escapes, which no header needs.
func (p *npyHeader) quoted() (string, bool) {
	for _, mark := range []string{"'", `"`} {
		if !p.next(mark) {
			continue
		}
		rest := p.text[p.at+1:]
		end := bytes.IndexByte(rest, mark[0])
		if end < 0 || bytes.IndexByte(rest[:end], '\\') >= 0 {
			return "", false
		}
		p.at += end + 2
		return string(rest[:end]), true
	}
	return "", false
}

// descr parses the type of the elements.
func (p *npyHeader) descr() string {
	if p.next("[") {
		return "records (structured types) are not read; save each field as an array of its own"
	}
	at := p.at
	text, ok := p.quoted()
	if !ok || len(text) < 2 {
		return "descr: want a type such as '<f4'"
	}
	order, kind := text[0], text[1]
	size, err := strconv.Atoi(text[2:])
	if strings.IndexByte("<>|=", order) < 0 {
		order, kind = '|', text[0]
		size, err = strconv.Atoi(text[1:])
	}
	p.BigEndian = order == '>'
	problem := ""
	switch e := (Element{kind, size}); {
	case kind == 'O':
		problem = "Python objects are not read: unpickling them would run what the file says"
	case kind == 'S' || kind == 'U' || kind == 'a':
		problem = "strings are not numbers; save them as text"
	case kind == 'c' || kind == 'M' || kind == 'm' || kind == 'V':
		problem = "complex numbers, dates and records are not read"
	case err != nil || !slices.Contains(readable, e):
		problem = fmt.Sprintf("this type is not read; there are %v", readable)
	case order == '|' && size > 1:
		problem = "it does not say the byte order"
	default:
		p.Element = e
		return ""
	}
	p.at = at
	return "descr " + input.Quote(text) + ": " + problem
}

// readable lists the elements that ReadTensor reads.
var readable = []Element{{'f', 2}, {'f', 4}, {'f', 8}, {'b', 1}, {'i', 1}, {'u', 1}, {'i', 2}, {'u', 2}, {'i', 4}, {'u', 4}, {'i', 8}, {'u', 8}}

// sizes parses a tuple: (), (3,), (3, 4).
func (p *npyHeader) sizes() string {
	const problem = "shape: want a tuple of sizes such as (3, 4)"
	if !p.take("(") {
		return problem
	}
	for comma := true; !p.take(")"); comma = p.take(",") {
		if !comma {
			return problem
		}
		p.skip()
		end := p.at
		for end < len(p.text) && '0' <= p.text[end] && p.text[end] <= '9' {
			end++
		}
		size, err := strconv.ParseInt(string(p.text[p.at:end]), 10, 64)
		if err != nil {
			return problem
		}
		p.at = end
		p.take("L") // of Python 2
		p.Shape = append(p.Shape, size)
		if p.next(")") && len(p.Shape) == 1 {
			return problem // (3) is a number
		}
	}
	return ""
}

// NPYHeader returns the bytes that precede the elements of t.
func NPYHeader(e Element, t *tensor.Dense) []byte {
	shape := t.Shape()
	order := byte('<')
	if e.Size == 1 {
		order = '|'
	}
	columnMajor := len(shape) > 1 && t.DataOrder().IsColMajor()
	fortran, grows := "False", 0
	if columnMajor {
		fortran, grows = "True", len(shape)-1
	}
	var sizes strings.Builder
	for i, size := range shape {
		if i > 0 {
			sizes.WriteByte(' ')
		}
		sizes.WriteString(strconv.Itoa(size) + ",")
	}
	tuple := sizes.String()
	if len(shape) > 1 {
		tuple = strings.TrimSuffix(tuple, ",")
	}
	header := fmt.Sprintf("{'descr': '%c%v', 'fortran_order': %s, 'shape': (%s), }", order, e, fortran, tuple)
	if len(shape) > 0 { // NumPy leaves room for the axis along which a file may grow
		header += strings.Repeat(" ", 21-len(strconv.Itoa(shape[grows])))
	}
	// Spaces and a line feed, at least one of each, align the elements to 64 bytes.
	const prefix = len(NPYMagic) + 2 + 2
	length := len(header) + 1
	length += 64 - (prefix+length)%64
	b := append([]byte(NPYMagic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(length))
	b = append(b, header...)
	b = append(b, bytes.Repeat([]byte(" "), length-1-len(header))...)
	return append(b, '\n')
}
