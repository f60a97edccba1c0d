package kernel

import (
	"fmt"
	"testing"
)

// TestScatterByRows: blocks of rows, each with all integers and slices, make what a scatter into
// the whole array makes, in place and apart; integers outside of the axis bring nothing and are no
// fault.
func TestScatterByRows(t *testing.T) {
	const rows, tokens = 23, 40
	for _, cols := range []int{1, 5, tileLen + 3} {
		for how, name := range map[How]string{ScatterSet: "set", ScatterSum: "sum", ScatterMax: "max"} {
			for _, block := range []int{1, 4, 7, rows} {
				t.Run(fmt.Sprint(name, cols, block), func(t *testing.T) {
					array, slices, ints := Dense(F32, rows, cols), Dense(F32, tokens, cols), Dense(I32, tokens)
					x, v, at := Alloc(4*rows*cols), Alloc(4*tokens*cols), Alloc(4*tokens)
					for i := range As[float32](x) {
						As[float32](x)[i] = float32(i*i%97) / 7
					}
					for i := range As[float32](v) {
						As[float32](v)[i] = float32(i*i%89) / 3
					}
					for i := range As[int32](at) {
						As[int32](at)[i] = int32([]int{0, rows - 1, 6, 7, i % rows}[i%5])
					}
					As[int32](at)[3], As[int32](at)[8] = -1, rows
					k, want := Scatter{How: how}, Alloc(4*rows*cols)
					c := NewCtx()
					defer c.End()
					c.Out, c.In = want, []Mem{x, at, v}
					b := k.Bind(array, []Layout{array, ints, slices})
					b.Run(c, 0, b.Units)
					if !c.Fault.Found {
						t.Error("a scatter records no fault for an integer outside of its axis")
					}
					c.Fault = Fault{}
					for _, inPlace := range []bool{false, true} {
						got := Alloc(4 * rows * cols)
						if inPlace {
							got.Copy(x)
						}
						for row := 0; row < rows; row += block {
							n := min(block, rows-row)
							part := Dense(F32, n, cols)
							c.Out, c.In[0], c.Row = got.Slice(4*row*cols, 4*n*cols), x.Slice(4*row*cols, 4*n*cols), row
							if inPlace {
								c.In[0] = c.Out
							}
							b := ScatterByRows{k}.Bind(part, []Layout{part, ints, slices})
							b.Run(c, 0, b.Units)
						}
						for i, w := range As[float32](want) {
							if g := As[float32](got)[i]; g != w {
								t.Fatalf("in place %v: element %d is %g, want %g", inPlace, i, g, w)
							}
						}
					}
					if c.Fault.Found {
						t.Errorf("blocks record a fault: %v", c.Fault)
					}
				})
			}
		}
	}
}

// TestProductFetchesUpcoming: a product that fetches what comes after it has the same bits, takes
// each Upcoming once, and goes through it from its first byte on, without gaps.
func TestProductFetchesUpcoming(t *testing.T) {
	const m, n, k = 45, 150, 500
	a, b, out := Dense(F32, m, k), Dense(F32, k, n), Dense(F32, m, n)
	bound := MatMul{}.Bind(out, []Layout{a, b})
	c := NewCtx()
	defer c.End()
	c.In = []Mem{Alloc(4 * m * k), Alloc(4 * k * n)}
	for _, x := range c.In {
		for i := range As[float32](x) {
			As[float32](x)[i] = float32(i%31) / 8
		}
	}
	c.Out = Alloc(4 * m * n)
	bound.Run(c, 0, bound.Units)
	want := c.Out
	c.Out, c.Upcoming = Alloc(4*m*n), Alloc(100<<10)
	bound.Run(c, 0, bound.Units)
	if c.Upcoming.Len() > 0 {
		t.Error("a product leaves Upcoming to the next")
	}
	for i, w := range As[float32](want) {
		if g := As[float32](c.Out)[i]; g != w {
			t.Fatalf("element %d is %g, want %g", i, g, w)
		}
	}
	f := fetching{next: 1 << 20, end: 1<<20 + 5000, step: 3}
	for i := range 3 {
		if from, step := f.take(100); from != uintptr(1<<20+300*i) || step != 3 {
			t.Errorf("tile %d fetches from %d on in steps of %d", i, from-1<<20, step)
		}
	}
}
