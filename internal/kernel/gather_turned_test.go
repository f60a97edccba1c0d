package kernel

import (
	"fmt"
	"math"
	"testing"
)

// TestTurnedGather: rows of a table that are picked as columns are those that Gather picks, for any
// integers and any table whose slices lie side by side; an integer outside gives NaN or 0, and is
// recorded where it stands.
func TestTurnedGather(t *testing.T) {
	const n, size = 150, 7 // rows, and slices of the table
	for _, d := range []DType{F32, F64, I32, I64} {
		for _, integer := range []DType{I32, I64, U8} {
			for _, row := range []int{1, 2, 3, 4, 5, 8, 11, 16, 64} {
				for _, beyond := range []int{0, 3} { // elements between slices
					table := Dense(d, size, row)
					table.Strides[0], table.Offset = row+beyond, beyond
					out, ints := Dense(d, n, row), Dense(integer, n)
					k, in := Gather{}, []Layout{table, ints}
					plain, turned := NewCtx(), NewCtx()
					src, at := Alloc((size*(row+beyond)+beyond)*d.Size()), Alloc(n*integer.Size())
					for i := range src.n / d.Size() {
						set(d, src, i, float64(i+1))
					}
					for i := range n {
						pick := i * i % size
						switch i {
						case 0, 40, 64, 90, n - 1:
							pick = size + 2
						}
						if integer == U8 {
							As[uint8](at)[i] = uint8(pick)
						} else {
							set(integer, at, i, float64(pick))
						}
					}
					plain.In, turned.In = []Mem{src, at}, []Mem{src, at}
					plain.Out, turned.Out = Alloc(n*row*d.Size()), Alloc(n*row*d.Size())
					b := k.Bind(out, in)
					b.Run(plain, 0, b.Units)

					last, ok := WithRowsLast(k, out, in)
					if !ok {
						t.Fatalf("rows of %d %v are not picked as columns", row, d)
					}
					var along []Layout
					div := k.Divide(out, in)[0]
					for i, l := range in {
						rows, _ := div.Rows(l, i, n)
						apart, _ := rows.Apart(n)
						along = append(along, apart.Raised(3))
					}
					b = last.Bind(Dense(d, 1, row, n), along)
					b.Run(turned, 0, b.Units)
					name := fmt.Sprintf("%d %v, %d between, by %v", row, d, beyond, integer)
					for e := range n * row {
						got, want := element(d, turned.Out, e%row*n+e/row), element(d, plain.Out, e)
						if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
							t.Fatalf("%s: element %d of row %d is %v: want %v", name, e%row, e/row, got, want)
						}
					}
					if want := (Fault{true, 0, size + 2}); turned.Fault != want || plain.Fault != want {
						t.Errorf("%s: %v and %v: want %v", name, turned.Fault, plain.Fault, want)
					}
				}
			}
		}
	}
	strewn := Dense(F64, 7, 3)
	strewn.Strides[0], strewn.Strides[1] = 1, 7
	for _, in := range []Layout{strewn, Dense(F64, 7, 65), Dense(F16, 7, 3)} {
		if _, ok := WithRowsLast(Gather{}, Dense(in.DType, n, in.Dims[1]), []Layout{in, Dense(I32, n)}); ok {
			t.Errorf("%v is picked as columns", in)
		}
	}
	if _, ok := WithRowsLast(Gather{Axis: 1}, Dense(F64, n, 2), []Layout{Dense(F64, n, 3), Dense(I32, 2)}); ok {
		t.Error("a table for each row is picked from as columns")
	}
}
