package kernel

import "github.com/tapestry-ml/tapestry/internal/simd"

// A correlation computes the pixels of a result, each of n channels, from the pixels of a source
// that samplings name: the sum over taps and k channels of the source's pixel times the weights
// [k,n] of the tap. It consists of batch-reduced products straight from the source: neighbouring
// pixels are the rows of the left operand, and rows of taps are the batch. No window is ever
// copied. Pixels at the edges, where some taps are outside, are products of their own, with the
// taps inside.
type correlation struct {
	dtype          DType
	images, groups int
	k, n           int // channels of a group
	source, result grid
	taps           [2]int
	weights        weights
	parts          []part

	// Each channel of the source is one of the result, with weights of its own: taps and no channels
	// are summed. k is 1, and n all channels.
	apart bool

	level simd.Level
	tile  simd.BatchReduce
	packs bool // the weights are copied
	room  int  // rows of taps that the copy has room for

	packed bool // they were laid out by Pack

	shares int // of the blocks, for each panel of weights, where units go by panels; else 0
}

// A grid holds the distances between the pixels of an array, in bytes.
type grid struct{ image, row, pixel, group int }

// weights holds the distances between weights, in bytes: from tap to tap along both axes, from a
// channel of the source to the next, from the weights of a group to the next, and from a channel of
// the result to the next: unless that is an element, they have to be copied.
type weights struct{ row, col, channel, group, across int }

// A part is the pixels of the result that are sampled alike: all of them, or every stride-th.
type part struct {
	rows, cols sampling
	first      int         // pixel, in bytes from the start of an image
	blocks     [][]stretch // of rows; each is a unit of an image
	whole      []stretch   // of all rows of an image
	across     []stretch   // of columns
}

// grid returns the grid of [images,h,w,c], c being the channels of all groups.
func (g *convolved) grid(h, w, c int) grid {
	pixel := c * g.dtype.Size()
	return grid{image: h * w * pixel, row: w * pixel, pixel: pixel, group: pixel / g.Groups}
}

// forward returns the correlation that computes y from x.
func (g *convolved) forward() *correlation {
	channel := g.yc * g.dtype.Size()
	c := &correlation{
		dtype: g.dtype, images: g.images, groups: g.Groups, k: g.wc, n: g.wo, taps: [2]int{g.kh, g.kw},
		source: g.grid(g.xh, g.xw, g.xc), result: g.grid(g.yh, g.yw, g.yc),
		weights: weights{g.kw * g.wc * channel, g.wc * channel, channel, channel / g.Groups, g.dtype.Size()},
	}
	c.separate(g)
	c.add(0, g.rows(), g.cols())
	return c
}

// backward returns the correlation that computes x from y, with a part for each position that a
// pixel of x can have within the stride of the windows. The weights lie as those of forward do, or
// exchanged.
func (g *convolved) backward(asForward bool) *correlation {
	channel, size := g.wc*g.dtype.Size(), g.dtype.Size()
	c := &correlation{
		dtype: g.dtype, images: g.images, groups: g.Groups, k: g.wo, n: g.wc, taps: [2]int{g.kh, g.kw},
		source: g.grid(g.yh, g.yw, g.yc), result: g.grid(g.xh, g.xw, g.xc),
		weights: weights{g.kw * g.yc * channel, g.yc * channel, channel, g.wo * channel, size},
	}
	if asForward {
		c.weights.channel, c.weights.group, c.weights.across = size, g.wo*size, g.yc*size
	}
	c.separate(g)
	row, pixel := c.result.row, c.result.pixel
	c.result.row, c.result.pixel = row*g.Stride[0], pixel*g.Stride[1]
	for i := range min(g.Stride[0], g.xh) {
		for j := range min(g.Stride[1], g.xw) {
			c.add(i*row+j*pixel, g.rows().spread(i, g.xh), g.cols().spread(j, g.xw))
		}
	}
	return c
}

// separate joins the groups of a depthwise convolution, whose channels are then sums of their own.
func (k *correlation) separate(g *convolved) {
	if g.depthwise() {
		k.apart, k.groups, k.n = true, 1, g.xc
	}
}

// minUnits is the number of units that there should be at least, where the images are few.
const minUnits = 16

// add adds a part.
func (k *correlation) add(first int, rows, cols sampling) {
	p := part{rows: rows, cols: cols, first: first, whole: rows.stretches(0, rows.n), across: cols.stretches(0, cols.n)}
	n := max(1, min(rows.n, blocks(minUnits, max(1, k.images))))
	for i := range n {
		p.blocks = append(p.blocks, rows.stretches(i*rows.n/n, (i+1)*rows.n/n))
	}
	k.parts = append(k.parts, p)
}

