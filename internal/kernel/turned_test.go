package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTurnedRows: kernels with the rows last give, for turned rows, the turned results of what they
// give for rows one after the other.
func TestTurnedRows(t *testing.T) {
	const n = 21 // rows
	var backwards Place
	backwards.Start, backwards.Step = [MaxRank]int{0, 0, 1}, [MaxRank]int{1, 1, 2}
	for _, c := range []struct {
		k   Kernel
		out []int
		in  [][]int
	}{
		{Binary{Operation: 1}, []int{n, 2, 3}, [][]int{{n, 2, 3}, {n, 1, 3}}},
		{Copy{}, []int{n, 2, 3}, [][]int{{n, 1, 3}}},
		{Turn{}, []int{n, 2, 3}, [][]int{{n, 2, 3}}},
		{Concat{Axis: -1}, []int{n, 2, 5}, [][]int{{n, 2, 3}, {n, 2, 2}}},
		{Reduce{Op: ReduceMax, Axes: 1 << 1}, []int{n, 3}, [][]int{{n, 2, 3}}},
		{Reduce{Op: ReduceProd, Axes: 1 << 2}, []int{n, 2}, [][]int{{n, 2, 3}}},
		{backwards, []int{n, 2, 6}, [][]int{{n, 2, 3}}},
	} {
		out := Dense(F64, c.out...)
		var in []Layout
		for _, dims := range c.in {
			in = append(in, Dense(F64, dims...))
		}
		d := c.k.(Divider).Divide(out, in)[0]
		plain, turned := NewCtx(), NewCtx()
		r := rand.New(rand.NewPCG(1, 2))
		var turnedIn []Layout
		turn := func(l Layout, i int) (Rows, Layout) {
			rows, ok := d.Rows(l, i, n)
			if !ok {
				t.Fatalf("%T: no rows of %v", c.k, l)
			}
			lies, ok := rows.Turned(n)
			if !ok {
				t.Fatalf("%T: %v is not turned", c.k, l)
			}
			return rows, lies
		}
		for i, l := range in {
			x, y := Alloc(8*l.Len()), Alloc(8*l.Len())
			for e := range l.Len() {
				v, each := r.NormFloat64(), l.Len()/n
				As[float64](x)[e] = v
				As[float64](y)[e%each*n+e/each] = v
			}
			_, lies := turn(l, i)
			turnedIn = append(turnedIn, lies.Raised(out.Rank+1))
			plain.In, turned.In = append(plain.In, x), append(turned.In, y)
		}
		k, ok := WithRowsLast(c.k, out, in)
		if !ok {
			t.Fatalf("%T has no rows last", c.k)
		}
		rows, _ := d.Rows(out, -1, n)
		apart, _ := rows.Apart(n)
		plain.Out, turned.Out = Alloc(8*out.Len()), Alloc(8*out.Len())
		one := c.k.Bind(out, in)
		one.Run(plain, 0, one.Units)
		other := k.Bind(Dense(F64, apart.Dims[:apart.Rank]...), turnedIn)
		other.Run(turned, 0, other.Units)
		each := out.Len() / n
		for e, want := range As[float64](plain.Out) {
			if got := As[float64](turned.Out)[e%each*n+e/each]; got != want {
				t.Errorf("%#v: element %d of row %d is %v: want %v", c.k, e%each, e/each, got, want)
				break
			}
		}
	}
	for _, k := range []Kernel{InRange{Size: 2}, Softmax{}, MatMul{}, Reduce{Op: ReduceSum, Accumulate: true}} {
		if _, ok := WithRowsLast(k, Dense(F64, n, 2), nil); ok {
			t.Errorf("%T goes along the rows", k)
		}
	}
	var full [MaxRank]int
	for a := range full {
		full[a] = 1
	}
	full[0] = n
	l := Dense(F64, full[:]...)
	rows, _ := Copy{}.Divide(l, []Layout{l})[0].Rows(l, -1, n)
	if _, ok := rows.Apart(n); ok {
		t.Error("an axis more than there can be")
	}
	// Rows along another axis than the first.
	d := Division{Dims: []int{n}, Axes: [][]int{{0}}}
	rows, _ = d.Rows(Dense(F64, n, 3), 0, n)
	if got, ok := rows.Along(n); !ok || got.Strides[0] != 1 || got.Strides[1] != n || got.Dims[0] != n {
		t.Errorf("along %v: %v", ok, got)
	}
	d = Division{Dims: []int{2 * n}, Axes: [][]int{{0}}}
	rows, _ = d.Rows(Dense(F64, 2*n, 3), 0, n)
	if _, ok := rows.Along(n); ok {
		t.Error("rows of two indices of an axis have one stride")
	}
}

// TestSideBySide: how many elements a kernel computes at a time.
func TestSideBySide(t *testing.T) {
	x, row, strided := Dense(F64, 20, 3), Dense(F64, 20, 1), Dense(F64, 20, 3)
	strided.Strides[1], strided.Strides[0] = 2, 6
	for _, c := range []struct {
		k    Kernel
		in   []Layout
		want int
	}{
		{Binary{Operation: 1}, []Layout{x, x}, 60},
		{Binary{Operation: 1}, []Layout{x, row}, 3},
		{Binary{Operation: 1}, []Layout{x, strided}, 1},
		{Concat{Axis: 1}, []Layout{x, row}, 1},
		{Reduce{Op: ReduceSum, Axes: 2}, []Layout{x}, 3},
	} {
		if got := SideBySide(c.k, x, c.in); got != c.want {
			t.Errorf("%T of %v: %d, want %d", c.k, c.in, got, c.want)
		}
	}
}

// TestConcatTurnsBack: columns that are joined as rows are those that are joined, then turned back.
func TestConcatTurnsBack(t *testing.T) { atLevels(t, testConcatTurnsBack) }

func testConcatTurnsBack(t *testing.T) {
	for _, rows := range []int{1, 7, 21, 100} {
		for _, dims := range [][]int{{1, 3, 4}, {2, 3, 12}, {3, 1, 1}} { // before the axis, and of the operands
			before, sizes := dims[0], dims[1:]
			size := sizes[0] + sizes[1]
			c, got, want := NewCtx(), make([]float32, rows*before*size), make([]float32, rows*before*size)
			out := Dense(F32, before, size, rows)
			out.Strides[0], out.Strides[1], out.Strides[2] = size, 1, before*size
			var in []Layout
			for i, n := range sizes {
				in = append(in, Dense(F32, before, n, rows))
				x := make([]float32, in[i].Len())
				for e := range x {
					x[e] = float32(1 + i*10000 + e)
					b, j, r := e/rows/n, e/rows%n, e%rows
					want[(r*before+b)*size+i*sizes[0]+j] = x[e]
				}
				c.In = append(c.In, Of(x))
			}
			if _, ok := (Concat{Axis: 1}).collects(out, in); !ok && rows > 1 {
				t.Fatalf("%v is not collected", dims)
			}
			c.Out = Of(got)
			loop := Concat{Axis: 1}.Bind(out, in)
			loop.Run(c, 0, loop.Units)
			if !slices.Equal(got, want) {
				t.Errorf("%v: %d rows of %v: %v, want %v", level, rows, dims, got, want)
			}
		}
	}
}
