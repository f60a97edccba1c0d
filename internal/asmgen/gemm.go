package main

import (
	"fmt"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// gemm emits the loops of products of matrices.
func gemm(c *build.Context) {
	for _, z := range []bool{true, false} {
		for _, bits := range []int{32, 64} {
			t := &target{Context: c, z: z, bits: bits}
			t.peak()
			t.matVec()
			t.shortRows()
			t.transpose()
			t.collect()
			t.interleaves()
			for _, s := range terms {
				t.microKernel(s)
			}
			if z && bits == 32 {
				t.brain()
				t.brainOrder()
			}
		}
	}
	fetch(c)
	ones(c)
}

// float emits an instruction; the * in its name stands for S with float32 and for D with float64.
func (t *target) float(name string, ops ...operand.Op) {
	t.emit(strings.Replace(name, "*", t.s(), 1), ops...)
}

// width returns the size of a vector in bytes.
func (t *target) width() int { return t.lanes() * t.bytes() }

// A term is the summand of a product over p, with the largest tile of results, in rows and vectors,
// whose sums stay in registers.
type term struct {
	name        string
	avx512      [2]int
	avx2        [2]int
	description string
}

var dot = term{"dot", [2]int{14, 2}, [2]int{6, 2}, "a[i,p]·b[p,j]"}

var terms = []term{
	dot,
	// Few rows wait for memory, and long runs of it are read fastest.
	{"dotWide", [2]int{2, 8}, [2]int{2, 4}, "a[i,p]·b[p,j]"},
	{"distance", [2]int{14, 2}, [2]int{6, 2}, "(a[i,p] - b[p,j])²"},
	{"shifted", [2]int{7, 2}, [2]int{6, 2}, "a[i,p]·(x[i,p] - b[p,j])"},
	{"centred", [2]int{7, 2}, [2]int{3, 2}, "a[i,p]·(x[i,j] - b[p,j])"},
}

// largest returns the size of the largest tile.
func (s term) largest(t *target) (rows, vectors int) {
	if t.z {
		return s.avx512[0], s.avx512[1]
	}
	return s.avx2[0], s.avx2[1]
}

// microKernel emits the function that computes tiles.
func (t *target) microKernel(s term) {
	rows, vectors := s.largest(t)
	t.start(s.name, "func(tiles, rows, cols, k int, a *byte, rowA, colA int, b *byte, rowB int, x *byte, rowX, colX int, "+
		"c *byte, rowC int, accumulate bool, ahead uintptr, stepAhead int)",
		fmt.Sprintf("Σ_p %s, for tiles, each below the last, of at most %d×%d results.", s.description, rows, vectors*t.lanes()))
	t.bodies(s, (*tile).emitSums)
}

// A tile is one body of a micro-kernel.
type tile struct {
	*target
	term
	rows, vectors int

	edge // of the last vector
}

// bodies emits a body for each number of rows and of vectors, and the jumps to them. A body
// computes the tile, or several, and returns. On AVX2 masks cost time, so tiles of whole vectors
// get bodies of their own.
func (t *target) bodies(s term, body func(*tile)) {
	mostRows, mostVectors := s.largest(t)
	rows := t.Load(t.Param("rows"), t.GP64())
	cols := t.Load(t.Param("cols"), t.GP64())
	for n := 1; n <= mostVectors; n++ {
		more := t.label("more")
		if n < mostVectors {
			t.CMPQ(cols, operand.Imm(uint64(n*t.lanes())))
			t.JGT(operand.LabelRef(more))
		}
		t.branch(rows, 1, mostRows, n)
		t.Label(more)
	}
	for n := 1; n <= mostVectors; n++ {
		for r := 1; r <= mostRows; r++ {
			t.Label(fmt.Sprintf("tile%dx%d", r, n))
			last := t.Load(t.Param("cols"), t.GP64())
			if n > 1 {
				t.SUBQ(operand.Imm(uint64((n-1)*t.lanes())), last)
			}
			if !t.z {
				part := t.label("part")
				t.CMPQ(last, operand.Imm(uint64(t.lanes())))
				t.JLT(operand.LabelRef(part))
				body(&tile{t, s, r, n, edge{}})
				t.Label(part)
			}
			body(&tile{t, s, r, n, t.firstLanes(last)})
		}
	}
}

// branch jumps to the body for a number of rows in [lo,hi].
func (t *target) branch(rows reg.Register, lo, hi, vectors int) {
	if lo == hi {
		t.JMP(operand.LabelRef(fmt.Sprintf("tile%dx%d", lo, vectors)))
		return
	}
	mid := (lo + hi + 1) / 2
	upper := t.label("rows")
	t.CMPQ(rows, operand.Imm(uint64(mid)))
	t.JGE(operand.LabelRef(upper))
	t.branch(rows, lo, mid-1, vectors)
	t.Label(upper)
	t.branch(rows, mid, hi, vectors)
}

// ones emits the table from which AVX2 loads its masks: ones, followed by zeros.
func ones(c *build.Context) {
	c.StaticGlobal("ones")
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 8 {
		c.AddDatum(8*i, operand.U64(map[bool]uint64{true: 1<<64 - 1}[i < 4]))
	}
}

// An edge says which lanes of a vector are inside: a mask register on AVX-512, and on AVX2 the
// address of a vector of ones and zeros. The zero edge has all of them inside.
type edge struct {
	mask reg.Register
	ones operand.Op
}

// firstLanes returns the edge with the first n lanes inside; n is at most the number of lanes.
func (t *target) firstLanes(n reg.Register) edge {
	if t.z {
		bits, mask := t.GP32(), t.K()
		t.MOVL(operand.I32(-1), bits)
		t.BZHIL(n.(reg.GPVirtual).As32(), bits, bits)
		t.KMOVW(bits, mask)
		return edge{mask: mask}
	}
	table, before := t.GP64(), t.GP64()
	t.LEAQ(operand.NewDataAddr(operand.Symbol{Name: "ones", Static: true}, 32), table)
	t.MOVQ(n, before)
	t.NEGQ(before)
	return edge{ones: operand.Mem{Base: table, Index: before, Scale: uint8(t.bytes())}}
}

// loadInside reads the lanes inside of an edge; the others become 0.
func (t *target) loadInside(src operand.Mem, e edge) vector {
	r := t.vector()
	switch {
	case e.mask != nil:
		t.float("VMOVUP*_Z", src, e.mask, r)
	case e.ones != nil:
		t.VMOVDQU(e.ones, r)
		t.float("VMASKMOVP*", src, r, r)
	default:
		t.float("VMOVUP*", src, r)
	}
	return r
}

// storeInside writes the lanes inside of an edge.
func (t *target) storeInside(r vector, dst operand.Mem, e edge) {
	switch {
	case e.mask != nil:
		t.float("VMOVUP*", r, e.mask, dst)
	case e.ones != nil:
		inside := t.vector()
		t.VMOVDQU(e.ones, inside)
		t.float("VMASKMOVP*", r, inside, dst)
	default:
		t.float("VMOVUP*", r, dst)
	}
}

// emitSums sums over p, tile by tile.
func (t *tile) emitSums() {
	tile := t.label("down")
	t.Label(tile)
	sum := t.each(func(i, j int) vector { return t.zero() })
	center := sum
	if t.name == "centred" {
		x := t.matrix("x", "rowX")
		center = t.each(func(i, j int) vector { return t.load(x.at(i, j*t.width()), j) })
	}
	a, x := t.matrix("a", "rowA"), matrix{}
	colA := t.Load(t.Param("colA"), t.GP64())
	var colX, ahead, stepAhead reg.Register
	if t.name == "shifted" {
		x = t.matrix("x", "rowX")
		colX = t.Load(t.Param("colX"), t.GP64())
	} else { // there are registers for the next data
		ahead = t.Load(t.Param("ahead"), t.GP64())
		stepAhead = t.Load(t.Param("stepAhead"), t.GP64())
	}
	b := t.Load(t.Param("b"), t.GP64())
	rowB := t.Load(t.Param("rowB"), t.GP64())
	k := t.Load(t.Param("k"), t.GP64())
	loop, done := t.label("loop"), t.label("done")
	t.TESTQ(k, k)
	t.JZ(operand.LabelRef(done))
	var r results
	if t.name == dot.name {
		r = t.holdBack(k, loop)
	}
	t.Label(loop)
	right := t.row(b)
	for i := range t.rows {
		t.addTerms(a.at(i, 0), x, i, right, center[i], sum[i])
	}
	if ahead != nil {
		t.PREFETCHT0(operand.Mem{Base: ahead})
		t.ADDQ(stepAhead, ahead)
	}
	t.advance(a, colA)
	t.advance(x, colX)
	t.ADDQ(rowB, b)
	t.DECQ(k)
	t.JNZ(operand.LabelRef(loop))
	if r.rows != nil {
		t.fetch(r, k, loop)
	}
	t.Label(done)
	t.emitResults(sum)
	t.nextTile(tile, ahead)
	t.end()
}

// nextTile goes to the tile below, whose rows follow those of this one, if there is one.
func (t *tile) nextTile(tile string, ahead reg.Register) {
	tiles, below := t.GP64(), t.label("below")
	t.Load(t.Param("tiles"), tiles)
	t.DECQ(tiles)
	t.JZ(operand.LabelRef(below))
	t.MOVQ(tiles, t.argument("tiles"))
	moved := [][2]string{{"a", "rowA"}, {"c", "rowC"}}
	if t.name == "shifted" || t.name == "centred" {
		moved = append(moved, [2]string{"x", "rowX"})
	}
	for _, m := range moved {
		by := t.Load(t.Param(m[1]), t.GP64())
		t.IMUL3Q(operand.Imm(uint64(t.rows)), by, by)
		t.ADDQ(by, t.argument(m[0]))
	}
	if ahead != nil {
		t.MOVQ(ahead, t.argument("ahead"))
	}
	t.JMP(operand.LabelRef(tile))
	t.Label(below)
}

// argument returns where an argument of the function lies, to be written to.
func (t *target) argument(name string) operand.Mem {
	b, err := t.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// emitResults stores the sums, or adds them to the results.
func (t *tile) emitResults(sum [][]vector) {
	c := t.matrix("c", "rowC")
	accumulate := t.Load(t.Param("accumulate"), t.GP32())
	store := t.label("store")
	t.TESTL(accumulate, accumulate)
	t.JZ(operand.LabelRef(store))
	add := "VADDP*"
	if t.name == quads.name {
		add = "VPADDD"
	}
	t.each(func(i, j int) vector {
		t.float(add, t.load(c.at(i, j*t.width()), j), sum[i][j], sum[i][j])
		return sum[i][j]
	})
	t.Label(store)
	for i, row := range sum {
		for j, v := range row {
			t.storeInside(v, c.at(i, j*t.width()), t.at(j))
		}
	}
}

// addTerms adds the terms of row i and one p. AVX-512 broadcasts inside instructions, which saves
// registers.
func (t *tile) addTerms(a operand.Mem, x matrix, i int, b, center, sum []vector) {
	left, d := t.vector(), t.vector()
	if !(t.z && t.name == "distance") {
		t.float("VBROADCASTS*", a, left)
	}
	for j := range b {
		switch t.name {
		case "distance":
			if t.z {
				t.float("VSUBP*_BCST", a, b[j], d)
			} else {
				t.float("VSUBP*", b[j], left, d)
			}
			t.float("VFMADD231P*", d, d, sum[j])
		case "centred":
			t.float("VSUBP*", b[j], center[j], d)
			t.float("VFMADD231P*", left, d, sum[j])
		case "shifted":
			if t.z {
				t.float("VSUBP*_BCST", x.at(i, 0), b[j], d)
				t.float("VFNMADD231P*", left, d, sum[j]) // the difference has the other sign
			} else {
				t.float("VBROADCASTS*", x.at(i, 0), d)
				t.float("VSUBP*", b[j], d, d)
				t.float("VFMADD231P*", left, d, sum[j])
			}
		case "brain":
			t.emit(brainProduct, left, b[j], sum[j])
		default:
			t.float("VFMADD231P*", left, b[j], sum[j])
		}
	}
}

// each returns the values of f for all vectors of the tile.
func (t *tile) each(f func(i, j int) vector) [][]vector {
	all := make([][]vector, t.rows)
	for i := range all {
		for j := range t.vectors {
			all[i] = append(all[i], f(i, j))
		}
	}
	return all
}

// row reads a row of the right operand.
func (t *tile) row(b reg.Register) []vector {
	all := make([]vector, t.vectors)
	for j := range all {
		all[j] = t.load(operand.Mem{Base: b, Disp: j * t.width()}, j)
	}
	return all
}

// load reads vector j of a row; outside it is 0.
func (t *tile) load(src operand.Mem, j int) vector { return t.loadInside(src, t.at(j)) }

// at returns the edge of vector j.
func (t *tile) at(j int) edge {
	if j < t.vectors-1 {
		return edge{}
	}
	return t.edge
}

// A matrix addresses up to 14 rows, a stride apart, by two bases of seven rows each.
type matrix struct {
	base               [2]reg.Register
	step, step3, step5 reg.Register
}

// matrix loads the address of as many rows as the tile has.
func (t *tile) matrix(base, step string) (m matrix) {
	m.base[0] = t.Load(t.Param(base), t.GP64())
	if t.rows > 1 {
		m.step = t.Load(t.Param(step), t.GP64())
	}
	if t.rows > 3 {
		m.step3 = t.GP64()
		t.LEAQ(operand.Mem{Base: m.step, Index: m.step, Scale: 2}, m.step3)
	}
	if t.rows > 5 {
		m.step5 = t.GP64()
		t.LEAQ(operand.Mem{Base: m.step, Index: m.step, Scale: 4}, m.step5)
	}
	if t.rows > 7 {
		m.base[1] = t.GP64()
		t.LEAQ(operand.Mem{Base: m.base[0], Index: m.step3, Scale: 2}, m.base[1])
		t.ADDQ(m.step, m.base[1])
	}
	return m
}

// at returns the address of row i.
func (m matrix) at(i, disp int) operand.Mem {
	a := operand.Mem{Base: m.base[i/7], Disp: disp}
	switch i %= 7; i {
	case 1, 2, 4:
		a.Index, a.Scale = m.step, uint8(i)
	case 3, 6:
		a.Index, a.Scale = m.step3, uint8(i/3)
	case 5:
		a.Index, a.Scale = m.step5, 1
	}
	return a
}

// advance moves the addresses of all rows.
func (t *target) advance(m matrix, by reg.Register) {
	for _, b := range m.base {
		if b != nil {
			t.ADDQ(by, b)
		}
	}
}
