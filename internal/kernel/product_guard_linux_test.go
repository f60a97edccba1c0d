package kernel

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// guarded copies memory to the start or the end of pages between two that cannot be touched.
func guarded(t *testing.T, m Mem, atEnd bool) Mem {
	t.Helper()
	page := syscall.Getpagesize()
	size := blocks(max(m.n, 1), page) * page
	b, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { syscall.Munmap(b) })
	for _, g := range [][]byte{b[:page], b[page+size:]} {
		if err := syscall.Mprotect(g, syscall.PROT_NONE); err != nil {
			t.Skip(err)
		}
	}
	off := page
	if atEnd {
		off += size - m.n
	}
	copy(b[off:], raw[byte](m))
	return Mem{unsafe.Pointer(&b[off]), m.n}
}

// Nothing outside of the operands and the result is touched: it would end the test.
func TestProductsStayInside(t *testing.T) { atLevels(t, testProductsStayInside) }

func testProductsStayInside(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for _, op := range allContractions {
		for trial := range 40 {
			dt := []DType{F32, F64}[trial%2]
			m, n, k := 1+r.IntN(20), 1+r.IntN(40), 1+r.IntN(20)
			style := func() int { return []int{styleDense, stylePermuted, styleRepeated}[r.IntN(3)] }
			p := newTrial(r, op, dt, 1+r.IntN(2), m, n, k, op != simd.Distance && r.IntN(2) == 0, style)
			p.staysInside(t)
		}
	}
	for _, dt := range []DType{F32, F64} {
		far := newTrial(r, simd.Dot, dt, 1, farStep/dt.Size()+3, manyCols+1, 5, false, func() int { return styleDense })
		far.in[0] = transpose(r, dt, 1, far.m, far.k)
		far.staysInside(t)
		turned := newTrial(r, simd.Dot, dt, 1, 32, 131, 129, true, func() int { return styleDense })
		turned.in[1] = transpose(r, dt, 1, turned.k, turned.n)
		turned.staysInside(t)
	}
}

// staysInside runs the product between pages that cannot be touched.
func (t *trial) staysInside(tb *testing.T) {
	tb.Helper()
	for _, atEnd := range []bool{false, true} {
		c := NewCtx()
		for _, a := range t.in {
			c.In = append(c.In, guarded(tb, a.mem.Slice(0, a.reach()*t.dtype.Size()), atEnd))
		}
		c.Out = guarded(tb, t.before, atEnd)
		loop := t.kernel().Bind(t.out(), t.layouts())
		loop.Run(c, 0, loop.Units)
	}
}

func TestPackStaysInside(t *testing.T) { atLevels(t, testPackStaysInside) }

func testPackStaysInside(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	for trial := range 60 {
		dt := []DType{F32, F64}[trial%2]
		k, n := 1+r.IntN(40), 1+r.IntN(80)
		b := styled(r, []int{styleDense, stylePermuted, styleRepeated}[r.IntN(3)], dt, plain, k, n)
		size := Pack{}.Len(dt, k, n)
		for _, atEnd := range []bool{false, true} {
			c := NewCtx()
			c.In = []Mem{guarded(t, b.mem.Slice(0, b.reach()*dt.Size()), atEnd)}
			c.Out = guarded(t, Alloc(size*dt.Size()), atEnd)
			loop := Pack{}.Bind(Dense(dt, size), []Layout{b.Layout})
			loop.Run(c, 0, loop.Units)
		}
	}
}
