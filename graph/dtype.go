package graph

import "fmt"

// DType is the type of a node's elements.
type DType uint8

// The element types: floats for what is learnt, usually float32, integers for indices and counts,
// and booleans for masks. The zero DType belongs to invalid nodes.
const (
	InvalidDType DType = iota
	F32
	F64
	I32
	I64
	Bool
)

var dtypeNames = [...]string{"invalid", "f32", "f64", "i32", "i64", "bool"}

// String returns the short name of the text form: f32, f64, i32, i64, bool.
func (d DType) String() string {
	if int(d) < len(dtypeNames) {
		return dtypeNames[d]
	}
	return fmt.Sprintf("dtype(%d)", uint8(d))
}

// Size returns the number of bytes of one element, 0 of an invalid type.
func (d DType) Size() int {
	return [...]int{0, 4, 8, 4, 8, 1, 0}[min(int(d), 6)]
}

// IsFloat reports whether the type is f32 or f64, whose values can be differentiated.
func (d DType) IsFloat() bool { return d == F32 || d == F64 }

// IsInt reports whether the type is i32 or i64.
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