// A few weights are read in place, image by image: they stay in the cache. Many are read once, for
// all units of a run. If they are so far apart that they share few sets of the cache, they are
// copied first, as many rows of taps at a time as there is room for.
const (
	fewWeights = 512 << 10
	farWeights = 1 << 10
	fewPanels  = 4  // from which on units go by panels of many weights
	manyShares = 32 // units that there are then at least
)

// loop has a unit for each block of rows of each image and part; or, where the weights are many, for a
// panel of them and a share of the blocks, so that workers do not copy and read the same weights.
func (k *correlation) loop() Bound {
	k.level, k.tile = level, simd.BatchReduceOf(level, 8*k.dtype.Size())
	if k.apart {
		k.tile = simd.WindowReduceOf(level, 8*k.dtype.Size())
	}
	units, pixels := 0, 0 // the pixels of an image
	for i := range k.parts {
		p := &k.parts[i]
		units += len(p.blocks) * k.images
		pixels += p.rows.n * p.cols.n
	}
	k.room = stripBytes / (k.taps[1] * k.k * k.tile.Cols * k.dtype.Size())
	far := k.weights.channel >= farWeights || k.weights.across != k.dtype.Size()
	k.packs = !k.apart && far && k.room > 0 && pixels > 2*k.tile.Rows
	if panels := k.panels(); k.taps[0]*k.weights.row > fewWeights && panels >= fewPanels {
		k.shares = blocks(manyShares, panels)
		units = panels * k.shares * len(k.parts)
	}
	return Bound{units, func(c *Ctx, lo, hi int) {
		r := correlating{k, at(c.In[0], 0), at(c.In[1], 0), at(c.Out, 0), c.panels()}
		for i := range k.parts {
			p := &k.parts[i]
			n := len(p.blocks) * k.images
			if k.shares > 0 {
				n = k.panels() * k.shares
			}
			r.units(p, max(lo, 0), min(hi, n))
			lo, hi = lo-n, hi-n
		}
	}}
}

// panels returns the number of panels of the weights of all groups.
func (k *correlation) panels() int { return k.groups * blocks(k.n, k.tile.Cols) }

// correlating is a correlation with its memory: source, weights, result, and scratch for a panel of
// weights.
type correlating struct {
	*correlation
	x, w, y, panel *byte
}

// units computes some blocks of rows of a part, or some shares of the blocks for some panels.
func (r *correlating) units(p *part, lo, hi int) {
	if r.shares > 0 {
		all, panels := len(p.blocks)*r.images, blocks(r.n, r.tile.Cols)
		for lo < hi {
			panel := lo / r.shares
			end := min(hi, (panel+1)*r.shares)
			from, to := lo-panel*r.shares, end-panel*r.shares
			r.channels(p, from*all/r.shares, to*all/r.shares, panel/panels, panel%panels*r.tile.Cols)
			lo = end
		}
		return
	}
	few := r.taps[0]*r.weights.row <= fewWeights
	for lo < hi {
		end := hi
		if few {
			end = min(hi, (lo/len(p.blocks)+1)*len(p.blocks)) // of the image
		}
		for g := range r.groups {
			for n := 0; n < r.n; n += r.tile.Cols {
				r.channels(p, lo, end, g, n)
			}
		}
		lo = end
	}
}

// operands says where the operands of a product begin, in bytes from the start of source, weights
// and result, how far apart the weights are, and how many channels of the result there are.
type operands struct {
	x, w, y, width    int
	weights           *byte
	row, col, channel int // from tap to tap along both axes, and from channel to channel
	tap, end          int // rows of taps
	from              int // the row of taps that w begins with
}

// channels computes the channels of a group from n on.
func (r *correlating) channels(p *part, lo, hi, g, n int) {
	w := &r.weights
	o := operands{
		width: min(r.tile.Cols, r.n-n),
		w:     g*w.group + n*w.across + p.rows.first*w.row + p.cols.first*w.col,
		row:   p.rows.by * w.row, col: p.cols.by * w.col, channel: w.channel,
		weights: r.w,
		end:     p.rows.taps,
	}
	if r.packed { // forward, where there is one part, which takes all taps in order
		o.channel = r.tile.Cols * r.dtype.Size()
		o.col = r.k * o.channel
		o.row = r.taps[1] * o.col
		o.w = (g*r.n + n) / r.tile.Cols * r.taps[0] * o.row
	}
	if !r.packs || hi == lo {
		r.pixels(p, o, lo, hi, g, n)
		return
	}
	for tap := 0; tap == 0 || tap < p.rows.taps; tap += r.room {
		o.tap, o.end = tap, min(tap+r.room, p.rows.taps)
		if !r.packed {
			r.pixels(p, r.pack(p, o), lo, hi, g, n)
			continue
		}
		r.pixels(p, o, lo, hi, g, n)
	}
}

