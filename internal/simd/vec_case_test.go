package simd

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// A loopCase is a loop over rows with what a test must know to call it.
type loopCase struct {
	name string
	dst  place
	in   []place
	call func(dst *byte, in []*byte, rows, cols, dstStride int, strides []int)
}

// A place is an operand of a loop.
type place struct {
	size int
	once bool // one element per row; for a result, side by side
	kind kind
}

// A kind is the type of the elements of a place.
type kind uint8

const (
	floats kind = iota
	ints
	bools
)

// cols returns the number of elements that the place has in a row.
func (p place) cols(cols int) int {
	if p.once {
		return 1
	}
	return cols
}

// loopCases are all loops of a level.
func loopCases(level Level) (cases []loopCase) {
	cases = append(cases, casesOf[float32](level)...)
	cases = append(cases, casesOf[float64](level)...)
	unary := func(name string, dst, x place, m Map) {
		cases = append(cases, loopCase{name, dst, []place{x}, func(dst *byte, in []*byte, rows, cols, dstStride int, s []int) {
			m(dst, in[0], rows, cols, dstStride, s[0])
		}})
	}
	f32, f64, i32, b := place{size: 4}, place{size: 8}, place{size: 4, kind: ints}, place{size: 1, kind: bools}
	unary("float32 to float64", f64, f32, CastOf[float64, float32](level))
	unary("float64 to float32", f32, f64, CastOf[float32, float64](level))
	unary("float32 to int32", i32, f32, CastOf[int32, float32](level))
	unary("float64 to int32", i32, f64, CastOf[int32, float64](level))
	unary("int32 to float32", f32, i32, CastOf[float32, int32](level))
	unary("int32 to float64", f64, i32, CastOf[float64, int32](level))
	unary("bool to float32", f32, b, CastOf[float32, uint8](level))
	unary("bool to float64", f64, b, CastOf[float64, uint8](level))
	unary("float32 to bool", b, f32, TruthOf[float32](level))
	unary("not", b, b, Not)
	return cases
}

// casesOf are the loops of a level for floats of type T.
func casesOf[T Float](level Level) (cases []loopCase) {
	size := int(unsafe.Sizeof(T(0)))
	rows, one, truth := place{size: size}, place{size: size, once: true}, place{size: 1, kind: bools}
	add := func(name string, dst place, in []place, call func(dst *byte, in []*byte, rows, cols, dstStride int, s []int)) {
		cases = append(cases, loopCase{fmt.Sprintf("%s of %T", name, T(0)), dst, in, call})
	}
	unary := func(name string, x place, m Map) {
		add(name, rows, []place{x}, func(dst *byte, in []*byte, rows, cols, dstStride int, s []int) {
			m(dst, in[0], rows, cols, dstStride, s[0])
		})
	}
	for f, ref := range references {
		unary(ref.name, rows, MapOf[T](level, f))
	}
	unary("copy", rows, CopyOf(level, size))
	unary("spread", one, SpreadOf(level, size))
	binary := func(name string, dst place, z Zips) {
		for i, zip := range []Zip{z.Rows, z.OneY, z.OneX} {
			if zip != nil {
				in := [][]place{{rows, rows}, {rows, one}, {one, rows}}[i]
				add(fmt.Sprint(name, i), dst, in, func(dst *byte, in []*byte, rows, cols, dstStride int, s []int) {
					zip(dst, in[0], in[1], rows, cols, dstStride, s[0], s[1])
				})
			}
		}
	}
	for op, name := range operationNames {
		binary(name, rows, ZipOf[T](level, Operation(op)))
	}
	for r, name := range relationNames {
		binary(name, truth, RelationOf[T](level, Relation(r)))
	}
	choose := ChooseOf(level, size)
	for i, mix := range []Mix{choose.Rows, choose.OneY, choose.OneX, choose.OneXY} {
		if mix != nil {
			in := [][]place{{truth, rows, rows}, {truth, rows, one}, {truth, one, rows}, {truth, one, one}}[i]
			add(fmt.Sprint("choose", i), rows, in, func(dst *byte, in []*byte, rows, cols, dstStride int, s []int) {
				mix(dst, in[0], in[1], in[2], rows, cols, dstStride, s[0], s[1], s[2])
			})
		}
	}
	for r := range reductions {
		fold := FoldOf[T](level, r)
		add(fmt.Sprint("fold", r), one, []place{rows}, func(dst *byte, in []*byte, rows, cols, _ int, s []int) {
			fold(dst, in[0], rows, cols, s[0])
		})
	}
	two, three := SumTwoProductsOf[T](level), SumThreeProductsOf[T](level)
	add("two products", rows, []place{rows, rows, rows, rows}, func(dst *byte, in []*byte, rows, cols, dstStride int, s []int) {
		two(dst, in[0], in[1], in[2], in[3], rows, cols, dstStride, s[0], s[1], s[2], s[3])
	})
	add("three products", rows, []place{rows, rows, rows, rows, rows, rows}, func(dst *byte, in []*byte, rows, cols, dstStride int, s []int) {
		three(dst, in[0], in[1], in[2], in[3], in[4], in[5], rows, cols, dstStride, s[0], s[1], s[2], s[3], s[4], s[5])
	})
	dot := RowDotOf[T](level)
	add("dot", one, []place{rows, rows}, func(dst *byte, in []*byte, rows, cols, _ int, s []int) {
		dot(dst, in[0], in[1], rows, cols, s[0], s[1])
	})
	deviation, standardise := DeviationOf[T](level), StandardiseOf[T](level)
	add("deviation", one, []place{rows, one}, func(dst *byte, in []*byte, rows, cols, _ int, s []int) {
		deviation(dst, in[0], in[1], rows, cols, s[0], s[1])
	})
	add("standardise", rows, []place{rows, one, one}, func(dst *byte, in []*byte, rows, cols, dstStride int, s []int) {
		standardise(dst, in[0], in[1], in[2], rows, cols, dstStride, s[0], s[1], s[2])
	})
	unary("weight", rows, WeightOf[T](level))
	expSum := ExpSumOf[T](level)
	sums := make([]T, 8)
	add("expSum", rows, []place{rows, one}, func(dst *byte, in []*byte, rows, cols, dstStride int, s []int) {
		expSum(dst, pointer(sums), in[0], in[1], rows, cols, dstStride, s[0], s[1])
	})
	return cases
}

