package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// filled returns memory for a dense array of floats, with random elements.
func filled(r *rand.Rand, d DType, n int) Mem {
	m := Alloc(n * d.Size())
	for i := range n {
		set(d, m, i, r.NormFloat64())
	}
	return m
}

// TestRearranged: an operation that reads operands in another order computes what it does of these
// operands in that order, for any rows, also where an element has no neighbour to be written with.
func TestRearranged(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	circle, back := []int{1, 2, 0}, []int{2, 0, 1}
	for _, d := range []DType{F32, F64} {
		for _, rows := range []int{1, 2, 7, 200} {
			for _, c := range []struct {
				order [2][]int
				dims  [2][]int // with the rows last
			}{
				{[2][]int{circle, nil}, [2][]int{{1, 3}, {1, 3}}},
				{[2][]int{nil, back}, [2][]int{{2, 3}, {1, 3}}},
				{[2][]int{circle, back}, [2][]int{{2, 3}, {2, 3}}},
				{[2][]int{circle, nil}, [2][]int{{2, 3}, {2, 1}}},
				{[2][]int{{1, 1, 0}, nil}, [2][]int{{4, 3}, {1, 3}}},
			} {
				x := filled(r, d, c.dims[0][0]*c.dims[0][1]*rows)
				y := filled(r, d, c.dims[1][0]*c.dims[1][1]*rows)
				var k Kernel = Binary{Operation: simd.Sub}
				for i, order := range c.order {
					if order != nil {
						got, ok := Rearrange(k, i, 0, order)
						if !ok {
							t.Fatalf("%v: no order", c)
						}
						k = got
					}
				}
				lead := max(c.dims[0][0], c.dims[1][0])
				out := Dense(d, lead, 3, rows)
				in := []Layout{Dense(d, c.dims[0][0], c.dims[0][1], rows), Dense(d, c.dims[1][0], c.dims[1][1], rows)}
				k, _ = WithRowsLast(k, out, nil)
				ctx := NewCtx()
				ctx.Out, ctx.In = Alloc(out.Len()*d.Size()), []Mem{x, y}
				to := ctx.Out
				b := k.Bind(out, in)
				b.Run(ctx, 0, b.Units)
				if ctx.Out != to {
					t.Errorf("%v: the result is elsewhere", c)
				}
				read := func(i, a, e, row int) float64 {
					if o := c.order[i]; o != nil {
						e = o[e]
					}
					return array{in[i], ctx.In[i]}.get(a%in[i].Dims[0], e%in[i].Dims[1], row)
				}
				for a := range lead {
					for e := range 3 {
						for row := range rows {
							want := read(0, a, e, row) - read(1, a, e, row)
							if d == F32 {
								want = float64(float32(want))
							}
							if got := element(d, ctx.Out, (a*3+e)*rows+row); got != want {
								t.Fatalf("%v of %d rows of %v: element %d %d of row %d is %v: want %v", c, rows, d, a, e, row, got, want)
							}
						}
					}
				}
			}
		}
	}
	if _, ok := Rearrange(Binary{}, 0, 0, []int{4, 3, 2, 1, 0}); ok {
		t.Error("five spans are no more work than a copy")
	}
	if _, ok := Rearrange(Unary{}, 0, 0, circle); ok {
		t.Error("a function of one operand reads it in another order")
	}
	one, _ := Rearrange(Binary{}, 0, 0, circle)
	if _, ok := Rearrange(one, 1, 1, circle); ok {
		t.Error("operands have an order along two axes")
	}
}

