package kernel

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// A product is a contraction of a left operand a and a right operand b over p, for every batch, and
// for some contractions a third operand x (see [simd.Contraction]). Strides express exchanged axes,
// so one implementation serves all kernels of matrices.
type product struct {
	op      simd.Contraction
	dtype   DType
	m, n, k int
	batches int
	a, b, x matrices
	reach   [3]int // elements of each operand's memory, from its start

	left, right int // the positions of a and b among the operands

	accumulate bool // adds to what the result holds
	packed     bool // b was laid out by Pack
	turned     bool // the transposed product is computed, and transposed in the end
	brain      bool // a and b are rounded to bfloat16
}

// matrices describes an operand's matrices, one for each batch: where they are, and the strides of
// their rows and columns in elements.
type matrices struct {
	batch    *walk
	row, col int
}

// matricesOf returns the matrices over the last two axes of l, which it may exchange; the axes
// before are broadcast to those of out.
func matricesOf(out, l Layout, exchanged bool) matrices {
	row, col := l.Strides[l.Rank-2], l.Strides[l.Rank-1]
	if exchanged {
		row, col = col, row
	}
	l.Rank -= 2
	out.Rank -= 2
	return matrices{walkOver(out, l), row, col}
}

// shared reports whether all batches have the same matrix.
func (m matrices) shared() bool { return m.batch.n == 1 || m.batch.single() }

// packedMatrix returns a matrix that Pack laid out, shared by all batches.
func packedMatrix(l Layout) matrices {
	return matrices{batch: &walk{rank: 1, dims: [MaxRank]int{1}, offset: l.Offset, n: 1}}
}

// sized fills in the sizes, and panics if the kernel has no loop for them.
func (p product) sized(k Kernel, out Layout, in []Layout) product {
	if out.DType != F32 && (out.DType != F64 || p.brain) {
		panic(unsupported(k, out.DType))
	}
	p.dtype = out.DType
	p.m, p.n, p.k = out.Dims[out.Rank-2], out.Dims[out.Rank-1], in[0].Dims[in[0].Rank-1]
	p.batches = out.count(0, out.Rank-2)
	for i, l := range in {
		p.reach[i] = l.reach()
	}
	p.right = len(in) - 1
	p.flatten()
	if p.op == simd.Dot && p.n == 1 && p.m > 1 && !p.packed && !p.brain {
		p.exchange() // a column of the result lies in memory as a row does, and vectors hold rows
	}
	return p
}

// exchange turns p into the transposed product.
func (p *product) exchange() {
	p.m, p.n = p.n, p.m
	p.left, p.right = p.right, p.left
	p.a, p.b = p.b, p.a
	p.a.row, p.a.col = p.a.col, p.a.row
	p.b.row, p.b.col = p.b.col, p.b.row
}

// flatten merges all batches into one where they share the right operand and the rows of their left
// operands are equally spaced.
func (p *product) flatten() {
	follows := func(m matrices) bool {
		return m.batch == nil || m.batch.rank == 1 && (p.m == 1 || m.batch.strides[0] == p.m*m.row)
	}
	if p.batches < 2 || !p.b.shared() || !follows(p.a) || !follows(p.x) {
		return
	}
	for _, m := range []*matrices{&p.a, &p.x} {
		if m.batch != nil {
			if p.m == 1 {
				m.row = m.batch.strides[0]
			}
			m.batch = &walk{rank: 1, dims: [MaxRank]int{1}, offset: m.batch.offset, n: 1}
		}
	}
	p.b.batch = &walk{rank: 1, dims: [MaxRank]int{1}, offset: p.b.batch.offset, n: 1}
	p.m *= p.batches
	p.batches = 1
}

// check panics if there is less memory than the layouts say: nothing else keeps assembly from
// reading and writing out of bounds.
func (p *product) check(c *Ctx) {
	size := p.dtype.Size()
	for i, reach := range p.reach[:max(p.left, p.right)+1] {
		if c.In[i].n < reach*size {
			panic(fmt.Sprintf("kernel: operand %d of a product has %d bytes for %d elements", i, c.In[i].n, reach))
		}
	}
	if c.Out.n < p.batches*p.m*p.n*size {
		panic(fmt.Sprintf("kernel: the result of a product has %d bytes for %d·%d·%d elements", c.Out.n, p.batches, p.m, p.n))
	}
}

