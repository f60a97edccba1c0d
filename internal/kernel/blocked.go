package kernel

import (
	"math"
	"unsafe"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// Factorisations of large matrices halve them until a part is small, and leave the rest to products of
// matrices; see Elmroth and others, Recursive blocked algorithms and hybrid data structures for dense matrix
// library software (2004). A matrix is one worker's, so the number of workers changes no bit.

const (
	blockedOrder   = 48 // from which on recursion is faster than plain loops
	blockedColumns = 8  // of right sides, likewise
	leafOrder      = 16 // of the triangles that are left to loops
)

// matrix64 is a matrix in memory: element i,j is i·row + j·col after the first.
type matrix64 struct {
	x        []float64
	row, col int
}

func (a matrix64) from(i, j int) matrix64 { return matrix64{a.x[i*a.row+j*a.col:], a.row, a.col} }
func (a matrix64) turned() matrix64       { return matrix64{a.x, a.col, a.row} }

// line returns n elements of a row whose elements lie side by side.
func (a matrix64) line(i, n int) []float64 { return a.x[i*a.row : i*a.row+n] }

// halfOf returns the size of the first of two parts of n.
func halfOf(n int) int { return max(1, (n/2+leafOrder-1)/leafOrder) * leafOrder }

// addProduct adds factor·a·b, of m×k and k×n matrices, to c, whose columns lie side by side. With upper
// set, elements below the diagonal of c may be left as they are.
func (w *Worker) addProduct(c, a, b matrix64, factor float64, m, n, k int, upper bool) {
	const size = 8
	tile := simd.TileOf(level, simd.Dot, 8*size)
	panels := raw[float64](w.scratch.Slice(handTiles*tileBytes, panelBytes))
	beside := raw[float64](w.scratch.Slice(handTiles*tileBytes+panelBytes, besideBytes))
	most := evenly(k, depthBytes/size)
	for p := 0; p < k; p += most {
		depth := min(most, k-p)
		strip := len(panels) / depth / tile.Cols * tile.Cols
		block := min(len(beside)/depth/tile.Rows*tile.Rows, max(m, 1))
		for j0 := 0; j0 < n; j0 += strip {
			cols := min(strip, n-j0)
			for j := 0; j < cols; j += tile.Cols {
				simd.Panel(level, size, first(panels[j*depth:]), tile.Cols, first(b.from(p, j0+j).x),
					depth, min(tile.Cols, cols-j), b.row*size, b.col*size)
			}
			for i0 := 0; i0 < m; i0 += block {
				rows := min(block, m-i0)
				scaled(beside, a.from(i0, p), factor, rows, depth)
				for j := 0; j < cols; j += tile.Cols {
					wide := min(tile.Cols, cols-j)
					b := first(panels[j*depth:])
					for i := 0; i < rows && !(upper && i0+i >= j0+j+wide); i += tile.Rows {
						tile.Run(1, min(tile.Rows, rows-i), wide, depth, first(beside[i*depth:]), depth*size, size,
							b, tile.Cols*size, nil, 0, 0, first(c.from(i0+i, j0+j).x), c.row*size, true, address(b), 0)
					}
				}
			}
		}
	}
}

func first(x []float64) *byte { return (*byte)(unsafe.Pointer(unsafe.SliceData(x))) }

// scaled copies a multiple of a to dense rows.
func scaled(to []float64, a matrix64, factor float64, m, n int) {
	if a.col == 1 {
		for i := range m {
			row := to[i*n : (i+1)*n]
			for j, v := range a.line(i, n) {
				row[j] = factor * v
			}
		}
		return
	}
	for j := range n {
		for i := range m {
			to[i*n+j] = factor * a.x[i*a.row+j*a.col]
		}
	}
}

// solveLower solves T·X = B for the lower triangle of t, of order n, in the place of the m columns of x,
// which lie side by side. It reports whether no element of the diagonal is 0.
func (w *Worker) solveLower(t, x matrix64, n, m int, unit bool) bool {
	if n > leafOrder && m >= blockedColumns {
		h := halfOf(n)
		first := w.solveLower(t, x, h, m, unit)
		w.addProduct(x.from(h, 0), t.from(h, 0), x, -1, n-h, m, h, false)
		return w.solveLower(t.from(h, h), x.from(h, 0), n-h, m, unit) && first
	}
	ok := true
	for i := range n {
		row := x.line(i, m)
		if m == 1 && x.row == 1 && t.col == 1 {
			row[0] -= dot(t.line(i, i), x.x)
		} else {
			for k := range i {
				subtract(row, t.x[i*t.row+k*t.col], x.line(k, m))
			}
		}
		ok = (unit || divide(row, t.x[i*(t.row+t.col)])) && ok
	}
	return ok
}

// solveUpper does the same for the upper triangle.
func (w *Worker) solveUpper(t, x matrix64, n, m int, unit bool) bool {
	if n > leafOrder && m >= blockedColumns {
		h := halfOf(n)
		last := w.solveUpper(t.from(h, h), x.from(h, 0), n-h, m, unit)
		w.addProduct(x, t.from(0, h), x.from(h, 0), -1, h, m, n-h, false)
		return w.solveUpper(t, x, h, m, unit) && last
	}
	ok := true
	for i := n - 1; i >= 0; i-- {
		row := x.line(i, m)
		if m == 1 && x.row == 1 && t.col == 1 {
			row[0] -= dot(t.line(i, n)[i+1:], x.x[i+1:])
		} else {
			for k := i + 1; k < n; k++ {
				subtract(row, t.x[i*t.row+k*t.col], x.line(k, m))
			}
		}
		ok = (unit || divide(row, t.x[i*(t.row+t.col)])) && ok
	}
	return ok
}

// factorUpper puts the upper triangle U with Uᵀ·U = A in the place of that of a, and reports whether A is
// positive definite.
func (w *Worker) factorUpper(a matrix64, n int) bool {
	if n > leafOrder {
		h := halfOf(n)
		if !w.factorUpper(a, h) {
			return false
		}
		right := a.from(0, h)
		w.solveLower(a.turned(), right, h, n-h, false)
		w.addProduct(a.from(h, h), right.turned(), right, -1, n-h, n-h, h, true)
		return w.factorUpper(a.from(h, h), n-h)
	}
	for k := range n {
		row := a.line(k, n)
		d := row[k]
		if !(d > 0) || math.IsInf(d, 1) {
			return false
		}
		row[k] = math.Sqrt(d)
		divide(row[k+1:], row[k])
		for i := k + 1; i < n; i++ {
			subtract(a.line(i, n)[i:], row[i], row[i:])
		}
	}
	return true
}

// largeCholesky is [cholesky] for large matrices.
func (w *Worker) largeCholesky(a []float64, n int) {
	for i := range n {
		for j := i + 1; j < n; j++ {
			a[i*n+j] = (a[i*n+j] + a[j*n+i]) / 2
		}
	}
	if !w.factorUpper(matrix64{a, n, 1}, n) {
		undefine(a)
		return
	}
	for i := range n {
		for j := i + 1; j < n; j++ {
			a[j*n+i], a[i*n+j] = a[i*n+j], 0
		}
	}
}

// eliminateColumns makes columns from to to of the n×n matrix a those of its triangular factors, with ones
// on the diagonal of the lower one, by the largest pivot of each column. Whole rows are exchanged, and
// those of x with them. It returns the sign of the permutation. A pivot that is 0 stays on the diagonal.
func (w *Worker) eliminateColumns(a, x []float64, n, m, from, to int) (sign float64) {
	if to-from > leafOrder/2 {
		mid := from + (to-from)/2
		sign = w.eliminateColumns(a, x, n, m, from, mid)
		all := matrix64{a, n, 1}
		above := all.from(from, mid)
		w.solveLower(all.from(from, from), above, mid-from, to-mid, true)
		w.addProduct(all.from(mid, mid), all.from(mid, from), above, -1, n-mid, to-mid, mid-from, false)
		return sign * w.eliminateColumns(a, x, n, m, mid, to)
	}
	sign = 1
	for k := from; k < to; k++ {
		if exchangeRows(a, x, n, m, k) {
			sign = -sign
		}
		pivot := a[k*n+k]
		if pivot == 0 {
			continue
		}
		for i := k + 1; i < n; i++ {
			f := a[i*n+k] / pivot
			a[i*n+k] = f
			subtract(a[i*n+k+1:i*n+to], f, a[k*n+k+1:k*n+to])
		}
	}
	return sign
}
