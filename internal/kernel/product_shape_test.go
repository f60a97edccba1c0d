package kernel

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/half"
	"github.com/tapestry-ml/tapestry/internal/simd"
)

// A trial is one product on random operands, and what it should give.
type trial struct {
	op               simd.Contraction
	dtype            DType
	batches, m, n, k int
	accumulate       bool
	in               []array
	before           Mem  // what the result holds
	brain            bool // operands are rounded to bfloat16
}

// newTrial makes operands of the given styles of layout; a batch of an operand may be missing,
// which broadcasts it.
func newTrial(r *rand.Rand, op simd.Contraction, dt DType, batches, m, n, k int, accumulate bool, style func() int) *trial {
	t := &trial{op: op, dtype: dt, batches: batches, m: m, n: n, k: k, accumulate: accumulate}
	shapes := map[simd.Contraction][][2]int{
		simd.Dot:      {{m, k}, {k, n}},
		simd.Distance: {{m, k}, {n, k}},
		simd.Centred:  {{m, k}, {m, n}, {k, n}},
		simd.Shifted:  {{m, k}, {m, k}, {n, k}},
	}[op]
	for _, s := range shapes {
		dims := []int{batches, s[0], s[1]}
		if batches == 1 || r.IntN(3) == 0 {
			dims = dims[1:]
		}
		t.in = append(t.in, styled(r, style(), dt, plain, dims...))
	}
	t.before = styled(r, styleDense, dt, plain, batches, m, n).mem
	return t
}

func (t *trial) kernel() producer {
	switch t.op {
	case simd.Distance:
		return SqDist{}
	case simd.Centred:
		return WeightedDiff{Accumulate: t.accumulate}
	case simd.Shifted:
		return DiffDot{Accumulate: t.accumulate}
	}
	return MatMul{Accumulate: t.accumulate, Brain: t.brain}
}

func (t *trial) String() string {
	var form []string
	for _, a := range t.in {
		form = append(form, fmt.Sprint(a.Dims[:a.Rank], a.Strides[:a.Rank]))
	}
	return fmt.Sprintf("%T %v brain=%v accumulate=%v %d×[%d,%d,%d] of %s",
		t.kernel(), t.dtype, t.brain, t.accumulate, t.batches, t.m, t.n, t.k, strings.Join(form, " "))
}

func (t *trial) out() Layout { return Dense(t.dtype, t.batches, t.m, t.n) }

func (t *trial) layouts() []Layout {
	ls := make([]Layout, len(t.in))
	for i, a := range t.in {
		ls[i] = a.Layout
	}
	return ls
}

// run returns the result of a kernel, of which the units are cut as given, between guards.
func (t *trial) run(tb testing.TB, k Kernel, in []array, cut func(units int) []int) []byte {
	tb.Helper()
	layouts := make([]Layout, len(in))
	for i, a := range in {
		layouts[i] = a.Layout
	}
	size := t.out().Len() * t.dtype.Size()
	m := Alloc(size + 2*guard)
	fill(raw[byte](m), 0xa5)
	c := NewCtx()
	dirty(c, in).Out = m.Slice(guard, size)
	c.Out.Copy(t.before)
	loop := k.Bind(t.out(), layouts)
	cuts := cut(loop.Units)
	for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(len(cuts) - 1) {
		loop.Run(c, cuts[i], cuts[i+1])
	}
	for i, b := range raw[byte](m) {
		if (i < guard || i >= guard+size) && b != 0xa5 {
			tb.Fatalf("%v: wrote byte %d of a result of %d", t, i-guard, size)
		}
	}
	return raw[byte](c.Out)
}

// roundings lists whether operands are to be rounded to bfloat16.
func roundings(op simd.Contraction) []bool {
	if op == simd.Dot {
		return []bool{false, true}
	}
	return []bool{false}
}

func whole(units int) []int { return []int{0, units} }

func single(units int) []int {
	cuts := []int{0}
	for u := range units {
		cuts = append(cuts, u+1)
	}
	return cuts
}

// check compares the product with sums in float64, and with itself cut in units.
func (t *trial) check(tb testing.TB) []byte {
	tb.Helper()
	got := t.run(tb, t.kernel(), t.in, whole)
	res := memOf(got)
	for q := range t.out().Len() {
		t.near(tb, res, q)
	}
	if !bytes.Equal(got, t.run(tb, t.kernel(), t.in, single)) {
		tb.Fatalf("%v: units one by one give other bits", t)
	}
	return got
}

