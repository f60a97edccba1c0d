package simd

import "unsafe"

//go:generate go run -C ../asmgen . -out ../simd vec

// The loops of this file go through rows of their operands. Pointers point at the first row;
// strides are the distances between rows in bytes, 0 to use one row again and again. The elements
// of a row are side by side, or there is one for the whole row where the loop says so. The result
// may have exactly the memory of an operand, but not overlap it otherwise. Nothing outside the rows
// is read or written. A result depends on its operands alone, neither on its position nor on the
// length of a row.
type (
	// Map computes dst from x, element by element.
	Map func(dst, x *byte, rows, cols, dstStride, xStride int)
	// Zip computes dst from x and y, element by element.
	Zip func(dst, x, y *byte, rows, cols, dstStride, xStride, yStride int)
	// Mix computes dst from mask, whose elements are bools, x and y, element by element.
	Mix func(dst, mask, x, y *byte, rows, cols, dstStride, maskStride, xStride, yStride int)
	// Fold reduces each row of x to one number; those of dst lie side by side. The order in which
	// elements are combined depends on cols alone. Sums of float32 are float32, in many lanes: they
	// are good to some units in the last place up to a thousand elements.
	Fold func(dst, x *byte, rows, cols, xStride int)
	// ZipFold is a Fold of two operands.
	ZipFold func(dst, x, y *byte, rows, cols, xStride, yStride int)
	// Standardise sets dst to (x - mean)·scale, with one mean and one scale per row.
	Standardise func(dst, x, mean, scale *byte, rows, cols, dstStride, xStride, meanStride, scaleStride int)
	// ExpSum sets dst to exp(x - peak), as [WeightOf] has it, with one peak per row, and sum to the
	// sum of each row.
	ExpSum func(dst, sum, x, peak *byte, rows, cols, dstStride, xStride, peakStride int)
	// ColumnSum adds the sum of each column of x to acc. The order of the terms depends on rows
	// alone.
	ColumnSum func(acc, x *byte, rows, cols, xStride int)
	// ColumnDeviation adds the squares of the differences of each column of x from its mean to acc,
	// in the order in which ColumnSum adds.
	ColumnDeviation func(acc, x, mean *byte, rows, cols, xStride int)
	// ColumnExtreme sets best to the greatest or the least of itself and each column of x, as Max
	// and Min do.
	ColumnExtreme func(best, x *byte, rows, cols, xStride int)
	// RowIndex sets dst to the index, an int64, of the first element of each row of x that equals
	// the row's value. The value must be in the row, or be NaN, whose index is -1. The indices lie
	// side by side.
	RowIndex func(dst, x, value *byte, rows, cols, xStride, valueStride int)
)

// Zips holds the loops of an operation: over two operands of whole rows, with one element of y per
// row, and with one element of x per row. The last two are nil where a level has none.
type Zips struct{ Rows, OneY, OneX Zip }

// Mixes is like Zips; OneXY takes one element of x and one of y per row.
type Mixes struct{ Rows, OneY, OneX, OneXY Mix }

// Float is an element type that every loop supports.
type Float interface{ float32 | float64 }

// Number is an element type with arithmetic. Integers wrap around on overflow, and their loops are
// portable at every level.
type Number interface {
	Float | int32 | int64
}

// Ordered is a type that may be compared; a bool is read as a byte.
type Ordered interface{ Number | uint8 }

// Function is a function of one variable; internal/asmgen has the list.
type Function uint8

// Cheap reports whether computing a function again takes no longer than reading its result from
// memory.
func (f Function) Cheap() bool { return cheap[f] }

// Operation is a function of two variables.
type Operation uint8

// The operations. Max and Min give NaN where either operand is NaN, and order -0 before 0. Div
// takes floats only.
const (
	Add Operation = iota
	Sub
	Mul
	Div
	Max
	Min
	operations
)

// Relation holds between two numbers or does not; the loops give bools.
type Relation uint8

// The relations. With a NaN all are false but NotEqual, which is true.
const (
	Less Relation = iota
	LessEq
	Equal
	NotEqual
	relations
)

// Reduction combines many numbers into one.
type Reduction uint8

// The reductions. Max and Min give NaN where there is one, and order -0 before 0; of an empty row
// they are -Inf and Inf.
const (
	SumOf Reduction = iota
	SumSquaresOf
	MaxOf
	MinOf
	reductions
)

// MapOf returns the loop of a function at a level that the machine has; nil if there is none for T.
func MapOf[T Number](level Level, f Function) Map {
	if m := lookup[T](level, func(l *loops) Map { return l.maps[f] }); m != nil {
		return m
	}
	return portableMap[T](f)
}

// ZipOf returns the loops of an operation at a level that the machine has; Rows is nil if there is
// none for T.
func ZipOf[T Number](level Level, op Operation) Zips {
	if z := lookup[T](level, func(l *loops) Zips { return l.zips[op] }); z.Rows != nil {
		return z
	}
	return Zips{Rows: portableZip[T](op)}
}

