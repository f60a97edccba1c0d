package format

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

func little(v any) string {
	b, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// The elements of each type come from raw bytes, from packed fields, from fields of one number each,
// and from a mixture of them.
func TestFields(t *testing.T) {
	minus := func(v int64) uint64 { return uint64(v) }
	for _, c := range []struct {
		typ    DataType
		raw    any
		floats []float64
		ints   []uint64 // of the field; nil for floats
		field  protowire.Number
	}{
		{Float, []float32{1, -2.5, 3}, []float64{1, -2.5, 3}, nil, 4},
		{Double, []float64{1, -2.5, math.Pi}, []float64{1, -2.5, math.Pi}, nil, 10},
		{Float16, []uint16{0x3c00, 0xc100, 0x4200}, []float64{1, -2.5, 3}, []uint64{0x3c00, 0xc100, 0x4200}, 5},
		{BFloat16, []uint16{0x3f80, 0xc020, 0x4040}, []float64{1, -2.5, 3}, []uint64{0x3f80, 0xc020, 0x4040}, 5},
		{Uint8, []uint8{0, 200, 255}, []float64{0, 200, 255}, []uint64{0, 200, 255}, 5},
		{Int8, []int8{-128, -1, 127}, []float64{-128, -1, 127}, []uint64{minus(-128), minus(-1), 127}, 5},
		{Uint16, []uint16{0, 300, 65535}, []float64{0, 300, 65535}, []uint64{0, 300, 65535}, 5},
		{Int16, []int16{-32768, -1, 300}, []float64{-32768, -1, 300}, []uint64{minus(-32768), minus(-1), 300}, 5},
		{Int32, []int32{math.MinInt32, -1, 70000}, []float64{math.MinInt32, -1, 70000}, []uint64{minus(math.MinInt32), 0xffffffff, 70000}, 5},
		{Int64, []int64{-1 << 53, -1, 1 << 40}, []float64{-1 << 53, -1, 1 << 40}, []uint64{minus(-1 << 53), minus(-1), 1 << 40}, 7},
		{Uint32, []uint32{0, 300, math.MaxUint32}, []float64{0, 300, math.MaxUint32}, []uint64{0, 300, math.MaxUint32}, 11},
		{Uint64, []uint64{0, 300, 1 << 63}, []float64{0, 300, 1 << 63}, []uint64{0, 300, 1 << 63}, 11},
		{Bool, []bool{true, false, true}, []float64{1, 0, 1}, []uint64{1, 0, 1}, 5},
	} {
		raw := little(c.raw)
		size := c.typ.Size()
		var packed string
		single := make([][]byte, 3)
		for i := range single {
			switch {
			case c.typ == Float:
				single[i] = fixed32(4, binary.LittleEndian.Uint32([]byte(raw[4*i:])))
			case c.typ == Double:
				single[i] = fixed64(10, binary.LittleEndian.Uint64([]byte(raw[8*i:])))
			default:
				single[i] = num(c.field, c.ints[i])
			}
		}
		if packed = raw; c.ints != nil {
			packed = varints(c.ints...)
		}
		first := packed[:size]
		if c.ints != nil {
			first = varints(c.ints[0])
		}
		for name, data := range map[string][]byte{
			"raw":     str(9, raw),
			"packed":  str(c.field, packed),
			"single":  bytes.Join(single, nil),
			"mixed":   bytes.Join([][]byte{str(c.field, first), single[1], single[2]}, nil),
			"pieces":  bytes.Join([][]byte{str(c.field, first), str(c.field, packed[len(first):])}, nil),
			"between": bytes.Join([][]byte{single[0], single[1], num(99, 1), single[2]}, nil),
		} {
			for _, late := range []bool{false, true} { // the type after the elements
				fields := [][]byte{num(1, 3), num(2, uint64(c.typ)), data}
				if late {
					slices.Reverse(fields)
				}
				x := mustRead(t, inGraph(weight(fields...))).Graph.Init[0]
				if got, err := x.Floats(); err != nil || !slices.Equal(got, c.floats) {
					t.Errorf("%v, %s: got %v, %v, want %v", c.typ, name, got, err, c.floats)
				}
				if b, err := x.Raw.Read(); err != nil || string(b) != raw {
					t.Errorf("%v, %s: got the bytes %x, %v, want %x", c.typ, name, b, err, raw)
				}
				single, err := x.Float32s()
				for i, v := range c.floats {
					if err != nil || single[i] != float32(v) {
						t.Errorf("%v, %s: got %v, %v, want %v", c.typ, name, single, err, c.floats)
					}
				}
			}
		}
	}
}

// Many elements come through buffers in parts.
func TestManyElements(t *testing.T) {
	const n = 100_000
	var b []byte
	want := make([]int64, n)
	for i := range want {
		want[i] = int64(i) * 0x12345 % 1e6 * (1 - 2*int64(i%2))
		if i%3 == 0 {
			b = append(b, num(7, uint64(want[i]))...)
		} else {
			b = append(b, str(7, varints(uint64(want[i])))...)
		}
	}
	b = append(append(b, num(2, uint64(Int64))...), str(1, varints(n))...)
	x, err := ReadTensor(b)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := x.Ints(); err != nil || !slices.Equal(got, want) {
		t.Errorf("other integers come back: %v", err)
	}
}

func TestElementsOfOtherTypes(t *testing.T) {
	text := &Tensor{Name: "s", Type: String, Dims: []int64{1}, Strings: []string{"a"}}
	float := &Tensor{Name: "f", Type: Float, Dims: []int64{1}, Raw: Bytes(make([]byte, 4))}
	short := &Tensor{Name: "f", Type: Float, Dims: []int64{2}, Raw: Bytes(make([]byte, 4))}
	big := &Tensor{Name: "u", Type: Uint64, Dims: []int64{2}, Raw: Bytes([]byte(little([]uint64{1, 1 << 63})))}
	complexes := &Tensor{Name: "c", Type: Complex64, Dims: []int64{1}, Raw: Bytes(make([]byte, 8))}
	for _, c := range []struct {
		read func() error
		want string
	}{
		{func() error { _, err := text.Floats(); return err }, `tensor "s" has elements of string: want numbers`},
		{func() error { _, err := text.Ints(); return err }, `tensor "s" has elements of string: want numbers`},
		{func() error { _, err := complexes.Float32s(); return err }, `tensor "c" has elements of complex64: want numbers`},
		{func() error { _, err := float.Ints(); return err }, `tensor "f" has elements of float32: want integers`},
		{func() error { _, err := short.Floats(); return err }, `tensor "f" has 4 bytes of data: want 8`},
		{func() error { _, err := big.Ints(); return err }, `tensor "u": element 1 is 9223372036854775808: no int64`},
	} {
		if err := c.read(); fmt.Sprint(err) != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// A file that got shorter after it was opened is an error when its elements are read.
func TestFileEndsLater(t *testing.T) {
	b := inGraph(weight(num(2, uint64(Float)), num(1, 2), str(9, "12345678")))
	m := mustRead(t, b)
	x := m.Graph.Init[0]
	x.Raw.size, x.Dims = 12, []int64{3}
	if _, err := x.Floats(); fmt.Sprint(err) != `tensor "w": its data end after element 0: unexpected EOF` {
		t.Errorf("got %v", err)
	}
	if err := m.Write(&bytes.Buffer{}); fmt.Sprint(err) != `tensor "w": unexpected EOF` {
		t.Errorf("got %v", err)
	}
}
