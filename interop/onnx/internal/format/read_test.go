package format

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// deep returns a node with n bodies in each other.
func deep(n int, inner []byte) []byte {
	for range n {
		inner = node("If", attribute(msg(6, inner)))
	}
	return inner
}

// What is wrong with a file is said with the place of the byte.
func TestMistakes(t *testing.T) {
	tensor := func(fields ...[]byte) []byte { return inGraph(weight(fields...)) }
	of := func(typ DataType, dims ...uint64) []byte {
		b := num(2, uint64(typ))
		for _, d := range dims {
			b = append(b, num(1, d)...)
		}
		return b
	}
	minus := func(v int64) uint64 { return uint64(v) }
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"nothing":            {nil, "byte 0: the model has no graph"},
		"no tag":             {[]byte{0x80}, "byte 0: model: no field begins here"},
		"field 0":            {[]byte{0x00}, "byte 0: model: no field begins here"},
		"a group":            {[]byte{0x3b}, "byte 0: model: field 7 is a group, which ONNX does not have"},
		"cut number":         {[]byte{0x08, 0x80}, "byte 0: model: field 1 ends after the message"},
		"cut float":          {inGraph(node("Op", msg(5, []byte{0x15, 1, 2}))), "byte 13: attribute: field 2 ends after the message"},
		"long text":          {str(2, "onnx")[:4], "byte 0: model: field 2 says 4 bytes, and 2 are left of the message"},
		"beyond any file":    {append([]byte{0x3a}, varints(1<<63)...), "byte 0: model: field 7 says 9223372036854775808 bytes, and 0 are left of the message"},
		"number for text":    {num(2, 1), "byte 0: model: field 2 is a number of wire type 0: want bytes"},
		"text for number":    {str(1, "8"), "byte 0: model: field 1 is bytes of wire type 2: want an integer"},
		"number for message": {num(7, 1), "byte 0: model: field 7 is a number of wire type 0: want a message"},
		"text":               {str(2, "ab\xff"), "byte 4: model: the text of field 2 is not UTF-8"},
		"two graphs":         {append(inGraph(), inGraph()...), "byte 2: model: field 7 is there twice"},
		"two versions":       {append(inGraph(), append(msg(8, num(2, 17)), msg(8, str(1, "ai.onnx"), num(2, 13))...)...), `byte 6: model: the operators "" have the versions 17 and 13`},
		"two keys":           {append(inGraph(), append(msg(14, str(1, "k")), msg(14, str(1, "k"))...)...), `byte 7: model: the metadata have the key "k" twice`},
		"deep":               {inGraph(deep(40, nil)), "byte 627: graph: messages lie more than 100 deep in each other"},

		"no operator":       {inGraph(msg(1, str(3, "n"))), `byte 4: node "n" has no operator`},
		"two outputs":       {inGraph(node("A"), node("B")), `byte 12: graph: "y" is the output of a node and the output of a node`},
		"two inputs":        {inGraph(msg(11, str(1, "x")), msg(11, str(1, "x"))), `byte 9: graph: "x" is an input and an input`},
		"two weights":       {inGraph(weight(of(Float, 0)), weight(of(Float, 0))), `byte 13: graph: "w" is an initialiser and an initialiser`},
		"output and weight": {inGraph(weight(of(Float, 0)), msg(1, str(2, "w"), str(4, "A"))), `byte 13: graph: "w" is an initialiser and the output of a node`},
		"two attributes":    {inGraph(node("A", attribute(num(3, 1)), attribute(num(3, 1)))), `byte 19: attribute "a" is there twice`},

		"attribute of two":    {inGraph(node("A", attribute(num(3, 1), str(4, "s")))), `byte 17: attribute "a" holds int and string`},
		"attribute of other":  {inGraph(node("A", attribute(num(3, 1), num(20, 1)))), `byte 12: attribute "a" is of type float and holds int`},
		"attribute of none":   {inGraph(node("A", attribute())), `byte 12: attribute "a" of type type(0) has no value that can be read`},
		"attribute no tensor": {inGraph(node("A", attribute(num(20, 4)))), `byte 12: attribute "a" of type tensor has no value that can be read`},
		"attribute new":       {inGraph(node("A", attribute(num(20, 99)))), `byte 12: attribute "a" of type type(99) has no value that can be read`},
		"attribute twice":     {inGraph(node("A", attribute(msg(14, msg(1)), msg(14, msg(1))))), "byte 19: attribute: field 14 is there twice"},
		"attribute float":     {inGraph(node("A", attribute(num(2, 1)))), "byte 15: attribute: field 2 is a number of wire type 0: want a float"},
		"attribute floats":    {inGraph(node("A", attribute(str(7, "12345")))), "byte 15: attribute: field 7 has 5 bytes of floats, which are 4 each"},
		"attribute ints":      {inGraph(node("A", attribute(str(8, "\x01\x80")))), "byte 18: no integer begins here"},

		"type of two":      {inGraph(msg(11, msg(2, msg(1, num(1, 1)), msg(4, msg(1, msg(1)))))), "byte 10: type: there are two types"},
		"sequence of none": {inGraph(msg(11, msg(2, msg(4)))), "byte 6: type: a sequence has no type of elements"},
		"element type":     {inGraph(msg(11, msg(2, msg(1, num(1, 1<<40))))), "byte 9: type: field 1 is 1099511627776: want an integer of 32 bits"},

		"no type":          {tensor(num(1, 1)), `byte 4: tensor "w" does not say of which type its elements are`},
		"late type":        {tensor(of(17, 1)), `byte 4: tensor "w" has elements of type(17): the types up to bfloat16 (16) are read`},
		"negative":         {tensor(of(Float, 2, minus(-3))), `byte 4: tensor "w": axis 1 has the size -3`},
		"product":          {tensor(of(Float, 1<<32, 1<<32)), `byte 4: tensor "w" has the shape [4294967296 4294967296], of more elements than any memory has`},
		"product of bytes": {tensor(of(Double, 1<<60)), `byte 4: tensor "w" has the shape [1152921504606846976], of more elements than any memory has`},
		"axes":             {tensor(num(2, 1), str(1, strings.Repeat("\x01", 65))), `byte 4: tensor "w" has 65 axes: want at most 64`},
		"segment":          {tensor(msg(3)), "byte 4: tensor: the elements are in segments, which no version of ONNX defines"},
		"location":         {tensor(num(14, 2)), "byte 4: tensor: the elements are at location 2: want 0, in the message, or 1, in a file"},
		"two fields":       {tensor(fixed32(4, 1), num(5, 1)), "byte 9: tensor: the elements are in field 4 and in field 5"},
		"raw twice":        {tensor(str(9, "1234"), str(9, "1234")), "byte 10: tensor: the elements are in field 9 and in field 9"},
		"raw number":       {tensor(num(9, 1)), "byte 4: tensor: field 9 is a number of wire type 0: want bytes"},
		"strings and raw":  {tensor(str(9, "1234"), str(6, "s")), "byte 10: tensor: the elements are in field 9 and in field 6"},
		"other field":      {tensor(of(Float, 1), num(5, 1)), `byte 4: tensor "w" has elements of float32 in field 5: want field 4`},
		"raw strings":      {tensor(of(String, 1), str(9, "1")), `byte 4: tensor "w" has elements of string in field 9: want field 6`},
		"raw bytes":        {tensor(of(Float, 2), str(9, "12345")), `byte 10: tensor "w" of float32[2] has 5 bytes of data: want 8`},
		"no elements":      {tensor(of(Float, 2)), `byte 4: tensor "w" of float32[2] has 0 elements: want 2`},
		"no scalar":        {tensor(of(Float)), `byte 4: tensor "w" of float32[] has 0 elements: want 1`},
		"few elements":     {tensor(of(Int64, 2), num(7, 1)), `byte 4: tensor "w" of int64[2] has 1 elements: want 2`},
		"many strings":     {tensor(of(String, 1), str(6, "a"), str(6, "b")), `byte 4: tensor "w" of string[1] has 2 elements: want 1`},
		"half a complex":   {tensor(of(Complex64, 1), str(4, "123456789012")), `byte 4: tensor "w" of complex64[1] has 3 elements: want 2`},
		"half a float":     {tensor(of(Float, 1), str(4, "123")), `byte 10: tensor "w": field 4 has 3 bytes of numbers, which are 4 each`},
		"wide element":     {tensor(of(Uint8, 2), str(5, varints(255, 256))), `byte 12: tensor "w": element 1 is 256: no uint8`},
		"negative element": {tensor(of(Int8, 2), num(5, minus(-128)), num(5, minus(-129))), `byte 20: tensor "w": element 1 is -129: no int8`},
		"bool element":     {tensor(of(Bool, 1), num(5, 2)), `byte 9: tensor "w": element 0 is 2: no bool`},
		"long integer":     {tensor(of(Int64, 1), str(7, strings.Repeat("\xff", 11))), "byte 10: no integer begins here"},
		"wire of floats":   {tensor(num(4, 1)), "byte 4: tensor: field 4 is a number of wire type 0: want floats"},
		"wire of doubles":  {tensor(num(10, 1)), "byte 4: tensor: field 10 is a number of wire type 0: want doubles"},
		"wire of integers": {tensor(fixed32(7, 1)), "byte 4: tensor: field 7 is a number of wire type 5: want integers"},
	} {
		_, err := read(c.file, Limits{})
		var at *Error
		if err == nil || err.Error() != c.want || !errors.As(err, &at) {
			t.Errorf("%s: got %v\nwant %s", name, err, c.want)
		}
	}
}