// RelationOf returns the loops of a relation at a level that the machine has.
func RelationOf[T Ordered](level Level, r Relation) Zips {
	if z := lookup[T](level, func(l *loops) Zips { return l.relations[r] }); z.Rows != nil {
		return z
	}
	return Zips{Rows: portableRelation[T](r)}
}

// ChooseOf returns the loops that take x where mask is true, else y, at a level that the machine
// has. Elements have 1, 2, 4 or 8 bytes.
func ChooseOf(level Level, size int) Mixes {
	switch size {
	case 1:
		return Mixes{Rows: portableChoose[uint8]}
	case 2:
		return Mixes{Rows: portableChoose[uint16]}
	case 4:
		if l := lookup[float32](level, func(l *loops) Mixes { return l.choose }); l.Rows != nil {
			return l
		}
		return Mixes{Rows: portableChoose[uint32]}
	}
	if l := lookup[float64](level, func(l *loops) Mixes { return l.choose }); l.Rows != nil {
		return l
	}
	return Mixes{Rows: portableChoose[uint64]}
}

// CopyOf returns the loop that copies rows, at a level that the machine has. Elements have 1, 2, 4
// or 8 bytes.
func CopyOf(level Level, size int) Map {
	return bySize(level, size, func(l *loops) Map { return l.copy }, [...]Map{copyRows[uint8], copyRows[uint16], copyRows[uint32], copyRows[uint64]})
}

// SpreadOf returns the loop that repeats one element per row, at a level that the machine has.
// Elements have 1, 2, 4 or 8 bytes.
func SpreadOf(level Level, size int) Map {
	return bySize(level, size, func(l *loops) Map { return l.spread }, [...]Map{spread[uint8], spread[uint16], spread[uint32], spread[uint64]})
}

// bySize returns the loop of a level that moves elements of a size, or the portable one of 1, 2, 4
// or 8 bytes.
func bySize(level Level, size int, get func(*loops) Map, portable [4]Map) Map {
	var m Map
	switch size {
	case 1:
		return portable[0]
	case 2:
		return portable[1]
	case 4:
		if m = lookup[float32](level, get); m == nil {
			m = portable[2]
		}
	default:
		if m = lookup[float64](level, get); m == nil {
			m = portable[3]
		}
	}
	return m
}

// FoldOf returns the loop of a reduction at a level that the machine has.
func FoldOf[T Float](level Level, r Reduction) Fold {
	if f := lookup[T](level, func(l *loops) Fold { return l.folds[r] }); f != nil {
		return f
	}
	return portableFold[T](r)
}

// RowDotOf returns the loop that sums the products of rows, at a level that the machine has.
func RowDotOf[T Float](level Level) ZipFold {
	if f := lookup[T](level, func(l *loops) ZipFold { return l.dot }); f != nil {
		return f
	}
	return portableDot[T]
}

// ColumnSumOf returns the loop that adds columns of T to float64, at a level that the machine has.
func ColumnSumOf[T Float](level Level) ColumnSum {
	if f := lookup[T](level, func(l *loops) ColumnSum { return l.columnSum }); f != nil {
		return f
	}
	return portableColumnSum[float64, T]
}

// ColumnDeviationOf returns the loop that adds squared differences to float64, nil where a level
// has none.
func ColumnDeviationOf[T Float](level Level) ColumnDeviation {
	return lookup[T](level, func(l *loops) ColumnDeviation { return l.columnDeviation })
}

// ColumnAddOf returns the loop that adds columns of T to numbers of T, at a level that the machine
// has. It is for few rows: the sum may be rounded once a row.
func ColumnAddOf[T Float](level Level) ColumnSum {
	if f := lookup[T](level, func(l *loops) ColumnSum { return l.columnAdd }); f != nil {
		return f
	}
	return portableColumnSum[T, T]
}

// ColumnExtremeOf returns the loop that finds the greatest of columns of T, or the least, at a
// level that the machine has.
func ColumnExtremeOf[T Float](level Level, greatest bool) ColumnExtreme {
	loop := lookup[T](level, func(l *loops) ColumnExtreme {
		if greatest {
			return l.columnMax
		}
		return l.columnMin
	})
	switch {
	case loop != nil:
		return loop
	case greatest:
		return portableColumnExtreme(maxOf[T])
	}
	return portableColumnExtreme(minOf[T])
}

// RowIndexOf returns the loop that searches rows, at a level that the machine has.
func RowIndexOf[T Float](level Level) RowIndex {
	if f := lookup[T](level, func(l *loops) RowIndex { return l.rowIndex }); f != nil {
		return f
	}
	return portableIndex[T]
}

