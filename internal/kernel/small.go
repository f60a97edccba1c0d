package kernel

import "github.com/tapestry-ml/tapestry/internal/simd"

// mostSmall is the largest size of a small matrix.
const mostSmall = 8

// smallBytes is the size of the right operands that are laid out at once.
const smallBytes = 8 << 10

// smallWork is about the number of multiplications of a unit.
const smallWork = 16 << 10

// A smallProduct is a product of small matrices, batch by batch, without tiles and panels.
type smallProduct struct {
	product
	simd.Small
	size int    // of an element
	per  int    // batches of a unit
	lays *relay // the right operands, whose columns do not lie side by side, else nil
}

// small reports whether all sizes are small. Sums are rounded as those of tiles.
func (p *product) small() bool {
	return p.op == simd.Dot && !p.packed && !p.accumulate && p.k > 0 && max(p.m, p.n, p.k) <= mostSmall
}

func bindSmall(p product) Bound {
	if p.m == 1 && p.n > 1 && p.b.col != 1 {
		p.exchange() // the column of results lies as the row does, and a column of b as it should
	}
	s := &smallProduct{product: p, size: p.dtype.Size(), per: max(1, smallWork/(p.m*p.n*p.k))}
	s.Small = simd.SmallOf(level, 8*s.size, p.n)
	if p.n > 1 && p.b.col != 1 {
		s.lays = s.layRight()
	}
	return Bound{blocks(p.batches, s.per), s.run}
}

// layRight returns what lays right operands out, one after the other.
func (s *smallProduct) layRight() *relay {
	w := s.b.batch
	r := &relay{rank: w.rank, dims: w.dims}
	next := s.k * s.n * s.size
	for a := w.rank - 1; a >= 0; a-- {
		r.from[a], r.to[a] = w.strides[a]*s.size, next
		next *= w.dims[a]
	}
	var to, from []int
	for p := range s.k {
		for j := range s.n {
			to, from = append(to, len(to)*s.size), append(from, (p*s.b.row+j*s.b.col)*s.size)
		}
	}
	return r.with(to, from, s.size)
}

func (s *smallProduct) run(c *Ctx, lo, hi int) {
	s.check(c)
	for q, end := lo*s.per, min(hi*s.per, s.batches); q < end; {
		q += s.several(c, q, end-q)
	}
}

// several does batches from q on, at most so many, and returns their number.
func (s *smallProduct) several(c *Ctx, q, most int) int {
	dimA, nextA := s.a.batch.inner()
	dimB, nextB := s.b.batch.inner()
	n := min(most, dimA-q%dimA)
	a, b, rowB := at(c.In[s.left], s.a.batch.at(q)*s.size), c.panels(), s.n*s.size
	if s.lays != nil {
		n = min(n, max(1, smallBytes/(s.k*rowB)))
		nextB = s.k * s.n
		s.lays.run(b, at(c.In[s.right], s.b.batch.offset*s.size), q, n, q*s.k*rowB, 0)
	} else {
		n = min(n, dimB-q%dimB)
		b, rowB = at(c.In[s.right], s.b.batch.at(q)*s.size), s.b.row*s.size
	}
	rowC := s.n * s.size
	for j := 0; j < s.n; j += s.Cols {
		s.Run(n, s.m, min(s.Cols, s.n-j), s.k, a, nextA*s.size, s.a.row*s.size, s.a.col*s.size,
			move(b, j*s.size), nextB*s.size, rowB, at(c.Out, q*s.m*rowC+j*s.size), rowC)
	}
	return n
}