var (
	operationNames = []string{Add: "add", Sub: "sub", Mul: "mul", Div: "div", Max: "max", Min: "min"}
	relationNames  = []string{Less: "less", LessEq: "lessEq", Equal: "equal", NotEqual: "notEqual"}
)

// values fills b with elements of a kind, special ones and random bits among the floats.
func values(r *rand.Rand, p place, b []byte) {
	special := []float64{0, math.Copysign(0, -1), 1, math.Inf(1), math.Inf(-1), math.NaN(), 1e-40, 5e-324, 1e30, -1e300}
	for i := 0; i+p.size <= len(b); i += p.size {
		at := unsafe.Pointer(&b[i])
		v := r.NormFloat64() * 3
		if r.IntN(8) == 0 {
			v = special[r.IntN(len(special))]
		}
		switch {
		case p.kind == bools:
			b[i] = byte(r.IntN(2))
		case p.kind == ints && p.size == 4:
			*(*uint32)(at) = r.Uint32()
		case p.kind == ints:
			*(*uint64)(at) = r.Uint64()
		case p.size == 4 && r.IntN(4) == 0:
			*(*uint32)(at) = r.Uint32()
		case r.IntN(4) == 0 && p.size == 8:
			*(*uint64)(at) = r.Uint64()
		case p.size == 4:
			*(*float32)(at) = float32(v)
		default:
			*(*float64)(at) = v
		}
	}
}

// An element of a result depends on its operands alone: whatever the shape, the strides and the
// alignment, it equals that of a call for it alone. For reductions this holds of rows. Only the
// result is written, and it may have the memory of an operand.
func TestLoopsGoThroughRows(t *testing.T) { eachLevel(t, testLoopsGoThroughRows) }

func testLoopsGoThroughRows(t *testing.T, level Level) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range loopCases(level) {
		t.Run(c.name, func(t *testing.T) {
			for cols := 1; cols <= 3*16+1; cols++ {
				c.testShape(t, r, 1+r.IntN(3), cols)
			}
			c.testShape(t, r, 2, 16*9+5)
			c.testShape(t, r, 0, 5)
			if !c.dst.once {
				c.testShape(t, r, 3, 0)
			}
		})
	}
}