// What a file does not say, or says in another way that protobuf allows, is read.
func TestLenient(t *testing.T) {
	m := mustRead(t, bytes.Join([][]byte{
		num(99, 1), fixed64(98, 1), str(97, "of a later version"),
		msg(8, str(1, "ai.onnx"), num(2, 13)), msg(8, num(2, 13)),
		inGraph(
			msg(11, str(1, "w")), msg(11, str(1, "x"), msg(2)), // an initialiser is the default of an input
			weight(num(2, 1), num(1, 1), str(9, "\x00\x00\x80\x3f")),
			msg(11, str(1, "z"), msg(2, msg(1, num(1, 7), msg(2, msg(1, num(1, ^uint64(0))), msg(1, str(2, "N")), msg(1))))),
			msg(1, str(4, "A"), str(2, ""), str(2, ""), str(7, "ai.onnx"), msg(5, str(1, "p"), str(8, varints(1, 2)), num(8, 3)), msg(5, str(1, "q"), str(7, "\x00\x00\x80\x3f"), fixed32(7, 0x40000000)), msg(5, str(1, "zero"), num(20, 2))),
		)}, nil))
	want := `opset 13, ir 0, producer ""
input w
input x undefined[…]
input z int64[? N ?]
init w float32[1][1]
_, _ = A{p=[1 2 3] q=[1 2] zero=0}
`
	if m.String() != want {
		t.Errorf("got\n%swant\n%s", m, want)
	}
}

