package kernel

import "github.com/tapestry-ml/tapestry/internal/simd"

// The weights of a tap are the product xᵀ·y over all pairs of pixels that the tap joins: a
// batch-reduced product straight from the operands, in which a row of y is a stretch of terms, and
// the rows are the batch.

// A weighing is a ConvKernel with known sizes. It is done in blocks that stay in the cache while
// all taps are applied: blocks of rows of an image if the weights stay in the cache as well, else
// of images.
type weighing struct {
	*convolved
	x, y         grid
	down, across sampling
	accumulate   bool
	joined       bool // the taps of a row share tiles
	shares       int  // units of a tap
	height       int  // rows of y in a block
	together     int  // images in a block
	tile         simd.BatchReduce
}

const (
	rowsBlock   = 192 << 10 // bytes of x and y
	imagesBlock = 1 << 20
	fewChannels = 8 // are not worth tiles of their own
)

// moreUnits is the number of units that a weighing should have: fewer leave workers idle, more read
// x and y too often.
const moreUnits = 32

// weighing has a unit for each tap, or row of taps, of each group, or for some tiles of the tap's
// channels.
func (g *convolved) weighing(accumulate bool) Bound {
	k := &weighing{
		convolved: g, accumulate: accumulate,
		x: g.grid(g.xh, g.xw, g.xc), y: g.grid(g.yh, g.yw, g.yc), down: g.rows(), across: g.cols(),
		joined: g.wc < fewChannels && g.Groups == 1 && g.Dilation[1] == 1,
		tile:   simd.BatchReduceOf(level, 8*g.dtype.Size()),
		height: g.yh, together: 1, shares: 1,
	}
	if g.kh*g.kw*g.wc*k.y.pixel <= fewWeights {
		k.height = evenly(g.yh, max(1, rowsBlock/(k.x.row*g.Stride[0]+k.y.row)))
	} else {
		k.together = max(1, imagesBlock/(k.x.image+k.y.image))
	}
	taps := 1
	if !k.joined {
		taps = g.kw
		k.shares = min(blocks(moreUnits, g.Groups*g.kh*g.kw), blocks(g.wc, k.tile.Rows))
	}
	return Bound{g.Groups * g.kh * taps * k.shares, func(c *Ctx, lo, hi int) {
		r := summing{k, at(c.In[0], 0), at(c.In[1], 0), at(c.Out, 0)}
		for image := 0; image < g.images; image += k.together {
			for row := 0; row < g.yh; row += k.height {
				b := area{image, min(image+k.together, g.images), row, min(row+k.height, g.yh), 0, 0, accumulate || image+row > 0}
				for u, next := lo, 0; u < hi; u = next {
					next = min(hi, (u/k.shares+1)*k.shares)
					r.units(b, u, next)
				}
			}
		}
	}}
}

// An area is the pixels of y in a range of images, rows and columns. Their contribution is added to
// the result, or replaces it.
type area struct {
	image, images, row, rows, col, cols int
	accumulate                          bool
}

// summing is a weighing with its memory: x, y, and the weights.
type summing struct {
	*weighing
	px, py, pw *byte
}

// units adds the contribution of a block to units [u,end): parts of a tap, or rows of taps.
func (r *summing) units(b area, u, end int) {
	if !r.joined {
		group, tap, first := u/r.shares/(r.kh*r.kw), u/r.shares%(r.kh*r.kw), u/r.shares*r.shares
		tiles := blocks(r.wc, r.tile.Rows)
		from := func(share int) int { return share * tiles / r.shares * r.wc / tiles }
		b.col, b.cols = r.across.meets(tap % r.kw)
		r.add(b, group, tap/r.kw, tap%r.kw, from(u-first), from(end-first))
		return
	}
	// Windows inside of x do all taps at once, the others tap by tap.
	lo, _ := r.across.meets(0)
	_, hi := r.across.meets(r.kw - 1)
	b.col, b.cols = lo, max(lo, hi)
	r.add(b, 0, u, 0, 0, r.kw*r.wc)
	b.accumulate = true
	for kw := range r.kw {
		from, to := r.across.meets(kw)
		b.col, b.cols = from, min(to, lo)
		r.add(b, 0, u, kw, 0, r.wc)
		b.col, b.cols = max(from, lo, hi), to
		r.add(b, 0, u, kw, 0, r.wc)
	}
}

// add adds xᵀ·y over the pixels of b to channels [c,end) of the weights, counted from those of a
// tap on.
func (r *summing) add(b area, group, kh, kw, c, end int) {
	from, to := r.down.meets(kh)
	b.row, b.rows = max(b.row, from), min(b.rows, to)
	k, batch := b.cols-b.col, b.rows-b.row
	size, x, y := r.dtype.Size(), group*r.x.group, group*r.y.group
	switch {
	case k > 0 && batch > 0:
		x += (b.row*r.down.stride+r.down.at+kh*r.down.step)*r.x.row + (b.col*r.across.stride+r.across.at+kw*r.across.step)*r.x.pixel
		y += b.row*r.y.row + b.col*r.y.pixel
	case b.accumulate:
		return
	default:
		k, batch = 0, 0
	}
	w := (kh*r.kw+kw)*r.wc*r.y.pixel + group*r.y.group
	if r.joined && r.wo == 1 { // yᵀ·x: the taps are the columns, which lie side by side in x and in the weights
		for ; c < end; c += r.tile.Cols {
			for image := b.image; image < b.images; image++ {
				r.tile.Run(1, min(r.tile.Cols, end-c), k, batch,
					move(r.py, image*r.y.image+y), size, r.y.pixel, r.y.row,
					move(r.px, image*r.x.image+x+c*size), r.across.stride*r.x.pixel, r.down.stride*r.x.row,
					move(r.pw, w+c*size), size, b.accumulate || image > b.image)
			}
		}
		return
	}
	for tiles := blocks(end-c, r.tile.Rows); tiles > 0; tiles-- {
		next := c + (end-c)/tiles
		for o := 0; o < r.wo; o += r.tile.Cols {
			for image := b.image; image < b.images; image++ {
				r.tile.Run(next-c, min(r.tile.Cols, r.wo-o), k, batch,
					move(r.px, image*r.x.image+x+c*size), size, r.across.stride*r.x.pixel, r.down.stride*r.x.row,
					move(r.py, image*r.y.image+y+o*size), r.y.pixel, r.y.row,
					move(r.pw, w+c*r.y.pixel+o*size), r.y.pixel, b.accumulate || image > b.image)
			}
		}
		c = next
	}
}
