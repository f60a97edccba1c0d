package kernel

import "github.com/tapestry-ml/tapestry/internal/simd"

// Where a has few rows and the terms of b lie side by side, as in a transposed matrix, every result
// is computed on its own: panels of b would cost more than they save.
const (
	fewRows     = 4         // are always few; otherwise
	mostRows    = 8         // so many at most,
	longRow     = 64        // and no more than a row has times so many bytes
	vectorDepth = 8192      // elements that are summed at once
	vectorBytes = 24 << 10  // of b that stay in the L1 cache while all rows of a pass
	vectorUnit  = 256 << 10 // bytes of b for a unit
)

// vectors is a product done as matrix-vector products.
type vectors struct {
	product
	loop       simd.MatVec
	size       int
	cols, part int // columns of a unit, and of what stays in the cache
	units      int // in a batch
}

// byVectors reports whether a product should be a few matrix-vector products.
func (p *product) byVectors() bool {
	few := min(max(fewRows, p.k*p.dtype.Size()/longRow), mostRows)
	return p.op == simd.Dot && !p.packed && p.m <= few && p.a.col == 1 && p.b.row == 1 && p.b.col != 1
}

func bindVectors(p product) Bound {
	size := p.dtype.Size()
	v := &vectors{product: p, loop: simd.MatVecOf(level, 8*size), size: size}
	row := min(p.k, vectorDepth) * size
	v.part = max(4, vectorBytes/row/4*4)
	v.cols = max(v.part, vectorUnit/row/v.part*v.part)
	v.units = blocks(p.n, v.cols)
	return Bound{p.batches * v.units, v.run}
}

func (v *vectors) run(c *Ctx, lo, hi int) {
	v.check(c)
	size := v.size
	for u := lo; u < hi; u++ {
		batch, first := u/v.units, u%v.units*v.cols
		a := at(c.In[v.left], v.a.batch.at(batch)*size)
		b := at(c.In[v.right], v.b.batch.at(batch)*size)
		out := at(c.Out, batch*v.m*v.n*size)
		for j := first; j < min(first+v.cols, v.n); j += v.part {
			cols := min(v.part, v.n-j)
			for p := 0; p < v.k; p += vectorDepth {
				from := move(b, (j*v.b.col+p*v.b.row)*size)
				for i := range v.m {
					v.loop(cols, min(vectorDepth, v.k-p), from, v.b.col*size, move(a, (i*v.a.row+p*v.a.col)*size),
						move(out, (i*v.n+j)*size), size, v.accumulate || p > 0)
				}
			}
		}
	}
}