// failing is a file that cannot be read from a byte on.
type failing struct{ from int64 }

var errBroken = errors.New("the disk is broken")

func (f failing) ReadAt(b []byte, at int64) (int, error) {
	n := min(int64(len(b)), max(0, f.from-at))
	copy(b, bytes.Repeat([]byte{0x08}, int(n))) // 08 08 is a field
	if n < int64(len(b)) {
		return int(n), errBroken
	}
	return int(n), nil
}

func TestReaderFails(t *testing.T) {
	_, err := Read(failing{100_000}, 200_000, Limits{})
	if want := "byte 100000: cannot read: the disk is broken"; err == nil || err.Error() != want || !errors.Is(err, errBroken) {
		t.Errorf("got %v, want %s", err, want)
	}
	b := str(2, "short")
	_, err = Read(bytes.NewReader(b), 100, Limits{})
	if want := "byte 7: the file ends here: want 100 bytes"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// counting counts the bytes that are read.
type counting struct {
	io.ReaderAt
	read int64
}

func (c *counting) ReadAt(b []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(b, at)
	c.read += int64(n)
	return n, err
}

// Elements are not read before they are asked for, and then only those of the tensor.
func TestElementsStayInTheFile(t *testing.T) {
	const size = 4 << 20
	big := weight(num(2, uint64(Float)), num(1, size/4), str(9, strings.Repeat("\x00\x00\x80\x3f", size/4)))
	packed := msg(5, num(2, uint64(Float)), num(1, size/4), str(4, strings.Repeat("\x00\x00\x00\x40", size/4)), str(8, "v"))
	b := inGraph(big, packed)
	r := &counting{ReaderAt: bytes.NewReader(b)}
	m, err := Read(r, int64(len(b)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if r.read > 5*windowSize {
		t.Errorf("the structure took %d bytes of the file", r.read)
	}
	for i, want := range []float32{1, 2} {
		r.read = 0
		v, err := m.Graph.Init[i].Float32s()
		if err != nil || len(v) != size/4 || v[0] != want || v[len(v)-1] != want {
			t.Fatalf("tensor %d: %d elements, %v", i, len(v), err)
		}
		if r.read != size {
			t.Errorf("tensor %d took %d bytes of the file: want %d", i, r.read, size)
		}
	}
}
