package tensor

import "reflect"

// Dtype is the type of the elements of a tensor. Gorgonia's embeds its type: here it is a field, as
// all methods that a program has are linked into one that may ask a type for its methods by name.
type Dtype struct{ Type reflect.Type }

// The types of elements.
var (
	Bool    = Dtype{reflect.TypeFor[bool]()}
	Int     = Dtype{reflect.TypeFor[int]()}
	Int8    = Dtype{reflect.TypeFor[int8]()}
	Int16   = Dtype{reflect.TypeFor[int16]()}
	Int32   = Dtype{reflect.TypeFor[int32]()}
	Int64   = Dtype{reflect.TypeFor[int64]()}
	Uint8   = Dtype{reflect.TypeFor[uint8]()}
	Uint16  = Dtype{reflect.TypeFor[uint16]()}
	Uint32  = Dtype{reflect.TypeFor[uint32]()}
	Uint64  = Dtype{reflect.TypeFor[uint64]()}
	Float32 = Dtype{reflect.TypeFor[float32]()}
	Float64 = Dtype{reflect.TypeFor[float64]()}
)

// String returns the name of the type in Go.
func (d Dtype) String() string { return d.Type.String() }

// Size returns the number of bytes of an element.
func (d Dtype) Size() uintptr { return d.Type.Size() }

// Kind returns the kind of the type.
func (d Dtype) Kind() reflect.Kind { return d.Type.Kind() }
