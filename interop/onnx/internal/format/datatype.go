package format

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// DataType is the type of the elements of a tensor, as files number it.
type DataType int32

// The types of elements.
const (
	Undefined  DataType = 0
	Float      DataType = 1
	Uint8      DataType = 2
	Int8       DataType = 3
	Uint16     DataType = 4
	Int16      DataType = 5
	Int32      DataType = 6
	Int64      DataType = 7
	String     DataType = 8
	Bool       DataType = 9
	Float16    DataType = 10
	Double     DataType = 11
	Uint32     DataType = 12
	Uint64     DataType = 13
	Complex64  DataType = 14
	Complex128 DataType = 15
	BFloat16   DataType = 16
)

// dataTypes has for each type the bytes of an element, and the field of a message that has elements
// which are not raw bytes.
var dataTypes = [...]struct {
	name  string
	size  int
	field protowire.Number
}{
	{"undefined", 0, 0},
	{"float32", 4, floatData},
	{"uint8", 1, int32Data},
	{"int8", 1, int32Data},
	{"uint16", 2, int32Data},
	{"int16", 2, int32Data},
	{"int32", 4, int32Data},
	{"int64", 8, int64Data},
	{"string", 0, stringData},
	{"bool", 1, int32Data},
	{"float16", 2, int32Data},
	{"float64", 8, doubleData},
	{"uint32", 4, uint64Data},
	{"uint64", 8, uint64Data},
	{"complex64", 8, floatData},
	{"complex128", 16, doubleData},
	{"bfloat16", 2, int32Data},
}

// IsValid reports whether t is one of the types above other than Undefined.
func (t DataType) IsValid() bool { return t > 0 && int(t) < len(dataTypes) }

// Size returns the bytes of an element; 0 for strings and for types that do not exist.
func (t DataType) Size() int {
	if !t.IsValid() {
		return 0
	}
	return dataTypes[t].size
}

// IsFloat reports whether elements are real floating-point numbers.
func (t DataType) IsFloat() bool {
	return t == Float || t == Double || t == Float16 || t == BFloat16
}

// fits reports whether an integer of a field that is wider than the elements is one of them.
func (t DataType) fits(v uint64) bool {
	switch t {
	case Uint8:
		return v == uint64(uint8(v))
	case Int8:
		return v == uint64(int8(v))
	case Uint16, Float16, BFloat16:
		return v == uint64(uint16(v))
	case Int16:
		return v == uint64(int16(v))
	case Int32:
		return v == uint64(int32(v)) || v == uint64(uint32(v)) // some writers do not extend the sign
	case Uint32:
		return v == uint64(uint32(v))
	case Bool:
		return v <= 1
	}
	return true
}

// String returns the name of the type: float32.
func (t DataType) String() string {
	if t < 0 || int(t) >= len(dataTypes) {
		return fmt.Sprintf("type(%d)", int32(t))
	}
	return dataTypes[t].name
}
