package graph

import (
	"fmt"
	"math"
)

// DType is the type of a node's elements.
type DType uint8

// The element types: floats for what is learnt, usually float32, integers for indices and counts,
// and booleans for masks. The zero DType belongs to invalid nodes.
//
// F16 and BF16 are floats of two bytes, for storage: IEEE 754's binary16, which ends at 65504, and
// bfloat16, which has the range of float32 with 8 bits of significand. An operation on them computes
// in float32, sums included, and rounds its result once. I8 and U8 are integers of a byte, for data
// such as images: an operation on them computes in int32, and its result wraps around. Operands of
// one operation have one type; see ops.Cast.
const (
	InvalidDType DType = iota
	F32
	F64
	I32
	I64
	Bool
	F16
	BF16
	I8
	U8
)

// dtypes are the element types by number, with the bytes of an element.
var dtypes = [...]struct {
	name string
	size int
}{
	InvalidDType: {"invalid", 0}, F32: {"f32", 4}, F64: {"f64", 8}, I32: {"i32", 4}, I64: {"i64", 8}, Bool: {"bool", 1},
	F16: {"f16", 2}, BF16: {"bf16", 2}, I8: {"i8", 1}, U8: {"u8", 1},
}

// wantDType ends the mistake of a name that no type has.
const wantDType = "want f32, f64, f16, bf16, i32, i64, i8, u8 or bool"

// IsValid reports whether the type is one of the element types, and not InvalidDType.
func (d DType) IsValid() bool { return d > InvalidDType && int(d) < len(dtypes) }

// String returns the short name of the text form: f32, f64, f16, bf16, i32, i64, i8, u8, bool.
func (d DType) String() string {
	if int(d) < len(dtypes) {
		return dtypes[d].name
	}
	return fmt.Sprintf("dtype(%d)", uint8(d))
}

// Size returns the number of bytes of one element, 0 of an invalid type.
func (d DType) Size() int {
	if !d.IsValid() {
		return 0
	}
	return dtypes[d].size
}

// IsFloat reports whether the type is f32, f64, f16 or bf16, whose values can be differentiated.
func (d DType) IsFloat() bool { return d == F32 || d == F64 || d.IsHalf() }

// IsHalf reports whether the type is f16 or bf16, the floats of two bytes.
func (d DType) IsHalf() bool { return d == F16 || d == BF16 }

// IsInt reports whether the type is i32, i64, i8 or u8.
func (d DType) IsInt() bool { return d == I32 || d == I64 || d == I8 || d == U8 }

// Largest returns the largest finite number of a type of floats.
func (d DType) Largest() float64 {
	switch d {
	case F32:
		return math.MaxFloat32
	case F16:
		return 65504
	case BF16:
		return 0x1.fep127
	}
	return math.MaxFloat64
}

// Wide returns the type in which operations on the type compute: f32 for f16 and bf16, i32 for i8
// and u8, and otherwise the type itself.
func (d DType) Wide() DType {
	switch d {
	case F16, BF16:
		return F32
	case I8, U8:
		return I32
	}
	return d
}

// parse reads the short name.
func (d *DType) parse(text string) error {
	for i, t := range dtypes {
		if i > 0 && t.name == text {
			*d = DType(i)
			return nil
		}
	}
	return fmt.Errorf("unknown element type %q: %s", text, wantDType)
}

// ParseDType reads the short name of an element type: "f32", "bf16".
func ParseDType(name string) (DType, error) {
	var d DType
	err := d.parse(name)
	return d, err
}
