package kernel

// DType is the type of an array's elements.
type DType uint8

// The element types. Bool is a byte that holds 0 or 1, as Go's bool. F16 is IEEE 754's binary16 and
// BF16 bfloat16; like U8 and I8 they are types for storage, which [Cast] converts and some kernels
// move ([Moves]), and which no other kernel has loops for.
const (
	F32 DType = iota + 1
	F64
	I32
	I64
	Bool
	F16
	BF16
	I8
	U8
)

// Wide returns the type in which kernels compute on elements of the type: F32 for F16 and BF16, I32
// for I8 and U8, and otherwise the type itself.
func (d DType) Wide() DType {
	switch d {
	case F16, BF16:
		return F32
	case I8, U8:
		return I32
	}
	return d
}

// Size returns the number of bytes of an element, 0 for an unknown type.
func (d DType) Size() int {
	switch d {
	case F32, I32:
		return 4
	case F64, I64:
		return 8
	case F16, BF16:
		return 2
	case Bool, I8, U8:
		return 1
	}
	return 0
}

// String returns Go's name of the type.
func (d DType) String() string {
	switch d {
	case F32:
		return "float32"
	case F64:
		return "float64"
	case I32:
		return "int32"
	case I64:
		return "int64"
	case Bool:
		return "bool"
	case F16:
		return "float16"
	case BF16:
		return "bfloat16"
	case I8:
		return "int8"
	case U8:
		return "uint8"
	}
	return "invalid"
}

// MaxRank is the largest number of axes of an array.
const MaxRank = 8

// Layout says where the elements of an array lie: element (i0,i1,…) is Offset+Σ i_a·Strides[a]
// elements from the start of its memory. Stride 0 repeats. Entries beyond Rank are zero, so that
// equal layouts are ==.
type Layout struct {
	DType         DType
	Rank          int
	Dims, Strides [MaxRank]int
	Offset        int
}

// Dense returns the row-major layout of an array of at most MaxRank axes.
func Dense(dt DType, dims ...int) Layout {
	l := Layout{DType: dt, Rank: len(dims)}
	copy(l.Dims[:len(dims)], dims)
	stride := 1
	for a := len(dims) - 1; a >= 0; a-- {
		l.Strides[a] = stride
		stride *= dims[a]
	}
	return l
}

// Len returns the number of elements; 1 for a scalar.
func (l Layout) Len() int {
	n := 1
	for _, d := range l.Dims[:l.Rank] {
		n *= d
	}
	return n
}

// IsDense reports whether the elements lie in row-major order without gaps from the start of the
// memory. The strides of axes of size 1 do not matter.
func (l Layout) IsDense() bool {
	if l.Len() == 0 {
		return true
	}
	stride := 1
	for a := l.Rank - 1; a >= 0; a-- {
		if l.Dims[a] != 1 && l.Strides[a] != stride {
			return false
		}
		stride *= l.Dims[a]
	}
	return l.Offset == 0
}

// reach returns how many elements the memory must have. A layout that reaches before its start is a
// mistake of the caller.
func (l Layout) reach() int {
	first, last := l.Offset, l.Offset
	for a, d := range l.Dims[:l.Rank] {
		switch s := (d - 1) * l.Strides[a]; {
		case d == 0:
			return 0
		case s < 0:
			first += s
		default:
			last += s
		}
	}
	if first < 0 {
		panic("kernel: a layout reaches before the start of its memory")
	}
	return last + 1
}

// axis resolves a negative axis, counted from the end.
func (l Layout) axis(a int) int {
	if a < 0 {
		return a + l.Rank
	}
	return a
}

// count multiplies the sizes of axes [from,to).
func (l Layout) count(from, to int) int {
	n := 1
	for _, d := range l.Dims[from:to] {
		n *= d
	}
	return n
}

// to broadcasts l to the first rank dims, aligned from the right: new axes and axes of size 1 get
// stride 0. ok is false where the sizes do not fit.
func (l Layout) to(rank int, dims [MaxRank]int) (out Layout, ok bool) {
	out = Layout{DType: l.DType, Rank: rank, Offset: l.Offset}
	if l.Rank > rank {
		return Layout{}, false
	}
	copy(out.Dims[:rank], dims[:rank])
	for a := range l.Rank {
		b := a + rank - l.Rank
		switch l.Dims[a] {
		case dims[b]:
			out.Strides[b] = l.Strides[a]
		case 1:
			out.Strides[b] = 0
		default:
			return Layout{}, false
		}
	}
	return out, true
}
