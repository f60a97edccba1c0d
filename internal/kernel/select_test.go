package kernel

import (
	"math/rand/v2"
	"testing"
)

// TestSelectRows: a mask with one element for a row, for some rows or for all takes rows as they
// are, short and long, also where a result lies in place of an operand, and where operands are
// repeated, transposed, or lie backwards.
func TestSelectRows(t *testing.T) { atLevels(t, testSelectRows) }

func testSelectRows(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for _, rows := range []int{1, 5, 67} {
		for _, cols := range []int{1, leastRow - 1, leastRow, 63, 260, unitLen + 9} {
			if rows*cols > 3*unitLen {
				continue
			}
			dims := []int{2, rows, cols}
			for _, masked := range [][]int{{}, {1}, {rows, 1}, {2, 1, 1}, {2, rows, 1}} {
				for _, dt := range []DType{F32, F64, I32, I64, Bool} {
					if dt > F32 && cols > 260 && rows > 1 {
						continue
					}
					for _, kind := range [][2]int{{styleDense, styleDense}, {r.IntN(styles), r.IntN(styles)}} {
						mask := random(r, Bool, plain, masked...)
						a, b := styled(r, kind[0], dt, plain, dims...), styled(r, kind[1], dt, plain, dims...)
						if r.IntN(4) == 0 {
							b = random(r, dt, plain, narrowed(r, dims)...)
						}
						check(t, Select{}, dt, dims, []array{mask, a, b}, 0, func(ix []int) float64 {
							if mask.get(ix...) != 0 {
								return a.get(ix...)
							}
							return b.get(ix...)
						})
					}
				}
			}
		}
	}
}

// BenchmarkSelect takes rows by masks of the shapes that gradient accumulation and key/value caches
// have, and others.
func BenchmarkSelect(b *testing.B) {
	for _, c := range []struct {
		name    string
		out     []int
		mask    []int
		in      bool // in place of the third operand
		isTrue  func(i int) bool
		operand []int // the second
	}{
		{"none in place", []int{512, 512}, nil, true, func(int) bool { return false }, []int{512, 512}},
		{"none", []int{512, 512}, nil, false, func(int) bool { return false }, []int{512, 512}},
		{"all in place", []int{512, 512}, nil, true, func(int) bool { return true }, []int{512, 512}},
		{"each", []int{512, 512}, []int{512, 512}, false, func(i int) bool { return i%3 == 0 }, []int{512, 512}},
		{"one row", []int{16, 64, 64}, []int{64, 1}, false, func(i int) bool { return i == 20 }, []int{16, 1, 64}},
		{"one row in place", []int{16, 64, 64}, []int{64, 1}, true, func(i int) bool { return i == 20 }, []int{16, 1, 64}},
		{"first rows or zero", []int{16, 64, 64}, []int{64, 1}, false, func(i int) bool { return i < 20 }, nil},
		{"rows of 16", []int{512, 16}, []int{512, 1}, false, func(i int) bool { return i*7%5 < 2 }, []int{512, 16}},
		{"rows of 32", []int{512, 32}, []int{512, 1}, false, func(i int) bool { return i*7%5 < 2 }, []int{512, 32}},
		{"rows of 4", []int{512, 4}, []int{512, 1}, false, func(i int) bool { return i*7%5 < 2 }, []int{512, 4}},
		{"rows of 8", []int{512, 8}, []int{512, 1}, false, func(i int) bool { return i*7%5 < 2 }, []int{512, 8}},
	} {
		b.Run(c.name, func(b *testing.B) {
			ctx, out := NewCtx(), Dense(F32, c.out...)
			in := []Layout{Dense(Bool, c.mask...), Dense(F32, c.operand...), out}
			for _, l := range in {
				ctx.In = append(ctx.In, Alloc(l.Len()*l.DType.Size()))
			}
			for i, m := range As[bool](ctx.In[0]) {
				As[bool](ctx.In[0])[i] = m || c.isTrue(i)
			}
			if ctx.Out = Alloc(out.Len() * 4); c.in {
				ctx.Out = ctx.In[2]
			}
			loop := Select{}.Bind(out, in)
			for b.Loop() {
				loop.Run(ctx, 0, loop.Units)
			}
			b.ReportMetric(float64(out.Len())*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gelements/s")
		})
	}
}
