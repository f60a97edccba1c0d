package tensor

// The methods return the elements as a slice, which belongs to the tensor, and panic where they are
// of another type.

// Bools returns elements of type bool.
func (t *Dense) Bools() []bool { return t.data.([]bool) }

// Int8s returns elements of type int8.
func (t *Dense) Int8s() []int8 { return t.data.([]int8) }

// Int16s returns elements of type int16.
func (t *Dense) Int16s() []int16 { return t.data.([]int16) }

// Int32s returns elements of type int32.
func (t *Dense) Int32s() []int32 { return t.data.([]int32) }

// Int64s returns elements of type int64.
func (t *Dense) Int64s() []int64 { return t.data.([]int64) }

// Uint8s returns elements of type uint8.
func (t *Dense) Uint8s() []uint8 { return t.data.([]uint8) }

// Uint16s returns elements of type uint16.
func (t *Dense) Uint16s() []uint16 { return t.data.([]uint16) }

// Uint32s returns elements of type uint32.
func (t *Dense) Uint32s() []uint32 { return t.data.([]uint32) }

// Uint64s returns elements of type uint64.
func (t *Dense) Uint64s() []uint64 { return t.data.([]uint64) }

// Float32s returns elements of type float32.
func (t *Dense) Float32s() []float32 { return t.data.([]float32) }

// Float64s returns elements of type float64.
func (t *Dense) Float64s() []float64 { return t.data.([]float64) }
