package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A rowLoop is a function that goes through rows of its operands. Body is emitted for each vector
// of a row: unroll times in the main loop, then for single vectors, and finally for the last
// elements, with loads and stores that touch no element beyond the row.
type rowLoop struct {
	*target
	name, doc     string
	ports         []port
	unroll        int
	woven         bool             // the instructions of a turn's bodies alternate
	before, after func(r *rowLoop) // around each row, if not nil
	enter, leave  func()           // around all of them, if not nil
	result        string           // the type of what leave returns, if anything
	body          func(c cell)

	pointers   []reg.Register
	single     []vector // the values of ports that have one per row
	cols, i    gpr
	rest       mask // of the last vector, for AVX-512
	restBySize map[int]mask
}

// A port is an operand of a rowLoop. Its parameter is a pointer; that of the distance between its
// rows in bytes is called NAMEStride.
type port struct {
	name  string
	size  int  // of an element in bytes
	once  bool // one element per row
	dense bool // one element per row, side by side: there is no distance
}

// A cell is one vector of a row.
type cell struct {
	*rowLoop
	nth, of int  // which of how many in a turn
	part    bool // incomplete
}

// row emits the function.
func (t *target) row(r rowLoop) {
	r.target = t
	var pointers, strides []string
	for _, p := range r.ports {
		pointers = append(pointers, p.name)
		if !p.dense {
			strides = append(strides, p.name+"Stride")
		}
	}
	t.start(r.name, "func("+strings.Join(pointers, ", ")+" *byte, rows, cols, "+strings.Join(strides, ", ")+" int) "+r.result, r.doc)
	t.keep(r)
	if r.enter != nil {
		r.enter()
	}
	rows := t.Load(t.Param("rows"), t.GP64())
	t.TESTQ(rows, rows)
	t.JLE(operand.LabelRef("done"))
	for _, p := range r.ports {
		r.pointers = append(r.pointers, t.Load(t.Param(p.name), t.GP64()))
	}
	r.cols, r.i = t.GP64(), t.GP64()
	t.Load(t.Param("cols"), r.cols)
	lanes := r.lanes()
	if t.z {
		t.MOVQ(r.cols, r.i)
		t.ANDQ(operand.Imm(uint64(lanes-1)), r.i)
		t.JEQ(operand.LabelRef("row"))
		r.rest = t.first(r.i)
	}
	t.Label("row")
	r.single = make([]vector, len(r.ports))
	for i, p := range r.ports {
		if p.once {
			r.single[i] = t.all(operand.Mem{Base: r.pointers[i]})
		}
	}
	if r.before != nil {
		r.before(&r)
	}
	t.XORQ(r.i, r.i)
	counts := []int{1}
	if r.unroll > 1 {
		counts = []int{r.unroll, 1}
	}
	for _, n := range counts {
		begin, end, last := t.label("vectors"), t.label("end"), t.GP64()
		t.LEAQ(operand.Mem{Base: r.cols, Disp: -n * lanes}, last)
		t.CMPQ(r.i, last)
		t.JGT(operand.LabelRef(end))
		t.Label(begin)
		t.weave(n, r.woven, func(nth int) { r.body(cell{&r, nth, n, false}) })
		t.ADDQ(operand.Imm(uint64(n*lanes)), r.i)
		t.CMPQ(r.i, last)
		t.JLE(operand.LabelRef(begin))
		t.Label(end)
	}
	t.CMPQ(r.i, r.cols)
	t.JGE(operand.LabelRef("next"))
	r.restBySize = map[int]mask{}
	r.body(cell{&r, 0, 1, true})
	t.Label("next")
	if r.after != nil {
		r.after(&r)
	}
	t.DECQ(rows)
	t.JEQ(operand.LabelRef("done")) // often there is one row
	for i, p := range r.ports {
		if p.dense {
			t.ADDQ(operand.Imm(uint64(p.size)), r.pointers[i])
			continue
		}
		t.ADDQ(t.Load(t.Param(p.name+"Stride"), t.GP64()), r.pointers[i])
	}
	t.JMP(operand.LabelRef("row"))
	t.Label("done")
	if r.leave != nil {
		r.leave()
	}
	t.end()
}

// weave emits n bodies: one after the other or, if woven, the first instruction of each, then the
// second of each, and so on. The machine looks ahead a limited number of instructions, and in woven
// bodies more of these are independent.
func (t *target) weave(n int, woven bool, body func(nth int)) {
	file, _ := t.Result()
	sections := file.Functions()
	f := sections[len(sections)-1]
	begin := len(f.Nodes)
	for nth := range n {
		body(nth)
	}
	if !woven {
		return
	}
	bodies := slices.Clone(f.Nodes[begin:])
	for i := range bodies {
		f.Nodes[begin+i] = bodies[i%n*(len(bodies)/n)+i/n]
	}
}

// keep loads the constants that the body uses most into registers, as many as it can spare: memory
// delivers no more than two vectors per cycle. To count them, the body is emitted once and thrown
// away.
func (t *target) keep(r rowLoop) {
	out := t.Context
	t.Context, t.used = build.NewContext(), map[string]int{}
	t.Function("nowhere")
	r.pointers = make([]reg.Register, len(r.ports))
	for i := range r.pointers {
		r.pointers[i] = t.GP64()
		r.single = append(r.single, t.vector())
	}
	r.cols, r.i, r.rest = t.GP64(), t.GP64(), t.K()
	if r.enter != nil {
		r.enter()
	}
	if r.before != nil {
		r.before(&r)
	}
	r.body(cell{&r, 0, 1, false})
	names := slices.Sorted(maps.Keys(t.used))
	slices.SortStableFunc(names, func(a, b string) int { return t.used[b] - t.used[a] })
	t.Context, t.used = out, nil
	most := 2
	if t.z {
		most = 15
		if r.woven { // several bodies need registers at once
			most = 12
		}
	} else if len(names) > most {
		return
	}
	kept := map[string]vector{}
	for _, name := range names[:min(most, len(names))] {
		kept[name] = t.all(t.pool.byName[strings.TrimSuffix(name, "<>")])
	}
	t.resident = kept
}