// WeightOf returns the loop of the exponentials of a softmax, at a level that the machine has:
// exp(x), or 0 where that is less than 2²⁴ times the smallest normal number. Divided by the sum of
// up to 2²⁴ exponentials, none above 1, no result is subnormal: computing with subnormal numbers
// takes a hundred cycles.
func WeightOf[T Float](level Level) Map {
	if f := lookup[T](level, func(l *loops) Map { return l.weight }); f != nil {
		return f
	}
	return eachRow(weights[T])
}

// ExpSumOf returns the loop of softmax at a level that the machine has.
func ExpSumOf[T Float](level Level) ExpSum {
	if f := lookup[T](level, func(l *loops) ExpSum { return l.expSum }); f != nil {
		return f
	}
	return portableExpSum[T]
}

// DeviationOf returns the loop that sums the squares of the differences of rows from one mean per
// row, the second operand, at a level that the machine has.
func DeviationOf[T Float](level Level) ZipFold {
	if f := lookup[T](level, func(l *loops) ZipFold { return l.deviation }); f != nil {
		return f
	}
	return portableDeviation[T]
}

// StandardiseOf returns the loop of that name at a level that the machine has.
func StandardiseOf[T Float](level Level) Standardise {
	if f := lookup[T](level, func(l *loops) Standardise { return l.standardise }); f != nil {
		return f
	}
	return portableStandardise[T]
}

// CastOf returns the loop that converts S to D at a level that the machine has. A float becomes an
// integer by dropping its fraction; beyond the integer's range it becomes the nearest integer there
// is, and NaN becomes 0. A wider integer loses its upper bits.
func CastOf[D, S Ordered](level Level) (m Map) {
	var d D
	var s S
	_, toInt := any(d).(int32)
	switch any(s).(type) {
	case int32:
		m = lookup[D](level, func(l *loops) Map { return l.fromInt })
	case uint8:
		m = lookup[D](level, func(l *loops) Map { return l.fromBool })
	case float32:
		if toInt {
			m = lookup[S](level, func(l *loops) Map { return l.toInt })
		} else if _, wider := any(d).(float64); wider {
			m = lookup[D](level, func(l *loops) Map { return l.fromFloat })
		}
	case float64:
		if toInt {
			m = lookup[S](level, func(l *loops) Map { return l.toInt })
		} else if _, narrower := any(d).(float32); narrower {
			m = lookup[S](level, func(l *loops) Map { return l.toFloat })
		}
	}
	if m == nil {
		m = portableCast[D, S]()
	}
	return m
}

// ByteCastOf returns the loops that convert uint8, or int8, to float32 and back as [CastOf] does, at a
// level that the machine has; nil where it has none of its own.
func ByteCastOf(level Level, signed bool) (from, to Map) {
	both := lookup[float32](level, func(l *loops) [2]byteCasts { return l.bytes })
	if signed {
		return both[1].from, both[1].to
	}
	return both[0].from, both[0].to
}

// TruthOf returns the loop that tells of each S whether it is not 0; NaN is not 0.
func TruthOf[S Ordered](level Level) Map {
	notEqual := RelationOf[S](level, NotEqual)
	if notEqual.OneY == nil {
		return eachRow(nonzero[S])
	}
	zero := new(S)
	return func(dst, x *byte, rows, cols, dstStride, xStride int) {
		notEqual.OneY(dst, x, (*byte)(unsafe.Pointer(zero)), rows, cols, dstStride, xStride, 0)
	}
}

// loops holds the loops of a level for a type of floats.
type loops struct {
	maps      [functions]Map
	zips      [operations]Zips
	relations [relations]Zips
	folds     [reductions]Fold
	choose    Mixes
	dot       ZipFold

	twoProducts   SumTwoProducts
	threeProducts SumThreeProducts

	columnSum ColumnSum // to float64
	columnAdd ColumnSum // to its own type

	columnDeviation ColumnDeviation

	columnMax, columnMin ColumnExtreme
	rowIndex             RowIndex
	weight               Map
	expSum               ExpSum
	deviation            ZipFold // y is one mean per row
	standardise          Standardise

	copy, spread             Map
	fromInt, toInt, fromBool Map // int32
	fromFloat, toFloat       Map // float64 and float32
	bytes                    [2]byteCasts
}

// byteCasts are the loops from and to integers of a byte.
type byteCasts struct{ from, to Map }

// lookup returns a loop of a level for T, the zero value if T is no float or the level has no loops
// of its own.
func lookup[T any, L any](level Level, get func(*loops) L) (l L) {
	var e T
	var of *loops
	switch any(e).(type) {
	case float32:
		of = loops32(level)
	case float64:
		of = loops64(level)
	}
	if of != nil {
		l = get(of)
	}
	return l
}

// slice returns a row of n elements.
func slice[T any](p *byte, n int) []T { return unsafe.Slice((*T)(unsafe.Pointer(p)), n) }
