package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

func TestLayout(t *testing.T) {
	l := Dense(F32, 2, 3, 4)
	if l.Len() != 24 || !l.IsDense() || l != Dense(F32, 2, 3, 4) {
		t.Errorf("Dense is %+v", l)
	}
	if s := Dense(F64); s.Len() != 1 || !s.IsDense() {
		t.Errorf("a scalar is %+v", s)
	}
	off, gap, one := l, l, Dense(F32, 1, 3)
	off.Offset, gap.Strides[1], one.Strides[0] = 1, 5, 99
	if off.IsDense() || gap.IsDense() || !one.IsDense() {
		t.Error("IsDense: offsets and gaps matter, strides of axes of size 1 do not")
	}
	for dt, size := range map[DType]int{F32: 4, F64: 8, I32: 4, I64: 8, Bool: 1, 0: 0} {
		if dt.Size() != size {
			t.Errorf("a %v has %d bytes, want %d", dt, dt.Size(), size)
		}
	}
}

func TestMem(t *testing.T) {
	x := []float32{1, 2, 3, 4}
	m := Of(x)
	if m.Len() != 16 || &As[float32](m)[0] != &x[0] {
		t.Error("Of copies")
	}
	if got := As[float32](m.Slice(4, 8)); !slices.Equal(got, []float32{2, 3}) {
		t.Errorf("Slice is %v", got)
	}
	if m.Slice(16, 0).Len() != 0 || len(As[float64](Mem{})) != 0 || Of([]bool{}).Len() != 0 {
		t.Error("empty memory is not empty")
	}
	a := Alloc(16)
	if n := a.Copy(m); n != 16 || !slices.Equal(As[float32](a), x) {
		t.Errorf("Copy of %d bytes is %v", n, As[float32](a))
	}
	for n := range 200 {
		m := Alloc(n)
		if m.Len() != n || uintptr(unsafe.Pointer(unsafe.SliceData(raw[byte](m))))%64 != 0 || slices.Max(append(raw[byte](m), 0)) != 0 {
			t.Fatalf("Alloc(%d) is not so long, aligned and zero", n)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("Slice reaches beyond the end")
		}
	}()
	m.Slice(8, 12)
}

// A walk meets the elements that the layout names, in order, from wherever it starts.
func TestWalk(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, dims := range shapes(r) {
		a := random(r, I32, func(r *rand.Rand) float64 { return float64(r.IntN(1 << 20)) }, dims...)
		var want []int32
		indices(dims, func(ix []int) { want = append(want, int32(a.get(ix...))) })
		w, src := walkOf(a.Layout, allAxes, a.Offset), As[int32](a.mem)
		for range 5 {
			lo := r.IntN(len(want) + 1)
			hi := lo + r.IntN(len(want)-lo+1)
			if got := read(w, src, make([]int32, len(want)), 0, lo, hi); !slices.Equal(got, want[lo:hi]) {
				t.Fatalf("%v: elements [%d,%d) are %v, want %v", a.Layout, lo, hi, got, want[lo:hi])
			}
			if lo < len(want) && src[w.at(lo)] != want[lo] {
				t.Fatalf("%v: element %d is %d, want %d", a.Layout, lo, src[w.at(lo)], want[lo])
			}
		}
	}
}

// axes is an array of sizes, positions or axes.
func axes[T any](v ...T) (a [MaxRank]T) {
	copy(a[:], v)
	return a
}

// elements are those of a, seen through a layout.
func elements(l Layout, m Mem) (v []float64) {
	indices(l.shape(), func(ix []int) { v = append(v, array{l, m}.get(ix...)) })
	return v
}

