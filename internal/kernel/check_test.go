package kernel

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// An array is an operand of a test: memory and where its elements lie.
type array struct {
	Layout
	mem Mem
}

// indices calls f with every index of the shape, in row-major order.
func indices(dims []int, f func(ix []int)) {
	ix := make([]int, len(dims))
	for n := Dense(F32, dims...).Len(); n > 0; n-- {
		f(ix)
		for a := len(dims) - 1; a >= 0; a-- {
			if ix[a]++; ix[a] < dims[a] {
				break
			}
			ix[a] = 0
		}
	}
}

func (l Layout) shape() []int { return l.Dims[:l.Rank] }

// get returns the element at an index, as a float64; a longer index broadcasts from the right.
func (a array) get(ix ...int) float64 {
	p := a.Offset
	ix = ix[len(ix)-a.Rank:]
	for i, d := range a.shape() {
		if d != 1 {
			p += ix[i] * a.Strides[i]
		}
	}
	return element(a.DType, a.mem, p)
}

func element(dt DType, m Mem, p int) float64 {
	switch dt {
	case F32:
		return float64(As[float32](m)[p])
	case F64:
		return As[float64](m)[p]
	case I32:
		return float64(As[int32](m)[p])
	case I64:
		return float64(As[int64](m)[p])
	}
	return float64(raw[uint8](m)[p])
}

func set(dt DType, m Mem, p int, v float64) {
	switch dt {
	case F32:
		As[float32](m)[p] = float32(v)
	case F64:
		As[float64](m)[p] = v
	case I32:
		As[int32](m)[p] = int32(v)
	case I64:
		As[int64](m)[p] = int64(v)
	default:
		As[bool](m)[p] = v > 0
	}
}

// values fill arrays: any, with zeros, infinities, NaN and subnormals among them, or plain.
func special(r *rand.Rand) float64 {
	if r.IntN(3) > 0 {
		return plain(r)
	}
	vs := []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 1e-40, -1e-40, 5e-324, 100, -100, 1e30}
	return vs[r.IntN(len(vs))]
}

func plain(r *rand.Rand) float64 { return r.NormFloat64() * 3 }

// styles of layout that random chooses from.
const (
	styleDense = iota
	stylePermuted
	styleGaps
	styleReversed
	styleRepeated
	styles
)

// random makes an array, its elements laid out in some way and surrounded by NaN.
func random(r *rand.Rand, dt DType, value func(*rand.Rand) float64, dims ...int) array {
	return styled(r, r.IntN(styles), dt, value, dims...)
}

func styled(r *rand.Rand, style int, dt DType, value func(*rand.Rand) float64, dims ...int) array {
	l := Dense(dt, dims...)
	size := l.Len()
	switch style {
	case stylePermuted:
		stride := 1
		for _, a := range r.Perm(l.Rank) {
			l.Strides[a] = stride
			stride *= dims[a]
		}
	case styleGaps, styleReversed:
		stride := 1
		l.Offset = 3
		for a := l.Rank - 1; a >= 0; a-- {
			stride *= 1 + r.IntN(3)
			l.Strides[a] = stride
			stride *= dims[a]
		}
		size = stride + 5
		for a := range l.Rank {
			if style == styleReversed && r.IntN(2) == 0 && dims[a] > 0 {
				l.Offset += (dims[a] - 1) * l.Strides[a]
				l.Strides[a] *= -1
			}
		}
	case styleRepeated:
		for a := range l.Rank {
			if r.IntN(2) == 0 {
				l.Strides[a] = 0
			}
		}
	}
	a := array{l, Alloc(max(size, 1) * dt.Size())}
	for p := range max(size, 1) {
		set(dt, a.mem, p, math.NaN())
	}
	indices(dims, func(ix []int) {
		p := l.Offset
		for i, j := range ix {
			p += j * l.Strides[i]
		}
		set(dt, a.mem, p, value(r))
	})
	return a
}

// narrowed returns the same array broadcast: some axes of size 1, leading ones missing.
func narrowed(r *rand.Rand, dims []int) []int {
	dims = slices.Clone(dims)
	for a := range dims {
		if r.IntN(3) == 0 {
			dims[a] = 1
		}
	}
	if len(dims) > 0 && r.IntN(3) == 0 {
		dims = dims[1+r.IntN(len(dims)):]
	}
	return dims
}

// same reports whether got is want within tol; with tol 0, to the sign of zero.
func same(got, want, tol float64) bool {
	switch {
	case math.IsNaN(want) || math.IsNaN(got):
		return math.IsNaN(want) && math.IsNaN(got)
	case math.IsInf(want, 0) || math.IsInf(got, 0):
		return got == want
	case tol == 0:
		return got == want && math.Signbit(got) == math.Signbit(want)
	}
	return math.Abs(got-want) <= tol
}

// scratch fills the scratch of check's runs: NaN everywhere.
var scratch = func() []byte {
	b := make([]byte, scratchBytes)
	fill(b, 0xff)
	return b
}()

// worker is the Ctx of all checks: its scratch is large.
var worker = NewCtx()

// dirty makes c ready for the operands, with the tiles of its scratch full of NaN.
func dirty(c *Ctx, in []array) *Ctx {
	copy(raw[byte](c.scratch), scratch[:handTiles*tileBytes])
	c.In = c.In[:0]
	for _, a := range in {
		c.In = append(c.In, a.mem)
	}
	c.Seed, c.Step = 7, 3
	return c
}

