package kernel

import "github.com/tapestry-ml/tapestry/internal/simd"

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

func (Compare) cheap() bool { return true }
func (Logic) cheap() bool   { return true }
func (Not) cheap() bool     { return true }

// Bind takes two operands of one dtype and a Bool result.
func (k Compare) Bind(out Layout, in []Layout) Bound {
	if k.Op < Less || k.Op > NotEqual {
		panic("kernel: unknown relation")
	}
	r := [...]simd.Relation{Less: simd.Less, LessEq: simd.LessEq, Equal: simd.Equal, NotEqual: simd.NotEqual}[k.Op]
	switch in[0].DType {
	case F32:
		return zipLoop(simd.RelationOf[float32](level, r), out, in)
	case F64:
		return zipLoop(simd.RelationOf[float64](level, r), out, in)
	case I32:
		return zipLoop(simd.RelationOf[int32](level, r), out, in)
	case I64:
		return zipLoop(simd.RelationOf[int64](level, r), out, in)
	case Bool:
		return zipLoop(simd.RelationOf[uint8](level, r), out, in)
	}
	panic(unsupported(k, in[0].DType))
}

// Bind takes Bools.
func (k Logic) Bind(out Layout, in []Layout) Bound {
	switch k.Op {
	case And:
		return zipLoop(simd.Zips{Rows: simd.And}, out, in)
	case Or:
		return zipLoop(simd.Zips{Rows: simd.Or}, out, in)
	}
	panic("kernel: unknown connective")
}

// Bind takes Bools.
func (Not) Bind(out Layout, in []Layout) Bound { return mapLoop(simd.Not, out, in[0]) }