func TestViews(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	count := 0.0
	for style := range styleRepeated {
		a := styled(r, style, F64, func(*rand.Rand) float64 { count++; return count }, 2, 3, 4)
		for _, c := range []struct {
			v    View
			dims []int
			at   func(ix []int) []int // where an element comes from
		}{
			{Transpose{axes[uint8](2, 0, 1)}, []int{4, 2, 3}, func(ix []int) []int { return []int{ix[1], ix[2], ix[0]} }},
			{Broadcast{4, axes(5, 2, 3, 4)}, []int{5, 2, 3, 4}, func(ix []int) []int { return ix[1:] }},
			{Slice{axes(1, 2, 0), axes(1, -1, 2), axes(1, 3, 2)}, []int{1, 3, 2}, func(ix []int) []int { return []int{1 + ix[0], 2 - ix[1], 2 * ix[2]} }},
			{Slice{axes(0, 0, 0), axes(1, 1, 1), axes(2, 0, 4)}, []int{2, 0, 4}, nil},
			{Reshape{5, axes(2, 1, 3, 1, 4)}, []int{2, 1, 3, 1, 4}, func(ix []int) []int { return []int{ix[0], ix[2], ix[4]} }},
			{Reshape{4, axes(2, 3, 2, 2)}, []int{2, 3, 2, 2}, func(ix []int) []int { return []int{ix[0], ix[1], 2*ix[2] + ix[3]} }},
		} {
			out, ok := c.v.View(a.Layout)
			if !ok || !slices.Equal(out.shape(), c.dims) {
				t.Errorf("%T of %v is %v, %v", c.v, a.Layout, out, ok)
				continue
			}
			indices(c.dims, func(ix []int) {
				if got, want := (array{out, a.mem}).get(ix...), a.get(c.at(ix)...); got != want {
					t.Errorf("%T of %v at %v is %v, want %v", c.v, a.Layout, ix, got, want)
				}
			})
		}
	}
}

// A reshape either keeps the elements in order or is refused, and is never refused for a dense
// array.
func TestReshape(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	refused := 0
	for range 2000 {
		factors := []int{2, 3, 1, 2, 2}
		group := func() (dims []int) { // some product of the factors, in order or not
			dims = []int{1}
			for _, i := range r.Perm(len(factors)) {
				if r.IntN(2) == 0 {
					dims = append(dims, 1)
				}
				dims[len(dims)-1] *= factors[i]
			}
			return dims
		}
		a := random(r, I32, plain, group()...)
		dims := group()
		v := Reshape{Rank: len(dims), Dims: axes(dims...)}
		out, ok := v.View(a.Layout)
		if !ok {
			refused++
			if a.IsDense() {
				t.Fatalf("%v refuses dense %v", v, a.Layout)
			}
			continue
		}
		if !slices.Equal(elements(a.Layout, a.mem), elements(out, a.mem)) {
			t.Fatalf("%v of %v is %v", v, a.Layout, out)
		}
	}
	if refused == 0 || refused > 1500 {
		t.Errorf("%d of 2000 refused", refused)
	}
	if out, ok := (Reshape{Rank: 2, Dims: axes(0, 7)}).View(Dense(F32, 3, 0)); !ok || out.Len() != 0 {
		t.Error("an empty array does not reshape")
	}
}

func TestViewsRefuse(t *testing.T) {
	l := Dense(F32, 2, 3)
	for _, v := range []View{
		Transpose{axes[uint8](0, 0)},
		Transpose{axes[uint8](0, 2)},
		Reshape{1, axes(5)},
		Reshape{2, axes(2, 4)},
		Broadcast{2, axes(2, 4)},
		Broadcast{1, axes(3)},
		Slice{axes(0, 1), axes(1, 1), axes(2, 3)},
		Slice{axes(0, 1), axes(1, -1), axes(2, 3)},
		Slice{axes(0, 0), axes(1, 1), axes(2, -1)},
		Slice{axes(2, 0), axes(1, 1), axes(1, 3)},
	} {
		if out, ok := v.View(l); ok {
			t.Errorf("%T%v of 2×3 is %v", v, v, out)
		}
	}
}