// A block is memory with an operand in it: rows with gaps, somewhere off its alignment.
type block struct {
	bytes         []byte
	start, stride int
}

func (b block) row(r int) *byte { return &b.bytes[b.start+r*b.stride] }

func newBlock(r *rand.Rand, p place, rows, cols int) block {
	b := block{start: p.size * r.IntN(5), stride: p.size * (p.cols(cols) + r.IntN(3))}
	b.bytes = make([]byte, b.start+(rows+1)*(b.stride+p.size)+64)
	values(r, p, b.bytes)
	return b
}

func (c loopCase) testShape(t *testing.T, r *rand.Rand, rows, cols int) {
	t.Helper()
	in, places, strides := make([]block, len(c.in)), make([]*byte, len(c.in)), make([]int, len(c.in))
	for i, p := range c.in {
		in[i] = newBlock(r, p, rows, cols)
		if i > 0 && r.IntN(6) == 0 {
			in[i].stride = 0 // the same row again
		}
		places[i], strides[i] = in[i].row(0), in[i].stride
	}
	dst := newBlock(r, c.dst, rows, cols)
	if c.dst.once {
		dst.stride = c.dst.size
	}
	want := bytes.Clone(dst.bytes)
	c.call(dst.row(0), places, rows, cols, dst.stride, strides)
	before := make([][]byte, len(in))
	for i := range in {
		before[i] = bytes.Clone(in[i].bytes)
	}
	element := make([]byte, max(8, c.dst.size*(cols+1)))
	for row := range rows {
		at := dst.start + row*dst.stride
		for i := range in {
			places[i] = in[i].row(row)
		}
		if c.dst.once { // the row alone
			c.call(&element[0], places, 1, cols, 0, make([]int, len(in)))
			copy(want[at:at+c.dst.size], element)
			continue
		}
		for col := range cols {
			c.call(&element[0], places, 1, 1, 0, make([]int, len(in)))
			copy(want[at+col*c.dst.size:], element[:c.dst.size])
			for i, p := range c.in {
				if !p.once {
					places[i] = move(places[i], p.size)
				}
			}
		}
	}
	if !bytes.Equal(dst.bytes, want) {
		t.Fatalf("%d×%d: the result differs from that of single elements, or more is written", rows, cols)
	}
	for i := range in {
		if !bytes.Equal(in[i].bytes, before[i]) {
			t.Fatalf("%d×%d: operand %d changed", rows, cols, i)
		}
	}
	for i, p := range c.in { // in place
		if p.size != c.dst.size || p.once || c.dst.once || in[i].stride == 0 {
			continue
		}
		for j := range in {
			places[j] = in[j].row(0)
		}
		c.call(in[i].row(0), places, rows, cols, in[i].stride, strides)
		for row := range rows {
			n := cols * p.size
			if n > 0 && !bytes.Equal(slice[byte](in[i].row(row), n), want[dst.start+row*dst.stride:][:n]) {
				t.Fatalf("%d×%d: in place of operand %d the result differs", rows, cols, i)
			}
		}
		copy(in[i].bytes, before[i])
	}
}

// Elements do not depend on the instruction set, but for those of sums.
func TestVectorLevelsAgree(t *testing.T) {
	if Best() < AVX512 {
		t.Skip("there is one vector level")
	}
	r := rand.New(rand.NewPCG(3, 4))
	const n = 50000
	theirs := loopCases(AVX512)
	named := map[string]loopCase{}
	for _, c := range theirs {
		named[c.name] = c
	}
	for _, c := range loopCases(AVX2) {
		if c.dst.once && c.dst.kind == floats {
			continue
		}
		places, strides := make([]*byte, len(c.in)), make([]int, len(c.in))
		for i, p := range c.in {
			places[i] = newBlock(r, p, 1, n).row(0)
		}
		a, b := make([]byte, n*c.dst.size), make([]byte, n*c.dst.size)
		c.call(&a[0], places, 1, n, 0, strides)
		named[c.name].call(&b[0], places, 1, n, 0, strides)
		if !bytes.Equal(a, b) {
			t.Errorf("%s: AVX2 and AVX-512 give other bits", c.name)
		}
	}
}
