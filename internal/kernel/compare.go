package kernel

// CompareOp is a relation of two numbers.
type CompareOp uint8

// The relations. With a NaN all are false but NotEqual, which is true.
const (
	Less CompareOp = iota + 1
	LessEq
	Equal
	NotEqual
)

// Compare gives a Bool for each pair of elements of any one dtype; false comes before true.
type Compare struct {
	elementwise
	Op CompareOp
}

// LogicOp is a connective of two truth values.
type LogicOp uint8

// The connectives.
const (
	And LogicOp = iota + 1
	Or
)

// Logic combines Bools.
type Logic struct {
	elementwise
	Op LogicOp
}

// Not negates Bools.
type Not struct{ elementwise }

// Bind takes two operands of one dtype and a Bool result.
func (k Compare) Bind(out Layout, in []Layout) Loop {
	switch in[0].DType {
	case F32:
		return loop2(out, in, relation[float32](k.Op))
	case F64:
		return loop2(out, in, relation[float64](k.Op))
	case I32:
		return loop2(out, in, relation[int32](k.Op))
	case I64:
		return loop2(out, in, relation[int64](k.Op))
	case Bool:
		return loop2(out, in, relation[uint8](k.Op))
	}
	panic(unsupported(k, in[0].DType))
}

func relation[T ordered](op CompareOp) func(dst []bool, x, y []T) {
	switch op {
	case Less:
		return less[T]
	case LessEq:
		return lessEq[T]
	case Equal:
		return equal[T]
	case NotEqual:
		return notEqual[T]
	}
	panic("kernel: unknown relation")
}

func less[T ordered](dst []bool, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] < y[i]
	}
}

func lessEq[T ordered](dst []bool, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] <= y[i]
	}
}

func equal[T ordered](dst []bool, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] == y[i]
	}
}

func notEqual[T ordered](dst []bool, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] != y[i]
	}
}

// Bind takes Bools.
func (k Logic) Bind(out Layout, in []Layout) Loop {
	switch k.Op {
	case And:
		return loop2(out, in, func(dst, x, y []uint8) {
			for i := range dst {
				dst[i] = x[i] & y[i]
			}
		})
	case Or:
		return loop2(out, in, func(dst, x, y []uint8) {
			for i := range dst {
				dst[i] = x[i] | y[i]
			}
		})
	}
	panic("kernel: unknown connective")
}

// Bind takes Bools.
func (Not) Bind(out Layout, in []Layout) Loop {
	return loop1(out, in, func(dst, x []uint8) {
		for i := range dst {
			dst[i] = x[i] ^ 1
		}
	})
}
