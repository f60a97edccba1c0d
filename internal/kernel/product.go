package kernel

// A product is a contraction of a left operand a[i,p] and a right operand b[j,p] over p, for every batch:
//
//	dot       out[i,j] = Σ_p a[i,p]·b[j,p]
//	distance  out[i,j] = Σ_p (a[i,p] - b[j,p])²
//	shifted   out[i,j] = Σ_p a[i,p]·(x[i,p] - b[j,p])
//	centred   out[i,j] = Σ_p a[i,p]·(x[i,j] - b[j,p])
//
// All kernels of matrices are one of these with their axes exchanged by strides.
type product struct {
	op      contraction
	m, n, k int
	batches int
	a, b, x matrices
}

type contraction uint8

const (
	dot contraction = iota
	distance
	shifted
	centred
)

// matrices are the last two axes of an operand, and the axes before.
type matrices struct {
	batch    *walk
	row, col int // strides
}

// matricesOf reads the last two axes of l, exchanged if so wished; the axes before are broadcast to those of out.
func matricesOf(out, l Layout, exchanged bool) matrices {
	row, col := l.Strides[l.Rank-2], l.Strides[l.Rank-1]
	if exchanged {
		row, col = col, row
	}
	l.Rank -= 2
	out.Rank -= 2
	return matrices{walkOver(out, l), row, col}
}

// The loops over i, j and p are blocked: panelRows rows of b, panelDepth elements of each, stay in the L2 cache while all rows of
// a that are to be done pass; tileRows of those, as deep, stay in the L1 cache while the panel passes, tileCols rows at a time. The
// innermost loop keeps tileRows × tileCols sums in registers. Each sum over p runs in order within panelDepth, and those sums are
// added in order, so it depends on no split.
const (
	panelRows  = 64
	panelDepth = 256
	tileRows   = 4
	tileCols   = 2
	unitRows   = 32
)

// A block is what the innermost loop works on: rows of equal length. Rows beyond the edge repeat the last, their sums are ignored.
type block[T float] struct {
	a, x [tileRows][]T
	b    [tileCols][]T
	xs   [tileRows * tileCols]T // x[i,j]
	sums [tileRows * tileCols]T
}

func productLoop[T float](p product) Loop {
	if p.m == 0 || p.n == 0 {
		return Loop{0, func(*Ctx, int, int) {}}
	}
	per := blocks(p.m, unitRows)
	return Loop{p.batches * per, func(c *Ctx, lo, hi int) {
		// Neighbouring units of a batch share the packing of b.
		for lo < hi {
			batch, first := lo/per, lo%per
			last := min(per, first+hi-lo)
			multiply[T](c, &p, batch, first*unitRows, min(last*unitRows, p.m))
			lo += last - first
		}
	}}
}

// multiply does rows [lo,hi) of one batch.
func multiply[T float](c *Ctx, p *product, batch, lo, hi int) {
	out := raw[T](c.Out)[(batch*p.m+lo)*p.n : (batch*p.m+hi)*p.n]
	a := raw[T](c.In[0])
	b := raw[T](c.In[1])
	baseA, baseB := p.a.batch.at(batch), p.b.batch.at(batch)
	var x []T
	baseX := 0
	if p.x.batch != nil {
		x, b = b, raw[T](c.In[2])
		baseX = p.x.batch.at(batch)
	}
	if p.k == 0 {
		clear(out)
		return
	}
	packedA, packedX, packedB := tile[T](c, 0), tile[T](c, 1), panel[T](c)
	var t block[T]
	for j0 := 0; j0 < p.n; j0 += panelRows {
		j1 := min(j0+panelRows, p.n)
		for p0 := 0; p0 < p.k; p0 += panelDepth {
			depth := min(panelDepth, p.k-p0)
			right, originB, rowB := b, baseB+j0*p.b.row+p0*p.b.col, p.b.row
			if p.b.col != 1 {
				pack(packedB, b, originB, p.b.row, p.b.col, j1-j0, depth)
				right, originB, rowB = packedB, 0, depth
			}
			for i := lo; i < hi; i += tileRows {
				rows := min(tileRows, hi-i)
				load(t.a[:], packedA, a, &p.a, baseA, i, rows, p0, depth)
				if p.op == shifted {
					load(t.x[:], packedX, x, &p.x, baseX, i, rows, p0, depth)
				}
				for j := j0; j < j1; j += tileCols {
					cols := min(tileCols, j1-j)
					for jj := range tileCols {
						at := originB + (j-j0+min(jj, cols-1))*rowB
						t.b[jj] = right[at : at+depth]
					}
					switch p.op {
					case dot:
						dotBlock(&t)
					case distance:
						distanceBlock(&t)
					case shifted:
						shiftedBlock(&t)
					case centred:
						for ii := range rows {
							for jj := range cols {
								t.xs[ii*tileCols+jj] = x[baseX+(i+ii)*p.x.row+(j+jj)*p.x.col]
							}
						}
						centredBlock(&t)
					}
					for ii := range rows {
						dst := out[(i-lo+ii)*p.n+j:][:cols]
						for jj := range dst {
							if s := t.sums[ii*tileCols+jj]; p0 == 0 {
								dst[jj] = s
							} else {
								dst[jj] += s
							}
						}
					}
				}
			}
		}
	}
}

// load points dst at elements [p0,p0+depth) of rows [i,i+rows), packed if they do not lie side by side; the last row fills up.
func load[T float](dst [][]T, buf, src []T, m *matrices, base, i, rows, p0, depth int) {
	origin, row := base+i*m.row+p0*m.col, m.row
	if m.col != 1 {
		pack(buf, src, origin, m.row, m.col, rows, depth)
		src, origin, row = buf, 0, depth
	}
	for ii := range dst {
		at := origin + min(ii, rows-1)*row
		dst[ii] = src[at : at+depth]
	}
}

// pack lays rows of depth elements side by side in dst, four at once: where the rows lie across, that reads along the cache lines.
func pack[T float](dst, src []T, origin, row, col, rows, depth int) {
	for i := 0; i < rows; i += 4 {
		// Rows beyond the edge repeat the last: it is written more than once, with the same values.
		at := func(ii int) int { return min(i+ii, rows-1) }
		d0, d1, d2, d3 := dst[at(0)*depth:][:depth], dst[at(1)*depth:][:depth], dst[at(2)*depth:][:depth], dst[at(3)*depth:][:depth]
		s0, s1, s2, s3 := origin+at(0)*row, origin+at(1)*row, origin+at(2)*row, origin+at(3)*row
		for p := range d0 {
			d0[p], d1[p], d2[p], d3[p] = src[s0], src[s1], src[s2], src[s3]
			s0, s1, s2, s3 = s0+col, s1+col, s2+col, s3+col
		}
	}
}
