package main

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A target is an instruction set and a type of elements, for which the text of an algorithm is
// emitted. Its methods emit one instruction each and return the register of the result, unless they
// say otherwise.
type target struct {
	*build.Context
	z      bool // AVX-512, else AVX2
	bits   int  // of an element: 32 or 64
	pool   *pool
	labels int

	resident map[string]vector // constants that stay in registers
	used     map[string]int    // uses of constants, while they are counted
}

// A pool holds the constants of a file.
type pool struct {
	*build.Context
	byName map[string]operand.Mem
}

// vec emits the loops over rows: functions, arithmetic, relations, conversions and reductions.
func vec(c *build.Context) {
	p := &pool{c, map[string]operand.Mem{}}
	for _, z := range []bool{false, true} {
		for _, bits := range []int{32, 64} {
			t := &target{Context: c, z: z, bits: bits, pool: p}
			t.functions()
			t.periodic()
			t.arithmetic()
			t.productSums()
			t.relations()
			t.selections()
			t.reductions()
			t.exponentials()
			t.conversions()
		}
	}
}

type (
	vector = reg.VecVirtual
	gpr    = reg.GPVirtual
)

// start begins a function: exp32AVX2 for the name exp.
func (t *target) start(name, signature, doc string) {
	isa := "AVX2"
	if t.z {
		isa = "AVX512"
	}
	t.Function(fmt.Sprintf("%s%d%s", name, t.bits, isa))
	t.Attributes(attr.NOSPLIT)
	t.SignatureExpr(signature)
	t.Pragma("noescape")
	t.Doc(wrapped(doc)...)
	t.labels, t.resident = 0, nil
}

// wrapped splits a comment into lines of at most 100 columns.
func wrapped(text string) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString("// "+line+" "+word) > 100 {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}

// end emits the return.
func (t *target) end() {
	t.VZEROUPPER()
	t.RET()
}

// label returns a label that is unique in the function.
func (t *target) label(name string) string {
	t.labels++
	return fmt.Sprintf("%s%d", name, t.labels)
}

// emit writes the instruction of that name. A constant in memory is one element that AVX-512
// broadcasts as it computes: vectors of 64 bytes might cross cache lines, since the linker aligns
// to 32.
func (t *target) emit(name string, ops ...operand.Op) {
	for i, o := range ops {
		if !isConstant(o) || strings.HasPrefix(name, "VBROADCAST") {
			continue
		}
		if r, ok := t.kept(o); ok {
			ops[i] = r
		} else if t.z {
			name += "_BCST"
		}
	}
	in := make([]reflect.Value, len(ops))
	for i := range ops {
		in[i] = reflect.ValueOf(ops[i])
	}
	m := reflect.ValueOf(t.Context).MethodByName(name)
	if !m.IsValid() {
		panic("asmgen: no instruction " + name)
	}
	m.Call(in)
}

// s returns the suffix of instructions on floats, d that of instructions on integers of the same
// size.
func (t *target) s() string { return map[int]string{32: "S", 64: "D"}[t.bits] }
func (t *target) d() string { return map[int]string{32: "D", 64: "Q"}[t.bits] }

// bytes returns the size of an element, lanes the elements of a vector.
func (t *target) bytes() int { return t.bits / 8 }
func (t *target) lanes() int {
	if t.z {
		return 512 / t.bits
	}
	return 256 / t.bits
}

// vector returns a fresh register.
func (t *target) vector() vector {
	if t.z {
		return t.ZMM()
	}
	return t.YMM()
}

// pattern returns a constant given by its bits.
func (t *target) pattern(u uint64) operand.Mem {
	name := fmt.Sprintf("const%d_%x", t.bits, u)
	m, ok := t.pool.byName[name]
	if !ok {
		m = t.pool.StaticGlobal(name)
		t.pool.DataAttributes(attr.RODATA | attr.NOPTR)
		for i := 0; i < 32; i += t.bytes() {
			if t.bits == 32 {
				t.pool.AddDatum(i, operand.U32(u))
			} else {
				t.pool.AddDatum(i, operand.U64(u))
			}
		}
		t.pool.byName[name] = m
	}
	return m
}

// number returns a constant.
func (t *target) number(f float64) operand.Mem {
	if t.bits == 32 {
		return t.pattern(uint64(math.Float32bits(float32(f))))
	}
	return t.pattern(math.Float64bits(f))
}

// kept returns the register that a constant stays in.
func (t *target) kept(o operand.Op) (r vector, ok bool) {
	name := o.(operand.Mem).Symbol.Name
	if t.used != nil {
		t.used[name]++
	}
	r, ok = t.resident[name]
	return r, ok
}

// all broadcasts an element to a register that may be overwritten.
func (t *target) all(m operand.Mem) vector {
	if isConstant(m) {
		if r, ok := t.kept(m); ok {
			return t.copy(r)
		}
	}
	r := t.vector()
	if t.bits == 32 {
		t.VBROADCASTSS(m, r)
	} else {
		t.VBROADCASTSD(m, r)
	}
	return r
}

// like returns a fresh register as wide as a.
func (t *target) like(a vector) vector {
	switch a.Size() {
	case 64:
		return t.ZMM()
	case 32:
		return t.YMM()
	}
	return t.XMM()
}

