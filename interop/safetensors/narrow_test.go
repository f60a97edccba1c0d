package safetensors

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// TestNarrowTypes: every number of F16, BF16, I8 and U8 is written as its bits, read as the number
// that the definition of the type gives, and written again as it was.
func TestNarrowTypes(t *testing.T) {
	bits := make([]uint16, 1<<16)
	for i := range bits {
		bits[i] = uint16(i)
	}
	var signed []int8
	var unsigned []uint8
	for i := range 256 {
		signed, unsigned = append(signed, int8(i)), append(unsigned, uint8(i))
	}
	f := &File{Tensors: []Tensor{
		{Name: "brain", Data: dense(bits, 1<<16), DType: "BF16"}, {Name: "half", Data: dense(bits, 1<<16), DType: "F16"},
		{Name: "signed", Data: dense(signed, 256)}, {Name: "unsigned", Data: dense(unsigned, 256)},
	}}
	var first, again bytes.Buffer
	if err := Write(&first, f); err != nil {
		t.Fatal(err)
	}
	read, err := Read(bytes.NewReader(first.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	number := func(i, exponents, digits int) float64 {
		sign, e, m := 1-2*float64(i>>15), i>>digits&(1<<exponents-1), float64(i&(1<<digits-1))
		bias := 1<<(exponents-1) - 1
		switch {
		case e == 1<<exponents-1 && m != 0:
			return math.NaN()
		case e == 1<<exponents-1:
			return math.Inf(int(sign))
		case e == 0:
			return sign * math.Ldexp(m, 1-bias-digits)
		}
		return sign * math.Ldexp(m+float64(int(1)<<digits), e-bias-digits)
	}
	for _, c := range []struct {
		name              string
		exponents, digits int
	}{{"half", 5, 10}, {"brain", 8, 7}} {
		for i, v := range read.Tensor(c.name).Float32s() {
			want := number(i, c.exponents, c.digits)
			if float64(v) != want && !(v != v && want != want) || math.Signbit(float64(v)) != (i >= 1<<15) {
				t.Fatalf("%s: %#04x is %g, want %g", c.name, i, v, want)
			}
		}
	}
	if !slices.Equal(read.Tensor("signed").Int8s(), signed) || !slices.Equal(read.Tensor("unsigned").Uint8s(), unsigned) {
		t.Fatal("bytes are others when they are read")
	}
	if err := Write(&again, read); err != nil {
		t.Fatal(err)
	}
	a, b := first.Bytes(), again.Bytes()
	if len(a) != len(b) {
		t.Fatalf("%d bytes are %d when they are written again", len(a), len(b))
	}
	at := 8 + int(binary.LittleEndian.Uint64(a))
	for k, quiet := range []uint16{0x40, 0x200} { // a NaN becomes a quiet one
		for i := range bits {
			p := at + 2*(k<<16+i)
			x, y := binary.LittleEndian.Uint16(a[p:]), binary.LittleEndian.Uint16(b[p:])
			if x != y && x|quiet != y {
				t.Fatalf("array %d: %#04x is written again as %#04x", k, x, y)
			}
		}
	}
	if !bytes.Equal(a[:at], b[:at]) || !bytes.Equal(a[at+4<<16:], b[at+4<<16:]) {
		t.Error("header or bytes differ")
	}
}
