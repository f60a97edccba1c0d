package kernel

import (
	"math"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// Small systems are factored and solved many at a time: element i,j of all of them lies side by
// side, so that the loops of vectors do a step for all. Each does the steps of the loops for a single
// matrix, in their order, and gives their bits.
const (
	smallOrder    = 8 // of the matrices, and the most right sides
	fewSystems    = 8 // from which on it is faster
	systemLanes   = 64
	systemStride  = systemLanes + 8 // elements from one element to the next: no power of 2
	systemNumbers = smallOrder*smallOrder*2 + smallOrder + 3
)

// areSmall reports whether to do matrices with right sides, if any, as small systems.
func areSmall(count, n, m int) bool { return count >= fewSystems && 0 < n && max(n, m) <= smallOrder }

// systems are small systems in the scratch of a worker.
type systems[T float] struct {
	n, count           int
	add, sub, mul, div simd.Zip
	sqrt, widen, round simd.Map
}

func newSystems[T float](n, count int) *systems[T] {
	zip := func(op simd.Operation) simd.Zip { return simd.ZipOf[float64](level, op).Rows }
	return &systems[T]{
		n: n, count: count, add: zip(simd.Add), sub: zip(simd.Sub), mul: zip(simd.Mul), div: zip(simd.Div),
		sqrt: simd.MapOf[float64](level, simd.Sqrt), widen: simd.CastOf[float64, T](level), round: simd.CastOf[T, float64](level),
	}
}

// The numbers that the scratch holds, each for all systems: the elements of A, those of B and X, some
// that a step needs, zeros and halves.
func (s *systems[T]) number(c *Ctx, i int) *byte { return move(c.panels(), i*systemStride*8) }
func (s *systems[T]) a(c *Ctx, i, j int) *byte   { return s.number(c, i*s.n+j) }
func (s *systems[T]) x(c *Ctx, i, m, j int) *byte {
	return s.number(c, smallOrder*smallOrder+i*m+j)
}
func (s *systems[T]) terms(c *Ctx) *byte  { return s.number(c, 2*smallOrder*smallOrder) }
func (s *systems[T]) zeros(c *Ctx) *byte  { return s.number(c, 2*smallOrder*smallOrder+smallOrder) }
func (s *systems[T]) halves(c *Ctx) *byte { return move(s.zeros(c), systemStride*8) }

// lain returns where elements lie as the arrays have them, of which wide are the float64.
func (s *systems[T]) lain(c *Ctx, wide *byte) *byte {
	if sizeOf[T]() == 8 {
		return wide
	}
	return s.number(c, systemNumbers)
}

// bound binds a loop over blocks of systems: do computes w of them, from number first on, and marks
// those that have no result.
func (s *systems[T]) bound(do func(c *Ctx, first, w int, bad *[systemLanes]bool)) Bound {
	return Bound{blocks(s.count, systemLanes), func(c *Ctx, lo, hi int) {
		fill(sliceAt[float64](s.zeros(c), systemLanes), 0)
		fill(sliceAt[float64](s.halves(c), systemLanes), 0.5)
		for u := lo; u < hi; u++ {
			var bad [systemLanes]bool
			do(c, u*systemLanes, min(systemLanes, s.count-u*systemLanes), &bad)
		}
	}}
}

// A lying lays matrices out in scratch, or a dense result from there.
type lying struct {
	*relay
	offset, elements int
}

// layMatrices returns what lays out matrices of T from a layout; or, if dense is set, what lays out a
// result, in which the elements that skip names are 0.
func layMatrices[T float](l Layout, dense bool, skip func(i, j int) bool) lying {
	m, size := batchOf(l), sizeOf[T]()
	l.Rank -= 2
	w := walkOf(l, allAxes, l.Offset)
	r := &relay{rank: w.rank, dims: w.dims}
	many := 1
	for a := w.rank - 1; a >= 0; a-- {
		r.from[a], r.to[a] = w.strides[a]*size, many*size
		many *= w.dims[a]
	}
	var lanes, array []int
	for i := range m.rows {
		for j := range m.cols {
			lane := len(lanes)
			if skip != nil && skip(i, j) {
				lane = m.rows * m.cols // what follows is zeros
			}
			lanes, array = append(lanes, lane*systemStride*size), append(array, (i*m.down+j*m.next)*size)
		}
	}
	if dense {
		r.from, r.to = r.to, r.from
		lanes, array = array, lanes
	}
	return lying{r.with(lanes, array, size), w.offset * size, m.rows * m.cols}
}

// read lays out w matrices, from number first on, as float64 to where to begins.
func (s *systems[T]) read(c *Ctx, l lying, src Mem, to *byte, first, w int) {
	lain := s.lain(c, to)
	l.run(lain, at(src, l.offset), first, w, first*sizeOf[T](), 0)
	if lain == to {
		return
	}
	s.widen(to, lain, 1, l.elements*systemStride, 0, 0)
}

// write rounds w matrices, lays them out in the result, and makes bad ones NaN. The number behind
// theirs becomes zeros.
func (s *systems[T]) write(c *Ctx, l lying, from *byte, first, w int, bad *[systemLanes]bool) {
	lain := s.lain(c, from)
	if lain != from {
		s.round(lain, from, 1, l.elements*systemStride, 0, 0)
	}
	fill(sliceAt[T](move(lain, l.elements*systemStride*sizeOf[T]()), systemStride), 0)
	l.run(at(c.Out, l.offset), lain, first, w, 0, first*sizeOf[T]())
	for i, is := range bad[:w] {
		if is {
			fill(raw[T](c.Out)[(first+i)*l.elements:][:l.elements], T(math.NaN()))
		}
	}
}

// smallCholesky is [cholesky] of small systems.
func smallCholesky[T float](out, in Layout) Bound {
	const next = systemStride * 8
	m := batchOf(in)
	n, s := m.rows, newSystems[T](m.rows, m.count())
	reads := layMatrices[T](in, false, nil)
	writes := layMatrices[T](out, true, func(i, j int) bool { return j > i })
	reachOut, reach := out.Len()*sizeOf[T](), in.reach()*sizeOf[T]()
	return s.bound(func(c *Ctx, first, w int, bad *[systemLanes]bool) {
		checkReach(c, reachOut, reach)
		s.read(c, reads, c.In[0], s.a(c, 0, 0), first, w)
		for i := 1; i < n; i++ { // the symmetric part
			s.add(s.a(c, i, 0), s.a(c, i, 0), s.a(c, 0, i), i, w, next, next, n*next)
			s.mul(s.a(c, i, 0), s.a(c, i, 0), s.halves(c), i, w, next, next, 0)
		}
		for k := range n {
			pivot := s.a(c, k, k)
			for i, d := range sliceAt[float64](pivot, w) {
				bad[i] = bad[i] || !(d > 0) || math.IsInf(d, 1)
			}
			s.sqrt(pivot, pivot, 1, w, 0, 0)
			if k+1 == n {
				break
			}
			below := s.a(c, k+1, k)
			s.div(below, below, pivot, n-k-1, w, n*next, n*next, 0)
			for i := k + 1; i < n; i++ {
				s.mul(s.terms(c), s.a(c, i, k), below, i-k, w, next, 0, n*next)
				s.sub(s.a(c, i, k+1), s.a(c, i, k+1), s.terms(c), i-k, w, next, next, next)
			}
		}
		s.write(c, writes, s.a(c, 0, 0), first, w, bad)
	})
}

// smallTriangular is solveTriangle of small systems.
func smallTriangular[T float](k SolveTriangular, out Layout, in []Layout) Bound {
	const next = systemStride * 8
	ma, mb := batchOf(in[0]), batchOf(in[1])
	n, m, s := ma.rows, mb.cols, newSystems[T](ma.rows, ma.count())
	readsA, readsB, writes := layMatrices[T](in[0], false, nil), layMatrices[T](in[1], false, nil), layMatrices[T](out, true, nil)
	size := sizeOf[T]()
	reachOut, reachA, reachB := out.Len()*size, in[0].reach()*size, in[1].reach()*size
	return s.bound(func(c *Ctx, first, w int, bad *[systemLanes]bool) {
		checkReach(c, reachOut, reachA)
		if c.In[1].n < reachB {
			panic(short)
		}
		s.read(c, readsA, c.In[0], s.a(c, 0, 0), first, w)
		s.read(c, readsB, c.In[1], s.x(c, 0, m, 0), first, w)
		for step := range n {
			i, from, to := step, 0, step // the row, and the solved ones that it takes
			if k.Upper {
				i = n - 1 - step
				from, to = i+1, n
			}
			row := s.x(c, i, m, 0)
			if m == 1 {
				s.mul(s.terms(c), s.a(c, i, from), s.x(c, from, 1, 0), to-from, w, next, next, next)
				s.sub(row, row, s.total(c, to-from, w), 1, w, 0, 0, 0)
			} else {
				for p := from; p < to; p++ {
					s.mul(s.terms(c), s.x(c, p, m, 0), s.a(c, i, p), m, w, next, next, 0)
					s.sub(row, row, s.terms(c), m, w, next, next, next)
				}
			}
			if k.Unit {
				continue
			}
			for l, d := range sliceAt[float64](s.a(c, i, i), w) {
				bad[l] = bad[l] || d == 0
			}
			s.div(row, row, s.a(c, i, i), m, w, next, next, 0)
		}
		s.write(c, writes, s.x(c, 0, m, 0), first, w, bad)
	})
}

// total adds up n terms in the order of [dot], and returns where the sum is.
func (s *systems[T]) total(c *Ctx, n, w int) *byte {
	const next = systemStride * 8
	terms := s.terms(c)
	term := func(i int) *byte { return move(terms, i*next) }
	if n < 4 {
		sum := s.zeros(c)
		for i := range n {
			s.add(term(i), sum, term(i), 1, w, 0, 0, 0)
			sum = term(i)
		}
		return sum
	}
	s.add(terms, terms, s.zeros(c), 4, w, next, next, 0)
	if n == 8 {
		s.add(terms, terms, term(4), 4, w, next, next, next)
	} else {
		for i := 4; i < n; i++ {
			s.add(terms, terms, term(i), 1, w, 0, 0, 0)
		}
	}
	s.add(terms, terms, term(1), 1, w, 0, 0, 0)
	s.add(term(2), term(2), term(3), 1, w, 0, 0, 0)
	s.add(terms, terms, term(2), 1, w, 0, 0, 0)
	return terms
}