// The loops over j, p and i are blocked so that a panel of b, as wide as a tile and depth deep, and
// the rows of a that meet it stay in the L1 cache, all panels of a strip in the L2 cache, and
// blockBytes of a beside them. The sums over p of these blocks are added in order: the rounding of
// a result depends on k alone.
const (
	depthBytes = 1536      // of a row of a
	stripBytes = 512 << 10 // of b
	blockBytes = 512 << 10 // of a
	downBytes  = 16 << 10  // of a, where a tile is done so soon that several are one call
)

// A multiplication is a product ready to run: all choices made, strides in bytes.
type multiplication struct {
	product
	simd.Tile
	level simd.Level
	size  int // of an element

	depth, block   int // of p and i
	rows, cols     int // of a unit
	stacks, strips int // of units in a batch: down and across

	rowB, panelB int      // strides of b's rows and panels
	packs        bool     // b is packed by each run
	packsA       bool     // a is packed, tile by tile
	stepA        int      // from one p of a packed tile to the next
	copiesA      bool     // a is copied, block by block
	rowCopy      int      // from one row of the copy to the next
	fetches      bool     // panels of b are fetched ahead
	panelwise    bool     // b is packed panel by panel, each before the tiles that read it
	pairs        bool     // operands are packed as pairs of bfloat16, else as rounded numbers
	across       bool     // tiles go across before they go down
	down         bool     // they go down, in sections whose rows stay in the L1 cache; block counts tiles
	alone        bool     // each is a call of its own
	dense        bool     // the rows of a follow each other without gaps
	windows      *windows // that a is gathered from, nil where it is a matrix
	gathers      bool     // the x of Centred is copied, tile by tile
}

func newMultiplication(p product) *multiplication {
	size := p.dtype.Size()
	m := &multiplication{product: p, Tile: simd.TileOf(level, p.op, 8*size), level: level, size: size}
	for _, o := range []*matrices{&m.a, &m.b, &m.x} {
		o.row *= size
		o.col *= size
	}
	if p.brain {
		if t, ok := simd.BrainTile(level); ok {
			m.Tile, m.pairs = t, true
		}
		return m
	}
	if wide := simd.WideTileOf(level, 8*size); p.op == simd.Dot && p.m <= wide.Rows && !p.packed && !m.scattered() {
		m.Tile = wide
	}
	return m
}

func bindProduct(p product) Bound {
	if p.m*p.n*p.batches == 0 || p.k == 0 && p.accumulate {
		return Bound{0, func(*Ctx, int, int) {}}
	}
	if !p.brain && p.small() {
		return bindSmall(p)
	}
	if p.k > 0 && !p.brain && p.byVectors() {
		return bindVectors(p)
	}
	if !p.brain && p.turns() {
		p.exchange()
		p.turned = true
	}
	m := newMultiplication(p)
	m.divide()
	if m.strips*m.stacks*p.batches == 1 {
		return Bound{1, func(c *Ctx, lo, hi int) {
			if lo < hi {
				m.check(c)
				m.beginFetching(c)
				m.strip(c, 0, 0, m.m, 0, m.n)
			}
		}}
	}
	return Bound{p.batches * m.strips * m.stacks, m.run}
}