// TestSumOfProducts: sums of a few products have the bits of a sum of the products, whichever way
// the operands are repeated.
func TestSumOfProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, d := range []DType{F32, F64} {
		for _, c := range []struct {
			x, y []int // with the rows last, 0
			axis int
		}{
			{[]int{3, 0}, []int{3, 0}, 0},
			{[]int{2, 2, 0}, []int{2, 2, 0}, 1},
			{[]int{2, 3, 0}, []int{1, 3, 0}, 1},
			{[]int{3, 2, 0}, []int{3, 1, 0}, 0},
			{[]int{2, 3, 0}, []int{1, 3, 1}, 1},
			{[]int{5, 4, 0}, []int{5, 4, 0}, 1},
		} {
			for _, n := range []int{2, 3, 16, 208, 1000} {
				layout := func(dims []int) Layout {
					l := Dense(d, dims...)
					if last := l.Rank - 1; l.Dims[last] == 0 {
						dims = append([]int{}, dims...)
						dims[last] = n
						l = Dense(d, dims...)
					}
					return l
				}
				x, y := layout(c.x), layout(c.y)
				of := Dense(d, append([]int{}, x.Dims[:x.Rank-1]...)...)
				sum := Reduce{Op: ReduceSum, Axes: 1 << c.axis}
				k, ok := SumProducts(sum, Binary{Operation: simd.Mul}, of)
				if fits := k.Fits(n, of.Len()/of.Dims[c.axis]); !ok || fits != (n*of.count(c.axis+1, of.Rank) < piece) {
					t.Fatalf("%v: that %v rows fit is %v", c, n, fits)
				} else if !fits { // they are added up in another order
					continue
				}
				var kept []int
				for a, s := range x.Dims[:x.Rank] {
					if a != c.axis {
						kept = append(kept, s)
					}
				}
				out := Dense(d, kept...)
				ctx := NewCtx()
				in := []Mem{filled(r, d, x.Len()), filled(r, d, y.Len())}
				product, want := Alloc(x.Len()*d.Size()), Alloc(out.Len()*d.Size())
				ctx.Out, ctx.In = product, in
				b := Binary{Operation: simd.Mul}.Bind(x, []Layout{x, y})
				b.Run(ctx, 0, b.Units)
				ctx.Out, ctx.In = want, []Mem{product}
				b = sum.Bind(out, []Layout{x})
				b.Run(ctx, 0, b.Units)

				got := Alloc(want.Len())
				ctx.Out, ctx.In = got, in
				b = k.Bind(out, []Layout{x, y})
				b.Run(ctx, 0, b.Units)
				if fmt.Sprint(As[uint8](got)) != fmt.Sprint(As[uint8](want)) {
					t.Errorf("%v, %d rows of %v: other bits", c, n, d)
				}
			}
		}
	}
	of := Dense(F64, 5, 3)
	for _, c := range []struct {
		sum, product Kernel
		of           Layout
	}{
		{Reduce{Op: ReduceMax, Axes: 2}, Binary{Operation: simd.Mul}, of},
		{Reduce{Op: ReduceSum, Axes: 2}, Binary{Operation: simd.Add}, of},
		{Reduce{Op: ReduceSum, Axes: 1}, Binary{Operation: simd.Mul}, of}, // five terms
		{Reduce{Op: ReduceSum, Axes: 3}, Binary{Operation: simd.Mul}, Dense(F64, 2, 2)},
		{Reduce{Op: ReduceSum, Axes: 2}, Binary{Operation: simd.Mul}, Dense(I64, 5, 3)},
	} {
		if _, ok := SumProducts(c.sum, c.product, c.of); ok {
			t.Errorf("%v of %v over %v are added up as they are made", c.sum, c.product, c.of)
		}
	}
	if _, ok := SumProducts(Reduce{Op: ReduceSum, Axes: 2}, Unary{Function: simd.Square}, of); !ok {
		t.Error("a square is no product")
	}
	k, _ := SumProducts(Reduce{Op: ReduceSum, Axes: 2}, Binary{Operation: simd.Mul}, of)
	if k.Fits(1, 5) || k.Fits(1024, 5) || k.Fits(1000, 100) {
		t.Error("rows that a sum adds up otherwise fit")
	}
}