const guard = 64

// memOf returns a copy of bytes.
func memOf(b []byte) Mem {
	m := Alloc(len(b))
	copy(raw[byte](m), b)
	return m
}

// check runs k on the operands and compares the result with want, called for every index. It checks
// further that nothing beyond the result is written and no operand changed, that odd splits of the
// units in any order and a result in place of an operand give the same bits, and that a run
// allocates nothing.
func check(t *testing.T, k Kernel, dt DType, dims []int, in []array, tol float64, want func(ix []int) float64) {
	t.Helper()
	checkBy(t, k, dt, dims, in, func(got, want float64) bool { return same(got, want, tol) }, want)
}

// checkUnits is check with a tolerance in units in the last place.
func checkUnits(t *testing.T, k Kernel, dt DType, dims []int, in []array, units float64, want func(ix []int) float64) {
	t.Helper()
	eps, least := 0x1p-23, float64(math.SmallestNonzeroFloat32)
	if dt == F64 {
		eps, least = 0x1p-52, math.SmallestNonzeroFloat64
	}
	near := func(got, want float64) bool {
		sign := math.Signbit(got) == math.Signbit(want) || math.IsNaN(want)
		return sign && same(got, want, units*max(eps*math.Abs(want), least))
	}
	checkBy(t, k, dt, dims, in, near, want)
}

// checkBy is check with any measure of what is near.
func checkBy(t *testing.T, k Kernel, dt DType, dims []int, in []array, near func(got, want float64) bool, want func(ix []int) float64) {
	t.Helper()
	out := Dense(dt, dims...)
	layouts := make([]Layout, len(in))
	before := make([][]byte, len(in))
	for i, a := range in {
		layouts[i] = a.Layout
		before[i] = bytes.Clone(raw[byte](a.mem))
	}
	what := fmt.Sprintf("%T %v %v of %v", k, dt, dims, layouts)
	loop := k.Bind(out, layouts)
	n := out.Len() * dt.Size()
	c := worker
	switch k.(type) {
	case Unary, Binary, Compare, Select, Copy, Cast, Reduce, Softmax, LogSumExp, Standardise, Rstd: // they use no more than the tiles
	default:
		copy(raw[byte](c.scratch), scratch)
	}
	run := func(f func()) []byte {
		m := Alloc(n + 2*guard)
		fill(raw[byte](m), 0xa5)
		dirty(c, in).Out = m.Slice(guard, n)
		fill(raw[byte](c.Out), 0xff) // NaN, so that an element left out is not near 0
		f()
		for i, b := range raw[byte](m) {
			if (i < guard || i >= guard+n) && b != 0xa5 {
				t.Fatalf("%s: wrote byte %d of a result of %d", what, i-guard, n)
			}
		}
		return raw[byte](c.Out)
	}
	got := run(func() { loop.Run(c, 0, loop.Units) })
	for i, a := range in {
		if !bytes.Equal(before[i], raw[byte](a.mem)) {
			t.Fatalf("%s: operand %d changed", what, i)
		}
	}
	i, res := 0, memOf(got)
	indices(dims, func(ix []int) {
		g, w := element(dt, res, i), want(ix)
		if !near(g, w) {
			t.Fatalf("%s: element %v is %v, want %v", what, ix, g, w)
		}
		i++
	})
	r := rand.New(rand.NewPCG(1, uint64(n)))
	split := run(func() {
		cuts := []int{0, loop.Units}
		for range 4 {
			cuts = append(cuts, r.IntN(loop.Units+1))
		}
		slices.Sort(cuts)
		for _, i := range r.Perm(len(cuts) - 1) {
			loop.Run(dirty(c, in), cuts[i], cuts[i+1])
		}
	})
	if !bytes.Equal(got, split) {
		t.Fatalf("%s: units in another order give other bits", what)
	}
	for i, a := range in {
		if k.InPlace(i) && a.DType == dt && a.IsDense() && slices.Equal(a.shape(), dims) {
			dirty(c, in).Out = Alloc(n)
			c.Out.Copy(a.mem)
			c.In[i] = c.Out
			loop.Run(c, 0, loop.Units)
			if !bytes.Equal(got, raw[byte](c.Out)) {
				t.Fatalf("%s: in place of operand %d gives other bits", what, i)
			}
		}
	}
	dirty(c, in).Out = Alloc(n)
	allocations := func(runs int) float64 {
		return testing.AllocsPerRun(runs, func() { loop.Run(c, 0, loop.Units) })
	}
	if a := allocations(1); a != 0 && allocations(10) != 0 { // the runtime allocates now and then beside it
		t.Fatalf("%s: %v allocations", what, a)
	}
}

// shapes are ranks 0 to 4, awkward lengths, and sizes beyond a tile.
func shapes(r *rand.Rand) [][]int {
	all := [][]int{{}, {1, 1}, {3000}, {1025}, {40, 70}, {1030, 3}, {2, 1500}, {3, 0, 2}, {2, 3, 4, 5}, {7, 1, 160, 2}}
	for n := range 68 {
		all = append(all, []int{n})
	}
	for range 20 {
		dims := make([]int, 1+r.IntN(4))
		for a := range dims {
			dims[a] = 1 + r.IntN(7)
		}
		all = append(all, dims)
	}
	return all
}