func (t *target) two(name string, a vector, b operand.Op) vector { // a op b
	r := t.like(a)
	t.emit(name, b, a, r)
	return r
}

func (t *target) add(a vector, b operand.Op) vector { return t.two("VADDP"+t.s(), a, b) }
func (t *target) sub(a vector, b operand.Op) vector { return t.two("VSUBP"+t.s(), a, b) }
func (t *target) mul(a vector, b operand.Op) vector { return t.two("VMULP"+t.s(), a, b) }
func (t *target) div(a vector, b operand.Op) vector { return t.two("VDIVP"+t.s(), a, b) }

// min and max give b where either is NaN, and where both are zero.
func (t *target) min(a vector, b operand.Op) vector { return t.two("VMINP"+t.s(), a, b) }
func (t *target) max(a vector, b operand.Op) vector { return t.two("VMAXP"+t.s(), a, b) }

func (t *target) sqrt(a vector) vector {
	r := t.vector()
	t.emit("VSQRTP"+t.s(), a, r)
	return r
}

// copy moves a to a register that may be overwritten.
func (t *target) copy(a vector) vector {
	r := t.vector()
	t.emit("VMOVAP"+t.s(), a, r)
	return r
}

// fma adds a·b to acc, fnma subtracts it, fnms subtracts it from -acc; they return acc.
func (t *target) fma(acc, a vector, b operand.Op) vector {
	t.emit("VFMADD231P"+t.s(), b, a, acc)
	return acc
}

func (t *target) fnma(acc, a vector, b operand.Op) vector {
	t.emit("VFNMADD231P"+t.s(), b, a, acc)
	return acc
}

func (t *target) fnms(acc, a vector, b operand.Op) vector {
	t.emit("VFNMSUB231P"+t.s(), b, a, acc)
	return acc
}

// times multiplies acc by a and adds b; it returns acc.
func (t *target) times(acc, a vector, b operand.Op) vector {
	t.emit("VFMADD213P"+t.s(), b, a, acc)
	return acc
}

func (t *target) bitwise(name string, a vector, b operand.Op) vector {
	if a.Size() == 64 {
		return t.two("VP"+name+t.d(), a, b)
	}
	return t.two("V"+name+"P"+t.s(), a, b)
}

func (t *target) and(a vector, b operand.Op) vector { return t.bitwise("AND", a, b) }
func (t *target) or(a vector, b operand.Op) vector  { return t.bitwise("OR", a, b) }
func (t *target) xor(a vector, b operand.Op) vector { return t.bitwise("XOR", a, b) }

func (t *target) signBit() operand.Mem   { return t.pattern(1 << (t.bits - 1)) }
func (t *target) otherBits() operand.Mem { return t.pattern(1<<(t.bits-1) - 1) }

// zero returns all zeros.
func (t *target) zero() vector {
	r := t.vector()
	if t.z {
		t.VPXORD(r, r, r)
	} else {
		t.VXORPS(r, r, r)
	}
	return r
}

// addInt, shiftLeft and shiftRight treat the elements as integers.
func (t *target) addInt(a vector, b operand.Op) vector { return t.two("VPADD"+t.d(), a, b) }
func (t *target) shiftLeft(a vector, by uint8) vector {
	return t.two("VPSLL"+t.d(), a, operand.Imm(uint64(by)))
}
func (t *target) shiftRight(a vector, by uint8) vector {
	return t.two("VPSRL"+t.d(), a, operand.Imm(uint64(by)))
}

// Relations of floats, as VCMPPS numbers them: with a NaN all are false but notEqual and unordered.
const (
	less      = 0x11
	lessEq    = 0x12
	equal     = 0x00
	notEqual  = 0x04
	unordered = 0x03
	ordered   = 0x07
	notBelow  = 0x15 // true with a NaN
	greater   = 0x1e
)

// A mask marks elements: an opmask for AVX-512, else a vector of ones and zeros.
type mask = reg.Register

// compare marks where a and b are in the relation.
func (t *target) compare(relation uint64, a vector, b operand.Op) mask {
	var r reg.Register
	if t.z {
		r = t.K()
	} else {
		r = t.vector()
	}
	t.emit("VCMPP"+t.s(), operand.Imm(relation), b, a, r)
	return r
}

// choose returns yes where m marks, else no.
func (t *target) choose(m mask, yes, no vector) vector {
	r := t.vector()
	if t.z {
		t.emit("VBLENDMP"+t.s(), yes, no, m, r)
	} else {
		t.emit("VBLENDVP"+t.s(), m, yes, no, r)
	}
	return r
}

// where returns a where m marks, else zero.
func (t *target) where(m mask, a operand.Op) vector {
	r := t.vector()
	switch {
	case !t.z:
		t.emit("VANDP"+t.s(), a, m, r)
	case isConstant(a):
		if r, ok := t.kept(a); ok {
			return t.where(m, r)
		}
		t.emit("VBROADCASTS"+t.s()+"_Z", a, m, r)
	default:
		t.emit("VMOVAP"+t.s()+"_Z", a, m, r)
	}
	return r
}

func isConstant(o operand.Op) bool {
	m, ok := o.(operand.Mem)
	return ok && m.Symbol.Name != ""
}