// pixels computes some blocks of rows.
func (r *correlating) pixels(p *part, o operands, lo, hi, g, n int) {
	for lo < hi {
		image, block := lo/len(p.blocks), lo%len(p.blocks)
		rows, next := p.blocks[block], lo+1
		if block == 0 && lo+len(p.blocks) <= hi {
			rows, next = p.whole, lo+len(p.blocks) // high rectangles have larger tiles at the edges
		}
		o.x = image*r.source.image + g*r.source.group
		o.y = image*r.result.image + g*r.result.group + n*r.dtype.Size() + p.first
		if r.apart {
			o.x += n * r.dtype.Size()
		}
		for _, down := range rows {
			for _, across := range p.across {
				r.rectangle(p, o, down, across)
			}
		}
		lo = next
	}
}

// pack copies the weights of some rows of taps, in the order in which the part takes them.
func (r *correlating) pack(p *part, o operands) operands {
	packed := o
	size := r.dtype.Size()
	packed.channel = r.tile.Cols * size
	packed.col = r.k * packed.channel
	packed.row = p.cols.taps * packed.col
	packed.weights, packed.w, packed.from = r.panel, 0, o.tap
	for t := o.tap; t < o.end; t++ {
		for u := range p.cols.taps {
			to, from := move(r.panel, (t-o.tap)*packed.row+u*packed.col), move(o.weights, o.w+t*o.row+u*o.col)
			simd.Panel(r.level, size, to, r.tile.Cols, from, r.k, o.width, o.channel, r.weights.across)
		}
	}
	return packed
}

// A line is n pixels a stride apart, in bytes, in source and result.
type line struct{ n, x, y int }

// terms describes the terms of a sum: a batch of products of k terms, the distances from term to term
// and from product to product, in bytes, in source and weights.
type terms struct{ k, batch, termX, termW, x, w int }

// rectangle computes pixels that all read the same taps; from the second group of rows of taps on,
// it adds to them.
func (r *correlating) rectangle(p *part, o operands, down, across stretch) {
	add := o.tap > 0
	down.tap, down.end = max(down.tap, o.tap), min(down.end, o.end)
	rows, cols := max(0, down.end-down.tap), across.end-across.tap
	if add && (rows == 0 || cols == 0) {
		return
	}
	o.y += down.from*r.result.row + across.from*r.result.pixel
	var t terms
	if rows > 0 && cols > 0 {
		o.x += p.rows.reads(down)*r.source.row + p.cols.reads(across)*r.source.pixel
		o.w += (down.tap-o.from)*o.row + across.tap*o.col
		size := r.dtype.Size()
		t = terms{k: r.k, batch: cols, termX: size, termW: o.channel, x: p.cols.step * r.source.pixel, w: o.col}
		switch {
		case r.apart:
			t = terms{k: cols, batch: rows, termX: t.x, termW: o.col, x: p.rows.step * r.source.row, w: o.row}
			rows = 1
		// Where the channels of a row of taps lie side by side, and their weights too, rows of taps
		// are the batch.
		case cols == 1 || t.x == r.k*size && t.x == r.source.pixel && t.w == r.k*o.channel:
			t = terms{k: cols * r.k, batch: rows, termX: size, termW: o.channel, x: p.rows.step * r.source.row, w: o.row}
			rows = 1
		}
	}
	inner := line{across.to - across.from, p.cols.stride * r.source.pixel, r.result.pixel}
	outer := line{down.to - down.from, p.rows.stride * r.source.row, r.result.row}
	if t.k == 0 { // zeros, from nowhere
		rows, inner.x, outer.x = 1, 0, 0
	}
	if inner.n < r.tile.Rows && inner.n < outer.n {
		inner, outer = outer, inner
	}
	for range outer.n {
		x, w := o.x, o.w
		for k := range rows {
			r.line(&o, x, w, &inner, &t, add || k > 0)
			x, w = x+p.rows.step*r.source.row, w+o.row
		}
		o.x, o.y = o.x+outer.x, o.y+outer.y
	}
}

// line computes a line of pixels from x and weights from w on, in tiles of about the same height.
func (r *correlating) line(o *operands, x, w int, l *line, t *terms, add bool) {
	tiles := blocks(l.n, r.tile.Rows)
	for i := range tiles {
		from, to := i*l.n/tiles, (i+1)*l.n/tiles
		r.tile.Run(to-from, o.width, t.k, t.batch, move(r.x, x+from*l.x), l.x, t.termX, t.x, move(o.weights, w), t.termW, t.w,
			move(r.y, o.y+from*l.y), l.y, add)
	}
}