// at returns the address of the cell in a port.
func (c cell) at(p int) operand.Mem {
	size := c.ports[p].size
	return operand.Mem{Base: c.pointers[p], Index: c.i, Scale: uint8(size), Disp: c.nth * c.lanes() * size}
}

// register returns a fresh register for a cell of elements of the size.
func (c cell) register(size int) reg.VecVirtual {
	switch size * c.lanes() {
	case 64:
		return c.ZMM()
	case 32:
		return c.YMM()
	}
	return c.XMM()
}

// load reads floats or integers; elements beyond the row are 0.
func (c cell) load(p int) vector {
	if c.ports[p].once {
		return c.single[p]
	}
	size := c.ports[p].size
	return c.read(size, c.at(p), c.register(size), c.restOf(size))
}

// loadOr reads floats; elements beyond the row are those of other.
func (c cell) loadOr(p int, other vector) vector {
	if !c.part {
		return c.load(p)
	}
	if c.z {
		r := c.copy(other)
		c.emit("VMOVUP"+c.s(), c.at(p), c.rest, r)
		return r
	}
	return c.choose(c.restOf(c.bytes()), c.load(p), other)
}

// store writes floats or integers.
func (c cell) store(p int, v vector) {
	size := c.ports[p].size
	c.write(size, v, c.at(p), c.restOf(size))
}

// restOf returns the mask of the elements of an incomplete cell, nil for a complete one.
func (c cell) restOf(size int) mask {
	if !c.part {
		return nil
	}
	if c.z {
		return c.rest
	}
	m, ok := c.restBySize[size]
	if !ok {
		left, marked := c.GP64(), c.register(size)
		c.MOVQ(c.cols, left)
		c.SUBQ(c.i, left)
		c.ramp(left, size, marked)
		m = marked
		c.restBySize[size] = m
	}
	return m
}

// loadBools marks the elements whose byte is 1.
func (c cell) loadBools(p int) mask {
	x := c.loadBytes(p)
	if c.z {
		k := c.K()
		c.VPTESTMB(x, x, k)
		return k
	}
	y := c.YMM()
	c.emit("VPMOVZXB"+c.d(), x, y)
	return c.two("VPCMPGT"+c.d(), y, c.zero())
}

// loadBytes reads a byte for each element; those beyond the row are 0.
func (c cell) loadBytes(p int) reg.VecVirtual {
	x := c.XMM()
	switch lanes := c.lanes(); {
	case c.part && c.z:
		c.VMOVDQU8_Z(c.at(p), c.rest, x)
	case c.part:
		c.VMOVQ(c.lastBytes(p), x)
	case lanes == 16:
		c.VMOVDQU(c.at(p), x)
	case lanes == 8:
		c.VMOVQ(c.at(p), x)
	default:
		c.VMOVD(c.at(p), x)
	}
	return x
}

// lastBytes gathers the bytes of the last cell of a row in a general register, the last byte first.
func (c cell) lastBytes(p int) gpr {
	bytes, at, b, loop := c.GP64(), c.GP64(), c.GP64(), c.label("bytes")
	c.XORQ(bytes, bytes)
	c.MOVQ(c.cols, at)
	c.Label(loop)
	c.DECQ(at)
	c.SHLQ(operand.Imm(8), bytes)
	c.MOVBQZX(operand.Mem{Base: c.pointers[p], Index: at, Scale: 1}, b)
	c.ORQ(b, bytes)
	c.CMPQ(at, c.i)
	c.JGT(operand.LabelRef(loop))
	return bytes
}

// storeBools writes a byte for each element, 1 where marked.
func (c cell) storeBools(p int, m mask) {
	x := c.XMM()
	ones := c.pattern(0x0101010101010101 >> (64 - c.bits))
	lanes := c.lanes()
	if c.z {
		c.VMOVDQU8_Z(ones, m, x)
		c.storeBytes(p, x)
		return
	}
	y := m.(reg.VecVirtual)
	c.VEXTRACTI128(operand.Imm(1), y, x)
	c.VPACKSSDW(x, y.AsX(), x)
	if lanes == 4 {
		c.VPACKSSDW(x, x, x)
	}
	c.VPACKSSWB(x, x, x)
	c.VPAND(ones, x, x)
	c.storeBytes(p, x)
}

// storeBytes writes a byte for each element, on AVX2 at most 8.
func (c cell) storeBytes(p int, x reg.VecVirtual) {
	switch lanes := c.lanes(); {
	case c.part && c.z:
		c.VMOVDQU8(x, c.rest, c.at(p))
	case lanes == 16:
		c.VMOVDQU(x, c.at(p))
	case c.part:
		bytes, at, loop := c.GP64(), c.GP64(), c.label("bytes")
		c.VMOVQ(x, bytes)
		c.MOVQ(c.i, at)
		c.Label(loop)
		c.MOVB(bytes.As8(), operand.Mem{Base: c.pointers[p], Index: at, Scale: 1})
		c.SHRQ(operand.Imm(8), bytes)
		c.INCQ(at)
		c.CMPQ(at, c.cols)
		c.JLT(operand.LabelRef(loop))
	case lanes == 8:
		c.VMOVQ(x, c.at(p))
	default:
		c.VMOVD(x, c.at(p))
	}
}