// near compares an element with its sum in float64, in the accuracy that sums of rounded terms
// have.
func (t *trial) near(tb testing.TB, res Mem, q int) {
	tb.Helper()
	b, i, j := q/(t.m*t.n), q/t.n%t.m, q%t.n
	want, bound := t.sum(b, i, j)
	if t.accumulate {
		v := element(t.dtype, t.before, q)
		want, bound = want+v, bound+math.Abs(v)
	}
	eps := map[DType]float64{F32: 0x1p-23, F64: 0x1p-52}[t.dtype]
	if g := element(t.dtype, res, q); !(math.Abs(g-want) <= float64(t.k+4)*eps*bound) {
		tb.Fatalf("%v: element %d,%d,%d is %v, want %v", t, b, i, j, g, want)
	}
}

// sum returns an element of the result, and the sum of the terms' magnitudes.
func (t *trial) sum(b, i, j int) (sum, bound float64) {
	at := func(o, row, col int) float64 {
		v := t.in[o].get(b, row, col)
		if t.brain {
			v = float64(half.Brain(half.BrainBits(float32(v))))
		}
		return v
	}
	for p := range t.k {
		var f float64
		switch t.op {
		case simd.Dot:
			f = at(0, i, p) * at(1, p, j)
		case simd.Distance:
			f = at(0, i, p) - at(1, j, p)
			f *= f
		case simd.Centred:
			f = at(0, i, p) * (at(1, i, j) - at(2, p, j))
		case simd.Shifted:
			f = at(0, i, p) * (at(1, i, p) - at(2, j, p))
		}
		sum += f
		bound += math.Abs(f)
	}
	return sum, bound
}

var allContractions = []simd.Contraction{simd.Dot, simd.Distance, simd.Shifted, simd.Centred}

// Sizes lie around the edges of tiles, of blocks, and of what is done by other means; every operand
// lies in any way.
func TestProductShapes(t *testing.T) { atLevels(t, testProductShapes) }

func testProductShapes(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, op := range allContractions {
		tile := simd.TileOf(level, op, 32)
		around := func(n int) int { return max(0, n-1+r.IntN(3)) }
		rows := func() int {
			return []int{1 + r.IntN(6), around(tile.Rows), around(2 * tile.Rows), around(5 * tile.Rows)}[r.IntN(4)]
		}
		cols := func() int {
			return []int{1 + r.IntN(4), around(tile.Cols / 4), around(tile.Cols / 2), around(tile.Cols), around(2 * tile.Cols)}[r.IntN(5)]
		}
		depth := func() int {
			return []int{r.IntN(4), 1 + r.IntN(40), around(depthBytes / 8), around(depthBytes / 4), around(2*depthBytes/4 + 1)}[r.IntN(5)]
		}
		for range 60 {
			batches := 1
			if r.IntN(4) == 0 {
				batches = 1 + r.IntN(3)
			}
			m, n, k := rows(), cols(), depth()
			if batches*m*n*k > 300_000 {
				continue
			}
			for _, dt := range []DType{F32, F64} {
				accumulate := op != simd.Distance && r.IntN(2) == 0
				p := newTrial(r, op, dt, batches, m, n, k, accumulate, func() int { return r.IntN(styles) })
				p.check(t)
				if op == simd.Dot && dt == F32 {
					p.brain = true
					p.check(t)
				}
			}
		}
	}
}

// Products large enough for several units, panels copied or fetched ahead, and blocks of rows.
func TestLargeProducts(t *testing.T) { atLevels(t, testLargeProducts) }

func testLargeProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, s := range [][3]int{{300, 300, 50}, {70, 700, 400}, {1, 1500, 700}, {3, 400, 9000}, {1500, 40, 60}, {600, 1, 500}, {400, 150, 1024}} {
		for _, op := range allContractions {
			if op != simd.Dot && s[2] > 400 {
				continue
			}
			for form, styles := range [][2]int{{styleDense, styleDense}, {styleDense, stylePermuted}, {stylePermuted, styleDense}} {
				i := 0
				next := func() int { i++; return styles[(i-1)%2] }
				p := newTrial(r, op, F32, 1, s[0], s[1], s[2], op != simd.Distance && form != 1, next)
				for _, p.brain = range roundings(op) {
					got := p.run(t, p.kernel(), p.in, whole)
					if !bytes.Equal(got, p.run(t, p.kernel(), p.in, single)) {
						t.Fatalf("%v: units one by one give other bits", p)
					}
					res := memOf(got)
					for range 100 {
						p.near(t, res, r.IntN(p.m*p.n))
					}
				}
			}
		}
	}
}

// What Pack makes of a right operand gives the same bits as the operand itself.
func TestPackedProducts(t *testing.T) { atLevels(t, testPackedProducts) }

func testPackedProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 30 {
		for _, op := range []simd.Contraction{simd.Dot, simd.Distance} {
			for _, dt := range []DType{F32, F64} {
				m, n, k := 5+r.IntN(40), 2+r.IntN(80), 1+r.IntN(40)
				if r.IntN(8) == 0 {
					k = depthBytes/dt.Size() + r.IntN(9)
				}
				p := newTrial(r, op, dt, 1+r.IntN(2), m, n, k, op == simd.Dot && r.IntN(2) == 0, func() int { return r.IntN(styles) })
				right := styled(r, r.IntN(styles), dt, plain, p.in[1].Dims[p.in[1].Rank-2], p.in[1].Dims[p.in[1].Rank-1])
				p.in[1], p.brain = right, op == simd.Dot && dt == F32 && r.IntN(2) == 0
				want := p.check(t)
				view := right.Layout
				if op == simd.Distance {
					view.Dims[0], view.Dims[1] = view.Dims[1], view.Dims[0]
					view.Strides[0], view.Strides[1] = view.Strides[1], view.Strides[0]
				}
				by := Pack{Brain: p.brain}
				packed := array{Dense(dt, by.Len(dt, k, n)), Alloc(by.Len(dt, k, n) * dt.Size())}
				fill(raw[byte](packed.mem), 0xff)
				c := NewCtx()
				c.In, c.Out = []Mem{right.mem}, packed.mem
				pack := by.Bind(packed.Layout, []Layout{view})
				for _, u := range r.Perm(pack.Units) {
					pack.Run(c, u, u+1)
				}
				var kernel Kernel = SqDist{Packed: true}
				if op == simd.Dot {
					kernel = MatMul{Packed: true, Accumulate: p.accumulate, Brain: p.brain}
				}
				if got := p.run(t, kernel, []array{p.in[0], packed}, whole); !bytes.Equal(got, want) {
					t.Fatalf("%v: other bits when packed", p)
				}
			}
		}
	}
}

// Packing pays for a transposed operand that is read again, and not for one that lies well.
func TestPackPays(t *testing.T) {
	x, w, wt := Dense(F32, 28, 64), Dense(F32, 64, 32), Dense(F32, 64, 32)
	wt.Strides[0], wt.Strides[1] = 1, 64
	out := Dense(F32, 28, 32)
	for _, c := range []struct {
		right Layout
		runs  int
		want  bool
	}{{w, 1, false}, {w, 100, false}, {wt, 1, false}, {wt, 100, true}, {w, EveryRun, false}, {wt, EveryRun, true}} {
		if got := (MatMul{}).PackPays(out, []Layout{x, c.right}, c.runs); got != c.want {
			t.Errorf("packing a matrix of strides %v for %d runs: %v", c.right.Strides[:2], c.runs, got)
		}
	}
	if !(SqDist{}).PackPays(out, []Layout{x, Dense(F32, 32, 64)}, 100) {
		t.Error("packing centres for 100 runs does not pay")
	}
}

// Memory that is too small is refused before anything is read or written.
func TestProductsRefuseShortMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, s := range [][3]int{{3, 5, 7}, {1, 50, 700}} {
		p := newTrial(r, simd.Dot, F32, 1, s[0], s[1], s[2], false, func() int { return stylePermuted })
		loop := MatMul{}.Bind(p.out(), p.layouts())
		for short := range 3 {
			c := NewCtx()
			c.Out = Alloc(4 * s[0] * s[1])
			c.In = []Mem{p.in[0].mem, p.in[1].mem}
			m := []*Mem{&c.Out, &c.In[0], &c.In[1]}[short]
			*m = m.Slice(0, m.Len()-4)
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%v: memory %d is too short, and is used", p, short)
					}
				}()
				loop.Run(c, 0, loop.Units)
			}()
		}
	}
}

func FuzzMatMul(f *testing.F) {
	f.Add(uint16(14), uint16(33), uint16(7), uint8(0), uint64(1))
	f.Add(uint16(1), uint16(100), uint16(400), uint8(0x5b), uint64(2))
	f.Fuzz(func(t *testing.T, m, n, k uint16, flags uint8, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		size := func(x uint16) int { return int(x % 400) }
		if size(m)*size(n)*size(k) > 1_000_000 {
			t.Skip()
		}
		dt := []DType{F32, F64}[flags&1]
		defer func(old simd.Level) { level = old }(level)
		level = min(simd.Level(flags>>1&3), simd.Best())
		style := func() int { return r.IntN(styles) }
		newTrial(r, simd.Dot, dt, 1+int(flags>>4&3), size(m), size(n), size(k), flags>>3&1 != 0, style).check(t)
	})
}
