package graph

import "fmt"

// DType is the type of a node's elements.
type DType uint8

// The element types. Float32 is the usual one; integers index, booleans mask.
const (
	InvalidDType DType = iota
	F32
	F64
	I32
	I64
	Bool
)

var dtypeNames = [...]string{"invalid", "f32", "f64", "i32", "i64", "bool"}

// String gives the short name used in the text form: f32, f64, i32, i64, bool.
func (d DType) String() string {
	if int(d) < len(dtypeNames) {
		return dtypeNames[d]
	}
	return fmt.Sprintf("dtype(%d)", uint8(d))
}

// Size is the number of bytes of one element.
func (d DType) Size() int {
	return [...]int{0, 4, 8, 4, 8, 1, 0}[min(int(d), 6)]
}

// IsFloat reports whether values of the type can be differentiated.
func (d DType) IsFloat() bool { return d == F32 || d == F64 }

// IsInt reports whether the type counts or indexes.
func (d DType) IsInt() bool { return d == I32 || d == I64 }

// parse reads the short name.
func (d *DType) parse(text string) error {
	for i, s := range dtypeNames {
		if i > 0 && s == text {
			*d = DType(i)
			return nil
		}
	}
	return fmt.Errorf("unknown element type %q: want f32, f64, i32, i64 or bool", text)
}