// divide chooses the blocks and the units.
func (m *multiplication) divide() {
	m.depth = evenly(m.k, depthBytes/m.size)
	switch {
	case m.windows != nil:
		m.depth = m.windows.depthOf(m.k, m.together()*depthBytes/m.size)
	case m.pairs:
		m.depth = blocks(evenly(m.k, m.together()*depthBytes/m.size), 2) * 2
	}
	// Enough units for some workers, if there is enough work; wide and high enough that b is read,
	// and packed, by few of them.
	const unitFlops, most = 2 << 20, 32
	units := min(most, blocks(2*m.m*m.n*m.k, unitFlops/min(m.batches, most)))
	m.packsA = m.brain || m.a.row == m.size && m.a.col >= farStep && m.n >= manyCols
	m.stepA = blocks(m.Rows*m.size, alignment) * alignment
	wide := m.n / (4 * m.Cols)
	m.copiesA = !m.packsA && !m.turned && m.collides() && m.n >= manyCols
	if m.packsA || m.copiesA {
		wide = 1 // the wider a unit, the more of b uses what was packed
	}
	m.strips = max(min(units, wide), blocks(m.n, stripBytes/(m.lines(m.depth)*m.size)/m.Cols*m.Cols))
	m.cols = blocks(blocks(m.n, max(1, m.strips)), m.Cols) * m.Cols
	m.strips = blocks(m.n, m.cols)
	m.stacks = max(1, min(blocks(units, m.strips), m.m/(4*m.Rows)))
	m.rows = blocks(m.m, m.stacks)
	m.stacks = blocks(m.m, m.rows)

	m.rowB, m.panelB = m.b.row, m.Cols*m.size
	if m.packed {
		m.rowB, m.panelB = m.Cols*m.size, m.Cols*m.size*m.lines(m.k)
	}
	m.packs = m.scattered() || m.far() && m.m > manyRows || m.brain && !m.packed
	m.gathers = m.op == simd.Centred && m.x.col != m.size && m.n > 1
	m.block = blockBytes / (m.depth * m.size)
	m.across = m.packsA || m.depth*m.cols*m.size <= 64<<10
	if m.copiesA {
		if m.rowCopy = blocks(m.depth*m.size, alignment) * alignment; m.sharesSets(m.rowCopy) {
			m.rowCopy += alignment
		}
		m.across, m.block = false, besideBytes/m.rowCopy
	}
	m.panelwise = m.scattered() && m.b.row == m.size && !m.across && !m.brain
	m.down = m.across && m.a.col == m.size && !m.gathers && !m.brain && m.windows == nil && downBytes/(m.depth*m.Rows*m.size) > 1
	if m.down {
		m.across, m.block = false, downBytes/(m.depth*m.Rows*m.size)
	}
	m.dense = m.a.col == m.size && m.a.row == m.depth*m.size
	m.fetches = m.far() && !m.packs && m.Cols*m.size <= 2*alignment
	m.alone = m.panelwise || m.fetches || m.gathers || m.brain
}

// evenly returns the size of the parts of n, each at most most and all about equal.
func evenly(n, most int) int {
	if n <= most {
		return max(1, n)
	}
	return blocks(n, blocks(n, most))
}

// scattered reports whether the columns of b do not lie side by side, so that it must be packed.
func (m *multiplication) scattered() bool { return !m.packed && m.b.col != m.size && m.n > 1 }

// far reports whether b is larger than the L2 cache.
func (m *multiplication) far() bool { return !m.packed && m.k*m.b.row > stripBytes }

// collides reports whether the rows of a lie such that each line is gone before its next element is
// read.
func (m *multiplication) collides() bool {
	return m.a.col == m.size && m.a.row != 0 && m.sharesSets(m.a.row)
}

// sharesSets reports whether the rows of a tile, so many bytes apart, share few sets of the L1
// cache.
func (m *multiplication) sharesSets(row int) bool {
	sets := wayBytes / min(wayBytes, row&-row) // that the first lines of rows fall on
	return blocks(min(m.m, m.Rows), sets) > fewWays
}

// A way of the L1 cache has wayBytes; of the 8 that there are, or more, fewWays lines of a are safe
// beside those of the other operands.
const (
	wayBytes = 4 << 10
	fewWays  = 4
)

// manyRows is the number of rows of a that repay packing a b that is far.
const manyRows = 256

// In a transposed a, consecutive p may lie farStep bytes or more apart: no prefetcher follows, and
// the lines share few sets of the L1 cache. manyCols columns of b repay packing it.
const (
	farStep  = 2 << 10
	manyCols = 128
)
